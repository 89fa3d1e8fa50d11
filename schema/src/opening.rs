//! How dumps are read, heaps are opened, and views are listed: options of the API and of commands, which bring them into
//! the form of the addon.
#![expect(dead_code, reason = "only their schemas are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// The cases in which an analysis continues with a warning instead of an error.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalysisOptions {
    /// Continue although the dump was not taken from the module: every number and name may be wrong.
    #[schemars(extend("x-cli" = "--force: continue although the dump was not taken from the module"))]
    force: Option<bool>,
    /// If the heap is damaged, report the part before the damage. The result is then `partial`.
    #[schemars(extend(
        "x-cli" = "--partial: if the heap is damaged, report the part before the damage",
        "x-agent" = { "description": "if a heap is damaged, read the part before the damage", "default": false }
    ))]
    partial: Option<bool>,
    /// The dump is raw memory: the bytes of the memory and nothing else.
    #[schemars(extend(
        "x-cli" = "--raw: the dump is raw memory: its bytes and nothing else",
        "x-agent" = { "description": "the dumps are raw memory", "default": false }
    ))]
    raw: Option<bool>,
    /// Of raw memory: the values of mutable i32 globals by name or index. Those that are missing cause a warning.
    #[schemars(extend(
        "x-cli" = "--global <name=value>: the value of a mutable i32 global of raw memory, by name or index; once for each global, with a value for each dump (name=1,2)",
        "x-ts" = "Record<string, number>"
    ))]
    globals: Option<BTreeMap<String, i64>>,
    /// Of a coredump with several instances of the module: the number of the one to read, from 0.
    #[schemars(extend(
        "x-cli" = "--coredump-instance <n>: the number of the instance in a coredump with several of this module",
        "x-agent" = { "description": "of a coredump with several instances: the number of one", "maximum": 4294967295u32 }
    ))]
    coredump_instance: Option<u32>,
    /// Of a program of C, C++, Rust or Zig: pointers that the host held when the dump was taken, as a list or by name. They
    /// are roots. A dump can also have them (`hostRoots` of `writeDump`).
    #[schemars(extend(
        "x-cli" = "--root <address>: of C, C++, Rust or Zig: a pointer that the host held, such as 0x1a40 or parser=0x1a40; once for each",
        "x-ts" = "readonly number[] | Record<string, number>"
    ))]
    host_roots: Option<Vec<u32>>,
}

/// Options of opening a heap.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenOptions {
    /// Build the indexes of all questions now, in parallel, and for a dump partly while it is analyzed. This takes less time
    /// than `Heap.prepare` afterwards. Otherwise the first question that needs an index builds it.
    prepare: Option<bool>,
    /// The most bytes that the contents of a compressed file, or the memory of a coredump, may have; with a host, those of
    /// all files together.
    #[schemars(range(min = 1))]
    memory_limit: Option<u64>,
    /// With a host: fields that have an index into an array of JavaScript, as `assembly/index/Item.id=host.slots`. The
    /// references of the array to what live objects have by index are left out, so that a cycle across the border shows.
    #[schemars(extend(
        "x-cli" = "--slot <field=path>: a field that has an index into an array of JavaScript: assembly/index/Item.id=host.slots",
        "x-agent" = { "items": { "type": "string", "maxLength": 1000 }, "maxItems": 100, "default": [], "description": "with host: fields with an index into an array, as app/Item.id=host.slots" }
    ))]
    slots: Option<Vec<String>>,
    /// A heap profile of the same moment with the interval 1, of a program whose blocks it can name: answers then say which
    /// line allocated an object (`allocatedAt`), and how many bytes it asked for.
    #[schemars(extend(
        "x-cli" = "--profile <file>: the heap profile of the same moment with the interval 1, which names the line of every block",
        "x-ts" = "Bytes"
    ))]
    profile: Option<()>,
}

