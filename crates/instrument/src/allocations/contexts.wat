;; The contexts of calls whose stacks are known, for a profiler that records every allocation. An instrumented module
;; imports `known`, which the engine calls without a detour through the host. The host adds contexts, and makes room
;; (`js/profile/contexts.ts`).
;;
;; Memory:
;;    0  the context that was asked for last and is not known, 64 bits
;;   32  a hash table with linear probing. A slot has 32 bytes: context, or 0 if it is free; the number of allocations;
;;       their bytes, each 64 bits; what the host knows of the stack, 32 bits; nothing
(module
  (memory (export "memory") 1)
  ;; 64 less the binary logarithm of the number of slots.
  (global $shift (export "shift") (mut i64) (i64.const 64))
  ;; The offset of the last slot in the table. The host keeps at least one slot free.
  (global $last (export "last") (mut i32) (i32.const 0))

  ;; Counts an allocation: what is known of the stack of its context, or 0.
  (func (export "known") (param $context i64) (param $size i32) (result i32)
    (local $slot i32)
    (local $found i64)
    ;; The lowest bits of a context are no hash of all its calls.
    (local.set $slot
      (i32.shl
        (i32.wrap_i64 (i64.shr_u (local.get $context) (global.get $shift)))
        (i32.const 5)))
    (loop $search
      (local.set $found (i64.load offset=32 (local.get $slot)))
      (if (i64.eq (local.get $found) (local.get $context))
        (then
          (i64.store offset=40 (local.get $slot)
            (i64.add (i64.load offset=40 (local.get $slot)) (i64.const 1)))
          (i64.store offset=48 (local.get $slot)
            (i64.add
              (i64.load offset=48 (local.get $slot))
              (i64.extend_i32_u (local.get $size))))
          (return (i32.load offset=56 (local.get $slot)))))
      (if (i64.ne (local.get $found) (i64.const 0))
        (then
          (local.set $slot
            (i32.and (i32.add (local.get $slot) (i32.const 32)) (global.get $last)))
          (br $search))))
    (i64.store (i32.const 0) (local.get $context))
    (i32.const 0)))
