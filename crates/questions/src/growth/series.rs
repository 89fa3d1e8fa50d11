//! The rows of several place tables, side by side. Names are compared, so the tables may be of several builds.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::parts::labels::after_class;
use crate::parts::path_text::PathText;
use crate::parts::roots::{Root, root_text};
use crate::place_table::{PathNode, PathStart, PlaceSum, PlaceTable};
use base::columns;
use base::control::Control;
use base::error::Result;
use heap::{PATH_STARTS, RootKind, SourceLocation};

/// References from objects of one class with one label to objects of one class, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FieldNames {
    pub(super) holder: u32,
    pub(super) label: u32,
    pub(super) class: u32,
}

/// The sums of one kind of thing in all dumps.
pub(super) struct Rows<K> {
    numbers: HashMap<K, u32>,
    pub(super) keys: Vec<K>,
    /// By row and dump. `None` where the dump has nothing that could hold it.
    sums: Vec<Option<PlaceSum>>,
    dump_count: usize,
}

impl<K: Copy + Eq + Hash> Rows<K> {
    fn new(dump_count: usize) -> Self {
        Self {
            numbers: HashMap::new(),
            keys: Vec::new(),
            sums: Vec::new(),
            dump_count,
        }
    }

    fn add(&mut self, key: K, dump: usize, sum: PlaceSum) -> Result<()> {
        let row = match self.numbers.get(&key) {
            Some(&row) => row as usize,
            None => {
                let row = self.keys.len();
                columns::push(&mut self.keys, key)?;
                for _ in 0..self.dump_count {
                    columns::push(&mut self.sums, None)?;
                }
                self.numbers.insert(key, row as u32);
                row
            }
        };
        let known = &mut self.sums[row * self.dump_count + dump];
        known.get_or_insert_default().add(sum);
        Ok(())
    }

    /// What a row has in each dump.
    pub(super) fn series(&self, row: usize) -> &[Option<PlaceSum>] {
        &self.sums[row * self.dump_count..][..self.dump_count]
    }

    fn sum(&self, key: K, dump: usize) -> Option<PlaceSum> {
        let row = *self.numbers.get(&key)? as usize;
        self.series(row)[dump]
    }

    /// Fills in zeros where a dump has what could hold a row, and nothing of it.
    fn fill(&mut self, can_hold: impl Fn(K, usize) -> bool) {
        for (row, &key) in self.keys.iter().enumerate() {
            for dump in 0..self.dump_count {
                let sum = &mut self.sums[row * self.dump_count + dump];
                if sum.is_none() && can_hold(key, dump) {
                    *sum = Some(PlaceSum::default());
                }
            }
        }
    }
}

/// All tables.
pub(super) struct Merged {
    names: Vec<String>,
    /// Groups of paths, and what references lead to as if that were a group: each after the one that it
    /// continues.
    pub(super) places: Vec<PathNode>,
    /// By place.
    pub(super) groups: Rows<u32>,
    /// What references from objects of one group lead to, and what roots hold, by place.
    pub(super) references: Rows<u32>,
    pub(super) fields: Rows<FieldNames>,
    pub(super) classes: Rows<u32>,
    pub(super) raw: Vec<Option<PlaceSum>>,
    /// The used part of the stack, as one object.
    pub(super) stack: Vec<Option<PlaceSum>>,
    /// By place: the live bytes of the group in the first dump that counts and in the last.
    pub(super) sizes: Vec<[u64; 2]>,
    /// Classes of texts, with the bytes of a character.
    pub(super) text_classes: HashMap<u32, u64>,
    /// Classes of what the engine that runs the program makes for itself.
    pub(super) engine_classes: HashSet<u32>,
    /// Classes that are used for everything.
    pub(super) plain_classes: HashSet<u32>,
    /// By class: where its constructor is, in the last dump that says so.
    pub(super) class_places: HashMap<u32, SourceLocation>,
    stable_fields: HashMap<FieldNames, bool>,
    stable_classes: HashMap<u32, bool>,
}

/// The used part of the stack.
fn stack_of(table: &PlaceTable) -> Option<PlaceSum> {
    Some(PlaceSum {
        count: 1,
        bytes: table.stack,
        retained: table.stack,
        objects: 0,
    })
}

/// Numbers while tables are put side by side.
#[derive(Default)]
struct SeriesNumbers {
    names: HashMap<String, u32>,
    places: HashMap<(PathStart, u32), u32>,
}

