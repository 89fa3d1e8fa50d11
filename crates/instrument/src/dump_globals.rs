//! Which globals the header of a dump is made of, by their index: for a debugger, which reads the globals of
//! an instance by index, exported or not.

use super::boundaries::{Boundaries, Boundary};
use super::exports::Exports;
use base::control::Control;
use base::error::Result;
use base::units::GlobalIndex;
use wasm::module::Module;

/// What a host needs beside the values of all globals to write a dump.
#[derive(Debug)]
pub struct DumpGlobals {
    /// The mutable i32 globals, imported ones too, in the order of a dump.
    pub values: Vec<GlobalIndex>,
    /// `__data_end`, `__heap_base` and `__stack_pointer`, in this order.
    pub boundaries: [Boundary; 3],
}

impl DumpGlobals {
    /// Finds them in a module as [`expose_globals`](super::expose_globals) does, with the same errors.
    pub fn find(wasm: &[u8]) -> Result<Self> {
        let module = Module::parse(wasm, &Control::default())?;
        let found = Boundaries::find(&module, &Exports::read(wasm)?)?;
        let in_dump = module
            .globals
            .iter()
            .filter(|global| global.dump_position.is_some());
        Ok(Self {
            values: in_dump.map(|global| global.index).collect(),
            boundaries: [found.data_end, found.heap_base, found.stack_pointer],
        })
    }
}
