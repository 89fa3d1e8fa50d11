//! The options of `find`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Size;
use crate::parts::page::{default_limit, limit_schema, offset_schema};
use heap::Category;

/// Which live objects to find, and how many of them to list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindOptions {
    /// A class name, in which `*` stands for any text and `?` for one character.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "-c, --class <glob>: a class name; * is any text, ? is one character",
        "x-page" = "Class: *Session",
        "x-agent" = { "is": "glob", "description": "a class name; * and ? are wildcards" }
    ))]
    pub class: Option<String>,
    /// An expression of CEL over one object, such as `open == false`: only objects for which it is true.
    /// `docs/find-a-leak.md#which-objects-conditions` describes it.
    #[serde(default, rename = "where")]
    #[schemars(extend(
        "x-page" = "Condition: open == false",
        "x-cli" = "--where <expression>: only objects for which it is true, in CEL: \"open == false\"",
        "x-agent" = {
            "description": "a condition in CEL: open == false && !(this.key in plateOrder). Names: fields, globals, className, shallowSize, retainedSize, address, size, isNew, has(this.x), startsWith, endsWith, contains",
            "maxLength": 4096
        }
    ))]
    pub condition: Option<String>,
    /// Lists no objects: only their number.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--count: only their number",
        "x-agent" = { "description": "lists no objects, only their number" }
    ))]
    pub count: bool,
    /// Adds up a size. What one object retains of another one counts once.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--sum <size>: add up a size",
        "x-agent" = { "description": "adds up this size" }
    ))]
    pub sum: Option<Size>,
    /// An expression of CEL. In place of the objects, the answer lists groups of objects by its value.
    #[serde(default)]
    #[schemars(extend(
        "x-page" = "Group by: state",
        "x-cli" = "--group-by <expression>: list groups by the value of an expression",
        "x-agent" = {
            "description": "groups in place of objects, by the value of this expression",
            "maxLength": 4096
        }
    ))]
    pub group_by: Option<String>,
    /// The least retained size in bytes.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--min-size <bytes>: only objects that retain at least this much",
        "x-agent" = { "description": "the least retained size in bytes" }
    ))]
    pub min_size: u64,
    /// A text. Found are strings that contain it, and containers that have such a string, or an object of the class of
    /// this name, as a key or a value.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--contains <text>: only strings with this text, and containers with such a key or value",
        "x-agent" = {
            "description": "only strings with this text, and containers with such a string, or an object of this class, as key or value",
            "maxLength": 1000
        }
    ))]
    pub contains: Option<String>,
    /// Only the objects at the place with this fingerprint, which `growth`, `check` and `paths` name.
    #[serde(default)]
    #[schemars(extend(
        "x-page" = "Place: eb8ff4e42350",
        "x-cli" = "--place <fingerprint>: only the objects at a place that growth or paths names",
        "x-agent" = {
            "description": "only the objects at the place with this fingerprint, from growth or paths",
            "maxLength": 100
        }
    ))]
    pub place: Option<String>,
    /// Of a heap snapshot of V8: only what objects of this category alone keep alive, and these themselves.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--category <name>: of a snapshot of V8: only what these keep alive",
        "x-agent" = { "description": "of a snapshot of V8: only what objects of this category alone keep alive" }
    ))]
    pub category: Option<Category>,
    /// The order of the objects: `retained` (default) and `shallow` by this size ↓, `count` by the number of found objects
    /// of their class ↓, `name` by their class ↑; then by retained size. Of groups: `count` by the number of objects ↓,
    /// `name` by the value ↑, the others by the sum, which the option `sum` must ask for.
    #[serde(default)]
    #[schemars(extend(
        "x-page" = "Order",
        "x-cli" = "-s, --sort <order>: order of the objects or groups, largest first (default: retained)",
        "x-agent" = { "description": "the order; count: of the classes with most objects first, or of groups by count" }
    ))]
    pub sort: Option<FindSort>,
    /// How many entries to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
    /// How many entries to leave out before the first (default: 0).
    #[serde(default)]
    #[schemars(schema_with = "offset_schema")]
    pub offset: u64,
}

/// The order of what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum FindSort {
    /// By the shallow size.
    Shallow,
    /// By the retained size.
    Retained,
    /// By the number of objects.
    Count,
    /// By the name of the class, or the value of a group.
    Name,
}
