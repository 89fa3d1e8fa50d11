//! The types of a module's functions.

use wasmparser::{CompositeInnerType, FuncType, Parser, Payload};

use base::error::Result;
use wasm::module::{Module, unreadable};

/// The types of functions.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// By type index; `None` for types that are not functions.
    pub(super) all: Vec<Option<FuncType>>,
}

impl Types {
    pub(super) fn read(wasm: &[u8]) -> Result<Self> {
        let mut all = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            if let Payload::TypeSection(section) = payload.map_err(unreadable)? {
                for group in section {
                    for ty in group.map_err(unreadable)?.into_types() {
                        all.push(match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        });
                    }
                }
            }
        }
        Ok(Self { all })
    }

    pub(super) fn of(&self, module: &Module<'_>, function: u32) -> Option<&FuncType> {
        let index = module.functions.type_index(function)?;
        self.all.get(index as usize)?.as_ref()
    }
}
