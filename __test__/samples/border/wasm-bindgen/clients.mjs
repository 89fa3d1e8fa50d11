// Clients of JavaScript and desks of Rust that hold each other, in Node and in pages. Returns what the program knows of them.

class Client {
  constructor(name) {
    this.name = name;
  }
}

class Visitor {
  constructor(name) {
    this.name = name;
  }
}

class Gone {
  constructor(name) {
    this.name = name;
  }
}

/** Makes everything. `exports` are those of the instance, `bindings` what wasm-bindgen generated. */
export function build(exports, { Desk, wait, leave }) {
  globalThis.app = { exports, desks: new Map(), closed: [] };
  for (let nth = 0; nth < 8; nth++) {
    const desk = new Desk();
    for (let number = 0; number < 3; number++) desk.serve(number, new Client(`client ${number}`));
    app.desks.set(`desk ${nth}`, desk);
  }
  // Clients that leave are held no more, although the memory of their sessions still has their places.
  for (let number = 0; number < 20; number++) {
    wait(number, number % 2 === 0 ? new Visitor(`visitor ${number}`) : new Gone(`visitor ${number}`));
  }
  for (let number = 1; number < 20; number += 2) leave(number);
  // The pointers as texts: as numbers, an array would hold the desks, too.
  const pointers = (desks) => desks.map((desk) => `${desk.__wbg_ptr}`);
  app.closed = [new Desk(), new Desk(), new Desk()];
  for (const desk of app.closed) desk.serve(0, new Gone("client of a closed desk"));
  const truth = { open: pointers([...app.desks.values()]), closed: pointers(app.closed) };
  for (const desk of app.closed) desk.free();
  return truth;
}
