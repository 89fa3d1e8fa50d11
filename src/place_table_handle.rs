//! Place tables as JavaScript sees them.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::outcome::Outcome;
use super::profile::internal;
use engine::heap::SourceLocation;
use engine::questions::PlaceTable;
use engine::wasm::symbols::Symbols;
use workers::guard::guarded;

/// A place table that stays on the native side.
#[napi(custom_finalize)]
pub struct PlaceTableHandle {
    table: Arc<PlaceTable>,
    /// How much memory V8 knows of.
    registered_bytes: i64,
}

impl PlaceTableHandle {
    pub(super) fn new(table: PlaceTable) -> Self {
        Self {
            table: Arc::new(table),
            registered_bytes: 0,
        }
    }

    pub(super) fn table(&self) -> &Arc<PlaceTable> {
        &self.table
    }
}

impl Outcome for PlaceTableHandle {
    /// Registers what this handle holds with V8, whose collector counts it as pressure.
    fn registered(mut self, env: Env) -> Self {
        self.registered_bytes = self.table.memory_size() as i64;
        // It fails only while the environment ends.
        let _ = env.adjust_external_memory(self.registered_bytes);
        self
    }
}

impl ObjectFinalize for PlaceTableHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.registered_bytes)?;
        Ok(())
    }
}

#[napi]
impl PlaceTableHandle {
    /// Reads a table that `toBytes` has written.
    #[napi(factory)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        guarded(|| Ok(Self::new(PlaceTable::from_bytes(bytes)?)))
    }

    /// The table with the lines of constructors, by the names of a module and its source map.
    #[napi]
    pub fn with_source_map(&self, env: Env, wasm: &[u8], source_map: String) -> Result<Self> {
        guarded(|| {
            let symbols = Symbols::read(wasm, Some(&source_map))?;
            let constructors = symbols.constructors();
            let table = self.table.with_class_origins(|class| {
                let place = constructors.get(class)?;
                Some(SourceLocation {
                    file: place.file.to_owned(),
                    line: place.line,
                    column: place.column,
                })
            });
            Ok(Self::new(table).registered(env))
        })
    }

    /// Where the constructors of classes are, as JSON: `{ className, file, line, column }[]`.
    #[napi]
    pub fn class_lines(&self) -> Result<String> {
        guarded(|| Ok(serde_json::to_string(&self.table.class_lines()).map_err(internal)?))
    }

    /// The table as bytes.
    #[napi]
    pub fn to_bytes(&self) -> Result<Buffer> {
        guarded(|| Ok(self.table.to_bytes().into()))
    }

    /// What the dump is called.
    #[napi(getter)]
    pub fn name(&self) -> Result<String> {
        guarded(|| Ok(self.table.dump_name().to_owned()))
    }

    /// The bytes of all live heap objects.
    #[napi(getter)]
    pub fn total_live_size(&self) -> Result<f64> {
        guarded(|| Ok(self.table.total_live_size() as f64))
    }
}
