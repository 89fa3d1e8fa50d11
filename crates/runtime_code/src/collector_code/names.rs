//! Names of classes in the names of functions: the names of constructors and visitors contain them.

use std::collections::HashMap;

use wasmparser::{FunctionBody, Operator};

use base::control::{CHECK_INTERVAL, Control};
use base::units::ClassId;
use wasm::module::Functions;

/// The names of classes from their constructors: the first object that `assembly/index/Node#constructor`
/// creates is the new `Node`. An id that several constructors create first is left out. `None` if the work
/// was cancelled.
pub(super) fn constructed_classes(
    functions: &Functions<'_>,
    control: &Control,
) -> Option<HashMap<ClassId, String>> {
    let mut found: HashMap<ClassId, Option<&str>> = HashMap::new();
    let new = functions
        .exported("__new")
        .or_else(|| functions.named("~lib/rt/itcms/__new"))
        .or_else(|| functions.named("~lib/rt/tcms/__new"));
    for (function, body) in functions.defined() {
        control.check().ok()?;
        let name = functions
            .name(function)
            .and_then(|name| name.strip_suffix("#constructor"));
        if let (Some(name), Some(new)) = (name, new)
            && let Some(id) = first_made(body, new, control)
        {
            let known = found.entry(id).or_insert(Some(name));
            *known = known.filter(|&known| known == name);
        }
    }
    control.check().ok()?;
    let named = found
        .into_iter()
        .filter_map(|(id, name)| Some((id, name?.to_owned())));
    Some(named.collect())
}

/// The class id that a function first passes to `__new(size, id)`. `None` also if the work was cancelled.
fn first_made(body: &FunctionBody<'_>, new: u32, control: &Control) -> Option<ClassId> {
    let mut id = None;
    let operators = body.get_operators_reader().ok();
    for (nth, operator) in (1u64..).zip(operators.into_iter().flatten().map_while(Result::ok)) {
        if nth.is_multiple_of(CHECK_INTERVAL as u64) {
            control.count(CHECK_INTERVAL as u64).ok()?;
        }
        match operator {
            Operator::Call { function_index } if function_index == new => return id,
            Operator::I32Const { value } => id = Some(ClassId(value as u32)),
            _ => id = None,
        }
    }
    None
}

/// The name of the class whose objects a function visits, if the function's name contains it.
pub(super) fn visited_class<'a>(functions: &Functions<'a>, visitor: u32) -> Option<&'a str> {
    functions.name(visitor)?.strip_suffix("~visit")
}

/// A class name as the source has it: the compiler escapes parentheses and commas of function types.
pub(super) fn unescaped(name: &str) -> String {
    name.replace("%28", "(")
        .replace("%29", ")")
        .replace("%2C", ",")
}
