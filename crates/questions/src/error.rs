//! The errors of this crate.

use base::error::Coded;
use base::shown::Shown;
use base::units::ShownAddress;

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// An option that has no such value.
    #[error("option {name}: found {}; expected {expected}", Shown(found))]
    InvalidOption {
        /// The option's name.
        name: &'static str,
        /// What was passed.
        found: String,
        /// What can be passed.
        expected: &'static str,
    },
    /// No object at the address of a question.
    #[error("there is no object at address {address}{}", nearest_objects(nearest))]
    NoObject {
        /// Where it was looked for.
        address: ShownAddress,
        /// The nearest objects below and above it, with their classes.
        nearest: Vec<(ShownAddress, String)>,
    },
    /// No class with the name of a question.
    #[error(
        "there is no live object of a class \"{}\"{}; class names begin with their module (assembly/index/Node), and * stands for any text",
        Shown(pattern),
        nearest_names(nearest)
    )]
    UnknownClass {
        /// The name or pattern in the question.
        pattern: String,
        /// The classes whose names are most like it.
        nearest: Vec<String>,
    },
    /// Bytes that are not a place table of this version.
    #[error(
        "the place table cannot be read: {}; expected the bytes that a place table of this version was written as",
        Shown(found)
    )]
    PlaceTable {
        /// What is wrong.
        found: String,
    },
    /// Too few dumps for the rules of a check.
    #[error(
        "{found} dump(s) after the warm-up: without a budget, a check needs {needed} or more, because a few steady numbers rise by chance; take more dumps, or set a budget"
    )]
    TooFewDumps {
        /// How many there are.
        found: u64,
        /// How many it takes.
        needed: u64,
    },
    /// Two heaps that were opened with different modules.
    #[error(
        "{before} and {after} were opened with different modules, so their addresses cannot be compared: open both with the .wasm file that was running"
    )]
    DifferentModules {
        /// The earlier dump.
        before: String,
        /// The later dump.
        after: String,
    },
    /// A heap that is probably of another build than the module: what it seems to retain is no conclusion.
    #[error("{warning}; what retains the most or grows cannot be said of it")]
    OtherBuild {
        /// What was found.
        warning: String,
    },
    /// Two heap snapshots, one of which has objects with numbers of this file alone.
    #[error(
        "the objects of {before} and {after} cannot be compared one by one: ids of 64 bits are numbered anew in each file, so no object of one can be found in the other; suspects with an earlier snapshot and growth compare places"
    )]
    NumberedAnew {
        /// The earlier snapshot.
        before: String,
        /// The later snapshot.
        after: String,
    },
    /// A heap dump compared with a heap snapshot.
    #[error(
        "{dump} is a heap dump and {snapshot} is a heap snapshot of V8: only two dumps, or two snapshots, can be compared"
    )]
    DumpWithSnapshot {
        /// The dump.
        dump: String,
        /// The snapshot.
        snapshot: String,
    },
    /// A place table of two heaps that were joined.
    #[error(
        "the heap of {dump} was joined with that of its host, and growth would add up the bytes of both: open it without the host"
    )]
    JoinedTable {
        /// The dump.
        dump: String,
    },
    /// A question about what heaps of this kind do not have.
    #[error("{heap} cannot answer {question}: {reason}")]
    NotInHeap {
        /// The code of the kind of heaps.
        code: &'static str,
        /// What a sentence calls the heap.
        heap: &'static str,
        /// The question.
        question: &'static str,
        /// What is missing, and what to use instead.
        reason: &'static str,
    },
    /// A profile that cannot be used.
    #[error("cannot use the profile: {message}")]
    Profile {
        /// What is wrong with it, and what to do.
        message: String,
    },
}

impl Coded for QuestionError {
    fn code(&self) -> &'static str {
        match self {
            Self::InvalidOption { .. } => "ERR_INVALID_OPTION",
            Self::NoObject { .. } => "ERR_NO_OBJECT",
            Self::UnknownClass { .. } => "ERR_UNKNOWN_CLASS",
            Self::PlaceTable { .. } => "ERR_PLACE_TABLE",
            Self::TooFewDumps { .. } => "ERR_TOO_FEW_DUMPS",
            Self::DifferentModules { .. } | Self::OtherBuild { .. } => "ERR_MODULE_MISMATCH",
            Self::NumberedAnew { .. } => "ERR_NOT_IN_SNAPSHOT",
            Self::DumpWithSnapshot { .. } => "ERR_DUMP_WITH_SNAPSHOT",
            Self::JoinedTable { .. } => "ERR_NOT_IN_JOINED",
            Self::NotInHeap { code, .. } => code,
            Self::Profile { .. } => "ERR_PROFILE",
        }
    }
}

fn nearest_objects(nearest: &[(ShownAddress, String)]) -> String {
    let objects = nearest
        .iter()
        .map(|(address, class_name)| format!("{address} ({})", Shown(class_name)));
    match objects.collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => ": the heap has no objects".to_owned(),
        objects => format!("; the nearest objects are at {objects}"),
    }
}

fn nearest_names(nearest: &[String]) -> String {
    let names = nearest.iter().map(|name| Shown(name).to_string());
    match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::new(),
        names => format!("; the most similar names are {names}"),
    }
}
