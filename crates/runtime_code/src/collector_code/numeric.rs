//! Arithmetic of the machine: instructions that read and write the operand stack and nothing else.
//!
//! Values are kept as 64 bits: an i32 or f32 in the low half, with zeros above.

use wasmparser::Operator;

/// Pops the operands of a numeric instruction and pushes its result. `None` if the instruction is not
/// numeric, an operand is missing, or it traps.
pub(super) fn execute(operator: &Operator<'_>, stack: &mut Vec<u64>) -> Option<()> {
    match unary(operator, stack) {
        Some(value) => {
            stack.push(value);
            Some(())
        }
        None => {
            let value = binary(operator, stack)?;
            stack.push(value);
            Some(())
        }
    }
}

fn from_i32(value: i32) -> u64 {
    u64::from(value as u32)
}

fn from_f32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// `None`, without a change to the stack, if this is not an instruction with one operand.
fn unary(operator: &Operator<'_>, stack: &mut Vec<u64>) -> Option<u64> {
    use Operator as Op;
    let &operand = stack.last()?;
    let i32 = operand as u32 as i32;
    let i64 = operand as i64;
    let f32 = f32::from_bits(operand as u32);
    let f64 = f64::from_bits(operand);
    let value = match operator {
        Op::I32Eqz => u64::from(i32 == 0),
        Op::I64Eqz => u64::from(i64 == 0),
        Op::I32Clz => i32.leading_zeros().into(),
        Op::I32Ctz => i32.trailing_zeros().into(),
        Op::I32Popcnt => i32.count_ones().into(),
        Op::I64Clz => i64.leading_zeros().into(),
        Op::I64Ctz => i64.trailing_zeros().into(),
        Op::I64Popcnt => i64.count_ones().into(),
        Op::I32Extend8S => from_i32((i32 as i8).into()),
        Op::I32Extend16S => from_i32((i32 as i16).into()),
        Op::I64Extend8S => i64::from(i64 as i8) as u64,
        Op::I64Extend16S => i64::from(i64 as i16) as u64,
        Op::I64Extend32S | Op::I64ExtendI32S => i64::from(i32) as u64,
        Op::I32WrapI64 | Op::I64ExtendI32U => u64::from(i32 as u32),
        Op::I32ReinterpretF32
        | Op::F32ReinterpretI32
        | Op::I64ReinterpretF64
        | Op::F64ReinterpretI64 => operand,
        Op::F32Abs => from_f32(f32.abs()),
        Op::F32Neg => from_f32(-f32),
        Op::F32Ceil => from_f32(f32.ceil()),
        Op::F32Floor => from_f32(f32.floor()),
        Op::F32Trunc => from_f32(f32.trunc()),
        Op::F32Nearest => from_f32(f32.round_ties_even()),
        Op::F32Sqrt => from_f32(f32.sqrt()),
        Op::F64Abs => f64.abs().to_bits(),
        Op::F64Neg => (-f64).to_bits(),
        Op::F64Ceil => f64.ceil().to_bits(),
        Op::F64Floor => f64.floor().to_bits(),
        Op::F64Trunc => f64.trunc().to_bits(),
        Op::F64Nearest => f64.round_ties_even().to_bits(),
        Op::F64Sqrt => f64.sqrt().to_bits(),
        Op::F32ConvertI32S => from_f32(i32 as f32),
        Op::F32ConvertI32U => from_f32(i32 as u32 as f32),
        Op::F32ConvertI64S => from_f32(i64 as f32),
        Op::F32ConvertI64U => from_f32(i64 as u64 as f32),
        Op::F32DemoteF64 => from_f32(f64 as f32),
        Op::F64ConvertI32S => f64::from(i32).to_bits(),
        Op::F64ConvertI32U => f64::from(i32 as u32).to_bits(),
        Op::F64ConvertI64S => (i64 as f64).to_bits(),
        Op::F64ConvertI64U => (i64 as u64 as f64).to_bits(),
        Op::F64PromoteF32 => f64::from(f32).to_bits(),
        // In an engine, the first four trap if the value is out of range. No collector contains them.
        Op::I32TruncF32S | Op::I32TruncSatF32S => from_i32(f32 as i32),
        Op::I32TruncF32U | Op::I32TruncSatF32U => u64::from(f32 as u32),
        Op::I32TruncF64S | Op::I32TruncSatF64S => from_i32(f64 as i32),
        Op::I32TruncF64U | Op::I32TruncSatF64U => u64::from(f64 as u32),
        Op::I64TruncF32S | Op::I64TruncSatF32S => (f32 as i64) as u64,
        Op::I64TruncF32U | Op::I64TruncSatF32U => f32 as u64,
        Op::I64TruncF64S | Op::I64TruncSatF64S => (f64 as i64) as u64,
        Op::I64TruncF64U | Op::I64TruncSatF64U => f64 as u64,
        _ => return None,
    };
    stack.pop();
    Some(value)
}

fn binary(operator: &Operator<'_>, stack: &mut Vec<u64>) -> Option<u64> {
    let right = stack.pop()?;
    let left = stack.pop()?;
    integer32(operator, left as u32, right as u32)
        .or_else(|| integer64(operator, left, right))
        .or_else(|| floating(operator, left, right))
}

