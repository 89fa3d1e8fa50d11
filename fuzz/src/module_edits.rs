//! Damage to a module that respects its structure: sections keep valid lengths, unless the length itself is
//! damaged. So the damage passes the first checks and reaches the readers of the sections.

use wasmparser::{BinaryReader, FunctionBody};

use crate::choices::Choices;
use crate::dwarf_edits;
use crate::leb128::{self, encoded, padded};

const CUSTOM: u8 = 0;
const CODE: u8 = 10;

/// The parts that may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Anything.
    Anything,
    /// The debug information.
    Dwarf,
    /// The code of functions.
    Code,
}

/// Edits a module. Bytes that are no module are edited as bytes.
pub fn edit(wasm: &mut Vec<u8>, choices: &mut Choices<'_>, edits: usize, focus: Focus) {
    for _ in 0..edits {
        if choices.is_at_end() {
            return;
        }
        match split(wasm) {
            Some(mut sections) if !sections.is_empty() => {
                edit_sections(&mut sections, choices, focus);
                *wasm = join(&sections);
            }
            _ => choices.damage_bytes(wasm, 1),
        }
    }
}

/// The module without its names, its debug information, or both.
pub fn without(wasm: &[u8], names: bool, debug_info: bool) -> Vec<u8> {
    let Some(mut sections) = split(wasm) else {
        return wasm.to_vec();
    };
    sections.retain(|section| match section.custom_name() {
        Some(b"name") => !names,
        Some(name) => {
            !(debug_info && (name.starts_with(b".debug_") || name.starts_with(b"debug_")))
        }
        None => true,
    });
    join(&sections)
}

/// Whether there may be functions in it.
pub fn has_code(wasm: &[u8]) -> bool {
    split(wasm).is_none_or(|sections| sections.iter().any(|section| section.id == CODE))
}

/// libFuzzer's own mutations or these, by the seed.
#[cfg(feature = "libfuzzer")]
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, focus: Focus) -> usize {
    if seed.is_multiple_of(4) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut random = crate::support::forge::random::Random::new(seed.into());
    let choices: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
    let mut wasm = data[..size].to_vec();
    let edits = 1 + random.below(4) as usize;
    edit(&mut wasm, &mut Choices::new(&choices), edits, focus);
    wasm.truncate(max_size);
    data[..wasm.len()].copy_from_slice(&wasm);
    wasm.len()
}

#[derive(Clone)]
struct Section {
    id: u8,
    contents: Vec<u8>,
    /// A wrong length, if there is one.
    length: Option<u32>,
    /// Whether its length takes five bytes, as some linkers write it.
    is_padded: bool,
}

impl Section {
    /// The name of a custom section.
    fn custom_name(&self) -> Option<&[u8]> {
        let mut at = 0;
        let length = leb128::read(&self.contents, &mut at)?;
        (self.id == CUSTOM)
            .then(|| self.contents.get(at..)?.get(..length as usize))
            .flatten()
    }

    /// The contents after the name, or all contents.
    fn body(&self) -> usize {
        self.custom_name()
            .map_or(0, |name| name.len() + encoded(name.len() as u32).len())
    }
}

fn split(wasm: &[u8]) -> Option<Vec<Section>> {
    let mut at = 8;
    let mut sections = Vec::new();
    (wasm.len() >= at).then_some(())?;
    while let Some(&id) = wasm.get(at) {
        at += 1;
        let length = leb128::read(wasm, &mut at)? as usize;
        let contents = wasm.get(at..)?.get(..length)?.to_vec();
        at += length;
        sections.push(Section {
            id,
            contents,
            length: None,
            is_padded: false,
        });
    }
    Some(sections)
}

fn join(sections: &[Section]) -> Vec<u8> {
    let mut wasm = b"\0asm\x01\0\0\0".to_vec();
    for section in sections {
        let length = section.length.unwrap_or(section.contents.len() as u32);
        wasm.push(section.id);
        if section.is_padded {
            wasm.extend(padded(length))
        } else {
            wasm.extend(encoded(length))
        }
        wasm.extend(&section.contents);
    }
    wasm
}

fn edit_sections(sections: &mut Vec<Section>, choices: &mut Choices<'_>, focus: Focus) {
    let nth = choices.below(sections.len());
    let what = match (focus, choices.below(32)) {
        (Focus::Dwarf, 12..) => 24,
        (Focus::Code, 12..) => 16,
        (_, what) => what,
    };
    match what {
        0 => sections[nth].length = Some(choices.number(sections[nth].contents.len() as u32)),
        1 => sections[nth].is_padded = true,
        2 => {
            let to = choices.below(sections.len() + 1);
            let copy = sections[nth].clone();
            sections.insert(to, copy);
        }
        3 => _ = sections.remove(nth),
        4 => {
            let other = choices.below(sections.len());
            sections.swap(nth, other);
        }
        5 => rename(&mut sections[nth], choices),
        6 => {
            let contents = &mut sections[nth].contents;
            let length = choices.below(contents.len() + 1);
            contents.truncate(length);
        }
        7 => {
            let other = &sections[choices.below(sections.len())].contents;
            let from = choices.below(other.len() + 1);
            let piece = other[from..]
                .iter()
                .take(choices.below(256))
                .copied()
                .collect::<Vec<_>>();
            let contents = &mut sections[nth].contents;
            let at = choices.below(contents.len() + 1);
            contents.splice(at..at, piece);
        }
        8..12 => {
            // The first number of a section is a count, most others are indexes and sizes.
            let start = sections[nth].body();
            let contents = &mut sections[nth].contents;
            let mut end = match choices.below(2) {
                0 => start,
                _ => start + choices.below(contents.len() - start + 1),
            };
            let at = end;
            if let Some(old) = leb128::read(contents, &mut end) {
                contents.splice(at..end, encoded(choices.number(old)));
            }
        }
        12..16 => choices.damage_bytes(&mut sections[nth].contents, 1),
        16..24 => {
            if let Some(code) = sections.iter_mut().find(|section| section.id == CODE) {
                edit_code(&mut code.contents, choices);
            }
        }
        _ => edit_dwarf(sections, choices),
    }
}

