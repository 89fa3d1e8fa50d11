//! The class of every node, as DevTools shows it: the name of the constructor, `(string)` and the like for other
//! types, and for plain objects the list of their properties, if enough objects have the same.

use std::collections::{HashMap, HashSet};

use super::raw::{EdgeKind, NodeKind, RawSnapshot, WideSizes};
use super::strings::{SnapshotStrings, compare, length, text};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use heap::{ClassOrigin, PropertyClass};

/// The largest number of characters in the name of an interface.
const MOST_NAME: usize = 120;
/// Interfaces have at least this many objects, and at least one in this many plain objects.
const LEAST_OBJECTS: u64 = 2;
const LEAST_SHARE: u64 = 1000;
/// Stands for no class.
const NO_CLASS: u32 = u32::MAX;
/// What is between the name of a context and the id of its scope.
const SCOPE: &str = " / scope @";
/// The name of plain objects.
const OBJECT: &[u8] = b"Object";

/// A class. Constructors of one name at several places are several classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeClass {
    pub(super) name: String,
    pub(super) origin: Option<ClassOrigin>,
}

/// Numbers classes in the order in which they occur.
#[derive(Default)]
pub(super) struct NodeClasses {
    pub(super) all: Vec<NodeClass>,
    numbers: HashMap<NodeClass, u32>,
}

impl NodeClasses {
    pub(super) fn number(&mut self, class: NodeClass) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(class).or_insert_with_key(|class| {
            self.all.push(class.clone());
            next
        })
    }
}

/// Plain objects, their property names, and the ends of these per object. Property names are numbers of strings;
/// equal strings have the same number.
#[derive(Debug, Default)]
pub(crate) struct PlainObjects {
    pub(super) nodes: Vec<u32>,
    ends: Vec<u32>,
    properties: Vec<u32>,
}

impl PlainObjects {
    /// Collects them.
    pub(super) fn find(raw: &RawSnapshot, step: &Step<'_>) -> Result<Self> {
        let mut plain = Self::default();
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        // By name: whether it is that of plain objects.
        let mut is_object: Vec<Option<bool>> = columns::repeated(None, raw.strings.len())?;
        // By name: the number of the first equal string.
        let mut first: Vec<Option<u32>> = columns::repeated(None, raw.strings.len())?;
        for node in 0..raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if raw.kind(node) != NodeKind::Object {
                continue;
            }
            let name = raw.names[node as usize];
            let is_plain =
                *is_object[name as usize].get_or_insert_with(|| raw.strings.bytes(name) == OBJECT);
            if !is_plain {
                continue;
            }
            for edge in raw.edges(node) {
                if raw.edge_kind(edge) == EdgeKind::Property {
                    let name = raw.edge_labels[edge].number();
                    let number = *first[name as usize].get_or_insert_with(|| {
                        *numbers.entry(raw.strings.bytes(name)).or_insert(name)
                    });
                    columns::push(&mut plain.properties, number)?;
                }
            }
            columns::push(&mut plain.nodes, node)?;
            columns::push(&mut plain.ends, plain.properties.len() as u32)?;
        }
        Ok(plain)
    }

    pub(super) fn memory_size(&self) -> u64 {
        let columns = [&self.nodes, &self.ends, &self.properties];
        columns
            .map(|column| column.capacity() as u64 * 4)
            .iter()
            .sum()
    }

    /// The property names of the `nth` object.
    fn of(&self, nth: usize) -> &[u32] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.properties[start as usize..self.ends[nth] as usize]
    }

    /// The interfaces of these objects, the most frequent first.
    pub(super) fn interfaces(
        &self,
        strings: &SnapshotStrings,
        step: &Step<'_>,
    ) -> Result<Vec<PropertyClass>> {
        // By property name: what it adds to the name of an interface, in code units; `None` for `__proto__`.
        let mut lengths: HashMap<u32, Option<usize>> = HashMap::new();
        let mut found: HashMap<&[u32], usize> = HashMap::new();
        let mut candidates: Vec<(Vec<u32>, u64)> = Vec::new();
        // Most objects have the same properties as an earlier one.
        let mut kept: Vec<u32> = Vec::new();
        let mut by_kept: HashMap<Vec<u32>, usize> = HashMap::new();
        for nth in 0..self.nodes.len() {
            if nth % CHECK_INTERVAL == 0 {
                step.advance(0)?;
            }
            let properties = self.of(nth);
            if let Some(&candidate) = found.get(properties) {
                if let Some((_, count)) = candidates.get_mut(candidate) {
                    *count += 1;
                }
                continue;
            }
            kept.clear();
            let mut name_length = 1;
            for &property in properties {
                let added = *lengths.entry(property).or_insert_with(|| {
                    let name = strings.bytes(property);
                    (name != b"__proto__").then(|| length(formatted(name).as_ref()))
                });
                let Some(added) = added else {
                    continue;
                };
                if name_length > 1 && name_length + added > MOST_NAME {
                    break;
                }
                if name_length != 1 {
                    name_length += 2;
                }
                name_length += added;
                kept.push(property);
            }
            if kept.is_empty() {
                found.insert(properties, usize::MAX);
                continue;
            }
            let next = candidates.len();
            let candidate = match by_kept.get(&kept) {
                Some(&candidate) => candidate,
                None => {
                    by_kept.insert(kept.clone(), next);
                    candidates.push((kept.clone(), 0));
                    next
                }
            };
            candidates[candidate].1 += 1;
            found.insert(properties, candidate);
        }
        // A stable sort: of equally frequent ones the first stays the first.
        candidates.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let total = self.nodes.len() as u64;
        let is_frequent =
            |count: u64| count >= LEAST_OBJECTS && count.saturating_mul(LEAST_SHARE) >= total;
        let frequent = candidates
            .into_iter()
            .take_while(|&(_, count)| is_frequent(count));
        Ok(frequent
            .map(|(properties, _)| {
                let names = properties.iter().map(|&property| strings.bytes(property));
                let shown: Vec<String> = names
                    .clone()
                    .map(|name| text(formatted(name).as_ref()).into_owned())
                    .collect();
                PropertyClass {
                    name: format!("{{{}}}", shown.join(", ")),
                    properties: names.map(<[u8]>::to_vec).collect(),
                }
            })
            .collect())
    }

    /// The interface of each object, of the one with the most properties, then of the first.
    pub(super) fn matches(
        &self,
        strings: &SnapshotStrings,
        interfaces: &[PropertyClass],
        step: &Step<'_>,
    ) -> Result<Vec<Option<u32>>> {
        let tree = PropertyTree::new(interfaces);
        let mut ranks: HashMap<u32, Option<u32>> = HashMap::new();
        let mut known: HashMap<Vec<u32>, Option<u32>> = HashMap::new();
        let mut matches = columns::with_capacity(self.nodes.len())?;
        let mut own = Vec::new();
        for nth in 0..self.nodes.len() {
            if nth % CHECK_INTERVAL == 0 {
                step.advance(0)?;
            }
            own.clear();
            for &property in self.of(nth) {
                let rank = *ranks
                    .entry(property)
                    .or_insert_with(|| tree.ranks.get(strings.bytes(property)).copied());
                own.extend(rank);
            }
            own.sort_unstable();
            let found = match known.get(&own) {
                Some(&found) => found,
                None => {
                    let found = tree.best(&own, step)?;
                    known.insert(own.clone(), found);
                    found
                }
            };
            matches.push(found);
        }
        Ok(matches)
    }
}