fn integer32(operator: &Operator<'_>, left: u32, right: u32) -> Option<u64> {
    use Operator as Op;
    let (signed_left, signed_right) = (left as i32, right as i32);
    Some(u64::from(match operator {
        Op::I32Add => left.wrapping_add(right),
        Op::I32Sub => left.wrapping_sub(right),
        Op::I32Mul => left.wrapping_mul(right),
        Op::I32DivS => signed_left.checked_div(signed_right)? as u32,
        Op::I32DivU => left.checked_div(right)?,
        Op::I32RemS if right != 0 => signed_left.wrapping_rem(signed_right) as u32,
        Op::I32RemU => left.checked_rem(right)?,
        Op::I32And => left & right,
        Op::I32Or => left | right,
        Op::I32Xor => left ^ right,
        Op::I32Shl => left.wrapping_shl(right),
        Op::I32ShrS => signed_left.wrapping_shr(right) as u32,
        Op::I32ShrU => left.wrapping_shr(right),
        Op::I32Rotl => left.rotate_left(right & 31),
        Op::I32Rotr => left.rotate_right(right & 31),
        Op::I32Eq => (left == right).into(),
        Op::I32Ne => (left != right).into(),
        Op::I32LtS => (signed_left < signed_right).into(),
        Op::I32LtU => (left < right).into(),
        Op::I32GtS => (signed_left > signed_right).into(),
        Op::I32GtU => (left > right).into(),
        Op::I32LeS => (signed_left <= signed_right).into(),
        Op::I32LeU => (left <= right).into(),
        Op::I32GeS => (signed_left >= signed_right).into(),
        Op::I32GeU => (left >= right).into(),
        _ => return None,
    }))
}

fn integer64(operator: &Operator<'_>, left: u64, right: u64) -> Option<u64> {
    use Operator as Op;
    let (signed_left, signed_right) = (left as i64, right as i64);
    Some(match operator {
        Op::I64Add => left.wrapping_add(right),
        Op::I64Sub => left.wrapping_sub(right),
        Op::I64Mul => left.wrapping_mul(right),
        Op::I64DivS => signed_left.checked_div(signed_right)? as u64,
        Op::I64DivU => left.checked_div(right)?,
        Op::I64RemS if right != 0 => signed_left.wrapping_rem(signed_right) as u64,
        Op::I64RemU => left.checked_rem(right)?,
        Op::I64And => left & right,
        Op::I64Or => left | right,
        Op::I64Xor => left ^ right,
        Op::I64Shl => left.wrapping_shl(right as u32),
        Op::I64ShrS => signed_left.wrapping_shr(right as u32) as u64,
        Op::I64ShrU => left.wrapping_shr(right as u32),
        Op::I64Rotl => left.rotate_left(right as u32 & 63),
        Op::I64Rotr => left.rotate_right(right as u32 & 63),
        Op::I64Eq => (left == right).into(),
        Op::I64Ne => (left != right).into(),
        Op::I64LtS => (signed_left < signed_right).into(),
        Op::I64LtU => (left < right).into(),
        Op::I64GtS => (signed_left > signed_right).into(),
        Op::I64GtU => (left > right).into(),
        Op::I64LeS => (signed_left <= signed_right).into(),
        Op::I64LeU => (left <= right).into(),
        Op::I64GeS => (signed_left >= signed_right).into(),
        Op::I64GeU => (left >= right).into(),
        _ => return None,
    })
}

fn floating(operator: &Operator<'_>, left: u64, right: u64) -> Option<u64> {
    use Operator as Op;
    let [a, b] = [left, right].map(f64::from_bits);
    let [c, d] = [left, right].map(|bits| f32::from_bits(bits as u32));
    Some(match operator {
        Op::F64Add => (a + b).to_bits(),
        Op::F64Sub => (a - b).to_bits(),
        Op::F64Mul => (a * b).to_bits(),
        Op::F64Div => (a / b).to_bits(),
        Op::F64Min => a.min(b).to_bits(),
        Op::F64Max => a.max(b).to_bits(),
        Op::F64Copysign => a.copysign(b).to_bits(),
        Op::F64Eq => (a == b).into(),
        Op::F64Ne => (a != b).into(),
        Op::F64Lt => (a < b).into(),
        Op::F64Gt => (a > b).into(),
        Op::F64Le => (a <= b).into(),
        Op::F64Ge => (a >= b).into(),
        Op::F32Add => from_f32(c + d),
        Op::F32Sub => from_f32(c - d),
        Op::F32Mul => from_f32(c * d),
        Op::F32Div => from_f32(c / d),
        Op::F32Min => from_f32(c.min(d)),
        Op::F32Max => from_f32(c.max(d)),
        Op::F32Copysign => from_f32(c.copysign(d)),
        Op::F32Eq => (c == d).into(),
        Op::F32Ne => (c != d).into(),
        Op::F32Lt => (c < d).into(),
        Op::F32Gt => (c > d).into(),
        Op::F32Le => (c <= d).into(),
        Op::F32Ge => (c >= d).into(),
        _ => return None,
    })
}
