//! What the bare names of an expression mean.

use base::error::Result;
use base::units::ObjectIndex;
use heap::RootKind;

use super::node::BuiltIn;
use super::scope::Scope;

/// The names that are built in, without `size`.
pub(crate) const BUILT_IN: [(&str, BuiltIn); 6] = [
    ("this", BuiltIn::This),
    ("className", BuiltIn::ClassName),
    ("shallowSize", BuiltIn::ShallowSize),
    ("retainedSize", BuiltIn::RetainedSize),
    ("address", BuiltIn::Address),
    ("isNew", BuiltIn::IsNew),
];

/// What a name means as a global.
pub(crate) enum NamedGlobal {
    /// No global of this name refers to an object.
    None,
    /// One.
    Object(ObjectIndex),
    /// Several, of which two are these.
    Several(String, String),
}

/// The global with this name, or whose name ends with it after a slash.
pub(crate) fn global(scope: Scope<'_>, name: &str) -> Result<NamedGlobal> {
    let mut found: Option<(String, ObjectIndex)> = None;
    for &slot in scope.roots.all() {
        scope.control.count(1)?;
        if slot.kind != RootKind::Global {
            continue;
        }
        let Some(full) = scope.roots.name(slot) else {
            continue;
        };
        if full == name {
            return Ok(NamedGlobal::Object(slot.object));
        }
        if full.rsplit('/').next() != Some(name) {
            continue;
        }
        match &found {
            Some((other, _)) if *other != full => {
                return Ok(NamedGlobal::Several(other.clone(), full));
            }
            _ => found = Some((full, slot.object)),
        }
    }
    let of_source = || scope.source.host_names()?.global(name);
    let object = found.map(|(_, object)| object).or_else(of_source);
    Ok(object.map_or(NamedGlobal::None, NamedGlobal::Object))
}
