//! Instructions that load, store, fill and copy.

use base::control::CHECK_INTERVAL;
use wasmparser::Operator;

use super::machine::MachineRun;
use super::memory::MachineMemory;
use super::numeric;
use super::observer::{CallStack, Loaded, Observer, Stored};

/// The number of bytes that are stored at once.
const PIECE: usize = 1 << 12;

impl<O: Observer, M: MachineMemory> MachineRun<'_, '_, '_, O, M> {
    /// Executes a load, a store, or an instruction that only computes.
    pub(super) fn compute(&mut self, operator: &Operator<'_>) -> Option<()> {
        use Operator as Op;
        match operator {
            Op::I32Load { memarg } | Op::F32Load { memarg } | Op::I64Load32U { memarg } => {
                self.load(memarg, |bytes: [u8; 4]| u32::from_le_bytes(bytes).into())
            }
            Op::I64Load { memarg } | Op::F64Load { memarg } => {
                self.load(memarg, u64::from_le_bytes)
            }
            Op::I32Load8U { memarg } | Op::I64Load8U { memarg } => {
                self.load(memarg, |[byte]: [u8; 1]| byte.into())
            }
            Op::I32Load8S { memarg } => {
                self.load(memarg, |[byte]: [u8; 1]| u64::from(byte as i8 as u32))
            }
            Op::I64Load8S { memarg } => self.load(memarg, |[byte]: [u8; 1]| byte as i8 as u64),
            Op::I32Load16U { memarg } | Op::I64Load16U { memarg } => {
                self.load(memarg, |bytes: [u8; 2]| u16::from_le_bytes(bytes).into())
            }
            Op::I32Load16S { memarg } => self.load(memarg, |bytes: [u8; 2]| {
                u64::from(i16::from_le_bytes(bytes) as u32)
            }),
            Op::I64Load16S { memarg } => {
                self.load(memarg, |bytes: [u8; 2]| i16::from_le_bytes(bytes) as u64)
            }
            Op::I64Load32S { memarg } => {
                self.load(memarg, |bytes: [u8; 4]| i32::from_le_bytes(bytes) as u64)
            }
            Op::I32Store { memarg } | Op::F32Store { memarg } | Op::I64Store32 { memarg } => {
                self.store(memarg, 4)
            }
            Op::I64Store { memarg } | Op::F64Store { memarg } => self.store(memarg, 8),
            Op::I32Store8 { memarg } | Op::I64Store8 { memarg } => self.store(memarg, 1),
            Op::I32Store16 { memarg } | Op::I64Store16 { memarg } => self.store(memarg, 2),
            _ => numeric::execute(operator, &mut self.values),
        }
    }

    /// Executes `memory.fill`.
    pub(super) fn fill(&mut self) -> Option<()> {
        let [address, value, length] = self.pop_three()?;
        self.machine.spend(u64::from(length / 4))?;
        let bytes = [value as u8; PIECE];
        self.store_bytes(address, length, |_, size| bytes.get(..size))
    }

    /// Executes `memory.copy`.
    pub(super) fn copy(&mut self) -> Option<()> {
        let [address, from, length] = self.pop_three()?;
        self.machine.spend(u64::from(length))?;
        let mut bytes = Vec::new();
        for at in 0..length {
            if (at as usize).is_multiple_of(CHECK_INTERVAL) {
                self.machine.control.check().ok()?;
            }
            bytes.push(self.state.memory.read::<1>(from.wrapping_add(at))?[0]);
        }
        self.store_bytes(address, length, |at, size| bytes.get(at..at + size))
    }

    fn load<const N: usize>(
        &mut self,
        memarg: &wasmparser::MemArg,
        value: impl Fn([u8; N]) -> u64,
    ) -> Option<()> {
        let address = self.address(memarg)?;
        let bytes = match self.observer.load(address, N as u32) {
            Loaded::FromMemory => self.state.memory.read(address)?,
            Loaded::Word(word) => *word.to_le_bytes().first_chunk()?,
            Loaded::Stop => {
                self.is_stopped = true;
                return None;
            }
        };
        self.values.push(value(bytes));
        Some(())
    }

    fn store(&mut self, memarg: &wasmparser::MemArg, size: usize) -> Option<()> {
        let value = self.values.pop()?;
        let address = self.address(memarg)?;
        match self.observe(address, value as u32)? {
            Stored::InMemory => self
                .state
                .memory
                .write(address, value.to_le_bytes().get(..size)?),
            _ => Some(()),
        }
    }

    /// Stores bytes in pieces. The last argument has the bytes at an offset.
    fn store_bytes<'b>(
        &mut self,
        address: u32,
        length: u32,
        bytes: impl Fn(usize, usize) -> Option<&'b [u8]>,
    ) -> Option<()> {
        if length > 0 {
            self.observe(address, 0)?;
        }
        for at in (0..length).step_by(PIECE) {
            let size = (length - at).min(PIECE as u32);
            let piece = bytes(at as usize, size as usize)?;
            self.state.memory.write(address.wrapping_add(at), piece)?;
        }
        Some(())
    }

    fn observe(&mut self, address: u32, value: u32) -> Option<Stored> {
        let calls = CallStack {
            frames: &self.frames,
        };
        let stored = self.observer.store(address, value, &calls);
        self.is_stopped = stored == Stored::Stop;
        (!self.is_stopped).then_some(stored)
    }

    fn address(&mut self, memarg: &wasmparser::MemArg) -> Option<u32> {
        if memarg.target != wasmparser::MemArgTarget::Memory(0) {
            return None;
        }
        let address = u64::from(self.pop32()?) + memarg.offset;
        u32::try_from(address).ok()
    }

    /// The last three values, in the order in which they were pushed.
    fn pop_three(&mut self) -> Option<[u32; 3]> {
        let third = self.pop32()?;
        let second = self.pop32()?;
        Some([self.pop32()?, second, third])
    }
}
