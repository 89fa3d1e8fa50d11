//! Which types are containers, by their names and members.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::table::{MemberKind, TypeId, TypeTable};

/// The deepest nesting of a member in the wrappers of a library.
const DEEPEST: u32 = 10;
/// The most members among which one is searched for. Containers have far less.
const MOST_LOOKED_AT: u32 = 1 << 10;

/// A kind of container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LibraryContainer {
    /// `Vec` of Rust.
    Vec,
    /// `VecDeque` of Rust.
    Deque,
    /// The table of Rust's `HashMap` and `HashSet`.
    HashTable,
    /// `BTreeMap` of Rust, which `BTreeSet` has inside.
    BTree,
    /// `std::vector`.
    CppVector,
    /// `std::string`.
    CppString,
    /// What `std::map` and `std::set` have inside.
    CppTree,
    /// `std::deque`.
    CppDeque,
    /// What `std::unordered_map` and `std::unordered_set` have inside.
    CppHashTable,
    /// What `Rc` and `Arc` of Rust allocate: counters, and a value that is dropped before the block is freed.
    Counted,
    /// `std::weak_ptr`.
    CppWeak,
    /// `std::optional`.
    CppOptional,
    /// `std::variant`.
    CppVariant,
    /// A slice of Zig.
    ZigSlice,
    /// `ArrayList` of Zig.
    ZigList,
    /// What `AutoHashMap` and `StringHashMap` of Zig have inside.
    ZigHashMap,
}

impl LibraryContainer {
    /// The kind of a type, by its name and members.
    pub(super) fn of_type(types: &TypeTable<'_>, id: TypeId) -> Option<Self> {
        let name = types.get(id).name;
        let kinds: [(&str, &[&str], Self); 18] = [
            ("Vec<", &["buf", "len"], Self::Vec),
            ("VecDeque<", &["buf", "head"], Self::Deque),
            ("RawTable<", &["table"], Self::HashTable),
            ("BTreeMap<", &["root", "length"], Self::BTree),
            ("vector<", &["__begin_", "__end_"], Self::CppVector),
            ("basic_string<", &["__l"], Self::CppString),
            ("__tree<", &["__begin_node_"], Self::CppTree),
            ("deque<", &["__map_", "__start_"], Self::CppDeque),
            ("__hash_table<", &["__bucket_list_"], Self::CppHashTable),
            ("RcInner<", &["strong", "value"], Self::Counted),
            ("RcBox<", &["strong", "value"], Self::Counted),
            ("ArcInner<", &["strong", "data"], Self::Counted),
            ("weak_ptr<", &["__ptr_", "__cntrl_"], Self::CppWeak),
            ("optional<", &["__val_", "__engaged_"], Self::CppOptional),
            ("variant<", &["__data", "__index"], Self::CppVariant),
            ("[]", &["ptr", "len"], Self::ZigSlice),
            ("array_list.", &["items", "capacity"], Self::ZigList),
            ("hash_map.", &["metadata", "available"], Self::ZigHashMap),
        ];
        let kinds = kinds.into_iter();
        let mut kinds = kinds.filter(|(start, ..)| name.starts_with(start));
        let (_, members, kind) = kinds.next()?;
        let has_all = members
            .iter()
            .all(|member| part(types, id, member).is_some());
        // No other language has such names.
        let is_of_zig = matches!(kind, Self::ZigSlice | Self::ZigList | Self::ZigHashMap);
        (has_all && (is_of_zig || types.is_of_library(id))).then_some(kind)
    }

    /// Whether its members say of what types the blocks are to which they refer, beside what a rule says.
    pub(super) fn has_typed_members(self) -> bool {
        self == Self::CppHashTable
    }

    /// Whether it is a value that may be there.
    pub(super) fn is_perhaps(self) -> bool {
        matches!(self, Self::Counted | Self::CppOptional)
    }

    /// The paths of members to the pointer to the contents, of which the first that exists counts.
    pub(super) fn contents(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Vec | Self::Deque => &[&["buf", "ptr"]],
            Self::HashTable => &[&["table", "ctrl"]],
            Self::BTree => &[&["root", "node"]],
            Self::CppVector => &[&["__begin_"]],
            Self::CppString => &[&["__l", "__data_"]],
            Self::CppTree => &[&["__pair1_", "__left_"], &["__end_node_", "__left_"]],
            Self::CppDeque => &[&["__map_", "__begin_"]],
            Self::Counted | Self::CppOptional | Self::CppVariant => &[],
            Self::CppWeak => &[&["__ptr_"]],
            Self::ZigSlice => &[&["ptr"]],
            Self::ZigList => &[&["items", "ptr"]],
            Self::ZigHashMap => &[&["metadata"]],
            Self::CppHashTable => &[&["__p1_", "__next_"], &["__first_node_", "__next_"]],
        }
    }
}

/// A member somewhere in a type: its offset from the start of the type, and its own type.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberPart {
    pub(super) offset: u32,
    pub(super) type_id: TypeId,
}

/// The member with this name, in the type or in what its members consist of; the outermost one, and of these the first.
pub(super) fn part(types: &TypeTable<'_>, id: TypeId, name: &str) -> Option<MemberPart> {
    let start = MemberPart {
        offset: 0,
        type_id: id,
    };
    let mut level = vec![start];
    let mut left = MOST_LOOKED_AT;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for outer in level {
            for member in types.members(types.resolved(outer.type_id)) {
                left = left.checked_sub(1)?;
                let inner = MemberPart {
                    offset: outer.offset.checked_add(member.offset)?,
                    type_id: member.type_id,
                };
                if member.name == name && member.kind != MemberKind::Bits {
                    return Some(inner);
                }
                next.push(inner);
            }
        }
        level = next;
    }
    None
}

/// A member on a path of names, each somewhere in the one before.
pub(super) fn part_at(types: &TypeTable<'_>, id: TypeId, path: &[&str]) -> Option<MemberPart> {
    on_path(id, path, |id, name| part(types, id, name))
}

fn on_path<'p>(
    id: TypeId,
    path: &[&'p str],
    part: impl Fn(TypeId, &'p str) -> Option<MemberPart>,
) -> Option<MemberPart> {
    let mut found = MemberPart {
        offset: 0,
        type_id: id,
    };
    for name in path {
        let inner = part(found.type_id, name)?;
        found = MemberPart {
            offset: found.offset.checked_add(inner.offset)?,
            type_id: inner.type_id,
        };
    }
    Some(found)
}

/// Finds members, each once and not for every container.
pub(super) struct KnownParts<'t, 'a> {
    types: &'t TypeTable<'a>,
    known: RefCell<HashMap<(TypeId, &'static str), Option<MemberPart>, RandomState>>,
}

impl<'t, 'a> KnownParts<'t, 'a> {
    pub(super) fn new(types: &'t TypeTable<'a>) -> Self {
        Self {
            types,
            known: RefCell::default(),
        }
    }

    /// As [`part`].
    pub(super) fn part(&self, id: TypeId, name: &'static str) -> Option<MemberPart> {
        let mut known = self.known.borrow_mut();
        *known
            .entry((id, name))
            .or_insert_with(|| part(self.types, id, name))
    }

    /// As [`part_at`].
    pub(super) fn part_at(&self, id: TypeId, path: &[&'static str]) -> Option<MemberPart> {
        on_path(id, path, |id, name| self.part(id, name))
    }
}
