//! Source maps of modules: one line, whose columns are offsets in the file.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use super::declarations::Declarations;

/// A source map, decoded.
pub(super) struct SourceMap {
    sources: Vec<String>,
    /// By source: where its functions are, if the map has its text.
    declarations: Vec<Option<Declarations>>,
    /// Where each stretch of code begins and where it is from, by offset.
    mappings: Vec<(u64, Position)>,
}

/// A position in a source of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    source: u32,
    /// From 0.
    line: u32,
    /// From 0.
    column: u32,
}

/// A position in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file as the map names it.
    pub file: &'a str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// A function: its code, and its name if it has one. An optimiser puts code of other functions into it, whose positions
/// say nothing of it, so only those in its own file count.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode<'n> {
    pub(super) code: Range<u64>,
    pub(super) name: Option<&'n str>,
}

#[derive(Deserialize)]
struct Json {
    sources: Vec<Option<String>>,
    #[serde(default, rename = "sourcesContent")]
    texts: Vec<Option<String>>,
    mappings: String,
}

impl SourceMap {
    /// Decodes a source map. The error is a message.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let json: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut mappings = Vec::new();
        let (mut offset, mut source, mut line, mut column) = (0i64, 0i64, 0i64, 0i64);
        for segment in json.mappings.split([',', ';']) {
            let mut fields = Fields(segment.as_bytes());
            let Some(by) = fields.next()? else { continue };
            offset += by;
            if offset < 0 {
                return Err("a segment is out of range".to_owned());
            }
            // A segment with an offset alone is code without a source: it has the line of the code before it.
            let Some(by) = fields.next()? else { continue };
            source += by;
            line += fields.next()?.ok_or("a segment ends before its line")?;
            column += fields.next()?.unwrap_or_default();
            let is_number = |number: i64| u32::try_from(number).is_ok();
            if !is_number(line) || !is_number(column) || !is_number(source) {
                return Err("a segment is out of range".to_owned());
            }
            if source >= json.sources.len() as i64 {
                return Err("a segment is out of range".to_owned());
            }
            let position = Position {
                source: source as u32,
                line: line as u32,
                column: column as u32,
            };
            mappings.push((offset as u64, position));
        }
        mappings.sort_by_key(|mapping| mapping.0);
        let count = json.sources.len();
        let texts = json.texts.into_iter().chain(std::iter::repeat(None));
        let declarations = texts.map(|text| text.map(|text| Declarations::read(&text)));
        Ok(Self {
            declarations: declarations.take(count).collect(),
            sources: json
                .sources
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            mappings,
        })
    }

    /// Where a function is: its first line with code. Without the text of the source, the middle of its code that is from
    /// its own file, if that is most of its code: then half of that code would have to be another function's for the line
    /// to be outside of the function.
    pub(super) fn place_of(&self, body: &FunctionCode<'_>) -> Option<Place<'_>> {
        let own = self.own_source(body)?;
        let mut stretches: Vec<(Position, u64)> = self
            .stretches(&body.code)
            .filter(|(position, _)| position.source == own)
            .collect();
        if self.declarations[own as usize].is_some() {
            let positions = stretches.iter().map(|&(position, _)| position);
            let in_function = positions.filter(|&position| self.is_in(body, position));
            return in_function.min().map(|position| self.place(position));
        }
        let all: u64 = self.stretches(&body.code).map(|(_, size)| size).sum();
        let of_file: u64 = stretches.iter().map(|&(_, size)| size).sum();
        if of_file * 2 <= all {
            return None;
        }
        stretches.sort_unstable();
        let mut before = 0;
        let middle = stretches.iter().find(|&&(_, size)| {
            before += size;
            before * 2 >= of_file
        });
        middle.map(|&(position, _)| self.place(position))
    }

    /// Where the code at an offset in a function is from, if that is the function's own file. The start of the function
    /// has its place if nothing else is said of it: there, a constructor allocates its object.
    pub(super) fn find(&self, body: &FunctionCode<'_>, offset: u64) -> Option<Place<'_>> {
        let after = self.mappings.partition_point(|mapping| mapping.0 <= offset);
        let before = after.checked_sub(1).map(|at| self.mappings[at]);
        match before.filter(|mapping| mapping.0 >= body.code.start) {
            Some((_, position)) => {
                let own = self.own_source(body)?;
                let is_own = position.source == own && self.is_in(body, position);
                is_own.then(|| self.place(position))
            }
            _ if offset == body.code.start => self.place_of(body),
            _ => None,
        }
    }

    /// Whether a position in the source of a function is in the function. Without the text of the source, it may be.
    fn is_in(&self, body: &FunctionCode<'_>, position: Position) -> bool {
        let source = position.source as usize;
        match (&self.declarations[source], body.name) {
            (Some(declarations), Some(name)) => match after_file(&self.sources[source], name) {
                Some(function) => declarations.has(function, position.line),
                None => true,
            },
            _ => true,
        }
    }

    /// The source of a function: that whose name begins the function's name, as in `assembly/index/Player#constructor`;
    /// without one, that of most of its code.
    fn own_source(&self, body: &FunctionCode<'_>) -> Option<u32> {
        if let Some(name) = body.name {
            let sources = self.sources.iter().enumerate();
            let named = sources.filter(|(_, source)| after_file(source, name).is_some());
            if let Some((source, _)) = named.max_by_key(|(_, source)| source.len()) {
                return Some(source as u32);
            }
        }
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for (position, size) in self.stretches(&body.code) {
            *sizes.entry(position.source).or_default() += size;
        }
        let largest = sizes
            .into_iter()
            .max_by_key(|&(source, size)| (size, Reverse(source)));
        largest.map(|(source, _)| source)
    }

    /// The code of a function that is from a source, and its sizes.
    fn stretches<'s>(&'s self, code: &Range<u64>) -> impl Iterator<Item = (Position, u64)> + 's {
        let code = code.clone();
        let first = self
            .mappings
            .partition_point(|mapping| mapping.0 < code.start);
        let of_code = self.mappings[first..].iter().enumerate();
        let of_code = of_code.take_while(move |(_, mapping)| mapping.0 < code.end);
        of_code.map(move |(nth, &(start, position))| {
            let next = self.mappings.get(first + nth + 1);
            let end = next.map_or(code.end, |next| next.0.min(code.end));
            (position, end - start)
        })
    }

    fn place(&self, position: Position) -> Place<'_> {
        Place {
            file: &self.sources[position.source as usize],
            line: position.line.saturating_add(1),
            column: position.column.saturating_add(1),
        }
    }
}