impl Merged {
    /// Puts tables side by side, of which the first `warmup` do not count.
    pub(super) fn new(tables: &[&PlaceTable], warmup: usize, control: &Control) -> Result<Self> {
        let count = tables.len();
        let mut merged = Self {
            names: Vec::new(),
            places: Vec::new(),
            groups: Rows::new(count),
            references: Rows::new(count),
            fields: Rows::new(count),
            classes: Rows::new(count),
            raw: tables.iter().map(|table| Some(table.raw)).collect(),
            stack: tables.iter().map(|table| stack_of(table)).collect(),
            sizes: Vec::new(),
            text_classes: HashMap::new(),
            engine_classes: HashSet::new(),
            plain_classes: HashSet::new(),
            class_places: HashMap::new(),
            stable_fields: HashMap::new(),
            stable_classes: HashMap::new(),
        };
        let mut numbers = SeriesNumbers::default();
        for (dump, table) in tables.iter().enumerate() {
            control.check()?;
            let end = match dump {
                dump if dump == warmup => Some(0),
                dump if dump + 1 == count => Some(1),
                _ => None,
            };
            merged.add(&mut numbers, (dump, end), table)?;
        }
        let is_cut = |dump: usize| tables[dump].is_cut;
        let places = &merged.places;
        let holder_of = |place: u32| match places[place as usize].start {
            PathStart::Step(holder, _) => Some(holder),
            _ => None,
        };
        // What holds the objects of a group are those of the group that it continues.
        let mut has_group = Vec::new();
        for place in 0..places.len() as u32 {
            for dump in 0..count {
                let sum = merged.groups.sum(place, dump);
                columns::push(&mut has_group, sum.is_some_and(|sum| sum.count > 0))?;
            }
        }
        let can_hold = |place: u32, dump: usize| {
            let holder = holder_of(place);
            let has_holder = holder.is_none_or(|holder| has_group[holder as usize * count + dump]);
            !is_cut(dump) && has_holder
        };
        merged.groups.fill(can_hold);
        merged.references.fill(can_hold);
        let classes = &merged.classes;
        let has_class = |class, dump| {
            classes
                .sum(class, dump)
                .is_some_and(|sum: PlaceSum| sum.count > 0)
        };
        merged
            .fields
            .fill(|field, dump| has_class(field.holder, dump));
        merged.classes.fill(|_, _| true);
        Ok(merged)
    }

    /// Adds the table of a dump; `end` says whether it is the first that counts or the last, as a position in
    /// `sizes`.
    fn add(
        &mut self,
        numbers: &mut SeriesNumbers,
        (dump, end): (usize, Option<usize>),
        table: &PlaceTable,
    ) -> Result<()> {
        let names: Vec<u32> = table
            .names
            .iter()
            .map(|name| self.name_number(numbers, name))
            .collect();
        let name = |number: u32| names[number as usize];
        let texts = table.text_classes.iter();
        self.text_classes
            .extend(texts.map(|&(class, character)| (name(class), character)));
        self.engine_classes
            .extend(table.engine_classes.iter().map(|&class| name(class)));
        self.plain_classes
            .extend(table.plain_classes.iter().map(|&class| name(class)));
        for row in &table.class_places {
            let place = SourceLocation {
                file: table.names[row.file as usize].clone(),
                line: row.line,
                column: row.column,
            };
            self.class_places.insert(name(row.class), place);
        }
        let mut places: Vec<u32> = columns::with_capacity(table.paths.len())?;
        for path in &table.paths {
            let start = match path.start {
                PathStart::Global(global) => PathStart::Global(global.map(name)),
                PathStart::System(root) => PathStart::System(name(root)),
                PathStart::Host(root) => PathStart::Host(name(root)),
                PathStart::Step(before, label) => {
                    PathStart::Step(places[before as usize], name(label))
                }
                other @ (PathStart::Stack | PathStart::Pinned | PathStart::Unreferenced) => other,
            };
            places.push(self.place(numbers, start, name(path.class), path.is_stable)?);
        }
        for &(path, sum) in &table.groups {
            self.groups.add(places[path as usize], dump, sum)?;
        }
        if let Some(end) = end {
            for (&(path, _), &size) in table.groups.iter().zip(&table.sizes) {
                let known = &mut self.sizes[places[path as usize] as usize][end];
                *known = known.saturating_add(size);
            }
        }
        for &(path, sum) in &table.rooted {
            self.references.add(places[path as usize], dump, sum)?;
        }
        for row in &table.places {
            let start = PathStart::Step(places[row.holders as usize], name(row.label));
            let place = self.place(numbers, start, name(row.class), row.is_stable)?;
            self.references.add(place, dump, row.sum)?;
        }
        for row in &table.fields {
            let [holder, label, class] = [row.holder, row.label, row.class].map(name);
            let field = FieldNames {
                holder,
                label,
                class,
            };
            self.fields.add(field, dump, row.sum)?;
            *self.stable_fields.entry(field).or_insert(true) &= row.is_stable;
        }
        for row in &table.classes {
            let class = name(row.class);
            self.classes.add(class, dump, row.sum)?;
            *self.stable_classes.entry(class).or_insert(true) &= row.is_stable;
        }
        Ok(())
    }

