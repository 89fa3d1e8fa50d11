//! Names for the functions of a module from a file beside it: the symbol map that Emscripten writes with
//! `--emit-symbol-map`, or the JavaScript that it writes with each module, which has the names of the exports.

use std::collections::{BTreeMap, HashMap};

use wasm_encoder::{Encode, NameMap, NameSection, Section as _};

use crate::InstrumentError;
use base::control::Control;
use base::error::Result;
use base::shown::Shown;
use wasm::module::Module;

use crate::sections::Sections;

/// The number of the subsection with the names of functions.
const FUNCTION_NAMES: u8 = 1;

/// Returns the module with a name for each function that had none and that the text names. Offsets of code do not
/// change: the section of names is the last one. What an older section names, it names too.
///
/// # Errors
/// [`InstrumentError::Symbols`] if the text has no names, or is of another module; [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
pub fn name_functions(wasm: &[u8], text: &str) -> Result<Vec<u8>> {
    let module = Module::parse(wasm, &Control::default())?;
    let functions = module.functions.imported() + module.functions.defined().count() as u32;
    let mut names = match symbol_map(text) {
        Some(names) => {
            check_map(&names, functions)?;
            names
        }
        None => exported_names(&module, text)?,
    };
    for function in 0..functions {
        if let Some(name) = module.functions.name(function) {
            names.insert(function, name.to_owned());
        }
    }
    let mut map = NameMap::new();
    for (&function, name) in &names {
        map.append(function, name);
    }
    let mut sections = Sections::split(wasm)?;
    let others = sections.take_names().unwrap_or_default();
    let mut section = NameSection::new();
    // Subsections are in the order of their numbers.
    for (&kind, &contents) in others.range(..FUNCTION_NAMES) {
        section.raw(kind, contents);
    }
    section.functions(&map);
    for (&kind, &contents) in others.range(FUNCTION_NAMES + 1..) {
        section.raw(kind, contents);
    }
    let mut named = sections.join();
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
    use wasm_encoder::{
        CodeSection, ConstExpr, Function, FunctionSection, GlobalSection, GlobalType, TypeSection,
        ValType,
    };
    use wasmparser::{KnownCustom, Name, Parser, Payload};

    /// A module with three functions and a global, of which it names the module, the first function and the global.
    fn partly_named() -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut functions = FunctionSection::new();
        let mut globals = GlobalSection::new();
        let mut code = CodeSection::new();
        for _ in 0..3 {
            functions.function(0);
            let mut body = Function::new([]);
            body.instructions().end();
            code.function(&body);
        }
        let kind = GlobalType {
            val_type: ValType::I32,
            mutable: true,
            shared: false,
        };
        globals.global(kind, &ConstExpr::i32_const(0));
        let name = |text| {
            let mut map = NameMap::new();
            map.append(0, text);
            map
        };
        let mut names = NameSection::new();
        names.module("program");
        names.functions(&name("first"));
        names.globals(&name("counter"));
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&functions).section(&globals);
        module.section(&code).section(&names);
        module.finish()
    }

    /// What each section of names says, as `kind index name`.
    fn names_of(wasm: &[u8]) -> Vec<Vec<String>> {
        let mut sections = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            let Payload::CustomSection(section) = payload.unwrap() else {
                continue;
            };
            let KnownCustom::Name(names) = section.as_known() else {
                continue;
            };
            let mut lines = Vec::new();
            for subsection in names {
                let (kind, map) = match subsection.unwrap() {
                    Name::Module { name, .. } => {
                        lines.push(format!("module {name}"));
                        continue;
                    }
                    Name::Function(map) => ("function", map),
                    Name::Global(map) => ("global", map),
                    _ => panic!("another subsection"),
                };
                lines.extend(map.into_iter().map(|naming| {
                    let naming = naming.unwrap();
                    format!("{kind} {} {}", naming.index, naming.name)
                }));
            }
            sections.push(lines);
        }
        sections
    }

    #[test]
    fn a_module_that_has_some_names_keeps_them_in_one_section() {
        let wasm = partly_named();
        let named = name_functions(&wasm, "0:other\n1:second\n2:third\n").unwrap();
        let expected = [
            "module program",
            "function 0 first",
            "function 1 second",
            "function 2 third",
            "global 0 counter",
        ];
        assert_eq!(names_of(&named), [expected]);
        let code = wasm.len() - 48;
        assert_eq!(named[..code], wasm[..code]);
        // Naming again changes nothing.
        assert_eq!(name_functions(&named, "0:a\n1:b\n2:c\n").unwrap(), named);
    }

    #[test]
    fn a_damaged_section_of_names_stays() {
        let mut wasm = partly_named();
        // The size of the subsection of globals, which is then longer than the section.
        let at = wasm.len() - 12;
        assert_eq!(wasm[at..at + 2], [7, 10]);
        wasm[at + 1] = 20;
        let named = name_functions(&wasm, "0:other\n1:second\n2:third\n").unwrap();
        assert_eq!(named[..wasm.len()], wasm);
    }

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
