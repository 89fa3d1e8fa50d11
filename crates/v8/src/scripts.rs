//! The names of scripts. A location in a snapshot has the number of a script; its name is that of a node, to which
//! functions of the script lead.

use std::collections::HashMap;

use super::raw::{EdgeKind, NodeKind, RawSnapshot};
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// From a function to what all functions of one place share.
const SHARED: [&[u8]; 1] = [b"shared"];

/// From there to the script. Newer versions of V8 name the reference `script`.
const SCRIPT: [&[u8]; 2] = [b"script_or_debug_info", b"script"];

/// How V8 names what has no name of its own.
const UNNAMED: &[u8] = b"system / ";

/// The longest name of a script, in bytes. A script from a `data:` URL is not named.
const MOST_NAME: usize = 1 << 12;

impl RawSnapshot {
    /// By number of a script: the number of its name, which is a path, a URL, or `node:` with the name of a module.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn scripts(&self, step: &Step<'_>) -> Result<HashMap<u32, u32>> {
        let mut scripts = HashMap::new();
        for (node, &location) in (0u32..).zip(&self.location_of) {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if location == 0 || self.kind(node) != NodeKind::Closure {
                continue;
            }
            let script = self.locations[location as usize - 1].script;
            if scripts.contains_key(&script) {
                continue;
            }
            let shared = self.internal_target(node, &SHARED);
            let found = shared.and_then(|shared| self.internal_target(shared, &SCRIPT));
            // A function that is debugged leads to something else.
            if let Some(found) = found.filter(|&found| self.kind(found) == NodeKind::Code) {
                let name = self.name(found);
                let is_name = !name.is_empty() && name.len() <= MOST_NAME;
                if is_name && !name.starts_with(UNNAMED) {
                    scripts.insert(script, self.names[found as usize]);
                }
            }
        }
        Ok(scripts)
    }

    /// The first node to which an internal edge with one of these names leads.
    fn internal_target(&self, node: u32, names: &[&[u8]]) -> Option<u32> {
        let mut edges = self.edges(node);
        let edge = edges.find(|&edge| {
            self.edge_kind(edge) == EdgeKind::Internal
                && names.contains(&self.strings.bytes(self.edge_labels[edge].number()))
        })?;
        Some(self.edge_targets[edge])
    }
}
