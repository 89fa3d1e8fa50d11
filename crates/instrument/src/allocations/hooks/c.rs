//! Allocators with the functions of C: C, C++, Rust, TinyGo.

use super::hook::{AllocatedSize, BlockAddress, Hook, HookKind};
use super::search::FunctionsByName;
use wasm::allocation_table::Family;

/// The names of each function of C: the standard's, those within dlmalloc and emmalloc, and since Zig 0.17 those of
/// Zig's C library.
const MALLOC: [&str; 4] = ["malloc", "dlmalloc", "emmalloc_malloc", "c.malloc.malloc"];
const CALLOC: [&str; 4] = ["calloc", "dlcalloc", "emmalloc_calloc", "c.malloc.calloc"];
const ALIGNED: [&str; 7] = [
    "aligned_alloc",
    "memalign",
    "dlmemalign",
    "internal_memalign",
    "emmalloc_memalign",
    "c.malloc.aligned_alloc",
    "c.malloc.memalign",
];
const VALLOC: [&str; 2] = ["valloc", "c.malloc.valloc"];
const POSIX_MEMALIGN: [&str; 3] = [
    "posix_memalign",
    "dlposix_memalign",
    "c.malloc.posix_memalign",
];
const REALLOC: [&str; 4] = [
    "realloc",
    "dlrealloc",
    "emmalloc_realloc",
    "c.malloc.realloc",
];
const REALLOCARRAY: [&str; 2] = ["reallocarray", "c.malloc.reallocarray"];
const FREE: [&str; 4] = ["free", "dlfree", "emmalloc_free", "c.malloc.free"];

impl FunctionsByName<'_, '_> {
    /// Those of C, C++, Rust and TinyGo by their names, and that of Zig.
    pub(super) fn c(&self) -> Option<(Family, Vec<Hook>)> {
        let mut list = Vec::new();
        let result = BlockAddress::Result { below: 0 };
        let parameter = |at| BlockAddress::Parameter { at, below: 0 };
        let allocate = |size| HookKind::Allocate {
            address: result,
            size,
        };
        let reallocate = |size| HookKind::Reallocate {
            old: parameter(0),
            address: result,
            size,
        };
        self.add(
            &mut list,
            "runtime.alloc",
            (2, 1),
            allocate(AllocatedSize::Parameter(0)),
        );
        if !list.is_empty() {
            return Some((Family::Tinygo, list));
        }
        // The function within dlmalloc has the state as its first parameter in some versions.
        let aligned = allocate(AllocatedSize::Parameter(1));
        let written = HookKind::Allocate {
            address: BlockAddress::Pointer { at: 0 },
            size: AllocatedSize::Parameter(2),
        };
        let functions: [(&[&'static str], (usize, usize), HookKind); 8] = [
            (&MALLOC, (1, 1), allocate(AllocatedSize::Parameter(0))),
            (&CALLOC, (2, 1), allocate(AllocatedSize::Product(0, 1))),
            (&ALIGNED, (2, 1), aligned),
            (&VALLOC, (1, 1), allocate(AllocatedSize::Parameter(0))),
            (&POSIX_MEMALIGN, (3, 1), written),
            (&REALLOC, (2, 1), reallocate(AllocatedSize::Parameter(1))),
            (
                &REALLOCARRAY,
                (3, 1),
                reallocate(AllocatedSize::Product(1, 2)),
            ),
            (&FREE, (1, 0), HookKind::Free(parameter(0))),
        ];
        for (names, signature, kind) in functions {
            for name in names {
                self.add(&mut list, name, signature, kind);
            }
        }
        for (name, signature, kind) in [
            (
                "__rust_alloc",
                (2, 1),
                allocate(AllocatedSize::Parameter(0)),
            ),
            (
                "__rust_alloc_zeroed",
                (2, 1),
                allocate(AllocatedSize::Parameter(0)),
            ),
            (
                "__rust_realloc",
                (4, 1),
                reallocate(AllocatedSize::Parameter(3)),
            ),
            ("__rust_dealloc", (3, 0), HookKind::Free(parameter(0))),
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
        let allocates = |hook: &Hook| matches!(hook.kind, HookKind::Allocate { .. });
        list.iter().any(allocates).then_some((Family::C, list))
    }
}