/// All interfaces by their sorted properties.
struct PropertyTree<'i> {
    /// The position of each property name among all of them.
    ranks: HashMap<&'i [u8], u32>,
    nodes: Vec<PropertyNode>,
}

#[derive(Default)]
struct PropertyNode {
    next: HashMap<u32, u32>,
    /// The number of properties, and the interface.
    interface: Option<(usize, u32)>,
}

impl<'i> PropertyTree<'i> {
    fn new(interfaces: &'i [PropertyClass]) -> Self {
        let mut names: Vec<&[u8]> = interfaces
            .iter()
            .flat_map(|interface| interface.properties.iter().map(Vec::as_slice))
            .collect();
        names.sort_unstable_by(|left, right| compare(left, right));
        names.dedup();
        let ranks: HashMap<&[u8], u32> = names.into_iter().zip(0..).collect();
        let mut nodes = vec![PropertyNode::default()];
        for (interface, number) in interfaces.iter().zip(0..) {
            let mut own: Vec<u32> = interface
                .properties
                .iter()
                .filter_map(|name| ranks.get(name.as_slice()).copied())
                .collect();
            own.sort_unstable();
            let mut node = 0;
            for rank in &own {
                let next = nodes.len() as u32;
                let found = *nodes[node].next.entry(*rank).or_insert(next);
                if found == next {
                    nodes.push(PropertyNode::default());
                }
                node = found as usize;
            }
            nodes[node].interface.get_or_insert((own.len(), number));
        }
        Self { ranks, nodes }
    }

    /// The best interface whose properties are all among these, which ascend.
    fn best(&self, properties: &[u32], step: &Step<'_>) -> Result<Option<u32>> {
        let mut best: Option<(usize, u32)> = None;
        let mut states = vec![0u32];
        let mut is_state = HashSet::from([0u32]);
        for (nth, property) in properties.iter().enumerate() {
            if nth % 1024 == 0 {
                step.advance(0)?;
            }
            for at in 0..states.len() {
                let Some(&next) = self.nodes[states[at] as usize].next.get(property) else {
                    continue;
                };
                if !is_state.insert(next) {
                    continue;
                }
                states.push(next);
                if let Some((count, interface)) = self.nodes[next as usize].interface {
                    let is_better = best.is_none_or(|(most, first)| {
                        count > most || (count == most && interface < first)
                    });
                    if is_better {
                        best = Some((count, interface));
                    }
                }
            }
        }
        Ok(best.map(|(_, interface)| interface))
    }
}

