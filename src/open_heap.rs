//! A loaded heap on the native side, and what it answers.

use std::sync::Arc;

use napi_derive::napi;
use serde::de::DeserializeOwned;

use super::error::{JsError, Result};
use super::options::ViewRequest;
use super::outcome::Outcome;
use super::views::{TextForm, ViewHandle, ViewPartsData, WarningData};
use base::control::Control;
use engine::heap::views::{ComparisonSort, ConstructorSort, ConstructorView};
use engine::outputs::formats::render_json;
use engine::questions::{Answer, LoadedHeap, Question, class_parts, live_parts};

/// A heap, and the inputs from which it was opened.
pub(super) struct OpenHeap {
    pub(super) loaded: LoadedHeap,
    /// The size of the copy of the caller's dump.
    pub(super) kept_bytes: u64,
}

impl OpenHeap {
    pub(super) fn loaded(&self) -> &LoadedHeap {
        &self.loaded
    }

    pub(super) fn memory_size(&self) -> u64 {
        self.loaded.memory_size() + self.kept_bytes
    }

    pub(super) fn ask(
        &self,
        question: &Question,
        before: Option<&Self>,
        text: Option<&TextForm>,
        control: &Control,
    ) -> base::Result<AnswerData> {
        if let (Question::Paths(options), Some(before)) = (question, before)
            && options.new_since
        {
            before.check_same_module(self)?;
        }
        let before = before.map(|before| &before.loaded);
        let answer = engine::questions::ask(&self.loaded, question, before, control)?;
        Ok(AnswerData {
            text: rendered(&answer, text),
            warnings: answer.warnings.into_iter().map(Into::into).collect(),
        })
    }

    pub(super) fn constructor_view(
        &self,
        request: &ViewRequest<ConstructorSort>,
        control: &Control,
    ) -> base::Result<ViewHandle> {
        let view = request.constructor_view(Arc::clone(self.loaded.heap()), control)?;
        let warnings = self.loaded.warnings().iter().map(WarningData::from);
        let parts = self.parts(&view, control)?;
        Ok(ViewHandle::of_loaded_heap(view, warnings.collect(), parts))
    }

    /// Of heaps that were joined: the sizes of a view by heap.
    fn parts(
        &self,
        view: &ConstructorView,
        control: &Control,
    ) -> base::Result<Option<ViewPartsData>> {
        let Some(live) = live_parts(&self.loaded) else {
            return Ok(None);
        };
        let rows = class_parts(&self.loaded, view, control)?;
        Ok(Some(ViewPartsData {
            total_live_parts: live.into(),
            rows: rows.into_iter().map(Into::into).collect(),
        }))
    }

    pub(super) fn comparison_view(
        &self,
        before: &Self,
        request: ViewRequest<ComparisonSort>,
        control: &Control,
    ) -> base::Result<ViewHandle> {
        before.check_same_module(self)?;
        let view = self
            .loaded
            .compared_with(&before.loaded, request.selection, control)?;
        let warnings = engine::questions::warnings_beside(&self.loaded, &before.loaded)
            .into_iter()
            .map(WarningData::from)
            .collect();
        Ok(ViewHandle::of_loaded_heaps(view, warnings))
    }

    /// Refuses to compare addresses of two programs.
    pub(super) fn check_same_module(&self, after: &Self) -> base::Result<()> {
        self.loaded.check_same_module(&after.loaded)
    }
}

/// A rendered answer and its warnings.
#[napi(object, object_from_js = false)]
pub struct AnswerData {
    /// JSON, or text without the warnings.
    pub text: String,
    /// The warnings.
    pub warnings: Vec<WarningData>,
}

/// Renders an answer: as text with these options; without options, as JSON.
pub(super) fn rendered(answer: &Answer, text: Option<&TextForm>) -> String {
    match text {
        Some(form) => form.text(answer),
        None => render_json(answer),
    }
}

impl Outcome for AnswerData {}

pub(super) fn parsed<T: DeserializeOwned>(what: &str, json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| JsError::new("ERR_INVALID_OPTION", format!("{what}: {error}")))
}
