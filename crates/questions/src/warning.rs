//! What may be wrong about answers over several dumps.

use base::shown::Shown;
use base::warning::CodedWarning;

/// A finding about dumps that are compared, or about what their number allows to conclude.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuestionWarning {
    /// A check with a budget whose default rule was left out, because there were too few dumps.
    #[error(
        "only the budgets were checked: the default rule, that no place grows, needs {needed} dumps after the warm-up, and there are {found}"
    )]
    GrowthNotChecked {
        /// How many dumps there are after the warm-up.
        found: u64,
        /// How many the default rule needs.
        needed: u64,
    },
    /// Growth over so few dumps that chance can look like it.
    #[error(
        "growth over {count} dumps only: steady numbers that vary by chance can rise this often; of programs with five such places, about {} look as if they grew; take 8 dumps or more after the warm-up",
        share_that_rises(*count)
    )]
    FewDumps {
        /// How many there are after the warm-up.
        count: u64,
    },
    /// Numbers in the names of dumps that fall.
    #[error(
        "{} comes after {}: by the numbers in their names, the dumps are not in the order of time, and then what grows and what does not is wrong",
        Shown(after),
        Shown(before)
    )]
    NamesOutOfOrder {
        /// The name of the dump that comes first.
        before: String,
        /// That of the next one.
        after: String,
    },
    /// A heap snapshot without an object that is as new as the newest of the snapshot before it.
    #[error(
        "the newest object of {} has the id {newest}, but that of {} before it has {newest_before}: ids only rise while a program runs, so the snapshots are in the wrong order, or they are of two runs of the program",
        Shown(after),
        Shown(before)
    )]
    ObjectsOutOfOrder {
        /// The name of the snapshot that comes first.
        before: String,
        /// That of the next one.
        after: String,
        /// The greatest id in the first.
        newest_before: u64,
        /// The greatest id in the next one.
        newest: u64,
    },
    /// A profile and a dump that do not have the same blocks.
    #[error(
        "the profile and the dump have {matching} blocks in common, {only_in_profile} are only in the profile and {only_in_dump} only in the dump: these are not of the same moment, or some blocks were allocated without the profiler"
    )]
    ProfileDiffers {
        /// How many blocks both have.
        matching: u64,
        /// How many only the profile has.
        only_in_profile: u64,
        /// How many live blocks only the dump has.
        only_in_dump: u64,
    },
}

impl CodedWarning for QuestionWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::GrowthNotChecked { .. } => "WARN_GROWTH_NOT_CHECKED",
            Self::FewDumps { .. } => "WARN_FEW_DUMPS",
            Self::NamesOutOfOrder { .. } | Self::ObjectsOutOfOrder { .. } => "WARN_OUT_OF_ORDER",
            Self::ProfileDiffers { .. } => "WARN_PROFILE_DIFFERS",
        }
    }
}

/// The part of steady programs with five places that vary by chance in which one rises in every interval.
fn share_that_rises(dumps: u64) -> String {
    let orders: f64 = (1..=dumps).map(|nth| nth as f64).product();
    let share = (1.0 - (1.0 - orders.recip()).powi(5)) * 100.0;
    match share {
        share if share >= 1.0 => format!("{share:.0} %"),
        _ => format!("{share:.1} %"),
    }
}
