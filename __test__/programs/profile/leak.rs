struct Node {
    _next: Option<Box<Node>>,
    _text: [u8; 52],
}

static mut ALL: Option<Box<Node>> = None;

fn remember() {
    let next = unsafe { ALL.take() };
    let node = Box::new(Node { _next: next, _text: [1; 52] }); // leak
    unsafe { ALL = Some(node) };
}

#[inline(never)]
fn churn(count: usize) -> usize {
    let mut text: Vec<u8> = Vec::with_capacity(count % 100 + 1); // freed
    text.extend_from_slice(&[1; 500]); // moved
    text.len()
}

#[no_mangle]
pub extern "C" fn run(count: usize) -> usize {
    let mut sum = 0;
    for nth in 0..count {
        remember();
        sum += churn(nth);
    }
    sum
}
