//! Place tables of heaps, and the questions that compare them.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::de::DeserializeOwned;

use super::calls::{Returned, call};
use super::error::Result;
use super::heap_handle::HeapHandle;
use super::open_heap::{AnswerData, parsed, rendered};
use super::outcome::Outcome;
use super::place_table_handle::PlaceTableHandle;
use super::views::{TableData, TextForm};
use super::work_control::WorkControl;
use base::control::Control;
use engine::questions::{self, Answer, CheckOptions, GrowthOptions, PlaceTable};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

#[napi]
impl HeapHandle {
    /// The place table of the heap.
    #[napi]
    pub fn place_table(&mut self, env: Env) -> Result<PlaceTableHandle> {
        guarded(|| {
            let heap = self.heap()?;
            let table =
                run_on_own_thread(|| questions::place_table(heap.loaded(), &Control::default()));
            // It builds an index, which stays.
            self.register(env);
            Ok(PlaceTableHandle::new(table?).registered(env))
        })
    }

    /// As `placeTable`, as a task.
    #[napi(ts_return_type = "Promise<PlaceTableHandle>")]
    pub fn place_table_async<'env>(
        &mut self,
        env: &'env Env,
        control: &WorkControl,
    ) -> Result<Object<'env>> {
        guarded(|| {
            self.register(*env);
            let heap = self.heap()?;
            control.start(env, [], move |[], control| {
                let table = questions::place_table(heap.loaded(), control)?;
                Ok(PlaceTableHandle::new(table))
            })
        })
    }
}

/// A question about several tables.
trait TableQuestion: DeserializeOwned + Send + Sync + 'static {
    fn answer(&self, tables: &[&PlaceTable], control: &Control) -> base::Result<Answer>;
}

impl TableQuestion for GrowthOptions {
    fn answer(&self, tables: &[&PlaceTable], control: &Control) -> base::Result<Answer> {
        questions::growth(tables, self, control)
    }
}

impl TableQuestion for CheckOptions {
    fn answer(&self, tables: &[&PlaceTable], control: &Control) -> base::Result<Answer> {
        questions::check(tables, self, control)
    }
}

/// What grows from table to table, with options as JSON: as text if it is said how, otherwise as JSON.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "tables: Array<PlaceTableHandle>, options: string, text?: TableData | undefined | null, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<AnswerData> : AnswerData"
)]
pub fn growth<'env>(
    env: &'env Env,
    tables: Vec<ClassInstance<PlaceTableHandle>>,
    options: String,
    text: Option<TableData>,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, AnswerData>> {
    compared::<GrowthOptions>(env, &tables, &options, text, control)
}

/// Whether tables keep to rules, with options as JSON: as text if it is said how, otherwise as JSON.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "tables: Array<PlaceTableHandle>, options: string, text?: TableData | undefined | null, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<AnswerData> : AnswerData"
)]
pub fn check<'env>(
    env: &'env Env,
    tables: Vec<ClassInstance<PlaceTableHandle>>,
    options: String,
    text: Option<TableData>,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, AnswerData>> {
    compared::<CheckOptions>(env, &tables, &options, text, control)
}

/// Whether `planned` tables, of which these are the first, may show growth: if not, further ones need not be made.
#[napi]
pub fn may_grow(
    tables: Vec<ClassInstance<PlaceTableHandle>>,
    planned: u32,
    slow: bool,
) -> Result<bool> {
    guarded(|| {
        let tables: Vec<&PlaceTable> = tables.iter().map(|table| &**table.table()).collect();
        Ok(run_on_own_thread(|| {
            questions::may_grow(&tables, u64::from(planned), slow, &Control::default())
        })?)
    })
}

fn compared<'env, C: TableQuestion>(
    env: &'env Env,
    tables: &[ClassInstance<PlaceTableHandle>],
    options: &str,
    text: Option<TableData>,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, AnswerData>> {
    guarded(|| {
        let question: C = parsed("the options", options)?;
        let text = text.map(TextForm::from);
        let tables: Vec<_> = tables
            .iter()
            .map(|table| Arc::clone(table.table()))
            .collect();
        call(env, [], control, move |[], control| {
            let tables: Vec<&PlaceTable> = tables.iter().map(|table| &**table).collect();
            let answer = question.answer(&tables, control)?;
            Ok(AnswerData {
                text: rendered(&answer, text.as_ref()),
                warnings: answer.warnings.into_iter().map(Into::into).collect(),
            })
        })
    })
}
