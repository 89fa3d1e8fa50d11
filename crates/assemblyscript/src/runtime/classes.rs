//! Finds the class of a runtime id: its name, and the references in its objects.
//!
//! The evidence, best first: the type flag that the collector itself uses (pointer-free), the debug
//! information, the collector's code together with the type flags of containers, the type flags alone.
//! Containers are recognised by inheritance: a subclass of `Array` is an `Array`, whatever its name is. If
//! the debug information and the code disagree about a field, it counts as a reference, so that no live
//! object is missed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::container_layouts::{
    AddedContents, layout_from_code, layout_from_flags, standard_container, with_flags,
    with_inherited,
};
use super::evidence::DumpEvidence;
use super::layout::{ContentReferences, EntrySlot, ReferenceLayout};
use super::type_flags::{TypeFlags, TypeFlagsTable};
use base::control::Control;
use base::units::ClassId;
use runtime_code::collector_code::{CodeReader, CollectorCode, Storage, VisitedMembers};
use runtime_code::std_library::{BUFFER, FIXED_NAMES, OBJECT, OBJECT_NAME};
use wasm::debug_info::{Class, DebugInfo, Number, TypeRef};
use wasm::module::Module;

mod sizes;

pub use super::runtime_class::{Doubt, ObjectSize, RuntimeClass};

/// The largest number of classes of one id that are used. Correct debug information has one.
const RIVALS: usize = 8;

/// The largest number of classes and fields that are visited for all classes together. A class also has the
/// fields of its bases, so ten thousand classes, each the base of the next, have 50 million.
const STEPS: u64 = 1 << 28;

/// The largest number of classes whose names are searched for in the code.
const MOST_NAMED: u32 = 1 << 16;

/// The largest number of offsets in all layouts together.
const OFFSETS: u64 = 1 << 22;

/// Finds the class of an id.
#[derive(Debug)]
pub struct Classes<'a> {
    debug_info: &'a DebugInfo,
    code: Option<Arc<CollectorCode>>,
    code_reader: RefCell<CodeReader<'a, 'a>>,
    flags: TypeFlagsTable<'a>,
    /// Whether the module has names of functions.
    has_names: bool,
    /// Each id's class; more than one only if the debug information contradicts itself.
    by_id: HashMap<ClassId, Vec<&'a Class>>,
    /// The names of classes in the collector's code; read if a name is missing in the debug information.
    names_in_code: OnceCell<HashMap<ClassId, String>>,
    /// The rest of [`STEPS`] and of [`OFFSETS`]. A class that needs more is not from a real program, and
    /// counts as unknown.
    steps_left: Cell<u64>,
    offsets_left: Cell<u64>,
}

impl<'a> Classes<'a> {
    /// Combines the evidence.
    pub fn new(
        evidence: &DumpEvidence<'a>,
        module: &'a Module<'a>,
        flags: TypeFlagsTable<'a>,
        control: &Control,
    ) -> Self {
        let debug_info = evidence.debug_info;
        let mut by_id: HashMap<ClassId, Vec<&Class>> = HashMap::new();
        for class in &debug_info.classes {
            if let Some(id) = class.id.filter(|id| id.0 != 0) {
                let classes = by_id.entry(id).or_default();
                if classes.len() < RIVALS && classes.iter().all(|known| known.name != class.name) {
                    classes.push(class);
                }
            }
        }
        Self {
            debug_info,
            code: evidence.code.clone(),
            code_reader: RefCell::new(CodeReader::new(&module.functions, control)),
            flags,
            has_names: module.functions.are_named(),
            by_id,
            names_in_code: OnceCell::new(),
            steps_left: Cell::new(STEPS),
            offsets_left: Cell::new(OFFSETS),
        }
    }

    /// The number of classes of the program, by the table of type flags; 0 if there is no table.
    pub fn count(&self) -> u32 {
        self.flags.count()
    }

    /// The class with this id and its bases, if the debug information names exactly one.
    pub(super) fn lineage(&self, id: ClassId) -> impl Iterator<Item = &Class> {
        let class = match self.by_id.get(&id).map(Vec::as_slice) {
            Some(&[class]) => Some(class),
            _ => None,
        };
        class.into_iter().flat_map(|class| self.chain(class))
    }

    /// The class that a type of the debug information refers to.
    pub(super) fn described(&self, type_ref: TypeRef) -> Option<&Class> {
        self.debug_info.class(type_ref)
    }

    /// Whether the debug information has the bases of classes.
    pub(super) fn describes_inheritance(&self) -> bool {
        self.debug_info.describes_inheritance
    }

