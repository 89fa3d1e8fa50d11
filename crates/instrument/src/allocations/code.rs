//! The code section of the instrumented module.

use std::collections::BTreeMap;

use wasm_encoder::{Encode, InstructionSink, ValType};
use wasmparser::FunctionBody;

use super::added::Added;
use super::bodies::{self, Additions};
use super::edits::{Edits, Offsets, mark};
use super::hooks::{BlockAddress, Hook, HookKind, Hooks};
use super::types::Types;
use base::error::Result;
use wasm::module::{Module, unreadable};

/// The code section. Offsets count from its start.
#[derive(Default)]
pub(super) struct Code {
    pub(super) contents: Vec<u8>,
    /// Where the code came from.
    pub(super) offsets: Offsets,
    /// The call of the host that gives it a sample.
    pub(super) call: u64,
}

pub(super) struct CodeWriter<'w> {
    pub(super) wasm: &'w [u8],
    pub(super) module: &'w Module<'w>,
    pub(super) types: &'w Types,
    pub(super) hooks: &'w Hooks,
    pub(super) added: &'w Added,
}

/// What contexts need in a function.
#[derive(Default)]
struct ContextCode {
    /// The local variable with the context of the function.
    own: Option<u32>,
    /// Groups of local variables, and their number.
    groups: Vec<u8>,
    group_count: u32,
    /// At its start.
    code: Vec<u8>,
    calls: Edits,
}

