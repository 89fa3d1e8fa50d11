//! An answer to any question.

use schemars::JsonSchema;
use serde::Serialize;

use crate::dominators::{DominatorGroups, Dominators};
use crate::find::FoundObjects;
use crate::growth::{Check, Growth};
use crate::object::ObjectAnswer;
use crate::paths::{MergedPaths, PathAnswer};
use crate::referrers::Referrers;
use crate::report::Report;
use crate::summary::Summary;
use crate::suspects::Suspects;
use crate::unreachable::Unreachable;
use crate::warnings::WarningText;
use crate::waste::Waste;
use base::units::AddressForm;

/// The version of the types of answers.
const SCHEMA_VERSION: u32 = 2;

/// The fields of every answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The version of these types.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    schema_version: u32,
    /// The answer itself.
    #[serde(flatten)]
    #[schemars(skip)]
    pub body: AnswerBody,
    /// Whether the heap is damaged and only the part before the damage was read.
    pub partial: bool,
    /// The reasons why numbers may be wrong. If the answer compares two heaps: those of both, each beginning with the
    /// name of its dump.
    pub warnings: Vec<WarningText>,
    /// The form of addresses in text.
    #[serde(skip)]
    pub address_form: AddressForm,
}

impl Answer {
    pub(crate) fn new(body: AnswerBody, partial: bool, warnings: Vec<WarningText>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            body,
            partial,
            warnings,
            address_form: AddressForm::default(),
        }
    }

    /// The same with addresses of another form.
    pub(crate) fn with_addresses(self, address_form: AddressForm) -> Self {
        Self {
            address_form,
            ..self
        }
    }
}

/// The answer to each question.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnswerBody {
    /// To `summary`.
    Summary(Box<Summary>),
    /// To `find`.
    Find(FoundObjects),
    /// To `object`.
    Object(Box<ObjectAnswer>),
    /// To `referrers`.
    Referrers(Referrers),
    /// To `paths` of one object.
    Path(Box<PathAnswer>),
    /// To `paths` of several objects.
    MergedPaths(MergedPaths),
    /// To `dominators`.
    Dominators(Dominators),
    /// To `dominators` by class.
    DominatorGroups(DominatorGroups),
    /// To `suspects`.
    Suspects(Suspects),
    /// To `waste`.
    Waste(Waste),
    /// To `unreachable`.
    Unreachable(Unreachable),
    /// To `growth`.
    Growth(Growth),
    /// To `check`.
    Check(Check),
    /// To `report`: for its page alone.
    #[schemars(skip)]
    Report(Box<Report>),
}