    /// The name of a type in the debug information.
    pub(super) fn type_name(&self, type_ref: TypeRef) -> &str {
        match type_ref {
            TypeRef::Base { number } => number.map_or("?", Number::name),
            TypeRef::Class(_) | TypeRef::Unresolved => {
                let class = self.debug_info.class(type_ref);
                class.map_or("?", |class| class.name.as_str())
            }
        }
    }

    /// The run-time type flags of a class.
    pub(super) fn flags(&self, id: ClassId) -> Option<TypeFlags> {
        self.flags.get(id)
    }

    /// Whether a variable or field of this type can hold a reference, by the debug information.
    pub fn is_reference(&self, type_ref: TypeRef) -> bool {
        match type_ref {
            TypeRef::Base { .. } => false,
            // The class was never compiled, so the value is always null, or its description was left out:
            // possibly a reference.
            TypeRef::Unresolved => true,
            TypeRef::Class(_) => !self.debug_info.class(type_ref).is_some_and(is_unmanaged),
        }
    }

    /// Whether a global of this type is a root. Functions are static: globals that hold one are not visited.
    pub fn is_root(&self, type_ref: TypeRef) -> bool {
        let class = self.debug_info.class(type_ref);
        self.is_reference(type_ref)
            && !class.is_some_and(|class| class.name.starts_with("~lib/function/Function<"))
    }

    /// Whether objects of this type refer to nothing.
    pub fn is_pointer_free(&self, type_ref: TypeRef) -> bool {
        let id = self.debug_info.class(type_ref).and_then(|class| class.id);
        let flags = id.and_then(|id| self.flags.get(id));
        flags.is_some_and(TypeFlags::is_pointer_free)
    }

    /// Describes the class with this id. If the work was cancelled, the result may be wrong.
    pub fn describe(&self, id: ClassId) -> RuntimeClass {
        let classes = self.by_id.get(&id).map_or(&[][..], Vec::as_slice);
        if let (false, [_, _, ..]) = ((id.0 as usize) < FIXED_NAMES.len(), classes) {
            return self.describe_ambiguous(id, classes);
        }
        let class = classes.first().copied();
        let fixed_name = FIXED_NAMES.get(id.0 as usize).map(|&name| name.to_owned());
        let name = fixed_name
            .or_else(|| class.map(|class| class.name.clone()))
            .or_else(|| self.name_in_code(id));
        let (layout, doubt) = self.layout(id, class);
        let declared_size = class
            .filter(|_| doubt == Doubt::None)
            .and_then(|class| self.declared_size(class));
        let contents = layout.as_ref().map(|layout| layout.contents.clone());
        RuntimeClass {
            lacks_name: (name.is_none() && self.has_names).then_some(self.debug_info.producer),
            name: name.unwrap_or_else(|| format!("Class#{id}")),
            is_described: layout.is_some(),
            object_size: layout.as_ref().map_or(ObjectSize::Any, |layout| {
                self.object_size(id, class, layout)
            }),
            is_certain: doubt == Doubt::None
                && contents != Some(ContentReferences::Visited)
                && class.is_none_or(|class| !self.has_unresolved_types(class)),
            layout: layout.unwrap_or_else(ReferenceLayout::unknown),
            doubt,
            declared_size,
            rivals: Vec::new(),
        }
    }

    /// Describes an id that several classes have: an object may be of any of them, so the references of all
    /// of them are followed.
    fn describe_ambiguous(&self, id: ClassId, classes: &[&Class]) -> RuntimeClass {
        let layouts = classes.iter().map(|class| self.layout(id, Some(class)).0);
        let layout = layouts
            .reduce(|left, right| Some(left?.or(right?)))
            .flatten()
            // There may be more classes, which were not read.
            .filter(|_| classes.len() < RIVALS)
            .unwrap_or_else(ReferenceLayout::unknown);
        let mut names: Vec<_> = classes.iter().map(|class| class.name.clone()).collect();
        let in_code = self.name_in_code(id);
        let chosen = names.iter().position(|name| Some(name) == in_code.as_ref());
        RuntimeClass {
            name: names.swap_remove(chosen.unwrap_or(0)),
            lacks_name: None,
            layout,
            is_described: true,
            doubt: Doubt::None,
            declared_size: None,
            object_size: ObjectSize::Any,
            is_certain: false,
            rivals: names,
        }
    }

    fn name_in_code(&self, id: ClassId) -> Option<String> {
        let code = self.code.as_deref()?;
        let names = || {
            // Objects of higher ids share one class, which is unknown.
            let count = self.flags.count().min(MOST_NAMED);
            let classes = (0..count).map(|id| (ClassId(id), self.storage(ClassId(id))));
            code.class_names(&mut self.code_reader.borrow_mut(), classes)
        };
        self.names_in_code.get_or_init(names).get(&id).cloned()
    }