impl CodeWriter<'_> {
    pub(super) fn write(&self, bodies: &[FunctionBody<'_>]) -> Result<Code> {
        let Self {
            module,
            hooks,
            added,
            ..
        } = self;
        let mut code = Code::default();
        let count = bodies.len() + added.inner.len() + added.free_slowly.len() + 2;
        (count as u32).encode(&mut code.contents);
        let hooked: BTreeMap<_, _> = hooks
            .list
            .iter()
            .map(|hook| (hook.function, hook))
            .collect();
        let imported = module.functions.imported();
        for (body, function) in bodies.iter().zip(imported..) {
            match hooked.get(&function) {
                None => {
                    self.copied((function, body), |callee| added.outer(callee), &mut code)?;
                }
                Some(hook) => self.hooked(body, hook, &mut code)?,
            }
        }
        for &function in added.inner.keys() {
            let Some(body) = bodies.get((function - imported) as usize) else {
                continue;
            };
            if hooks.within.contains(&function) {
                self.copied((function, body), |callee| self.within(callee), &mut code)?;
            } else {
                self.copied((function, body), |callee| added.outer(callee), &mut code)?;
            }
        }
        for &function in added.free_slowly.keys() {
            let address = match hooked.get(&function).map(|hook| hook.kind) {
                Some(HookKind::Free(address)) => address,
                _ => BlockAddress::Result { below: 0 },
            };
            let inner = added.inner.get(&function).copied().unwrap_or(0);
            let slowly = bodies::free_slowly(address, self.parameters(function), inner, added);
            new_function(slowly, &mut code);
        }
        let (record, call) = bodies::record(added);
        code.call = new_function(record, &mut code) + call as u64;
        new_function(bodies::forget(added), &mut code);
        Ok(code)
    }

    /// The index of a function for the code of functions that allocate, where no other allocation counts.
    fn within(&self, function: u32) -> u32 {
        match self.added.inner.get(&function) {
            Some(&inner) if self.hooks.within.contains(&function) => inner,
            _ => self.added.outer(function),
        }
    }

    fn parameters(&self, function: u32) -> u32 {
        let ty = self.types.of(self.module, function);
        ty.map_or(0, |ty| ty.params().len()) as u32
    }

    /// A function with nothing but its indexes changed, and with the code for contexts.
    fn copied(
        &self,
        (function, body): (u32, &FunctionBody<'_>),
        index: impl Fn(u32) -> u32,
        code: &mut Code,
    ) -> Result<()> {
        let mut edits = Edits::default();
        let (locals, groups) = self.locals(function, body)?;
        let context = self.context((function, body), locals)?;
        if context.group_count > 0 {
            edits.number(body.range().start as usize, groups + context.group_count);
            let operators = body.get_operators_reader().map_err(unreadable)?;
            let start = [context.groups, context.code].concat();
            edits.insert(operators.original_position() as usize, start);
        }
        edits.append(context.calls);
        edits.expression(body.get_operators_reader().map_err(unreadable)?)?;
        self.function(body, edits, index, Vec::new(), code)
    }

    /// The number of local variables, the parameters included, and of their groups.
    fn locals(&self, function: u32, body: &FunctionBody<'_>) -> Result<(u32, u32)> {
        let mut locals = self.parameters(function);
        let groups = body.get_locals_reader().map_err(unreadable)?;
        let group_count = groups.get_count();
        for group in groups {
            locals += group.map_err(unreadable)?.0;
        }
        Ok((locals, group_count))
    }

    /// The code for contexts in a function, whose next local variable is `first`.
    fn context(
        &self,
        (function, body): (u32, &FunctionBody<'_>),
        first: u32,
    ) -> Result<ContextCode> {
        let mut start = ContextCode::default();
        let Some(contexts) = &self.added.contexts else {
            return Ok(start);
        };
        let imported = self.module.functions.imported();
        if contexts.leading.contains(&function) {
            start.own = Some(first);
            contexts.take(&mut InstructionSink::new(&mut start.code), first);
        }
        let calls_host =
            contexts.at_calls(body, (start.own, first + 1), imported, &mut start.calls)?;
        if calls_host || start.own.is_some() {
            start.group_count = 1;
            2u32.encode(&mut start.groups);
            ValType::I64.encode(&mut start.groups);
        }
        Ok(start)
    }

    /// A function of the allocator with its additions.
    fn hooked(&self, body: &FunctionBody<'_>, hook: &Hook, code: &mut Code) -> Result<()> {
        let parameters = self.parameters(hook.function);
        let (locals, group_count) = self.locals(hook.function, body)?;
        let mut edits = Edits::default();
        let added_locals = bodies::added_locals(hook.kind, parameters);
        let context = self.context((hook.function, body), locals + added_locals)?;
        let slowly = self.added.free_slowly.get(&hook.function).copied();
        let Additions {
            locals: (new_groups, mut before),
            before: instructions,
            after,
        } = bodies::additions(
            hook.kind,
            parameters,
            locals,
            slowly.unwrap_or(0),
            context.own,
            self.added,
        );
        before.extend(context.groups);
        before.extend(context.code);
        before.extend(instructions);
        let operators = body.get_operators_reader().map_err(unreadable)?;
        let group_count = group_count + new_groups + context.group_count;
        edits.number(body.range().start as usize, group_count);
        edits.insert(operators.original_position() as usize, before);
        edits.append(context.calls);
        match after {
            Some(after) => {
                edits.code_in_block(operators)?;
                self.function(body, edits, |callee| self.within(callee), after, code)
            }
            None => {
                edits.expression(operators)?;
                self.function(
                    body,
                    edits,
                    |callee| self.added.outer(callee),
                    Vec::new(),
                    code,
                )
            }
        }
    }

    fn function(
        &self,
        body: &FunctionBody<'_>,
        mut edits: Edits,
        index: impl Fn(u32) -> u32,
        after: Vec<u8>,
        code: &mut Code,
    ) -> Result<()> {
        let range = body.range().start as usize..body.range().end as usize;
        edits.sort();
        let (new, offsets) = edits.apply(self.wasm, range, index)?;
        ((new.len() + after.len()) as u32).encode(&mut code.contents);
        let start = code.contents.len() as u64;
        for (at, original) in offsets {
            mark(&mut code.offsets, start + at, original);
        }
        code.contents.extend(new);
        if !after.is_empty() {
            mark(&mut code.offsets, code.contents.len() as u64, 0);
            code.contents.extend(after);
        }
        Ok(())
    }
}

/// Adds a function that was not in the module. Returns its offset.
fn new_function(function: wasm_encoder::Function, code: &mut Code) -> u64 {
    (function.byte_len() as u32).encode(&mut code.contents);
    let start = code.contents.len() as u64;
    mark(&mut code.offsets, start, 0);
    code.contents.extend(function.into_raw_body());
    start
}
