//! The code that is added to the functions of an allocator. What runs at every allocation and at every free
//! makes no call, so that the engine keeps values in registers: calls are in functions of their own, and they
//! are the last that a function does.
//!
//! All added globals are i64, whose values are in no dump: a dump of the instrumented module is one of the
//! original module too.

use std::ops::Range;

use wasm_encoder::{BlockType, Encode, Function, InstructionSink, MemArg, ValType};

use super::added::Added;
use super::hooks::{AllocatedSize, BlockAddress, HookKind};

/// How far an address is shifted for each mask. The lowest six bits of what remains are the number of a bit.
/// `live_samples.wat` has the same.
pub(super) const MASK_SHIFTS: [i32; 2] = [4, 10];
/// The payload of the smallest block of AssemblyScript's allocator.
const SMALLEST_PAYLOAD: i32 = 12;

/// What is added to a function.
pub(super) struct Additions {
    /// Groups of local variables, and their number.
    pub(super) locals: (u32, Vec<u8>),
    /// Code before that of the function.
    pub(super) before: Vec<u8>,
    /// Code after that of the function, which is in a block with the result. Its own `end` ends this block.
    pub(super) after: Option<Vec<u8>>,
}

/// The number of local variables that are added to a function.
pub(super) fn added_locals(kind: HookKind, parameters: u32) -> u32 {
    match kind {
        HookKind::Free(_) => 0,
        _ => parameters + 4,
    }
}

/// What is added to a function of an allocator.
///
/// - `parameters`: the number of its parameters.
/// - `locals`: the number of its local variables, the parameters included.
/// - `free_slowly`: for a function that frees, the function that it calls with the same parameters, and returns,
///   if the block may be a sample.
/// - `context`: the local variable with the context of the call, if the function has one.
pub(super) fn additions(
    kind: HookKind,
    parameters: u32,
    locals: u32,
    free_slowly: u32,
    context: Option<u32>,
    added: &Added,
) -> Additions {
    let mut before = Vec::new();
    let mut after = Vec::new();
    let mut code = InstructionSink::new(&mut before);
    let variables = Variables {
        added,
        saved: locals,
        result: locals + parameters,
        key: locals + parameters + 1,
        size: locals + parameters + 2,
        next: locals + parameters + 3,
        context,
    };
    let mut groups = Vec::new();
    for (count, ty) in [(parameters + 3, ValType::I32), (1, ValType::I64)] {
        count.encode(&mut groups);
        ty.encode(&mut groups);
    }
    let mut result = Additions {
        locals: (2, groups),
        before: Vec::new(),
        after: None,
    };
    match kind {
        HookKind::Free(address) => {
            result.locals = (0, Vec::new());
            may_be_sample(&mut code, added, |code| parameter(code, address));
            code.if_(BlockType::Empty);
            for parameter in 0..parameters {
                code.local_get(parameter);
            }
            // For the copy of this function, which it calls.
            if let Some((contexts, own)) = added.contexts.as_ref().zip(context) {
                contexts.pass(&mut code, own);
            }
            code.call(free_slowly).return_().end();
        }
        HookKind::GoAllocate => {
            // A call that resumes after it was suspended was counted when it began.
            code.local_get(0).i32_eqz();
            not_called_by(&mut code, &added.go_allocates, variables.key);
            code.if_(BlockType::Empty);
            code.global_get(0).i64_load(memory(8)).i32_wrap_i64();
            code.local_set(variables.size);
            // The host reads the stack from there.
            code.global_get(0).local_set(variables.key);
            variables.count(&mut code);
            code.if_(BlockType::Empty);
            variables.record(&mut code);
            code.drop().end().end();
        }
        HookKind::Allocate { address, size } => {
            variables.save(&mut code, parameters);
            let mut code = InstructionSink::new(&mut after);
            variables.load_key(&mut code, address);
            variables.allocated(&mut code, size);
        }
        HookKind::Reallocate { old, address, size } => {
            variables.save(&mut code, parameters);
            let mut code = InstructionSink::new(&mut after);
            variables.load_key(&mut code, address);
            // What had the old address is freed, unless the allocation failed.
            code.local_get(variables.key);
            if let AllocatedSize::Parameter(_) | AllocatedSize::Product(..) = size {
                variables.load_size(&mut code, size);
                code.local_get(variables.size).i32_eqz().i32_or();
            }
            code.if_(BlockType::Empty);
            let old = |code: &mut InstructionSink<'_>| {
                if let BlockAddress::Parameter { at, below } = old {
                    let at = variables.saved + at;
                    parameter(code, BlockAddress::Parameter { at, below });
                }
            };
            may_be_sample(&mut code, added, old);
            code.if_(BlockType::Empty);
            old(&mut code);
            code.call(added.forget).end().end();
            variables.allocated(&mut code, size);
        }
    }
    result.before = before;
    result.after = (!after.is_empty()).then_some(after);
    result
}