    /// The layout of a class, if it is known, and the reason why it may be wrong.
    fn layout(&self, id: ClassId, class: Option<&Class>) -> (Option<ReferenceLayout>, Doubt) {
        let flags = self.flags.get(id);
        let simple = match id.0 {
            0..=2 => Some(ReferenceLayout::pointer_free()),
            3 => Some(ReferenceLayout::new(vec![BUFFER], ContentReferences::Fixed)),
            _ => flags
                .filter(|flags| flags.is_pointer_free())
                .map(|_| ReferenceLayout::pointer_free()),
        };
        if simple.is_some() {
            return (simple, Doubt::None);
        }
        // An id beyond the table is no class of this program: no code runs for it.
        let is_known = id.0 < self.flags.count();
        let members = self.code.as_deref().filter(|_| is_known).and_then(|code| {
            code.members(&mut self.code_reader.borrow_mut(), id, self.storage(id))
        });
        if let Some(members) = members.as_ref().filter(|members| members.by_values) {
            return self.visited_layout(class, flags, members);
        }
        match (class, members) {
            (Some(class), members) => self.checked_layout(class, flags, members.as_ref()),
            (None, Some(members)) => (layout_from_code(members, flags), Doubt::None),
            (None, None) => (flags.and_then(layout_from_flags), Doubt::None),
        }
    }

    /// The layout of a class whose visitor must be run on each object: which of these fields it visits is seen then.
    fn visited_layout(
        &self,
        class: Option<&Class>,
        flags: Option<TypeFlags>,
        members: &VisitedMembers,
    ) -> (Option<ReferenceLayout>, Doubt) {
        let code = self.code.as_deref();
        if !code.is_some_and(CollectorCode::can_visit_objects) {
            return (None, Doubt::VisitorNotRun);
        }
        let declared = class.and_then(|class| self.layout_from_debug_info(class, flags));
        let mut offsets = declared.map_or(Vec::new(), |layout| layout.offsets);
        offsets.extend(&members.offsets);
        let layout = ReferenceLayout::new(offsets, ContentReferences::Visited);
        (Some(layout), Doubt::None)
    }

    fn storage(&self, id: ClassId) -> Storage {
        match self.flags.get(id) {
            Some(flags) if flags.is_array() => Storage::Array,
            Some(flags) if flags.is_static_array() => Storage::StaticArray,
            Some(flags) if flags.is_map() || flags.is_set() => Storage::Entries,
            _ => Storage::Fields,
        }
    }

    /// The layout of a class that is described twice: by the debug information and, if it could be
    /// read, by the collector's code.
    fn checked_layout(
        &self,
        class: &Class,
        flags: Option<TypeFlags>,
        members: Option<&VisitedMembers>,
    ) -> (Option<ReferenceLayout>, Doubt) {
        let Some(mut layout) = self.layout_from_debug_info(class, flags) else {
            return (None, Doubt::None);
        };
        let (is_disputed, mut doubt);
        (layout, is_disputed) = with_flags(layout, flags, !self.has_unresolved_types(class));
        if self.debug_info.describes_inheritance {
            doubt = if is_disputed {
                Doubt::Disputed
            } else {
                Doubt::None
            };
        } else {
            (layout, doubt) = with_inherited(class, layout, flags);
        }
        // Every word of a static array is an element.
        let comparable = members.filter(|_| layout.contents != ContentReferences::StaticArray);
        let Some(members) = comparable else {
            return (Some(layout), doubt);
        };
        let can_be_tuple = matches!(
            layout.contents,
            ContentReferences::Fixed | ContentReferences::Unknown
        );
        if members.by_bitmap && can_be_tuple {
            layout.contents = ContentReferences::Tuple;
        }
        if members.and_more && layout.contents == ContentReferences::Fixed {
            // The program has its own visitor, which follows more than fields.
            return (None, Doubt::None);
        }
        if layout.contents == ContentReferences::Unknown && !members.and_more {
            layout.contents = ContentReferences::Fixed;
        }
        if doubt == Doubt::UnknownBases {
            // The code knows the inherited fields.
            doubt = Doubt::None;
        }
        let is_missing = |offset: &u32| layout.offsets.binary_search(offset).is_err();
        if members.offsets.iter().any(is_missing) && self.debug_info.describes_inheritance {
            doubt = Doubt::Disputed;
        }
        let unvisited = |offset: &&u32| !members.offsets.contains(offset);
        let mut unvisited = layout.offsets.iter().filter(unvisited).peekable();
        if !members.and_more && unvisited.peek().is_some() {
            if !self.debug_info.describes_inheritance {
                // Words that were only possibly inherited fields are not fields.
                layout
                    .offsets
                    .retain(|offset| members.offsets.contains(offset));
            } else {
                // They stay possible references: that they are not visited may be a wrong reading of the code.
                let uncertain = self.fields(class, |type_ref| self.is_uncertain(type_ref));
                if unvisited.any(|offset| !uncertain.contains(offset)) {
                    doubt = Doubt::Disputed;
                }
            }
        }
        layout.offsets.extend(&members.offsets);
        let layout = ReferenceLayout::new(layout.offsets, layout.contents);
        (Some(layout), doubt)
    }

