//! All facts in a module about its classes and roots, from two independent sources.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::known_lists::known_lists;
use crate::AssemblyScriptError;
use base::control::Control;
use base::error::Result;
use dumps::Dump;
use runtime_code::collector_code::{CollectorCode, KnownLists, Numbering};
use wasm::debug_info::DebugInfo;
use wasm::module::Module;

/// The evidence in a module.
#[derive(Debug)]
pub struct Evidence {
    /// The debug information; empty without debug sections.
    pub debug_info: DebugInfo,
    /// Whether there were debug sections.
    pub has_debug_info: bool,
    /// The collector's code, if it was found without a dump.
    pub code: Option<Arc<CollectorCode>>,
    /// What was found with the lists of a dump. Dumps of one program have the same lists.
    by_lists: Mutex<HashMap<KnownLists, CodeByLists>>,
}

/// The evidence for the analysis of one dump.
#[derive(Clone, Debug)]
pub struct DumpEvidence<'a> {
    /// The debug information; empty without debug sections.
    pub debug_info: &'a DebugInfo,
    /// Whether there were debug sections.
    pub has_debug_info: bool,
    /// The collector's code, if it was found.
    pub code: Option<Arc<CollectorCode>>,
}

/// The collector's code, found with the lists of a dump.
#[derive(Clone, Debug)]
enum CodeByLists {
    Found(Arc<CollectorCode>),
    /// It numbers the classes of the standard library as old compilers do.
    OldNumbers,
    NotFound,
}

impl Evidence {
    /// Reads all evidence of a module.
    ///
    /// # Errors
    /// [`ModuleError::DebugInfo`](wasm::ModuleError::DebugInfo) if there are debug sections, but broken ones;
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn read(module: &Module<'_>, control: &Control) -> Result<Self> {
        let debug_info = DebugInfo::read(module, control)?;
        let code = CollectorCode::find(module, control);
        // A partly read module is not used.
        control.check()?;
        Ok(Self {
            has_debug_info: debug_info.is_some(),
            debug_info: debug_info.unwrap_or_default(),
            code: code.map(Arc::new),
            by_lists: Mutex::default(),
        })
    }

    /// The evidence for a dump. Its lists help to find the collector's code.
    ///
    /// # Errors
    /// [`AssemblyScriptError::CompilerTooOld`]; [`Error::Aborted`](base::Error::Aborted).
    pub fn of_dump(
        &self,
        dump: &Dump<'_>,
        module: &Module<'_>,
        control: &Control,
    ) -> Result<DumpEvidence<'_>> {
        let code = match &self.code {
            Some(code) => Some(Arc::clone(code)),
            None => match self.by_lists(dump, module, control)? {
                CodeByLists::Found(code) => Some(code),
                CodeByLists::NotFound => None,
                CodeByLists::OldNumbers => return Err(AssemblyScriptError::CompilerTooOld.into()),
            },
        };
        Ok(DumpEvidence {
            debug_info: &self.debug_info,
            has_debug_info: self.has_debug_info,
            code,
        })
    }

    fn by_lists(
        &self,
        dump: &Dump<'_>,
        module: &Module<'_>,
        control: &Control,
    ) -> Result<CodeByLists> {
        let lists = known_lists(dump, module, control)?;
        let mut known = self.by_lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&lists) {
            return Ok(found.clone());
        }
        let find = |numbering| CollectorCode::find_with(module, &lists, numbering, control);
        let found = match find(Numbering::Current) {
            Some(code) => CodeByLists::Found(Arc::new(code)),
            None if find(Numbering::WithoutObject).is_some() => CodeByLists::OldNumbers,
            None => CodeByLists::NotFound,
        };
        // A search that was cancelled found nothing.
        control.check()?;
        known.insert(lists, found.clone());
        Ok(found)
    }
}
