//! The numbers and names that the format gives to nodes and edges.

use heap::RootKind;

/// Numbers of a node.
pub(super) const NODE_FIELDS: u32 = 7;

pub(super) const META: &str = concat!(
    r#"{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"#,
    r#""node_types":[["hidden","array","string","object","code","closure","regexp","number","native","#,
    r#""synthetic","concatenated string","sliced string","symbol","bigint","object shape"],"#,
    r#""string","number","number","number","number","number"],"#,
    r#""edge_fields":["type","name_or_index","to_node"],"#,
    r#""edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"#,
    r#""string_or_number","node"],"#,
    r#""trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"#,
    r#""trace_node_fields":["id","function_info_index","count","size","children"],"#,
    r#""sample_fields":["timestamp_us","last_assigned_id"],"#,
    r#""location_fields":["object_index","script_id","line","column"]}"#,
);

/// A type of node, by its place in [`META`].
#[derive(Clone, Copy)]
pub(super) enum NodeType {
    Text = 2,
    Object = 3,
    Synthetic = 9,
}

/// A type of edge, by its place in [`META`].
#[derive(Clone, Copy)]
pub(super) enum EdgeType {
    Element = 1,
    Property = 2,
}

/// The kinds of roots, in the order of their nodes.
pub(super) const ROOT_KINDS: [RootKind; 3] = [RootKind::Global, RootKind::Stack, RootKind::Pinned];

/// Nodes in front of the objects: the root, the roots of the collector, and those of each kind. With garbage
/// there is one more.
pub(super) const FIXED_NODES: u32 = 2 + ROOT_KINDS.len() as u32;

/// The id of the `nth` node in front of the objects.
pub(super) const fn fixed_id(nth: u32) -> u32 {
    2 * nth + 1
}

/// The highest of their ids.
pub(super) const LAST_FIXED_ID: u32 = fixed_id(FIXED_NODES);
