// Random programs of Rust whose log says the type of every block: boxes, vectors, texts, tables, trees, counted pointers,
// enums, trait objects, and what is left in memory when values are moved or dropped.

import { random } from "./random_c_program.ts";

/** What a field is, and the expression that makes it. */
interface RandomField {
  type: string;
  value: string;
}

/** Blocks that `Rc` and `Arc` allocate have other names in old versions. */
const rc = (type: string) => `RcInner<${type}>|RcBox<${type}>`;

/** The source of a program, which is called `random`. Its export `run` calls `truth_dump` last. */
export function randomRustProgram(seed: number): string {
  const below = random(seed);
  const count = 3 + below(5);
  const structs = Array.from({ length: count }, (_, nth) => struct(nth, count, below));
  const roots = Array.from({ length: count }, (_, nth) => `pub r${nth}: Option<Box<S${nth}>>`);
  const made = Array.from({ length: count }, (_, nth) => `r${nth}: boxed${nth}(4)`);
  return `#![allow(dead_code, static_mut_refs, unused_imports, unused_mut)]
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::{Rc, Weak};
use std::sync::Arc;
#[link(wasm_import_module = "truth")]
extern "C" {
    #[link_name = "dump"] fn truth_dump();
    #[link_name = "alloc"] fn truth_alloc(p: *const u8, n: usize);
    #[link_name = "freed"] fn truth_free(p: *const u8);
    #[link_name = "type"] fn truth_type(p: *const u8, name: *const u8);
}
static mut TYPE: &str = "\\0";
struct Logged;
unsafe fn log(p: *const u8, n: usize) { truth_alloc(p, n); if TYPE.len() > 1 { truth_type(p, TYPE.as_ptr()) } }
unsafe impl GlobalAlloc for Logged {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 { let p = System.alloc(l); log(p, l.size()); p }
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 { let p = System.alloc_zeroed(l); log(p, l.size()); p }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) { truth_free(p); System.dealloc(p, l) }
    unsafe fn realloc(&self, p: *mut u8, l: Layout, n: usize) -> *mut u8 { let q = System.realloc(p, l, n); truth_free(p); log(q, n); q }
}
#[global_allocator] static ALLOCATOR: Logged = Logged;
/// Everything that is allocated in it is of this type.
fn typed<T>(name: &'static str, make: impl FnOnce() -> T) -> T { unsafe { let before = TYPE; TYPE = name; let made = make(); TYPE = before; made } }
static mut SEED: u32 = ${1 + below(1 << 30)};
fn rnd(n: u32) -> u32 { unsafe { SEED = SEED.wrapping_mul(1664525).wrapping_add(1013904223); (SEED >> 8) % n } }
fn text() -> String { let n = rnd(30); let c = char::from(b'a' + rnd(26) as u8); typed("u8[]\\0", || { let mut t = String::new(); for _ in 0..n { t.push(c) } t }) }
pub trait Shape { fn area(&self) -> u32; }
${structs.join("\n")}
pub struct Roots { ${roots.join(", ")}, pub shared: Vec<Rc<S0>>, pub many: Vec<Box<S1>> }
thread_local! { static ROOTS: RefCell<Option<Roots>> = const { RefCell::new(None) }; }
fn roots() -> Roots {
    let mut roots = Roots { ${made.join(", ")}, shared: Vec::new(), many: Vec::new() };
    for _ in 0..6 { if let Some(s) = value0(2) { let s = typed("${rc("random::S0")}\\0", || Rc::new(s)); typed("Rc<random::S0>[]\\0", || roots.shared.push(s)) } }
    for _ in 0..9 { if let Some(s) = boxed1(2) { typed("Box<random::S1>[]\\0", || roots.many.push(s)) } }
    // Others are allocated where these were.
    for nth in 0..roots.many.len() / 2 { roots.many.swap_remove(nth); }
    roots
}
#[no_mangle] pub extern "C" fn run() -> u32 {
    let made = roots();
    ROOTS.with(|roots| *roots.borrow_mut() = Some(made));
    for _ in 0..5 { let n = 8 + rnd(90) as usize; std::mem::forget(typed("lost\\0", || vec![1u8; n])); }
    unsafe { truth_dump() }
    ROOTS.with(|roots| roots.borrow().as_ref().map_or(0, |roots| roots.r0.as_ref().map_or(0, |s| s.area())))
}
#[allow(dead_code)] fn main() { run(); }
`;
}

function struct(nth: number, count: number, below: (below: number) => number): string {
  const fields = Array.from({ length: 1 + below(6) }, () => field(nth, count, below));
  const name = `S${nth}`;
  const members = fields.map(({ type }, at) => `pub f${at}: ${type}`);
  const values = fields.map(({ value }, at) => `f${at}: ${value}`);
  return `pub struct ${name} { pub id: u32, ${members.join(", ")} }
pub enum E${nth} { Empty, Number(u32), Text(String), One(Option<Box<${name}>>), Two { id: u32, other: Option<Rc<${name}>> } }
impl Shape for ${name} { fn area(&self) -> u32 { self.id } }
fn value${nth}(depth: i32) -> Option<${name}> { if depth <= 0 { return None; } Some(${name} { id: rnd(1000), ${values.join(", ")} }) }
fn boxed${nth}(depth: i32) -> Option<Box<${name}>> { value${nth}(depth).map(|s| typed("random::${name}\\0", || Box::new(s))) }
fn counted${nth}(depth: i32) -> Option<Rc<${name}>> { value${nth}(depth).map(|s| typed("${rc(`random::${name}`)}\\0", || Rc::new(s))) }
fn enum${nth}(depth: i32) -> E${nth} { match rnd(5) { 0 => E${nth}::Empty, 1 => E${nth}::Number(rnd(9)), 2 => E${nth}::Text(text()), 3 => E${nth}::One(boxed${nth}(depth)), _ => E${nth}::Two { id: rnd(9), other: counted${nth}(depth) } } }`;
}