/// What a host has of the same moment: its bytes, or the path of its file.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostInputs {
    /// The heap snapshot of the host, of the same moment. Both heaps become one: the addresses of objects of JavaScript are
    /// their ids plus 2³¹.
    #[schemars(extend(
        "x-cli" = "--host <file>: the heap snapshot of the host, captured with the dump: JavaScript that holds objects by number",
        "x-ts" = "Input",
        "x-agent" = { "type": "string", "maxLength": 4096, "description": "the heap snapshot of the host, captured with one dump: both heaps become one" }
    ))]
    host: Option<()>,
    /// The numbers that the heap snapshot does not show, as a capture of both heaps writes them. Of files, without this
    /// option, the `x.numbers.json` beside `x.heapsnapshot` is read, if there is one.
    #[schemars(extend(
        "x-cli" = "--numbers <file>: the numbers that the heap snapshot does not show (default: the .numbers.json beside it)",
        "x-ts" = "Input",
        "x-agent" = { "type": "string", "maxLength": 4096, "description": "with host: its .numbers.json (default: the one beside it)" }
    ))]
    numbers: Option<()>,
    /// Who pinned what, as `register` records it with `HEAP_HANDLES`. Of files, without this option, the `x.handles.json`
    /// beside `x.dump` is read, if there is one.
    #[schemars(extend(
        "x-cli" = "--handles <file>: who pinned what, as HEAP_HANDLES has it recorded (default: the .handles.json beside the dump)",
        "x-ts" = "Input",
        "x-agent" = { "type": "string", "maxLength": 4096, "description": "with host: the .handles.json of HEAP_HANDLES (default: beside the dump)" }
    ))]
    handles: Option<()>,
}

/// What only opening from files has.
#[derive(JsonSchema)]
pub struct FileOptions {
    /// Files that are open already, as from `openBeneath`: they are read instead of what is at the paths now. They must stay
    /// open until the heap is. A later question reads the dump at its path, and fails with `ERR_DUMP_CHANGED` if that is
    /// another file by then. On Windows, the files at the paths are read.
    descriptors: Option<Descriptors>,
}

/// Descriptors of open files, which the system checks when they are used.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Descriptors {
    #[schemars(range(max = 2_147_483_647))]
    dump: u32,
    #[schemars(range(max = 2_147_483_647))]
    wasm: Option<u32>,
    #[schemars(range(max = 2_147_483_647))]
    host: Option<u32>,
    #[schemars(range(max = 2_147_483_647))]
    numbers: Option<u32>,
    #[schemars(range(max = 2_147_483_647))]
    handles: Option<u32>,
}

/// The order and the length of the lists in a constructor view.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnalyzeOptions {
    /// `retained` (default), `retained-set`, `shallow` or `count`, largest first. Ties are broken by the other numbers and
    /// the name.
    #[schemars(extend("x-cli" = "-s, --sort <order>: order of the rows"))]
    sort: Option<ConstructorOrder>,
    #[serde(flatten)]
    lists: Lists,
    /// Compute `ConstructorRow.retainedSetSize`. Views of a loaded heap compute it when it is read.
    #[schemars(extend(
        "x-cli" = "--retained-set: in JSON, add the retained size of each class, each byte counted once (tables always show it)"
    ))]
    retained_set: Option<bool>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
enum ConstructorOrder {
    Retained,
    RetainedSet,
    Shallow,
    Count,
}

/// The order and the length of the lists in a comparison view.
#[derive(JsonSchema)]
pub struct DiffOptions {
    /// `delta` (default), `alloc`, `freed` or `count`.
    #[schemars(extend("x-cli" = "-s, --sort <order>: order of the rows"))]
    sort: Option<ComparisonOrder>,
    #[serde(flatten)]
    lists: Lists,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
enum ComparisonOrder {
    Delta,
    Alloc,
    Freed,
    Count,
}

#[derive(JsonSchema)]
struct Lists {
    /// List only the first rows (a whole number ≥ 1). Totals still cover all rows.
    #[schemars(range(min = 1), extend("x-cli" = "-n, --top <n>: print only the first n rows; totals cover all rows"))]
    top: Option<u64>,
    /// List only the first instances of each row (a whole number ≥ 0; default: all). Sums still cover all instances.
    #[schemars(extend("x-cli" = "-i, --instances <n>: in JSON, list only the first n instances of each row"))]
    instances: Option<u64>,
}
