//! The visitors of the program's classes, to be run on the objects of a dump.

use std::sync::Arc;

use super::collector::global_value;
use base::control::Control;
use dumps::Dump;
use runtime_code::collector_code::{CollectorCode, IsObject, ObjectVisits};
use wasm::module::Module;

/// The collector's code and a dump.
#[derive(Clone, Debug)]
pub struct Visitors<'a> {
    pub(super) module: &'a Module<'a>,
    pub(super) code: Option<Arc<CollectorCode>>,
    pub(super) dump: Dump<'a>,
}

impl<'a> Visitors<'a> {
    /// Prepares visits of objects. `None` if the collector's code cannot be run on them.
    pub fn prepare<'o>(
        &'o self,
        is_object: IsObject<'o>,
        control: &Control,
    ) -> Option<ObjectVisits<'a, 'a, 'o>> {
        let known = |index| {
            let global = self.module.globals.get(index)?;
            let value = || global_value(global, &self.dump).map(u64::from);
            global.constant.or_else(value)
        };
        let code = self.code.as_deref()?;
        let memory = self.dump.memory.as_bytes();
        let functions = &self.module.functions;
        ObjectVisits::new(code, functions, memory, &known, is_object, control)
    }
}