function field(nth: number, count: number, below: (below: number) => number): RandomField {
  const other = below(count);
  const of = `random::S${other}`;
  const block = (body: string) => `{ ${body} }`;
  switch (below(18)) {
    case 0:
      return { type: "f64", value: "rnd(100) as f64 / 3.0" };
    case 1:
      return { type: "String", value: "text()" };
    case 2:
      return { type: `Option<Box<S${other}>>`, value: `boxed${other}(depth - 1)` };
    case 3:
      return {
        type: `Vec<S${other}>`,
        value: block(
          `let mut all = Vec::new(); for _ in 0..rnd(5) { if let Some(s) = value${other}(depth - 2) { typed("${of}[]\\0", || all.push(s)) } } all`,
        ),
      };
    case 4:
      return {
        type: `Vec<Option<Box<S${other}>>>`,
        value: block(
          `let mut all = Vec::new(); for _ in 0..rnd(6) { let s = boxed${other}(depth - 2); typed("Option<Box<${of}>>[]\\0", || all.push(s)) } if rnd(2) == 0 { all.pop(); } all`,
        ),
      };
    case 5:
      if (nth === 0) break;
      return { type: `Option<S${nth - 1}>`, value: `value${nth - 1}(depth - 1)` };
    case 6:
      return { type: `Box<E${other}>`, value: boxedEnum(other) };
    case 7:
      return {
        type: `HashMap<u32, Box<S${other}>>`,
        value: block(
          `let mut all = HashMap::new(); for _ in 0..rnd(20) { let (key, s) = (rnd(50), boxed${other}(depth - 2)); if let Some(s) = s { typed("(u32, Box<${of}>)[]\\0", || all.insert(key, s)); } } for _ in 0..rnd(9) { all.remove(&rnd(50)); } all`,
        ),
      };
    case 8:
      return {
        type: `BTreeMap<u32, S${other}>`,
        value: block(
          `let mut all = BTreeMap::new(); for _ in 0..rnd(30) { let (key, s) = (rnd(50), value${other}(depth - 3)); if let Some(s) = s { typed("LeafNode<u32, ${of}>|InternalNode<u32, ${of}>\\0", || all.insert(key, s)); } } for _ in 0..rnd(9) { all.remove(&rnd(50)); } all`,
        ),
      };
    case 9:
      return {
        type: `VecDeque<Option<Box<S${other}>>>`,
        value: block(
          `let mut all = VecDeque::new(); for _ in 0..rnd(20) { let s = boxed${other}(depth - 2); typed("Option<Box<${of}>>[]\\0", || all.push_back(s)); if rnd(3) == 0 { all.pop_front(); } } all`,
        ),
      };
    case 10:
      return { type: `Option<Rc<S${other}>>`, value: `counted${other}(depth - 1)` };
    case 11:
      return {
        type: `Option<Rc<RefCell<S${other}>>>`,
        value: `value${other}(depth - 1).map(|s| typed("${rc(`RefCell<${of}>`)}\\0", || Rc::new(RefCell::new(s))))`,
      };
    case 12:
      return {
        type: "Vec<Box<dyn Shape>>",
        value: block(
          `let mut all: Vec<Box<dyn Shape>> = Vec::new(); for _ in 0..rnd(4) { if let Some(s) = boxed${other}(depth - 2) { typed("Box<dyn random::Shape>[]\\0", || all.push(s)) } if let Some(s) = boxed0(depth - 3) { typed("Box<dyn random::Shape>[]\\0", || all.push(s)) } } all`,
        ),
      };
    case 13:
      return {
        type: "Option<Rc<dyn Shape>>",
        value: `counted${other}(depth - 1).map(|s| s as Rc<dyn Shape>)`,
      };
    case 14:
      return {
        type: "Option<Arc<dyn Shape>>",
        value: `value${other}(depth - 1).map(|s| typed("ArcInner<${of}>\\0", || Arc::new(s)) as Arc<dyn Shape>)`,
      };
    case 15:
      return {
        type: "Box<[u16]>",
        value: `{ let n = rnd(9) as usize; typed("u16[]\\0", || vec![7u16; n].into_boxed_slice()) }`,
      };
    case 16:
      return {
        type: "*mut std::ffi::c_void",
        value: `Box::into_raw(typed("hidden\\0", || Box::new([7u32; 5]))) as *mut std::ffi::c_void`,
      };
    default:
      break;
  }
  // What it refers to is dropped: the block stays, and what was in it.
  return {
    type: `Weak<S${other}>`,
    value: `counted${other}(depth - 1).map_or(Weak::new(), |s| Rc::downgrade(&s))`,
  };
}

function boxedEnum(nth: number): string {
  return `{ let made = enum${nth}(depth - 1); typed("random::E${nth}\\0", || Box::new(made)) }`;
}
