//! Damage to debug information that respects its structure: attributes, forms, tags, unit headers, whole
//! entries. Lengths are updated after an edit, unless the length itself is edited.

use gimli::{EndianSlice, LittleEndian};

use crate::choices::Choices;
use crate::leb128::{self, encoded};

/// The sections with the entries and their abbreviations. Names are in a third section.
pub struct Dwarf {
    pub info: Vec<u8>,
    pub abbrev: Vec<u8>,
}

/// Positions in the first unit.
#[derive(Default)]
struct Places {
    /// The starts of entries.
    entries: Vec<usize>,
    /// Starts and ends of attributes' values.
    values: Vec<(usize, usize)>,
}

impl Dwarf {
    pub fn edit(&mut self, choices: &mut Choices<'_>) {
        match choices.below(8) {
            0 => self.edit_header(choices),
            1 => self.move_entries(choices),
            2..4 => self.edit_abbreviation(choices),
            _ => self.edit_value(choices),
        }
    }

    fn places(&self) -> Places {
        let mut places = Places::default();
        // After an error, the positions that were read before it are kept.
        _ = self.collect(&mut places);
        places
    }

    fn collect(&self, places: &mut Places) -> gimli::Result<()> {
        let info = gimli::DebugInfo::new(&self.info, LittleEndian);
        let abbrev = gimli::DebugAbbrev::new(&self.abbrev, LittleEndian);
        let Some(header): Option<gimli::UnitHeader<EndianSlice<'_, _>>> = info.units().next()?
        else {
            return Ok(());
        };
        let table = header.abbreviations(&abbrev)?;
        let mut entries = header.entries_raw(&table, None)?;
        while !entries.is_empty() && places.values.len() < 1 << 16 {
            places.entries.push(entries.next_offset().0);
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            for &attribute in abbreviation.attributes() {
                let start = entries.next_offset().0;
                entries.read_attribute(attribute)?;
                places.values.push((start, entries.next_offset().0));
            }
        }
        Ok(())
    }

    fn edit_header(&mut self, choices: &mut Choices<'_>) {
        // Length, version, abbreviations, address size.
        let (at, size) = [(0, 4), (4, 2), (6, 4), (10, 1)][choices.below(4)];
        if let Some(place) = self.info.get_mut(at..at + size) {
            let mut word = [0; 4];
            word[..size].copy_from_slice(place);
            let value = choices.number(u32::from_le_bytes(word));
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// Copies entries to another place, removes them, or repeats the whole unit.
    fn move_entries(&mut self, choices: &mut Choices<'_>) {
        let Places { entries, .. } = self.places();
        if entries.is_empty() {
            return;
        }
        let from = choices.below(entries.len());
        let end = entries.get(from + 1 + choices.below(16)).copied();
        let (start, end) = (entries[from], end.unwrap_or(self.info.len()));
        match choices.below(4) {
            0 => self.replace(start, end, &[]),
            1 if self.info.len() < 1 << 15 => self.info.extend_from_within(..),
            _ => {
                let to = entries[choices.below(entries.len())];
                let piece = self.info[start..end].to_vec();
                self.replace(to, to, &piece);
            }
        }
    }

    /// Changes a tag, a name or a form in the table of abbreviations.
    fn edit_abbreviation(&mut self, choices: &mut Choices<'_>) {
        const TAGS: [u8; 12] = [
            0x02, 0x13, 0x38, 0x0d, 0x1c, 0x2f, 0x34, 0x24, 0x2e, 0x11, 0x41, 0x3a,
        ];
        const NAMES: [u8; 12] = [
            0x03, 0x02, 0x38, 0x49, 0x1c, 0x0b, 0x3a, 0x10, 0x01, 0x72, 0x11, 0x55,
        ];
        const FORMS: [u8; 44] = [
            0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
            0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d,
            0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b,
            0x2c, 0x02,
        ];
        let mut kinds = Vec::new();
        let mut at = 0;
        // Code, tag, whether it has children, then names and forms up to two zeros.
        let mut read = |kind: u8| {
            let start = at;
            let value = leb128::read(&self.abbrev, &mut at)?;
            kinds.push((kind, start, at));
            Some(value)
        };
        let mut read_all = || -> Option<()> {
            while read(0)? != 0 {
                read(1)?;
                read(2)?;
                while read(3)? | read(4)? != 0 {}
            }
            Some(())
        };
        read_all();
        if kinds.is_empty() {
            return;
        }
        let (kind, start, end) = kinds[choices.below(kinds.len())];
        let value = match kind {
            1 => TAGS[choices.below(TAGS.len())].into(),
            2 => choices.below(3) as u32,
            3 => NAMES[choices.below(NAMES.len())].into(),
            4 => FORMS[choices.below(FORMS.len())].into(),
            _ => choices.number(1),
        };
        self.abbrev.splice(start..end, encoded(value));
    }

    /// Changes the value of an attribute: to any number, to that of another one, or to the position of an entry.
    fn edit_value(&mut self, choices: &mut Choices<'_>) {
        let Places { entries, values } = self.places();
        if values.is_empty() {
            return;
        }
        let (start, end) = values[choices.below(values.len())];
        let (other, other_end) = values[choices.below(values.len())];
        let size = end - start;
        let value = match choices.below(4) {
            0 => self.info[other..other_end].to_vec(),
            1 => (entries[choices.below(entries.len())] as u32)
                .to_le_bytes()
                .to_vec(),
            2 => encoded(choices.number(1)),
            _ => {
                let mut word = [0; 4];
                let read = size.min(4);
                word[..read].copy_from_slice(&self.info[start..start + read]);
                choices
                    .number(u32::from_le_bytes(word))
                    .to_le_bytes()
                    .to_vec()
            }
        };
        let value = match size {
            // The same number of bytes, where the form requires it.
            1..=4 if choices.below(8) > 0 => value[..value.len().min(size)].to_vec(),
            _ => value,
        };
        self.replace(start, end, &value);
    }

    /// Replaces bytes of the first unit and updates its length.
    fn replace(&mut self, start: usize, end: usize, with: &[u8]) {
        let grown = (with.len() as u32).wrapping_sub((end - start) as u32);
        self.info.splice(start..end, with.iter().copied());
        if let Some(length) = self.info.first_chunk_mut::<4>() {
            *length = u32::from_le_bytes(*length)
                .wrapping_add(grown)
                .to_le_bytes();
        }
    }
}