/// The function that frees what may be a sample: `inner` is the function without additions.
pub(super) fn free_slowly(
    address: BlockAddress,
    parameters: u32,
    inner: u32,
    added: &Added,
) -> Function {
    let mut function = Function::new([]);
    let mut code = function.instructions();
    parameter(&mut code, address);
    code.call(added.forget);
    for parameter in 0..parameters {
        code.local_get(parameter);
    }
    code.call(inner).end();
    function
}

/// The function that gives a sample to the host: (result, address, size) → result, or with the context as well. Also the
/// offset in it of the call of the host.
pub(super) fn record(added: &Added) -> (Function, usize) {
    let locals = added.contexts.as_ref().map(|_| (1, ValType::I32));
    let mut function = Function::new(locals);
    let mut code = function.instructions();
    if let Some(contexts) = &added.contexts {
        let known = 4;
        code.local_get(3).local_get(2).call(contexts.import_known);
        code.local_tee(known).if_(BlockType::Empty);
        if added.frees {
            code.local_get(1).local_get(2).local_get(known);
            code.call(contexts.import_keep_as);
            read_masks(&mut code, added);
        }
        code.local_get(0).return_().end();
    }
    code.local_get(1).local_get(2);
    code.global_get(added.countdown).f64_convert_i64_s();
    let call = function.byte_len();
    let mut code = function.instructions();
    code.call(added.import_allocated);
    code.i64_trunc_sat_f64_s().global_set(added.countdown);
    code.local_get(1).local_get(2).call(added.import_keep);
    read_masks(&mut code, added);
    code.local_get(0).end();
    (function, call)
}

/// The function that reports that an address is freed.
pub(super) fn forget(added: &Added) -> Function {
    let mut function = Function::new([]);
    let mut code = function.instructions();
    code.local_get(0).call(added.import_freed);
    code.if_(BlockType::Empty);
    read_masks(&mut code, added);
    code.end().end();
    function
}

fn read_masks(code: &mut InstructionSink<'_>, added: &Added) {
    for (nth, mask) in added.masks.into_iter().enumerate() {
        code.i32_const(nth as i32).call(added.import_mask);
        code.global_set(mask);
    }
}

/// Adds to a condition of a Go function that none of these called it: the return address is on top of the stack
/// in memory, and the value of the caller is in its bits from 16 on.
fn not_called_by(code: &mut InstructionSink<'_>, callers: &[Range<u32>], caller: u32) {
    if callers.is_empty() {
        return;
    }
    code.global_get(0).i64_load(memory(0)).i64_const(16);
    code.i64_shr_u().i32_wrap_i64().local_set(caller);
    for values in callers {
        code.local_get(caller).i32_const(values.start as i32);
        code.i32_sub().i32_const(values.len() as i32);
        code.i32_ge_u().i32_and();
    }
}

/// Whether an address may be that of a sample.
fn may_be_sample(
    code: &mut InstructionSink<'_>,
    added: &Added,
    key: impl Fn(&mut InstructionSink<'_>),
) {
    for (nth, (mask, shift)) in added.masks.into_iter().zip(MASK_SHIFTS).enumerate() {
        code.global_get(mask);
        key(code);
        code.i32_const(shift).i32_shr_u().i64_extend_i32_u();
        code.i64_shr_u();
        if nth > 0 {
            code.i64_and();
        }
    }
    code.i32_wrap_i64().i32_const(1).i32_and();
}

fn parameter(code: &mut InstructionSink<'_>, address: BlockAddress) {
    if let BlockAddress::Parameter { at, below } = address {
        code.local_get(at);
        if below != 0 {
            code.i32_const(below).i32_sub();
        }
    }
}

/// The local variables that are added to a function that allocates.
struct Variables<'a> {
    added: &'a Added,
    /// Copies of the parameters, which the function may change.
    saved: u32,
    result: u32,
    key: u32,
    size: u32,
    next: u32,
    context: Option<u32>,
}