    /// The offsets of the fields of such types.
    fn fields(&self, class: &Class, is_wanted: impl Fn(TypeRef) -> bool) -> HashSet<u32> {
        let fields = self.chain(class).flat_map(|class| &class.members);
        let wanted = fields.filter(|member| is_wanted(member.type_ref));
        wanted.map(|member| member.offset).collect()
    }

    /// Whether a field of this type may always be null: its class is not described, or has no id, so that no object
    /// has it. Tuples have no id either, but all of them are objects of `SmallTuple`.
    fn is_uncertain(&self, type_ref: TypeRef) -> bool {
        let class = self.debug_info.class(type_ref);
        let has_objects = |class: &Class| class.id.is_some() || class.name.starts_with('[');
        type_ref == TypeRef::Unresolved || class.is_some_and(|class| !has_objects(class))
    }

    /// Whether a field of the class or a type argument may be an unmanaged pointer: its type is not described,
    /// or has no id.
    fn has_unresolved_types(&self, class: &Class) -> bool {
        let is_unresolved = |type_ref: TypeRef| match type_ref {
            TypeRef::Base { .. } => false,
            TypeRef::Unresolved => true,
            TypeRef::Class(_) => self
                .debug_info
                .class(type_ref)
                .is_none_or(|class| class.id.is_none()),
        };
        self.chain(class).any(|class| {
            let members = class.members.iter().map(|member| member.type_ref);
            members
                .chain(class.type_arguments.iter().copied())
                .any(is_unresolved)
        })
    }

    /// A class and its bases. A cyclic chain ends soon after its first repetition.
    fn chain<'c>(&'c self, class: &'c Class) -> impl Iterator<Item = &'c Class> {
        // Brent's algorithm: it compares with one earlier class at a time, and needs no memory.
        let (mut earlier, mut steps, mut limit) = (class, 0, 1);
        let base = move |class: &&'c Class| {
            let base = self.debug_info.class(class.base?)?;
            if std::ptr::eq(base, earlier) {
                return None;
            }
            steps += 1;
            if steps == limit {
                (earlier, steps, limit) = (base, 0, 2 * limit);
            }
            Some(base)
        };
        std::iter::successors(Some(class), base)
    }

    /// Follows the inheritance chain: every class adds its own fields, a standard container its
    /// contents.
    fn layout_from_debug_info(
        &self,
        class: &Class,
        flags: Option<TypeFlags>,
    ) -> Option<ReferenceLayout> {
        let mut offsets = Vec::new();
        let mut contents = ContentReferences::Fixed;
        for class in self.chain(class) {
            spend(&self.steps_left, 1 + class.members.len())?;
            let own = class
                .members
                .iter()
                .filter(|member| self.is_reference(member.type_ref));
            offsets.extend(own.map(|member| member.offset));
            match standard_container(class, flags, |argument| self.slot(argument)) {
                AddedContents::Nothing => {}
                AddedContents::Unknown => return None,
                AddedContents::Layout(container) => {
                    offsets.extend(container.offsets);
                    contents = container.contents;
                }
            }
        }
        let layout = ReferenceLayout::new(offsets, contents);
        spend(&self.offsets_left, layout.offsets.len())?;
        Some(layout)
    }

    fn slot(&self, type_ref: TypeRef) -> EntrySlot {
        const POINTER: u32 = 4;
        EntrySlot {
            size: match type_ref {
                TypeRef::Base { number } => number.map_or(POINTER, Number::size),
                TypeRef::Class(_) | TypeRef::Unresolved => POINTER,
            },
            is_reference: self.is_reference(type_ref),
        }
    }
}

/// Takes from the rest; `None` if the rest is too small.
fn spend(left: &Cell<u64>, count: usize) -> Option<()> {
    let rest = left.get().checked_sub(count as u64);
    left.set(rest.unwrap_or(0));
    rest.map(drop)
}

/// Whether a class is unmanaged. Unmanaged classes share id 0 with `Object`. Their addresses are plain
/// pointers, which the collector does not follow.
fn is_unmanaged(class: &Class) -> bool {
    class.id == Some(OBJECT) && class.name != OBJECT_NAME
}
