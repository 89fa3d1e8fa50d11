//! The kinds of roots.

use schemars::JsonSchema;

/// Why an object is a root. If there are several reasons, the first of this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(inline, rename_all = "kebab-case", extend("x-agent" = { "type": "string" }))]
pub enum RootKind {
    /// A global variable or a static field refers to it.
    Global,
    /// A function that was running refers to it.
    Stack,
    /// It was pinned (`__pin`), usually by the host.
    Pinned,
    /// V8 itself refers to it. Only snapshots have such roots.
    System,
    /// The host holds it, as the caller says. Only heaps of native programs have such roots.
    Host,
    /// Nothing in the memory refers to it. Only heaps of native programs have such roots.
    Unreferenced,
}