/// A property name in the name of an interface: quoted if it could be mistaken for something else.
pub(super) fn formatted(name: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let is_special = |byte: &u8| matches!(byte, b',' | b'\'' | b'"' | b'{' | b'}');
    if !name.iter().any(is_special) {
        return name.into();
    }
    // Text escapes halves of surrogate pairs as JSON does; the backslash must not be escaped again.
    let quoted: Vec<String> = super::strings::text_parts(name)
        .map(|part| match part {
            Ok(text) => {
                let quoted = serde_json::to_string(&text).unwrap_or_default();
                quoted[1..quoted.len() - 1].to_owned()
            }
            Err(half) => format!("\\u{half:04x}"),
        })
        .collect();
    format!("\"{}\"", quoted.concat()).into_bytes().into()
}

/// The number of the class of each node, in this column.
pub(super) fn classify(
    raw: &RawSnapshot,
    sizes: &WideSizes,
    mut slots: Vec<u32>,
    plain: &PlainObjects,
    interfaces: &[PropertyClass],
    step: &Step<'_>,
) -> Result<(Vec<u32>, NodeClasses)> {
    let mut classes = NodeClasses::default();
    if slots.len() != raw.len() {
        slots = columns::zeros(raw.len())?;
    }
    let matches = plain.matches(&raw.strings, interfaces, step)?;
    let mut plain = plain.nodes.iter().zip(&matches).peekable();
    // By type, or by name, or by the name of detached nodes.
    let mut by_type: Vec<Option<u32>> = vec![None; raw.type_names.len()];
    let mut by_name = columns::repeated(NO_CLASS, raw.strings.len())?;
    let mut by_detached_name: HashMap<u32, u32> = HashMap::new();
    // The parts of the root, by name.
    let mut by_part: HashMap<u32, u32> = HashMap::new();
    let mut by_interface: HashMap<u32, u32> = HashMap::new();
    let mut by_origin: HashMap<(u32, u32), u32> = HashMap::new();
    for node in 0..raw.len() as u32 {
        let at = node as usize;
        if at.is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        let kind = raw.kind(node);
        let class = |name: String| NodeClass { name, origin: None };
        let interface = match plain.next_if(|&(&plain, _)| plain == node) {
            Some((_, &interface)) => interface,
            None => None,
        };
        let mut slot = match (kind, interface) {
            (_, Some(interface)) => *by_interface.entry(interface).or_insert_with(|| {
                classes.number(class(interfaces[interface as usize].name.clone()))
            }),
            // The parts of the root, such as `(GC roots)`, are not listed as objects: they have no size.
            (NodeKind::Synthetic, None) if sizes.get(node) == 0 && !raw.name(node).is_empty() => {
                *by_part
                    .entry(raw.names[at])
                    .or_insert_with(|| classes.number(class(text(raw.name(node)).into_owned())))
            }
            (NodeKind::Object | NodeKind::Native, None) if raw.is_detached(node) => {
                *by_detached_name
                    .entry(raw.names[at])
                    .or_insert_with(|| classes.number(native_class(raw, node)))
            }
            (NodeKind::Object | NodeKind::Native, None) => {
                let slot = &mut by_name[raw.names[at] as usize];
                if *slot == NO_CLASS {
                    *slot = classes.number(native_class(raw, node));
                }
                *slot
            }
            (kind, None) => *by_type[raw.types[at] as usize].get_or_insert_with(|| {
                classes.number(class(match kind {
                    NodeKind::Hidden => "(system)".to_owned(),
                    NodeKind::Code => "(compiled code)".to_owned(),
                    NodeKind::Closure => "Function".to_owned(),
                    NodeKind::RegExp => "RegExp".to_owned(),
                    _ => format!("({})", raw.type_names[raw.types[at] as usize]),
                }))
            }),
        };
        let location = raw.location_of.get(at).copied().unwrap_or_default();
        if kind == NodeKind::Object && location != 0 {
            slot = *by_origin.entry((slot, location)).or_insert_with(|| {
                let name = classes.all[slot as usize].name.clone();
                let location = raw.locations[location as usize - 1];
                let origin = Some(ClassOrigin::Constructor(location));
                classes.number(NodeClass { name, origin })
            });
        }
        slots[at] = slot;
    }
    Ok((slots, classes))
}

/// The class of an object by its name. V8 adds the scope to the names of contexts.
fn native_class(raw: &RawSnapshot, node: u32) -> NodeClass {
    let name = native_name(raw, node);
    let scope = name
        .rsplit_once(SCOPE)
        .and_then(|(name, id)| Some((name.to_owned(), id.parse().ok()?)));
    match scope {
        Some((name, scope)) => NodeClass {
            name,
            origin: Some(ClassOrigin::Scope(scope)),
        },
        None => NodeClass { name, origin: None },
    }
}

/// The name of the class of an object: `<div>` for an element `<div id="a">`.
fn native_name(raw: &RawSnapshot, node: u32) -> String {
    let name = text(raw.name(node));
    let mut name = if raw.is_detached(node) {
        format!("Detached {name}")
    } else {
        name.into_owned()
    };
    let start = match &name {
        name if name.starts_with('<') => 0,
        name if name.starts_with("Detached <") => 10,
        _ => return name,
    };
    if let Some(space) = name[start..].find(' ') {
        name.truncate(start + space);
        name.push('>');
    }
    name
}