fn rename(section: &mut Section, choices: &mut Choices<'_>) {
    const NAMES: [&str; 8] = [
        "name",
        ".debug_info",
        "debug_info",
        ".debug_abbrev",
        ".debug_str",
        ".debug_line",
        ".debug_",
        "",
    ];
    let name = NAMES[choices.below(NAMES.len())];
    let body = section.body();
    section.id = CUSTOM;
    section
        .contents
        .splice(..body, [encoded(name.len() as u32), name.into()].concat());
}

fn edit_dwarf(sections: &mut [Section], choices: &mut Choices<'_>) {
    let find = |wanted: &str| {
        let is_it = |section: &Section| {
            section
                .custom_name()
                .is_some_and(|name| name.strip_prefix(b".").unwrap_or(name) == wanted.as_bytes())
        };
        let nth = sections.iter().position(is_it)?;
        Some((nth, sections[nth].body()))
    };
    let (Some(info), Some(abbrev)) = (find("debug_info"), find("debug_abbrev")) else {
        return;
    };
    let body = |(nth, start): (usize, usize)| sections[nth].contents[start..].to_vec();
    let mut dwarf = dwarf_edits::Dwarf {
        info: body(info),
        abbrev: body(abbrev),
    };
    dwarf.edit(choices);
    sections[info.0].contents.splice(info.1.., dwarf.info);
    sections[abbrev.0].contents.splice(abbrev.1.., dwarf.abbrev);
}

/// Edits instructions of one function; preferably of the one that branches by class id.
fn edit_code(contents: &mut Vec<u8>, choices: &mut Choices<'_>) {
    const BY_CLASS_ID: [u8; 4] = [0x41, 8, 0x6b, 0x28];
    let Some(mut bodies) = bodies(contents) else {
        return choices.damage_bytes(contents, 1);
    };
    if bodies.is_empty() {
        return;
    }
    let branching = bodies
        .iter()
        .position(|body| body.windows(4).any(|code| code == BY_CLASS_ID));
    let nth = match branching {
        Some(nth) if choices.below(2) == 0 => nth,
        _ => choices.below(bodies.len()),
    };
    edit_body(&mut bodies[nth], choices);
    *contents = encoded(bodies.len() as u32);
    for body in &bodies {
        contents.extend(encoded(body.len() as u32));
        contents.extend(body);
    }
}

fn bodies(contents: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut at = 0;
    (0..leb128::read(contents, &mut at)?)
        .map(|_| {
            let length = leb128::read(contents, &mut at)? as usize;
            let body = contents.get(at..)?.get(..length)?.to_vec();
            at += length;
            Some(body)
        })
        .collect()
}

fn edit_body(body: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let starts: Vec<usize> = FunctionBody::new(BinaryReader::new(body, 0))
        .get_operators_reader()
        .map(|operators| operators.into_iter_with_offsets())
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .map(|(_, offset)| offset as usize)
        .collect();
    if starts.is_empty() {
        return choices.damage_bytes(body, 1);
    }
    let nth = choices.below(starts.len());
    let at = starts[nth];
    let next = |more: usize| starts.get(nth + 1 + more).copied().unwrap_or(body.len());
    match choices.below(5) {
        0 => _ = body.drain(at..next(choices.below(8))),
        1 => _ = body.splice(at..next(0), instruction(choices)),
        2 => {
            let piece = body[at..next(choices.below(16))].to_vec();
            let to = starts[choices.below(starts.len())];
            body.splice(to..to, piece);
        }
        3 => choices.damage_bytes(body, 1),
        _ => _ = body.splice(at..at, instruction(choices)),
    }
}

/// One instruction, of those that collectors consist of and some others.
fn instruction(choices: &mut Choices<'_>) -> Vec<u8> {
    const WITH_INDEX: [u8; 9] = [0x20, 0x21, 0x22, 0x23, 0x24, 0x41, 0x10, 0x0c, 0x0d];
    const WITH_OFFSET: [u8; 5] = [0x28, 0x29, 0x2d, 0x2f, 0x36];
    const BLOCKS: [u8; 3] = [0x02, 0x03, 0x04];
    const PLAIN: [u8; 22] = [
        0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0x45, 0x46, 0x47, 0x49, 0x4b, 0x4d, 0x6a, 0x6b,
        0x6c, 0x71, 0x72, 0x73, 0x74, 0x76, 0xa7,
    ];
    let operand = choices.number(8);
    match choices.below(8) {
        0..3 => [vec![WITH_INDEX[choices.below(9)]], encoded(operand)].concat(),
        3 => [vec![WITH_OFFSET[choices.below(5)], 2], encoded(operand)].concat(),
        4 => vec![BLOCKS[choices.below(3)], [0x40, 0x7f, 0][choices.below(3)]],
        5 => [
            vec![0x0e, 2],
            encoded(operand),
            vec![choices.byte() % 8, choices.byte() % 8],
        ]
        .concat(),
        6 => vec![0x11, choices.byte() % 16, 0],
        _ => vec![PLAIN[choices.below(PLAIN.len())]],
    }
}
