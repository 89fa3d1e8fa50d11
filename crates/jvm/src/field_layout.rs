//! Where HotSpot places the fields of objects, which says how large these are. The file does not say it.
//!
//! The rules differ by how wide references and class pointers are, and by the version of the JVM. `sizes.rs` finds the
//! rules of a heap by the distances between its objects.

use crate::bytes::JavaType;

/// By which rules fields are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldRules {
    /// The bytes before the first field.
    pub(crate) header: u32,
    /// The bytes before the first element of an array.
    pub(crate) array_header: u32,
    /// The bytes of a reference.
    pub(crate) reference: u32,
    /// Whether fields fill gaps between the fields of superclasses, as since version 15.
    pub(crate) fills_gaps: bool,
}

/// The unit of sizes.
pub(crate) const UNIT: u64 = 8;

impl FieldRules {
    pub(crate) const fn new(
        header: u32,
        array_header: u32,
        reference: u32,
        fills_gaps: bool,
    ) -> Self {
        Self {
            header,
            array_header,
            reference,
            fills_gaps,
        }
    }

    pub(crate) fn size_of(self, java_type: JavaType) -> u32 {
        match java_type {
            JavaType::Object => self.reference,
            other => other.value_bytes() as u32,
        }
    }

    /// The size of an array with this many elements.
    pub(crate) fn array_size(self, element: JavaType, count: u32) -> u64 {
        let elements = u64::from(count) * u64::from(self.size_of(element));
        // Long elements are aligned.
        let header = match self.size_of(element) {
            8 => u64::from(self.array_header).next_multiple_of(UNIT),
            _ => u64::from(self.array_header),
        };
        (header + elements).next_multiple_of(UNIT)
    }
}

/// The fields of a class and of its superclasses, placed.
#[derive(Clone, Debug)]
pub(crate) struct FieldLayout {
    /// Places without a field, with their sizes, ascending.
    gaps: Vec<(u32, u32)>,
    /// The end of the last field.
    end: u32,
}

/// As many gaps as are kept: those of a class with no more superclasses than a program has.
const MOST_GAPS: usize = 64;

impl FieldLayout {
    /// Of a class without fields.
    pub(crate) fn new(rules: FieldRules) -> Self {
        Self {
            gaps: Vec::new(),
            end: rules.header,
        }
    }

    /// The size of an object.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.end).next_multiple_of(UNIT)
    }

    /// The layout of a subclass with these own fields.
    pub(crate) fn with_fields(
        &self,
        types: impl Iterator<Item = JavaType>,
        rules: FieldRules,
    ) -> Self {
        let mut sizes = [0u32; 4];
        let mut references = 0;
        for java_type in types {
            match java_type {
                JavaType::Object => references += 1,
                other => sizes[other.value_bytes().trailing_zeros() as usize] += 1,
            }
        }
        let mut layout = self.clone();
        if rules.fills_gaps {
            layout.fill(sizes, references, rules);
        } else {
            layout.append(sizes, references, rules);
        }
        layout
    }

    /// Largest first, each into the smallest gap that fits; references last.
    fn fill(&mut self, counts: [u32; 4], references: u32, rules: FieldRules) {
        for power in (0..4u32).rev() {
            for _ in 0..counts[power as usize] {
                self.place(1 << power);
            }
        }
        for _ in 0..references {
            self.place(rules.reference);
        }
    }

    fn place(&mut self, size: u32) {
        let fits = |&(start, length): &(u32, u32)| {
            let aligned = start.next_multiple_of(size);
            aligned + size <= start + length
        };
        let fitting = self
            .gaps
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, gap)| fits(gap));
        // Of equal ones, the last.
        let best = fitting.min_by_key(|&(nth, &(_, length))| (length, std::cmp::Reverse(nth)));
        if let Some((nth, &(start, length))) = best {
            self.gaps.remove(nth);
            let aligned = start.next_multiple_of(size);
            let after = aligned + size;
            if after < start + length {
                self.gaps.insert(nth, (after, start + length - after));
            }
            if aligned > start {
                self.gaps.insert(nth, (start, aligned - start));
            }
            return;
        }
        let aligned = self.end.next_multiple_of(size);
        if aligned > self.end && self.gaps.len() < MOST_GAPS {
            self.gaps.push((self.end, aligned - self.end));
        }
        self.end = aligned.saturating_add(size);
    }

    /// As before version 15: after the superclass; only one gap before the first long field is filled.
    fn append(&mut self, mut counts: [u32; 4], mut references: u32, rules: FieldRules) {
        let mut at = self.end;
        if counts[3] > 0 && !at.is_multiple_of(8) {
            let first_long = at.next_multiple_of(8);
            for (power, count) in counts.iter_mut().enumerate().take(3).rev() {
                let size = 1 << power;
                while *count > 0 && at.next_multiple_of(size) + size <= first_long {
                    at = at.next_multiple_of(size) + size;
                    *count -= 1;
                }
            }
            while references > 0 && rules.reference == 4 && at.next_multiple_of(4) + 4 <= first_long
            {
                at = at.next_multiple_of(4) + 4;
                references -= 1;
            }
            at = first_long;
        }
        for power in (0..4u32).rev() {
            at = at.saturating_add(counts[power as usize] << power);
        }
        if references > 0 {
            at = at.next_multiple_of(rules.reference);
            at = at.saturating_add(references.saturating_mul(rules.reference));
        }
        // The next class begins at a whole reference.
        self.end = at.next_multiple_of(rules.reference);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use JavaType::{Boolean, Byte, Int, Long, Object};

    const COMPRESSED: FieldRules = FieldRules::new(12, 16, 4, true);

    fn size(rules: FieldRules, classes: &[&[JavaType]]) -> u64 {
        let mut layout = FieldLayout::new(rules);
        for fields in classes {
            layout = layout.with_fields(fields.iter().copied(), rules);
        }
        layout.size()
    }

    /// As `jdk.internal.misc.Unsafe.objectFieldOffset` shows them in JDK 17.
    #[test]
    fn objects_have_the_sizes_of_hotspot() {
        assert_eq!(size(COMPRESSED, &[]), 16);
        // String: value, coder, hash, hashIsZero.
        assert_eq!(size(COMPRESSED, &[&[Object, Byte, Int, Boolean]]), 24);
        // Long.
        assert_eq!(size(COMPRESSED, &[&[Long]]), 24);
        // A subclass fills the gap before the long of its superclass.
        assert_eq!(size(COMPRESSED, &[&[Long], &[Int]]), 24);
        assert_eq!(
            size(
                FieldRules {
                    fills_gaps: false,
                    ..COMPRESSED
                },
                &[&[Long], &[Int]]
            ),
            32
        );
        assert_eq!(
            size(FieldRules::new(16, 24, 8, true), &[&[Object, Int]]),
            32
        );
    }

    #[test]
    fn arrays_have_the_sizes_of_hotspot() {
        assert_eq!(COMPRESSED.array_size(Byte, 0), 16);
        assert_eq!(COMPRESSED.array_size(Byte, 9), 32);
        assert_eq!(COMPRESSED.array_size(Object, 3), 32);
        assert_eq!(COMPRESSED.array_size(Long, 1), 24);
    }
}