    fn name_number(&mut self, numbers: &mut SeriesNumbers, name: &str) -> u32 {
        if let Some(&number) = numbers.names.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        numbers.names.insert(name.to_owned(), number);
        number
    }

    fn place(
        &mut self,
        numbers: &mut SeriesNumbers,
        start: PathStart,
        class: u32,
        is_stable: bool,
    ) -> Result<u32> {
        if let Some(&place) = numbers.places.get(&(start, class)) {
            return Ok(place);
        }
        let place = self.places.len() as u32;
        let node = PathNode {
            start,
            class,
            is_stable,
        };
        columns::push(&mut self.places, node)?;
        columns::push(&mut self.sizes, [0; 2])?;
        numbers.places.insert((start, class), place);
        Ok(place)
    }

    pub(super) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    pub(super) fn is_field_stable(&self, field: FieldNames) -> bool {
        self.stable_fields.get(&field).copied().unwrap_or_default()
    }

    pub(super) fn is_class_stable(&self, class: u32) -> bool {
        self.stable_classes.get(&class).copied().unwrap_or_default()
    }

    /// The place that holds the objects of a place; `None` if a root does.
    pub(super) fn holder(&self, place: u32) -> Option<u32> {
        match self.places[place as usize].start {
            PathStart::Step(holder, _) => Some(holder),
            PathStart::Global(_)
            | PathStart::Stack
            | PathStart::Pinned
            | PathStart::Unreferenced
            | PathStart::System(_)
            | PathStart::Host(_) => None,
        }
    }

    /// Whether paths begin at a place that is no root, such as the variables of a module.
    pub(super) fn is_named_start(&self, place: u32) -> bool {
        match self.places[place as usize].start {
            PathStart::Global(Some(name)) => PATH_STARTS.contains(&self.name(name)),
            _ => false,
        }
    }

    /// The references to the objects of a place, whatever the path of their holders; `None` if a root holds them.
    pub(super) fn field(&self, place: u32) -> Option<FieldNames> {
        let node = self.places[place as usize];
        match node.start {
            PathStart::Step(holder, label) => Some(FieldNames {
                holder: self.places[holder as usize].class,
                label,
                class: node.class,
            }),
            PathStart::Global(_)
            | PathStart::Stack
            | PathStart::Pinned
            | PathStart::Unreferenced
            | PathStart::System(_)
            | PathStart::Host(_) => None,
        }
    }

    /// What the references to the objects of a place are called; `None` if a root holds them.
    pub(super) fn label(&self, place: u32) -> Option<&str> {
        match self.places[place as usize].start {
            PathStart::Step(_, label) => Some(self.name(label)),
            PathStart::Global(_)
            | PathStart::Stack
            | PathStart::Pinned
            | PathStart::Unreferenced
            | PathStart::System(_)
            | PathStart::Host(_) => None,
        }
    }

    /// Where the path of a place begins, and the path as text.
    pub(super) fn path(&self, place: u32) -> (Root, PathText) {
        let mut chain = vec![place];
        while let Some(holder) = chain.last().and_then(|&last| self.holder(last)) {
            chain.push(holder);
        }
        let first = self.places[chain[chain.len() - 1] as usize];
        let (kind, name) = match first.start {
            PathStart::Global(name) => (RootKind::Global, name),
            PathStart::Pinned => (RootKind::Pinned, None),
            PathStart::Unreferenced => (RootKind::Unreferenced, None),
            PathStart::System(name) => (RootKind::System, Some(name)),
            PathStart::Host(name) => (RootKind::Host, Some(name)),
            PathStart::Stack | PathStart::Step(..) => (RootKind::Stack, None),
        };
        let name = name.map(|name| self.name(name).to_owned());
        let mut text = PathText {
            text: root_text(kind, name.as_deref()),
            is_stable: self.places[place as usize].is_stable,
        };
        let mut class = first.class;
        for &place in chain.iter().rev().skip(1) {
            let label = self.label(place).unwrap_or_default();
            text.add(&format!("{}{}", self.name(class), after_class(label)));
            class = self.places[place as usize].class;
        }
        text.add(self.name(class));
        (Root { kind, name }, text)
    }
}
