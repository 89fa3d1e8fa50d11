//! Names of types as the source writes them. They do not change from one build of a source to the next: they have no
//! lengths, and no private paths of standard libraries.

use std::collections::HashMap;
use std::rc::Rc;

use super::table::{DEEPEST, TypeId, TypeKind, TypeTable};

/// The longest name that is made. Generic types of generic types can have names that grow without end.
const LONGEST: usize = 1000;

/// Makes names.
pub(super) struct Namer<'t, 'a> {
    types: &'t TypeTable<'a>,
    is_rust: bool,
    known: HashMap<TypeId, Rc<str>>,
}

impl<'t, 'a> Namer<'t, 'a> {
    pub(super) fn new(types: &'t TypeTable<'a>) -> Self {
        let mut scopes = types.scopes.iter();
        Self {
            types,
            is_rust: scopes.any(|scope| scope.parent == 0 && scope.name == "core"),
            known: HashMap::new(),
        }
    }

    /// The name of a type.
    pub(super) fn name(&mut self, id: TypeId) -> Rc<str> {
        if let Some(name) = self.known.get(&id) {
            return Rc::clone(name);
        }
        let name = self.types.full_name(id, DEEPEST);
        let name: Rc<str> = self.simple(&name).into();
        self.known.insert(id, Rc::clone(&name));
        name
    }

    /// The name of a variable, with its scopes.
    pub(super) fn variable(&self, name: &str, scope: u32) -> String {
        let full = self.types.path(scope, name);
        // What a macro of the library puts around the variable of a thread.
        let own: Vec<&str> = full
            .split("::")
            .take_while(|part| !part.starts_with('{') && *part != "__getit")
            .collect();
        self.simple(&own.join("::"))
    }

    /// A name with scopes, as it is shown.
    pub(super) fn simple(&self, name: &str) -> String {
        let mut name = name
            .replace("std::__1::", "std::")
            .replace("std::__2::", "std::");
        name = without_defaults(&name);
        if self.is_rust {
            name = without_paths(&name);
        }
        name = name.replace("std::basic_string<char>", "std::string");
        if name.len() > LONGEST {
            let end = (0..LONGEST).rev().find(|&end| name.is_char_boundary(end));
            name.truncate(end.unwrap_or(0));
            name.push('…');
        }
        name
    }
}

impl TypeTable<'_> {
    /// A name with the scopes around it.
    pub(super) fn path(&self, scope: u32, name: &str) -> String {
        let mut parts = vec![name];
        let mut scope = scope;
        while let Some(around) = self.scope(scope) {
            // In Zig, names have their scopes in them.
            let rest = name.strip_prefix(around.name);
            if rest.is_some_and(|rest| rest.starts_with('.')) {
                break;
            }
            if !around.name.is_empty() {
                parts.push(around.name);
            }
            let length: usize = parts.iter().map(|part| part.len()).sum();
            if parts.len() > DEEPEST || length > LONGEST {
                break;
            }
            scope = around.parent;
        }
        parts.reverse();
        parts.join("::")
    }

    /// The name as the debug information has it, with scopes.
    pub(super) fn full_name(&self, id: TypeId, depth: usize) -> String {
        if depth == 0 {
            return "…".to_owned();
        }
        let resolved = self.resolved(id);
        let found = self.get(resolved);
        let target = |none: &str| match found.target {
            Some(target) => self.full_name(target, depth - 1),
            None => none.to_owned(),
        };
        match found.kind {
            TypeKind::Array => format!("{}[]", target("?")),
            TypeKind::Pointer if found.name.is_empty() => format!("{}*", target("void")),
            TypeKind::Other => "function".to_owned(),
            TypeKind::Struct | TypeKind::Union if found.name.is_empty() => self.alias_of(id),
            TypeKind::Struct | TypeKind::Union => self.path(found.scope, found.name),
            TypeKind::Number(_) if found.name.is_empty() => self.alias_of(id),
            _ => found.name.to_owned(),
        }
    }

    /// The last name on the way to a type that has none.
    fn alias_of(&self, id: TypeId) -> String {
        let (mut id, mut name) = (id, String::new());
        for _ in 0..DEEPEST {
            let found = self.get(id);
            if found.kind != TypeKind::Alias {
                break;
            }
            if !found.name.is_empty() {
                name = self.path(found.scope, found.name);
            }
            match found.target {
                Some(target) => id = target,
                None => break,
            }
        }
        if name.is_empty() {
            let found = self.get(id);
            return self.path(found.scope, "{anonymous}");
        }
        name
    }

    /// Whether a type is one of a standard library, whose members say nothing to its users.
    pub(super) fn is_of_library(&self, id: TypeId) -> bool {
        let mut scope = self.get(self.resolved(id)).scope;
        let mut outermost = "";
        for _ in 0..DEEPEST {
            let Some(around) = self.scope(scope) else {
                break;
            };
            outermost = around.name;
            scope = around.parent;
        }
        matches!(
            outermost,
            "std" | "core" | "alloc" | "hashbrown" | "__cxxabiv1"
        )
    }
}

/// The arguments that generic types have by default, by their starts.
const DEFAULTS: [&str; 10] = [
    "std::allocator<",
    "std::char_traits<",
    "std::less<",
    "std::hash<",
    "std::equal_to<",
    "std::default_delete<",
    "alloc::alloc::Global",
    "std::collections::hash::map::RandomState",
    "std::hash::random::RandomState",
    "std::alloc::Global",
];

/// Leaves out arguments with default values, and the space between two closing brackets.
fn without_defaults(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        if let Some(argument) = rest.strip_prefix(", ")
            && DEFAULTS.iter().any(|start| argument.starts_with(start))
        {
            rest = &argument[argument_length(argument)..];
        } else if rest.starts_with(" >") {
            rest = &rest[1..];
        } else {
            kept.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    kept
}

/// The bytes up to the end of the argument that begins here.
fn argument_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' if depth == 0 => return at,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Leaves out the paths of types of Rust's library: they are private, and other ones in each version.
fn without_paths(name: &str) -> String {
    let is_in_path = |character: char| character.is_alphanumeric() || "_:".contains(character);
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let end = rest
            .find(|character| !is_in_path(character))
            .unwrap_or(rest.len());
        if end == 0 {
            kept.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let path = &rest[..end];
        let is_library = ["alloc::", "core::", "std::", "hashbrown::"]
            .iter()
            .any(|root| path.starts_with(root));
        // `<` of a generic argument may follow `::`.
        let own = path
            .trim_end_matches(':')
            .rsplit("::")
            .next()
            .unwrap_or(path);
        kept.push_str(if is_library { own } else { path });
        rest = &rest[end..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_private_paths_are_left_out() {
        let cpp = "std::vector<Order, std::allocator<Order> >";
        assert_eq!(without_defaults(cpp), "std::vector<Order>");
        let map = "std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, std::allocator<std::pair<const int, int> > >";
        assert_eq!(without_defaults(map), "std::map<int, std::vector<int>>");
        let rust = "alloc::vec::Vec<guest::Order, alloc::alloc::Global>";
        assert_eq!(without_paths(&without_defaults(rust)), "Vec<guest::Order>");
        assert_eq!(
            without_paths("(alloc::string::String, u32)"),
            "(String, u32)"
        );
    }
}