/// What follows the file, without its ending, at the start of a function's name: `/Player#constructor` of
/// `assembly/index/Player#constructor`, and nothing of `start:assembly/index`; `None` for a function of another file.
fn after_file<'n>(source: &str, name: &'n str) -> Option<&'n str> {
    let stem = source.strip_suffix(".ts")?.trim_start_matches("./");
    let named = ["start:", "export:"];
    let name = named
        .iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name);
    let rest = name.strip_prefix(stem)?;
    (rest.is_empty() || rest.starts_with(['/', '~', '|', '@'])).then_some(rest)
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

    fn body(code: Range<u64>, name: Option<&str>) -> FunctionCode<'_> {
        FunctionCode { code, name }
    }

    /// Offsets 10, 12 and 30; lines 5, 4 and 7; the last one in the second source.
    fn three() -> SourceMap {
        SourceMap::read(r#"{"version":3,"sources":["a.ts","b.ts"],"mappings":"UAIA,EADA,kBCGA"}"#)
            .unwrap()
    }

    fn line(place: Option<Place<'_>>) -> Option<(&str, u32)> {
        place.map(|place| (place.file, place.line))
    }

    #[test]
    fn an_offset_has_the_line_of_the_last_segment_at_or_before_it_in_its_function() {
        let map = three();
        assert_eq!(line(map.find(&body(0..30, None), 10)), Some(("a.ts", 5)));
        assert_eq!(line(map.find(&body(0..30, None), 11)), Some(("a.ts", 5)));
        assert_eq!(line(map.find(&body(0..30, None), 29)), Some(("a.ts", 4)));
        assert_eq!(
            line(map.find(&body(30..1001, None), 1000)),
            Some(("b.ts", 7))
        );
        assert_eq!(map.find(&body(20..30, None), 21), None);
    }

    #[test]
    fn a_function_without_a_segment_has_no_line_of_the_next_one() {
        let map = three();
        assert_eq!(map.find(&body(20..30, None), 20), None);
        assert_eq!(map.place_of(&body(20..30, None)), None);
        assert_eq!(line(map.find(&body(20..40, None), 20)), Some(("b.ts", 7)));
    }

    #[test]
    fn code_of_another_file_that_was_inlined_has_no_line() {
        let map = three();
        // Most of the code is from the other file.
        assert_eq!(map.find(&body(10..100, Some("a/f")), 40), None);
        assert_eq!(map.place_of(&body(10..100, Some("a/f"))), None);
        assert_eq!(
            line(map.find(&body(10..100, Some("a/f")), 15)),
            Some(("a.ts", 4))
        );
        assert_eq!(
            line(map.place_of(&body(10..40, Some("a/f")))),
            Some(("a.ts", 4))
        );
        // A name that begins with no file.
        assert_eq!(
            line(map.place_of(&body(10..100, Some("other/f")))),
            Some(("b.ts", 7))
        );
    }

    #[test]
    fn a_function_has_the_line_in_the_middle_of_its_code_and_not_the_first() {
        // Offset 0: line 5, an argument of another class; offsets 2 and 6: lines 12 and 13.
        let map = SourceMap::read(r#"{"sources":["a.ts"],"mappings":"AAIA,EAOE,IACE"}"#).unwrap();
        let place = map.place_of(&body(0..10, Some("a/C#constructor"))).unwrap();
        assert_eq!((place.line, place.column), (12, 3));
    }

    #[test]
    fn code_of_another_function_of_the_same_file_has_no_line() {
        // Offset 0: line 2, in another class; offset 2: line 5.
        let map = r#"{"sources":["a.ts"],"sourcesContent":["class D {\n f: i32 = 1;\n}\nclass C {\n g: i32 = 2;\n}\n"],"mappings":"AACA,EAGA"}"#;
        let map = SourceMap::read(map).unwrap();
        let constructor = body(0..10, Some("a/C#constructor"));
        assert_eq!(map.find(&constructor, 1), None);
        assert_eq!(line(map.find(&constructor, 3)), Some(("a.ts", 5)));
        assert_eq!(line(map.place_of(&constructor)), Some(("a.ts", 5)));
        assert_eq!(map.place_of(&body(0..10, Some("a/E#constructor"))), None);
    }

    #[test]
    fn code_after_a_segment_without_a_source_has_the_line_before_it() {
        let map = SourceMap::read(r#"{"sources":["a.ts"],"mappings":"AAIA,E"}"#).unwrap();
        assert_eq!(line(map.find(&body(0..10, None), 3)), Some(("a.ts", 5)));
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
