// A host that removes holders. `build` makes three maps of handles, and `globalThis.remove` removes two of them: of one,
// it unpins the objects too.
import { Pins, randomFrom, Truth } from "./truth.mjs";

export function build(program, seed) {
  const truth = new Truth();
  const pins = new Pins(program, randomFrom(seed));
  const app = {};
  globalThis.app = app;
  program.work(500);
  for (const name of ["kept", "removed", "forgotten"]) {
    const hold = truth.group(name, { at: `app.${name}`, slot: "value" });
    app[name] = new Map();
    for (let nth = 0; nth < 40; nth++) app[name].set(`${name} ${nth}`, hold(pins.pin()));
  }
  globalThis.remove = () => {
    for (const address of app.removed.values()) pins.release(address);
    delete app.removed;
    delete app.forgotten;
    pins.collect();
  };
  return truth.text();
}
