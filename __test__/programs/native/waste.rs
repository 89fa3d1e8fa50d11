// Containers with more room than they need, and a call that gives it back.
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
pub struct Order { pub id: u32, pub price: f64 }
pub struct Holder { pub numbers: Vec<u32>, pub name: String, pub queue: VecDeque<u64>, pub table: HashMap<u32, Order>, pub seen: Vec<u32>, pub first_seen: *const u32 }
thread_local! {
    static ORDERS: RefCell<Vec<Order>> = const { RefCell::new(Vec::new()) };
    static HOLDER: RefCell<Option<Box<Holder>>> = const { RefCell::new(None) };
}
#[no_mangle] pub extern "C" fn fill() {
    // Without a source of random numbers, the first table hashes with the address of a block, which is then free. Another block
    // takes it, so that this number refers to nothing of interest.
    drop(HashMap::<u32, u32>::new());
    std::mem::forget(Box::new(1u8));
    ORDERS.with(|orders| { let mut orders = orders.borrow_mut(); orders.reserve(500); for id in 0..40 { orders.push(Order { id, price: 1.5 }) } });
    let mut holder = Box::new(Holder { numbers: Vec::with_capacity(1000), name: String::with_capacity(700), queue: VecDeque::with_capacity(1024), table: HashMap::with_capacity(3000), seen: Vec::with_capacity(2000), first_seen: std::ptr::null() });
    holder.numbers.extend([7; 30]);
    holder.name.push_str(&"y".repeat(100));
    for i in 0..1000 { holder.queue.push_back(i); if i >= 50 { holder.queue.pop_front(); } }
    for id in 0..50 { holder.table.insert(id, Order { id, price: 2.5 }); }
    // Something else refers to these.
    holder.seen.push(1);
    holder.first_seen = holder.seen.as_ptr();
    HOLDER.with(|all| *all.borrow_mut() = Some(holder));
}
#[no_mangle] pub extern "C" fn shrink() {
    ORDERS.with(|orders| orders.borrow_mut().shrink_to_fit());
    HOLDER.with(|all| if let Some(holder) = all.borrow_mut().as_mut() { holder.numbers.shrink_to_fit(); holder.name.shrink_to_fit(); holder.queue.shrink_to_fit(); holder.table.shrink_to_fit(); });
}
#[allow(dead_code)] fn main() { fill(); shrink(); }
