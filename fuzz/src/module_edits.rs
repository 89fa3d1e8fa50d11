//! Damage to a module that knows what a module is: what is changed stays inside sections that still fit,
//! unless it is their fit that is changed. So it reaches the readers behind the first check.

use wasmparser::{BinaryReader, FunctionBody};

use crate::dwarf_edits;
use crate::recipe::Recipe;

const CUSTOM: u8 = 0;
const CODE: u8 = 10;

/// What a recipe may change.
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
pub fn edit(wasm: &mut Vec<u8>, recipe: &mut Recipe<'_>, edits: usize, focus: Focus) {
    for _ in 0..edits {
        if recipe.is_at_end() {
            return;
        }
        match split(wasm) {
            Some(mut sections) if !sections.is_empty() => {
                edit_sections(&mut sections, recipe, focus);
                *wasm = join(&sections);
            }
            _ => recipe.damage_bytes(wasm, 1),
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
    let recipe: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
    let mut wasm = data[..size].to_vec();
    let edits = 1 + random.below(4) as usize;
    edit(&mut wasm, &mut Recipe::new(&recipe), edits, focus);
    wasm.truncate(max_size);
    data[..wasm.len()].copy_from_slice(&wasm);
    wasm.len()
}

#[derive(Clone)]
struct Section {
    id: u8,
    contents: Vec<u8>,
    /// What it says its length is, if that is not so.
    length: Option<u32>,
    /// Whether its length takes five bytes, as some linkers write it.
    is_padded: bool,
}

impl Section {
    /// The name of a custom section.
    fn custom_name(&self) -> Option<&[u8]> {
        let mut at = 0;
        let length = number(&self.contents, &mut at)?;
        (self.id == CUSTOM)
            .then(|| self.contents.get(at..)?.get(..length as usize))
            .flatten()
    }

    /// What is behind the name, or all of it.
    fn body(&self) -> usize {
        self.custom_name()
            .map_or(0, |name| name.len() + encoded(name.len() as u32).len())
    }
}

/// An unsigned LEB128 number.
pub(crate) fn number(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(value).ok();
        }
    }
    None
}

pub(crate) fn encoded(value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    wasm_encoder::Encode::encode(&value, &mut bytes);
    bytes
}

fn padded(value: u32) -> [u8; 5] {
    [0, 7, 14, 21, 28]
        .map(|shift| (value >> shift) as u8 & 0x7f | if shift < 28 { 0x80 } else { 0 })
}

fn split(wasm: &[u8]) -> Option<Vec<Section>> {
    let mut at = 8;
    let mut sections = Vec::new();
    (wasm.len() >= at).then_some(())?;
    while let Some(&id) = wasm.get(at) {
        at += 1;
        let length = number(wasm, &mut at)? as usize;
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
        match section.is_padded {
            true => wasm.extend(padded(length)),
            false => wasm.extend(encoded(length)),
        }
        wasm.extend(&section.contents);
    }
    wasm
}

fn edit_sections(sections: &mut Vec<Section>, recipe: &mut Recipe<'_>, focus: Focus) {
    let nth = recipe.below(sections.len());
    let what = match (focus, recipe.below(32)) {
        (Focus::Dwarf, 12..) => 24,
        (Focus::Code, 12..) => 16,
        (_, what) => what,
    };
    match what {
        0 => sections[nth].length = Some(recipe.number(sections[nth].contents.len() as u32)),
        1 => sections[nth].is_padded = true,
        2 => {
            let to = recipe.below(sections.len() + 1);
            let copy = sections[nth].clone();
            sections.insert(to, copy);
        }
        3 => _ = sections.remove(nth),
        4 => {
            let other = recipe.below(sections.len());
            sections.swap(nth, other);
        }
        5 => rename(&mut sections[nth], recipe),
        6 => {
            let contents = &mut sections[nth].contents;
            let length = recipe.below(contents.len() + 1);
            contents.truncate(length);
        }
        7 => {
            let other = &sections[recipe.below(sections.len())].contents;
            let from = recipe.below(other.len() + 1);
            let piece = other[from..]
                .iter()
                .take(recipe.below(256))
                .copied()
                .collect::<Vec<_>>();
            let contents = &mut sections[nth].contents;
            let at = recipe.below(contents.len() + 1);
            contents.splice(at..at, piece);
        }
        8..12 => {
            // The first number of a section is a count, most others are indexes and sizes.
            let start = sections[nth].body();
            let contents = &mut sections[nth].contents;
            let mut end = match recipe.below(2) {
                0 => start,
                _ => start + recipe.below(contents.len() - start + 1),
            };
            let at = end;
            if let Some(old) = number(contents, &mut end) {
                contents.splice(at..end, encoded(recipe.number(old)));
            }
        }
        12..16 => recipe.damage_bytes(&mut sections[nth].contents, 1),
        16..24 => {
            if let Some(code) = sections.iter_mut().find(|section| section.id == CODE) {
                edit_code(&mut code.contents, recipe);
            }
        }
        _ => edit_dwarf(sections, recipe),
    }
}

