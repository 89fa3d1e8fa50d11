//! Parts of the texts of warnings.

use crate::producer::Producer;
use crate::shown::Shown;

/// Why some classes have no name.
pub(crate) fn why_nameless(debug_info_by: Producer) -> &'static str {
    match debug_info_by {
        Producer::Nobody => {
            "no name of a function contains theirs, and the module has no debug information"
        }
        Producer::Warpo => {
            "WARPO left them out of the debug information, as it does with classes that are the type of no variable or field, and no name of a function contains theirs"
        }
        Producer::Transform | Producer::Other => {
            "the debug information does not describe them, and no name of a function contains theirs"
        }
    }
}

pub(crate) fn any_of(class_names: &[String]) -> String {
    let names = class_names.iter().map(|name| Shown(name).to_string());
    names.collect::<Vec<_>>().join(" or ")
}

/// The part of steady programs with five places that vary by chance in which one rises in every interval.
pub(crate) fn share_that_rises(dumps: u64) -> String {
    let orders: f64 = (1..=dumps).map(|nth| nth as f64).product();
    let share = (1.0 - (1.0 - orders.recip()).powi(5)) * 100.0;
    match share {
        share if share >= 1.0 => format!("{share:.0} %"),
        _ => format!("{share:.1} %"),
    }
}
