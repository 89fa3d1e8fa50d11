//! Source maps of modules: one line, whose columns are offsets in the file.

use std::ops::Range;

use serde::Deserialize;

/// A source map, decoded.
pub(super) struct SourceMap {
    sources: Vec<String>,
    /// (offset, source, line from 0), by offset.
    mappings: Vec<(u64, u32, u32)>,
}

#[derive(Deserialize)]
struct Json {
    sources: Vec<Option<String>>,
    mappings: String,
}

impl SourceMap {
    /// Decodes a source map. The error is a message.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut mappings = Vec::new();
        let (mut offset, mut source, mut line) = (0i64, 0i64, 0i64);
        for segment in json.mappings.split([',', ';']) {
            let mut fields = Fields(segment.as_bytes());
            let Some(by) = fields.next()? else { continue };
            offset += by;
            // A segment with an offset alone is code without a source.
            let Some(by) = fields.next()? else { continue };
            source += by;
            line += fields.next()?.ok_or("a segment ends before its line")?;
            if offset < 0 || line < 0 || source < 0 || source >= json.sources.len() as i64 {
                return Err("a segment is out of range".to_owned());
            }
            mappings.push((offset as u64, source as u32, line as u32));
        }
        mappings.sort_by_key(|mapping| mapping.0);
        Ok(Self {
            sources: json
                .sources
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            mappings,
        })
    }

    /// The file and the line, from 1, of the first code of a function that has a source; `None` if none has.
    pub(super) fn first(&self, function: Range<u64>) -> Option<(&str, u32)> {
        let at = self
            .mappings
            .partition_point(|mapping| mapping.0 < function.start);
        let (offset, source, line) = *self.mappings.get(at)?;
        (offset < function.end).then(|| (self.sources[source as usize].as_str(), line + 1))
    }

    /// The file and the line, from 1, of an offset in a function that begins at `start`. The start itself has
    /// the first line of the function. Code between has none: there, a constructor allocates its object.
    pub(super) fn find(&self, start: u64, offset: u64) -> Option<(&str, u32)> {
        let after = self.mappings.partition_point(|mapping| mapping.0 <= offset);
        let before = after.checked_sub(1).map(|at| self.mappings[at]);
        let (_, source, line) = before.filter(|mapping| mapping.0 >= start).or_else(|| {
            self.mappings
                .get(after)
                .copied()
                .filter(|_| offset == start)
        })?;
        Some((&self.sources[source as usize], line + 1))
    }
}

/// The numbers of a segment, as base64 VLQ: five bits a digit, the lowest first; the lowest bit of a number
/// is its sign.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next(&mut self) -> Result<Option<i64>, String> {
        let (mut value, mut shift) = (0u64, 0);
        while let Some((&digit, rest)) = self.0.split_first() {
            self.0 = rest;
            let bits = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return Err(format!("a mapping contains the byte {digit:#x}")),
            };
            if shift > 40 {
                return Err("a number in the mappings is too large".to_owned());
            }
            value |= u64::from(bits & 31) << shift;
            shift += 5;
            if bits & 32 == 0 {
                let number = (value >> 1) as i64;
                return Ok(Some(if value & 1 == 1 { -number } else { number }));
            }
        }
        match shift {
            0 => Ok(None),
            _ => Err("a number in the mappings has no end".to_owned()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_the_line_of_the_last_segment_at_or_before_it() {
        // Offsets 10, 12 and 30; lines 5, 4 and 7; the last one in the second source.
        let map = r#"{"version":3,"sources":["a.ts","b.ts"],"mappings":"UAIA,EADA,kBCGA"}"#;
        let map = SourceMap::read(map).unwrap();
        assert_eq!(map.find(0, 10), Some(("a.ts", 5)));
        assert_eq!(map.find(0, 11), Some(("a.ts", 5)));
        assert_eq!(map.find(0, 29), Some(("a.ts", 4)));
        assert_eq!(map.find(0, 1000), Some(("b.ts", 7)));
        // A function that begins at 20 has its first line at 30.
        assert_eq!(map.find(20, 20), Some(("b.ts", 7)));
        assert_eq!(map.find(20, 21), None);
    }

    #[test]
    fn a_function_has_the_line_of_its_first_segment_and_none_of_another_function() {
        // Offsets 10, 12 and 30; lines 5, 4 and 7.
        let map = r#"{"version":3,"sources":["a.ts","b.ts"],"mappings":"UAIA,EADA,kBCGA"}"#;
        let map = SourceMap::read(map).unwrap();
        assert_eq!(map.first(8..20), Some(("a.ts", 5)));
        assert_eq!(map.first(11..20), Some(("a.ts", 4)));
        assert_eq!(map.first(20..30), None);
        assert_eq!(map.first(31..40), None);
    }

    #[test]
    fn damaged_mappings_are_refused() {
        for mappings in ["U", "UA", "U!IA", "g", "gggggggggg", "UZIA", "DAAA"] {
            let text = format!(r#"{{"sources":["a.ts"],"mappings":"{mappings}"}}"#);
            let read = SourceMap::read(&text);
            // An offset alone is code without a source.
            assert_eq!(read.is_ok(), mappings == "U", "{mappings}");
        }
    }
}
