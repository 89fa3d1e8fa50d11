//! Finds the check of the stack pointer in flattened code, where every value passes through a local variable:
//!
//! ```wat
//! (local.set $1 (global.get $stack))
//! (local.set $2 (i32.sub (local.get $1) (i32.const 4)))
//! (global.set $stack (local.get $2))
//! (local.set $3 (global.get $stack))
//! (local.set $4 (i32.lt_s (local.get $3) (i32.const 1488)))
//! ```

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{FunctionBody, Operator};

use base::error::Result;
use wasm::module::{Globals, unreadable};

/// What is known of a value.
#[derive(Clone, Copy)]
enum PassedValue {
    Global(u32),
    Constant(u32),
    /// A global less a constant.
    Lowered(u32),
    Other,
}

/// The checks that follow the lowering of a global, with their limits.
#[derive(Default)]
pub(crate) struct FlattenedCode {
    pub(crate) checks: BTreeSet<(u32, u32)>,
}

impl FlattenedCode {
    /// Reads a function.
    pub(crate) fn read(&mut self, body: &FunctionBody<'_>, globals: &Globals<'_>) -> Result<()> {
        let mut stack = Vec::new();
        let mut locals: BTreeMap<u32, PassedValue> = BTreeMap::new();
        let mut lowered = None;
        for operator in body.get_operators_reader().map_err(unreadable)? {
            let operator = operator.map_err(unreadable)?;
            let mut pop = || stack.pop().unwrap_or(PassedValue::Other);
            let pushed = match operator {
                Operator::GlobalGet { global_index } => match globals.constant(&operator) {
                    Some(value) => PassedValue::Constant(value),
                    None => PassedValue::Global(global_index),
                },
                Operator::I32Const { value } => PassedValue::Constant(value as u32),
                Operator::LocalGet { local_index } => locals
                    .get(&local_index)
                    .copied()
                    .unwrap_or(PassedValue::Other),
                Operator::LocalSet { local_index } => {
                    locals.insert(local_index, pop());
                    continue;
                }
                Operator::I32Sub => match (pop(), pop()) {
                    (PassedValue::Constant(_), PassedValue::Global(index)) => {
                        PassedValue::Lowered(index)
                    }
                    _ => PassedValue::Other,
                },
                Operator::GlobalSet { global_index } => {
                    let is_lowered =
                        matches!(pop(), PassedValue::Lowered(index) if index == global_index);
                    lowered = is_lowered.then_some(global_index);
                    // What was read before is another value now.
                    locals.clear();
                    continue;
                }
                Operator::I32LtS => {
                    if let (PassedValue::Constant(limit), PassedValue::Global(index)) =
                        (pop(), pop())
                        && lowered == Some(index)
                    {
                        self.checks.insert((index, limit));
                    }
                    PassedValue::Other
                }
                _ => {
                    // Other code between them is not what the compiler writes.
                    stack.clear();
                    locals.clear();
                    lowered = None;
                    continue;
                }
            };
            stack.push(pushed);
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use base::control::Control;
    use wasm::module::Module;

    use crate::code_facts::CodeFacts;

    /// A program with data up to 1032, whose code is this.
    fn stack_pointer(code: &str) -> Option<u32> {
        let text = format!(
            r#"(module (memory 1) (data (i32.const 1024) "12345678")
              (global $stack (mut i32) (i32.const 34256)) (global $own (mut i32) (i32.const 40000))
              (func (local i32 i32 i32 i32) {code}))"#
        );
        let wasm = wat::parse_str(text).unwrap();
        let module = Module::parse(&wasm, &Control::default()).unwrap();
        let facts = CodeFacts::of(&module, &Control::default()).unwrap();
        let found = facts.stack_pointer(&module.globals)?;
        Some(facts.limit(found, 0..=34256).unwrap_or(0))
    }

    /// Lowers a global and checks it.
    fn checked(global: &str, limit: u32) -> String {
        format!(
            "(local.set 0 (global.get {global})) (local.set 1 (i32.sub (local.get 0) (i32.const 4)))
             (global.set {global} (local.get 1)) (local.set 2 (global.get {global}))
             (local.set 3 (i32.lt_s (local.get 2) (i32.const {limit})))"
        )
    }

    #[test]
    fn the_stack_pointer_is_the_global_that_is_checked_after_it_was_lowered() {
        assert_eq!(stack_pointer(&checked("$stack", 1488)), Some(1488));
    }

    #[test]
    fn a_global_with_a_limit_within_data_is_none() {
        assert_eq!(stack_pointer(&checked("$own", 100)), None);
        let both = checked("$own", 100) + &checked("$stack", 1488);
        assert_eq!(stack_pointer(&both), Some(1488));
    }

    #[test]
    fn of_two_globals_with_such_checks_none_is_taken() {
        let both = checked("$own", 1488) + &checked("$stack", 1488);
        assert_eq!(stack_pointer(&both), None);
    }

    #[test]
    fn a_check_after_other_code_is_none() {
        let between = checked("$stack", 1488).replace(
            "(local.set 2 (global.get $stack))",
            "(nop) (local.set 2 (global.get $stack))",
        );
        assert_eq!(stack_pointer(&between), None);
    }
}
