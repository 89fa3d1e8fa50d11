;; The live samples of a profiler, by address. An instrumented module imports `keep`, `keepAs`, `freed` and `mask`, which
;; the engine calls without a detour through the host. The host writes what it knows of a sample, and makes room
;; (`js/profile/live_samples.ts`). This is not part of the instrumented module, because a module may have only
;; one memory, which must not change.
;;
;; Memory:
;;     0  the number of live samples
;;     4  what the host knows of the sample that is recorded, or 0 if none is
;;    16  the two masks: the bits that any address has, 64 bits each
;;    32  for each bit of the masks, the number of addresses that have it
;;  1024  a hash table with linear probing. A slot has 16 bytes: address, or 0 if it is free; size; what the host
;;        knows; nothing
(module
  ;; Doubles the table.
  (import "host" "grow" (func $grow))
  (memory (export "memory") 1)
  ;; 32 less the binary logarithm of the number of slots.
  (global $shift (export "shift") (mut i32) (i32.const 32))
  ;; The offset of the last slot in the table. The host keeps at least one slot free.
  (global $last (export "last") (mut i32) (i32.const 0))

  ;; The slot where the search for an address begins. The factor is from Knuth.
  (func $home (param $address i32) (result i32)
    (i32.shl
      (i32.shr_u (i32.mul (local.get $address) (i32.const 0x9E3779B1)) (global.get $shift))
      (i32.const 4)))

  (func $after (param $slot i32) (result i32)
    (i32.and (i32.add (local.get $slot) (i32.const 16)) (global.get $last)))

  ;; The slot of an address, or the free slot where it belongs.
  (func $find (param $address i32) (result i32)
    (local $slot i32)
    (local $found i32)
    (local.set $slot (call $home (local.get $address)))
    (loop $search
      (local.set $found (i32.load offset=1024 (local.get $slot)))
      (if (i32.and
            (i32.ne (local.get $found) (i32.const 0))
            (i32.ne (local.get $found) (local.get $address)))
        (then
          (local.set $slot (call $after (local.get $slot)))
          (br $search))))
    (local.get $slot))

  ;; Adds to the number of addresses that have a bit: one of the first mask, or 64 and one of the second.
  (func $count_bit (param $bit i32) (param $by i32)
    (local $count i32)
    (local $mask i32)
    (local $single i64)
    (local.set $count (i32.shl (local.get $bit) (i32.const 2)))
    (i32.store offset=32 (local.get $count)
      (i32.add (i32.load offset=32 (local.get $count)) (local.get $by)))
    (local.set $mask (i32.shl (i32.shr_u (local.get $bit) (i32.const 6)) (i32.const 3)))
    (local.set $single (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $bit))))
    (i64.store offset=16 (local.get $mask)
      (select
        (i64.or (i64.load offset=16 (local.get $mask)) (local.get $single))
        (i64.and
          (i64.load offset=16 (local.get $mask))
          (i64.xor (local.get $single) (i64.const -1)))
        (i32.load offset=32 (local.get $count)))))

  ;; Counts an address in both masks. An instrumented module shifts addresses by the same.
  (func $count (param $address i32) (param $by i32)
    (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (local.get $by)))
    (call $count_bit
      (i32.and (i32.shr_u (local.get $address) (i32.const 4)) (i32.const 63))
      (local.get $by))
    (call $count_bit
      (i32.or
        (i32.and (i32.shr_u (local.get $address) (i32.const 10)) (i32.const 63))
        (i32.const 64))
      (local.get $by)))

  ;; Keeps the allocation as a live sample, if the host has just recorded it.
  (func (export "keep") (param $address i32) (param $size i32)
    (if (i32.eqz (i32.load (i32.const 4))) (then (return)))
    (call $keep_as (local.get $address) (local.get $size) (i32.load (i32.const 4)))
    (i32.store (i32.const 4) (i32.const 0)))

  ;; Keeps an allocation as a live sample, with what the host knows of it.
  (func $keep_as (export "keepAs") (param $address i32) (param $size i32) (param $known i32)
    (local $slot i32)
    ;; At most half of the slots are taken, so that searches are short.
    (if (i32.gt_u
          (i32.shl (i32.load (i32.const 0)) (i32.const 5))
          (global.get $last))
      (then (call $grow)))
    (local.set $slot (call $find (local.get $address)))
    ;; What was freed unseen is still there, and is replaced.
    (if (i32.eqz (i32.load offset=1024 (local.get $slot)))
      (then
        (i32.store offset=1024 (local.get $slot) (local.get $address))
        (call $count (local.get $address) (i32.const 1))))
    (i32.store offset=1028 (local.get $slot) (local.get $size))
    (i32.store offset=1032 (local.get $slot) (local.get $known)))

  ;; Removes an address. Whether it was there.
  (func (export "freed") (param $address i32) (result i32)
    (local $free i32)
    (local $slot i32)
    (local $found i32)
    (local.set $free (call $find (local.get $address)))
    (if (i32.eqz (i32.load offset=1024 (local.get $free))) (then (return (i32.const 0))))
    (call $count (local.get $address) (i32.const -1))
    ;; What follows without a gap moves forward, unless the search for it begins after the slot that is free now.
    (local.set $slot (local.get $free))
    (loop $move
      (local.set $slot (call $after (local.get $slot)))
      (local.set $found (i32.load offset=1024 (local.get $slot)))
      (if (local.get $found)
        (then
          (if (i32.ge_u
                (i32.and
                  (i32.sub (local.get $slot) (call $home (local.get $found)))
                  (global.get $last))
                (i32.and (i32.sub (local.get $slot) (local.get $free)) (global.get $last)))
            (then
              (i64.store offset=1024 (local.get $free) (i64.load offset=1024 (local.get $slot)))
              (i64.store offset=1032 (local.get $free) (i64.load offset=1032 (local.get $slot)))
              (local.set $free (local.get $slot))))
          (br $move))))
    (i32.store offset=1024 (local.get $free) (i32.const 0))
    (i32.const 1))

  ;; A mask: 0 is the first, 1 the second.
  (func (export "mask") (param $nth i32) (result i64)
    (i64.load offset=16 (i32.shl (local.get $nth) (i32.const 3)))))
