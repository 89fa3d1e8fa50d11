// Makes 592 allocations of 32,693 bytes: boxes, texts and vectors, some of which are kept, forgotten or dropped.
use std::cell::RefCell;
use std::collections::HashMap;

#[cfg(feature = "dlmalloc")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;
#[cfg(feature = "lol_alloc")]
#[global_allocator]
static ALLOCATOR: lol_alloc::AssumeSingleThreaded<lol_alloc::FreeListAllocator> =
    unsafe { lol_alloc::AssumeSingleThreaded::new(lol_alloc::FreeListAllocator::new()) };
#[cfg(feature = "talc")]
#[global_allocator]
static ALLOCATOR: talc::TalckWasm = unsafe { talc::TalckWasm::new_global() };
#[cfg(feature = "wee_alloc")]
#[global_allocator]
static ALLOCATOR: wee_alloc::WeeAlloc = wee_alloc::WeeAlloc::INIT;

pub struct Session {
    pub id: u32,
    pub name: String,
    pub data: Vec<u64>,
}

thread_local! {
    static HELD: RefCell<Vec<Box<Session>>> = RefCell::new(Vec::new());
    static MAP: RefCell<HashMap<u32, String>> = RefCell::new(HashMap::new());
}

#[inline(never)]
fn make(i: u32) -> Box<Session> {
    let data = vec![i as u64; 10 + (i % 7) as usize];
    Box::new(Session { id: i, name: format!("session number {}", i), data })
}

#[no_mangle]
pub extern "C" fn work() {
    for i in 0..100 {
        HELD.with(|held| held.borrow_mut().push(make(i)));
    }
    for i in 0..50 {
        std::mem::forget(make(i));
    }
    for i in 0..40 {
        MAP.with(|map| map.borrow_mut().insert(i, format!("value {}", i)));
    }
    for i in 0..30 {
        drop(make(i));
    }
}
