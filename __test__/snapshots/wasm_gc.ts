/** A module of WasmGC that keeps all players of all rounds, in a list whose head is a global. */
import binaryen from "binaryen";

const SOURCE = `(module
  (type $Player (struct (field $score (mut i32)) (field $previous (mut (ref null $Player)))))
  (type $Players (array (mut (ref null $Player))))
  (type $Round (struct (field $players (ref $Players)) (field $earlier (ref null $Round))))
  (global $rounds (mut (ref null $Round)) (ref.null $Round))
  (func (export "play") (param $count i32)
    (local $nth i32)
    (local $players (ref $Players))
    (local.set $players (array.new_default $Players (local.get $count)))
    (loop $next
      (array.set $Players (local.get $players) (local.get $nth)
        (struct.new $Player (local.get $nth) (ref.null $Player)))
      (local.set $nth (i32.add (local.get $nth) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $nth) (local.get $count))))
    (global.set $rounds (struct.new $Round (local.get $players) (global.get $rounds)))))`;

/** The module, with or without its name section. `play(count)` adds a round. */
export function wasmGc(hasNames: boolean): Uint8Array {
  const module = binaryen.parseText(SOURCE);
  module.setFeatures(binaryen.Features.All);
  binaryen.setDebugInfo(hasNames);
  return module.emitBinary();
}
