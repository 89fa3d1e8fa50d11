// Slices with and without counters: a number of values beside a pointer.
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
#[link(wasm_import_module = "truth")] extern "C" { fn dump(); }
pub struct Document { pub id: u64, pub name: String }
pub struct Slices { pub names: Arc<[String]>, pub documents: Rc<[Document]>, pub sizes: Box<[u64]>, pub text: Arc<str>, pub part: &'static [Document] }
thread_local! { static SLICES: RefCell<Option<Slices>> = const { RefCell::new(None) }; }
#[no_mangle] pub extern "C" fn run() {
    let line = |n: u32| format!("a line with the number {n}");
    let document = |id| Document { id: u64::from(id), name: line(id) };
    let mut all: Vec<Document> = (0..20).map(document).collect();
    all.reserve_exact(50);
    let slices = Slices { names: (0..20).map(line).collect(), documents: (0..20).map(document).collect(), sizes: (0..100).collect(), text: line(7).into(), part: &all.leak()[..10] };
    SLICES.with(|kept| *kept.borrow_mut() = Some(slices));
    unsafe { dump() };
}
