//! The memory of a dump, as the memory of a machine. What a run writes is kept beside it, and forgotten after the run.

use super::memory::{MachineMemory, Pages};

/// Bytes of a piece that is copied when it is first written. A visitor writes to its stack and to the heads of lists.
const LINE: usize = 1 << 8;

/// The largest number of pieces that a run may write. It looks through them for each access.
const MOST_LINES: usize = 16;

/// A dump's memory, and what a run has written.
#[derive(Debug)]
pub(super) struct VisitedMemory<'d> {
    bytes: &'d [u8],
    written: Vec<(u32, [u8; LINE])>,
}

impl<'d> VisitedMemory<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        Self {
            bytes,
            written: Vec::new(),
        }
    }

    /// Forgets what was written.
    pub(super) fn forget_writes(&mut self) {
        self.written.clear();
    }

    fn line(&self, number: u32) -> Option<&[u8]> {
        let written = self.written.iter().find(|(at, _)| *at == number);
        match written {
            Some((_, line)) => Some(line),
            None => self.original(number),
        }
    }

    fn original(&self, number: u32) -> Option<&'d [u8]> {
        let start = number as usize * LINE;
        self.bytes
            .get(start..self.bytes.len().min(start.checked_add(LINE)?))
    }

    fn line_to_write(&mut self, number: u32) -> Option<&mut [u8]> {
        let known = self.written.iter().position(|(at, _)| *at == number);
        let at = match known {
            Some(at) => at,
            None => {
                let original = self.original(number)?;
                let mut line = [0; LINE];
                line.get_mut(..original.len())?.copy_from_slice(original);
                (self.written.len() < MOST_LINES).then_some(())?;
                self.written.push((number, line));
                self.written.len() - 1
            }
        };
        self.written.get_mut(at).map(|(_, line)| &mut line[..])
    }
}

impl MachineMemory for VisitedMemory<'_> {
    fn pages(&self) -> Pages {
        Pages::Exactly(self.bytes.len() as u64 >> 16)
    }

    fn read<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        let mut done = 0;
        while done < N {
            let at = address as usize + done;
            let (number, offset) = (u32::try_from(at / LINE).ok()?, at % LINE);
            let line = self.line(number)?.get(offset..)?;
            let count = line.len().min(N - done);
            // The end of the memory.
            (count > 0).then_some(())?;
            bytes[done..done + count].copy_from_slice(&line[..count]);
            done += count;
        }
        Some(bytes)
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        (address as usize + bytes.len() <= self.bytes.len()).then_some(())?;
        let mut done = 0;
        while done < bytes.len() {
            let at = address as usize + done;
            let (number, offset) = (u32::try_from(at / LINE).ok()?, at % LINE);
            let count = (LINE - offset).min(bytes.len() - done);
            let line = self.line_to_write(number)?;
            line[offset..offset + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn writes_are_seen_until_they_are_forgotten_and_never_reach_the_dump() {
        let dump: Vec<u8> = (0..600).map(|byte| byte as u8).collect();
        let mut memory = VisitedMemory::new(&dump);
        memory.write(254, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.read(253), Some([253, 1, 2, 3, 4, 2]));
        memory.forget_writes();
        assert_eq!(memory.read(254), Some([254, 255, 0, 1]));
    }

    #[test]
    fn nothing_is_read_or_written_past_the_end() {
        let dump = [7; 600];
        let mut memory = VisitedMemory::new(&dump);
        assert_eq!(memory.read(596), Some([7; 4]));
        assert_eq!(memory.read::<4>(597), None);
        assert_eq!(memory.read::<4>(u32::MAX - 1), None);
        assert_eq!(memory.write(597, &[0; 4]), None);
        assert_eq!(memory.read(596), Some([7; 4]));
    }

    #[test]
    fn a_run_that_writes_everywhere_is_ended() {
        let dump = vec![0; 2 * LINE * MOST_LINES];
        let mut memory = VisitedMemory::new(&dump);
        let written = (0..2 * MOST_LINES as u32)
            .filter(|line| memory.write(line * LINE as u32, &[1]).is_some());
        assert_eq!(written.count(), MOST_LINES);
    }
}