impl Variables<'_> {
    fn save(&self, code: &mut InstructionSink<'_>, parameters: u32) {
        for parameter in 0..parameters {
            code.local_get(parameter).local_set(self.saved + parameter);
        }
        code.block(BlockType::Result(ValType::I32));
    }

    /// Takes the result from the stack, and finds the address of the block.
    fn load_key(&self, code: &mut InstructionSink<'_>, address: BlockAddress) {
        code.local_set(self.result);
        let below = match address {
            BlockAddress::Result { below } => {
                code.local_get(self.result);
                below
            }
            BlockAddress::Parameter { at, below } => {
                code.local_get(self.saved + at);
                below
            }
            BlockAddress::Pointer { at } => {
                // Only a call that succeeded writes the address.
                code.i32_const(0);
                code.local_get(self.saved + at).i32_load(memory(0));
                code.local_get(self.result);
                code.select();
                0
            }
            BlockAddress::Kept { at } => {
                code.local_get(self.saved + at).i32_const(0);
                code.local_get(self.result);
                code.select();
                0
            }
        };
        if below != 0 {
            code.i32_const(below).i32_sub();
        }
        code.local_set(self.key);
    }

    fn load_size(&self, code: &mut InstructionSink<'_>, size: AllocatedSize) {
        match size {
            AllocatedSize::Parameter(at) => {
                code.local_get(self.saved + at);
            }
            AllocatedSize::Product(one, other) => {
                code.local_get(self.saved + one);
                code.local_get(self.saved + other).i32_mul();
            }
            AllocatedSize::Block => {
                // The low bits of the header are flags; the header itself counts too.
                code.local_get(self.key).i32_load(memory(0));
                code.i32_const(-4).i32_and().i32_const(4).i32_add();
            }
            AllocatedSize::SplitBlock(at) => {
                // What remains must be a block by itself, or else it stays part of this one.
                let at = self.saved + at;
                code.local_get(at);
                code.local_get(self.key).i32_load(memory(0));
                code.i32_const(-4).i32_and().local_tee(self.size);
                code.local_get(self.size).local_get(at).i32_sub();
                code.i32_const(SMALLEST_PAYLOAD).i32_ge_u();
                code.select();
                code.i32_const(4).i32_add();
            }
        }
        code.local_set(self.size);
    }

    /// Counts an allocation, unless it failed and has no address; then the result, at the end of the function.
    fn allocated(&self, code: &mut InstructionSink<'_>, size: AllocatedSize) {
        code.local_get(self.key).if_(BlockType::Empty);
        self.load_size(code, size);
        self.count(code);
        code.if_(BlockType::Empty);
        self.record(code);
        code.return_().end().end();
        code.local_get(self.result).end();
    }

    /// Counts an allocation: whether a sample is due.
    fn count(&self, code: &mut InstructionSink<'_>) {
        let Added {
            countdown, count, ..
        } = *self.added;
        code.global_get(count).i64_const(1).i64_add();
        code.global_set(count);
        code.global_get(countdown);
        code.local_get(self.size).i64_extend_i32_u().i64_sub();
        code.local_tee(self.next).global_set(countdown);
        code.local_get(self.next).i64_const(0).i64_le_s();
    }

    fn record(&self, code: &mut InstructionSink<'_>) {
        code.local_get(self.result).local_get(self.key);
        code.local_get(self.size);
        if let Some(context) = self.context {
            code.local_get(context);
        }
        code.call(self.added.record);
    }
}

fn memory(offset: u64) -> MemArg {
    MemArg {
        offset,
        align: 2,
        target: wasm_encoder::MemArgTarget::Memory(0),
        ordering: None,
    }
}
