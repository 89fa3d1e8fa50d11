//! Warnings as text.

use schemars::JsonSchema;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::warning::QuestionWarning;
use base::error::Result;
use base::shown::Shown;
use base::warning::Warning;

/// A finding that may make a number wrong. It did not stop the analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Warning")]
pub struct WarningText {
    /// A stable name for programs.
    pub code: Cow<'static, str>,
    /// A sentence: what was found, and which numbers may be wrong.
    pub message: String,
}

impl WarningText {
    /// The same, with a message that names the dump.
    pub(crate) fn in_dump(self, dump: &str) -> Self {
        let warning = self.message;
        Self {
            message: format!("{}: {warning}", Shown(dump)),
            ..self
        }
    }
}

impl From<&Warning> for WarningText {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code().into(),
            message: warning.to_string(),
        }
    }
}

/// Refuses a conclusion from what is probably of another build than its module.
///
/// # Errors
/// [`QuestionError::OtherBuild`].
pub(crate) fn refuse_other_build<'w>(
    warnings: impl IntoIterator<Item = &'w WarningText>,
) -> Result<()> {
    let mut warnings = warnings.into_iter();
    match warnings.find(|warning| warning.code == "WARN_FIELDS_DIFFER") {
        Some(warning) => Err(QuestionError::OtherBuild {
            warning: warning.message.clone(),
        }
        .into()),
        None => Ok(()),
    }
}

/// The warnings of an earlier heap and of this one. Each names its dump.
pub fn warnings_beside(loaded: &LoadedHeap, before: &LoadedHeap) -> Vec<WarningText> {
    let names = if before.dump_name == loaded.dump_name {
        ["before", "after"]
    } else {
        [before, loaded].map(|heap| heap.dump_name.as_str())
    };
    let heaps = names.into_iter().zip([before, loaded]);
    let mut warnings: Vec<WarningText> = heaps
        .flat_map(|(dump, heap)| {
            let warnings = heap.warnings().iter();
            warnings.map(|warning| WarningText::from(warning).in_dump(dump))
        })
        .collect();
    if loaded.is_same_module(before)
        && let [Some(earlier_size), Some(size)] = [before, loaded].map(|heap| heap.heap.total_size)
        && size < earlier_size
    {
        let shrank = Warning::MemoryShrank {
            before: earlier_size,
            after: size,
        };
        warnings.push(WarningText::from(&shrank));
    }
    let newest = [before, loaded].map(LoadedHeap::newest_object);
    warnings.extend(objects_out_of_order(names, newest));
    warnings
}

/// Whether the newest object of an earlier heap is newer than that of a later one.
pub(crate) fn objects_out_of_order(
    [before, after]: [&str; 2],
    newest: [Option<u64>; 2],
) -> Option<WarningText> {
    let [Some(newest_before), Some(newest)] = newest else {
        return None;
    };
    let warning = QuestionWarning::ObjectsOutOfOrder {
        before: before.to_owned(),
        after: after.to_owned(),
        newest_before,
        newest,
    }
    .into();
    (newest < newest_before).then(|| WarningText::from(&warning))
}
