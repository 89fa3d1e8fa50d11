//! Names for the functions of a module from a file beside it: the symbol map that Emscripten writes with
//! `--emit-symbol-map`, or the JavaScript that it writes with each module, which has the names of the exports.

use std::collections::{BTreeMap, HashMap};

use wasm_encoder::{Encode, NameMap, NameSection, Section as _};

use crate::InstrumentError;
use base::control::Control;
use base::error::Result;
use base::shown::Shown;
use wasm::module::Module;

/// Returns the module with a name for each function that had none and that the text names. Offsets do not change: a
/// section is added at the end.
///
/// # Errors
/// [`InstrumentError::Symbols`] if the text has no names, or is of another module; [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
pub fn name_functions(wasm: &[u8], text: &str) -> Result<Vec<u8>> {
    let module = Module::parse(wasm, &Control::default())?;
    let functions = module.functions.imported() + module.functions.defined().count() as u32;
    let names = match symbol_map(text) {
        Some(names) => {
            check_map(&names, functions)?;
            names
        }
        None => exported_names(&module, text)?,
    };
    let mut map = NameMap::new();
    for (&function, name) in &names {
        if module.functions.name(function).is_none() {
            map.append(function, name);
        }
    }
    let mut section = NameSection::new();
    section.functions(&map);
    let mut named = wasm.to_vec();
    named.push(section.id());
    section.encode(&mut named);
    Ok(named)
}

/// The names of a symbol map by the index of the function: `12:main` on each line. `None` if a line is not of this form.
fn symbol_map(text: &str) -> Option<BTreeMap<u32, String>> {
    let mut names = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (index, name) = line.split_once(':')?;
        names.insert(index.trim().parse().ok()?, unescaped(name));
    }
    (!names.is_empty()).then_some(names)
}

/// The name with the characters that Binaryen writes as `\20`.
fn unescaped(name: &str) -> String {
    let mut parts = name.split('\\');
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                plain.push(code);
                plain.extend(&part.as_bytes()[2..]);
            }
            None => {
                plain.push(b'\\');
                plain.extend(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// A symbol map lists all functions, so that one of another module has another number of them.
fn check_map(names: &BTreeMap<u32, String>, functions: u32) -> Result<()> {
    let listed = names
        .keys()
        .next_back()
        .map_or(0, |last| last.saturating_add(1));
    if listed == functions {
        return Ok(());
    }
    Err(InstrumentError::Symbols {
        message: format!(
            "its last function is number {}, and that of the module is number {}: it is of another module",
            listed.saturating_sub(1),
            functions.saturating_sub(1)
        ),
    }.into())
}

/// The names that Emscripten's JavaScript gives to exports, by the index of the function. It assigns the exports of one
/// object, as in `Module._malloc = wasmExports.Ia`.
fn exported_names(module: &Module<'_>, text: &str) -> Result<BTreeMap<u32, String>> {
    let mut objects: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for Assignment {
        name,
        object,
        member,
    } in assignments(text)
    {
        objects.entry(object).or_default().push((member, name));
    }
    let exports: HashMap<&str, u32> = module.functions.exports().collect();
    let known = |pairs: &[(&str, &str)]| {
        let members = pairs.iter().map(|(member, _)| member);
        members
            .filter(|&member| exports.contains_key(member))
            .count()
    };
    let best = objects.values().max_by_key(|pairs| known(pairs));
    let Some(pairs) = best.filter(|pairs| known(pairs) > 0) else {
        return Err(InstrumentError::Symbols {
            message: "it has neither lines like 12:main nor assignments like Module._main = wasmExports.m of \
                      functions that the module exports"
                .to_owned(),
        }.into());
    };
    if let Some((member, name)) = pairs
        .iter()
        .find(|(member, _)| !exports.contains_key(member))
    {
        return Err(InstrumentError::Symbols {
            message: format!(
                "it names the export {} ({}), which the module does not have: it is of another module",
                Shown(member),
                Shown(name)
            ),
        }.into());
    }
    let mut names = BTreeMap::new();
    for (member, name) in pairs {
        names
            .entry(exports[member])
            .or_insert_with(|| (*name).to_owned());
    }
    Ok(names)
}

/// `._name = object.member`, or the same with brackets.
struct Assignment<'a> {
    /// Without the underscore that Emscripten adds.
    name: &'a str,
    object: &'a str,
    member: &'a str,
}

/// All assignments of members to names with an underscore.
fn assignments(text: &str) -> impl Iterator<Item = Assignment<'_>> {
    let starts = text.match_indices(['.', '[']);
    starts.filter_map(|(at, _)| {
        let (name, rest) = key(&text[at..])?;
        let name = name.strip_prefix('_')?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        // Older versions: `a._malloc=function(){return(a._malloc=a.asm.Xu).apply(…)}`; the inner one is found itself.
        let first = identifier(rest);
        let mut end = first.len();
        let mut last = None;
        while let Some((member, after)) = key(&rest[end..]) {
            last = Some((end, member));
            end = rest.len() - after.len();
        }
        let (object, member) = last.filter(|_| !first.is_empty())?;
        // A call, or a further assignment of a chain, is no member.
        let next = rest[end..].trim_start().chars().next();
        let ends = next.is_none_or(|next| matches!(next, ';' | ',' | ')' | '}'))
            || has_line_end(&rest[end..]);
        ends.then_some(Assignment {
            name,
            object: &rest[..object],
            member,
        })
    })
}

/// Whether the next thing is the end of the line.
fn has_line_end(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// A member at the start of a text, `.name` or `["name"]`, and what is after it.
fn key(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let name = identifier(rest);
        return (!name.is_empty()).then(|| (name, &rest[name.len()..]));
    }
    let rest = text.strip_prefix('[')?;
    let quote = rest
        .chars()
        .next()
        .filter(|&quote| quote == '"' || quote == '\'')?;
    let rest = &rest[1..];
    let name = identifier(rest);
    let after = rest[name.len()..].strip_prefix(quote)?.strip_prefix(']')?;
    (!name.is_empty()).then_some((name, after))
}

/// The identifier at the start of a text; empty if there is none.
fn identifier(text: &str) -> &str {
    let is_part = |next: char| next.is_ascii_alphanumeric() || next == '_' || next == '$';
    let end = text.find(|next| !is_part(next)).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_found_in_all_forms() {
        let text = "c._free=b.i;da=k._malloc=c.Ia;a._x=function(){return(a._x=a.asm.Xu).apply(null,arguments)};\n\
                    Module[\"_run\"] = wasmExports['r'];f._no=g.call();h._no=1;_no=i.j;k._last = l.m\nn";
        let found: Vec<_> = assignments(text)
            .map(|one| (one.name, one.object, one.member))
            .collect();
        let expected = [
            ("free", "b", "i"),
            ("malloc", "c", "Ia"),
            ("x", "a.asm", "Xu"),
            ("run", "wasmExports", "r"),
            ("last", "l", "m"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_symbol_map_is_read() {
        let names = symbol_map("0:fd_write\n1:std::less\\28int\\29\r\n").unwrap();
        assert_eq!(names[&1], "std::less(int)");
        assert!(symbol_map("a = b;\n1:main").is_none());
        assert!(symbol_map("").is_none());
    }
}
