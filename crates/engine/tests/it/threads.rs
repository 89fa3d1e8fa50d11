//! However many threads there are, the output is the same to the byte.

use std::io::Read;
use std::sync::Arc;

use crate::support::analyze;
use crate::support::forge::{Forge, Shape, Size};
use engine::Control;
use engine::heap::views::{ConstructorView, Selection};
use engine::outputs::formats::JsonStream;

#[test]
fn one_two_and_eight_threads_write_the_same_json_for_every_shape() {
    for &shape in Shape::ALL {
        // More objects than one task takes.
        let forge = Forge::new(shape, Size::Objects(17_000), 1);
        let (dump, module) = (forge.dump().0, forge.module());
        let texts = [1, 2, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let heap = Arc::new(analyze(&dump, &module).unwrap());
                let selection = Selection::default().instances(1000);
                let view =
                    Arc::new(ConstructorView::new(heap, selection, &Control::default()).unwrap());
                let mut text = String::new();
                let mut stream = JsonStream::new(view).with_accounting();
                stream.read_to_string(&mut text).unwrap();
                text
            })
        });
        assert!(
            texts.windows(2).all(|pair| pair[0] == pair[1]),
            "{}",
            shape.name
        );
    }
}