fn rename(section: &mut Section, recipe: &mut Recipe<'_>) {
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
    let name = NAMES[recipe.below(NAMES.len())];
    let body = section.body();
    section.id = CUSTOM;
    section
        .contents
        .splice(..body, [encoded(name.len() as u32), name.into()].concat());
}

fn edit_dwarf(sections: &mut [Section], recipe: &mut Recipe<'_>) {
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
    dwarf.edit(recipe);
    sections[info.0].contents.splice(info.1.., dwarf.info);
    sections[abbrev.0].contents.splice(abbrev.1.., dwarf.abbrev);
}

/// Edits instructions of one function; preferably of the one that branches by class id.
fn edit_code(contents: &mut Vec<u8>, recipe: &mut Recipe<'_>) {
    const BY_CLASS_ID: [u8; 4] = [0x41, 8, 0x6b, 0x28];
    let Some(mut bodies) = bodies(contents) else {
        return recipe.damage_bytes(contents, 1);
    };
    if bodies.is_empty() {
        return;
    }
    let branching = bodies
        .iter()
        .position(|body| body.windows(4).any(|code| code == BY_CLASS_ID));
    let nth = match branching {
        Some(nth) if recipe.below(2) == 0 => nth,
        _ => recipe.below(bodies.len()),
    };
    edit_body(&mut bodies[nth], recipe);
    *contents = encoded(bodies.len() as u32);
    for body in &bodies {
        contents.extend(encoded(body.len() as u32));
        contents.extend(body);
    }
}

fn bodies(contents: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut at = 0;
    (0..number(contents, &mut at)?)
        .map(|_| {
            let length = number(contents, &mut at)? as usize;
            let body = contents.get(at..)?.get(..length)?.to_vec();
            at += length;
            Some(body)
        })
        .collect()
}

fn edit_body(body: &mut Vec<u8>, recipe: &mut Recipe<'_>) {
    let starts: Vec<usize> = FunctionBody::new(BinaryReader::new(body, 0))
        .get_operators_reader()
        .map(|operators| operators.into_iter_with_offsets())
        .into_iter()
        .flatten()
        .map_while(Result::ok)
        .map(|(_, offset)| offset as usize)
        .collect();
    if starts.is_empty() {
        return recipe.damage_bytes(body, 1);
    }
    let nth = recipe.below(starts.len());
    let at = starts[nth];
    let next = |more: usize| starts.get(nth + 1 + more).copied().unwrap_or(body.len());
    match recipe.below(5) {
        0 => _ = body.drain(at..next(recipe.below(8))),
        1 => _ = body.splice(at..next(0), instruction(recipe)),
        2 => {
            let piece = body[at..next(recipe.below(16))].to_vec();
            let to = starts[recipe.below(starts.len())];
            body.splice(to..to, piece);
        }
        3 => recipe.damage_bytes(body, 1),
        _ => _ = body.splice(at..at, instruction(recipe)),
    }
}

/// One instruction, of those that collectors consist of and some others.
fn instruction(recipe: &mut Recipe<'_>) -> Vec<u8> {
    const WITH_INDEX: [u8; 9] = [0x20, 0x21, 0x22, 0x23, 0x24, 0x41, 0x10, 0x0c, 0x0d];
    const WITH_OFFSET: [u8; 5] = [0x28, 0x29, 0x2d, 0x2f, 0x36];
    const BLOCKS: [u8; 3] = [0x02, 0x03, 0x04];
    const PLAIN: [u8; 22] = [
        0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0x45, 0x46, 0x47, 0x49, 0x4b, 0x4d, 0x6a, 0x6b,
        0x6c, 0x71, 0x72, 0x73, 0x74, 0x76, 0xa7,
    ];
    let operand = recipe.number(8);
    match recipe.below(8) {
        0..3 => [vec![WITH_INDEX[recipe.below(9)]], encoded(operand)].concat(),
        3 => [vec![WITH_OFFSET[recipe.below(5)], 2], encoded(operand)].concat(),
        4 => vec![BLOCKS[recipe.below(3)], [0x40, 0x7f, 0][recipe.below(3)]],
        5 => [
            vec![0x0e, 2],
            encoded(operand),
            vec![recipe.byte() % 8, recipe.byte() % 8],
        ]
        .concat(),
        6 => vec![0x11, recipe.byte() % 16, 0],
        _ => vec![PLAIN[recipe.below(PLAIN.len())]],
    }
}
