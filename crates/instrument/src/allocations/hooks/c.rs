//! Allocators with the functions of C: C, C++, Rust, TinyGo.

use super::search::Search;
use super::{Address, Family, Hook, Kind, Size};

impl Search<'_, '_> {
    /// Those of C, C++, Rust and TinyGo by their names, and that of Zig.
    pub(super) fn c(&self) -> Option<(Family, Vec<Hook>)> {
        let mut list = Vec::new();
        let result = Address::Result { below: 0 };
        let parameter = |at| Address::Parameter { at, below: 0 };
        let allocate = |size| Kind::Allocate {
            address: result,
            size,
        };
        let reallocate = |size| Kind::Reallocate {
            old: parameter(0),
            address: result,
            size: Size::Parameter(size),
        };
        self.add(
            &mut list,
            "runtime.alloc",
            (2, 1),
            allocate(Size::Parameter(0)),
        );
        if !list.is_empty() {
            return Some((Family::Tinygo, list));
        }
        for name in ["malloc", "dlmalloc", "emmalloc_malloc"] {
            self.add(&mut list, name, (1, 1), allocate(Size::Parameter(0)));
        }
        for name in ["calloc", "dlcalloc", "emmalloc_calloc"] {
            self.add(&mut list, name, (2, 1), allocate(Size::Product(0, 1)));
        }
        for name in [
            "aligned_alloc",
            "memalign",
            "dlmemalign",
            "internal_memalign",
            "emmalloc_memalign",
        ] {
            // The function within dlmalloc has the state as its first parameter in some versions.
            self.add(&mut list, name, (2, 1), allocate(Size::Parameter(1)));
        }
        for name in ["posix_memalign", "dlposix_memalign"] {
            let kind = Kind::Allocate {
                address: Address::Pointer { at: 0 },
                size: Size::Parameter(2),
            };
            self.add(&mut list, name, (3, 1), kind);
        }
        for name in ["realloc", "dlrealloc", "emmalloc_realloc"] {
            self.add(&mut list, name, (2, 1), reallocate(1));
        }
        for name in ["free", "dlfree", "emmalloc_free"] {
            self.add(&mut list, name, (1, 0), Kind::Free(parameter(0)));
        }
        for (name, signature, kind) in [
            ("__rust_alloc", (2, 1), allocate(Size::Parameter(0))),
            ("__rust_alloc_zeroed", (2, 1), allocate(Size::Parameter(0))),
            ("__rust_realloc", (4, 1), reallocate(3)),
            ("__rust_dealloc", (3, 0), Kind::Free(parameter(0))),
        ] {
            // Newer compilers put a hash before the name.
            for variant in self.names_ending(name) {
                for function in self.functions(variant, signature.0, signature.1) {
                    list.push(Hook {
                        function,
                        name,
                        kind,
                    });
                }
            }
        }
        self.zig(&mut list);
        let allocates = |hook: &Hook| matches!(hook.kind, Kind::Allocate { .. });
        list.iter().any(allocates).then_some((Family::C, list))
    }
}
