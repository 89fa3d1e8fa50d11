//! What is known of kinds of growth that many programs have: one sentence each. They are recognised by the names on the
//! path, those of Node's own variables or of V8's references, so an object of a program with another path has none.

use base::units::format_size;
use heap::LAST_MATCH;

/// Something that grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grown<'p> {
    /// The text of its path.
    pub(crate) path: &'p str,
    /// The class of what grows.
    pub(crate) class_name: &'p str,
    /// Whether there are more and more of it.
    pub(crate) is_more: bool,
    pub(crate) count: u64,
    /// The bytes of their contents.
    pub(crate) bytes: u64,
    pub(crate) retained: u64,
    /// The file of the constructor of the class.
    pub(crate) file: Option<&'p str>,
}

/// A slice that keeps this many times its own size keeps a text of which it needs little.
const KEPT: u64 = 4;

/// The sentence, if the kind of growth is known.
pub(crate) fn pattern(grown: Grown<'_>) -> Option<String> {
    let Grown {
        path,
        class_name,
        is_more,
        count,
        bytes,
        retained,
        file,
    } = grown;
    let steps: Vec<&str> = path.split(" > ").collect();
    let has = |step: &str| steps.contains(&step);
    let ends = |end: &str| steps.iter().any(|step| step.ends_with(end));
    if let Some(event) = event_of(&steps, class_name).filter(|_| is_more) {
        return Some(format!(
            "listeners of the event {event:?}, which are not removed"
        ));
    }
    let known = match class_name {
        _ if steps.first() == Some(&LAST_MATCH) => {
            "V8 keeps the text in which a regular expression last found something, until another one does"
        }
        "Timeout" | "TimersList" if has("node:internal/timers->timerListMap") => {
            "timers that have not run yet, and were not cleared"
        }
        "MessagePort" | "BroadcastChannel" if path.starts_with("system ") => {
            "ports that were not closed: Node keeps each until close() is called on one of its ends"
        }
        "AsyncLocalStorage" if has("node:async_hooks->storageList") => {
            "Node keeps each AsyncLocalStorage that was used until its disable() is called: make one for the whole program"
        }
        "EventTarget" | "AbortSignal" | "WeakRef"
            if has("node:internal/abort_controller->gcPersistentSignals")
                || ends("[\"<symbol kDependantSignals>\"]") =>
        {
            "AbortSignal.any makes a signal that stays for as long as one of its sources, and is kept while it has listeners"
        }
        "Promise" if !is_more => "a promise that is not settled keeps all that waits for it",
        "FinalizationRegistry" if !is_more => {
            "a FinalizationRegistry keeps the values that register() was given until their targets are collected: \
             a value that refers to its target keeps both"
        }
        "WeakRef" => "a WeakRef stays in its container after its target was collected",
        "(sliced string)" if retained / KEPT > bytes => {
            return Some(format!(
                "{} of text behind {count} slices: a slice keeps the whole text from which it was cut",
                format_size(retained)
            ));
        }
        "(concatenated string)" if ends("(concatenated string){first}") => {
            "a text that gets longer and longer: V8 keeps each piece that was added"
        }
        _ if ends("ModuleLoader.loadCache") => {
            "modules that were imported stay: each other query in a URL makes one more"
        }
        _ if class_name.starts_with("module ") && ends(".children") => {
            "modules stay in the children of the module that loaded them, also when require.cache has them no more"
        }
        _ if file == Some("node:zlib") => {
            "streams of zlib keep memory outside of V8's heap until they end, or close() is called"
        }
        _ => return None,
    };
    Some(known.to_owned())
}

/// The event whose listeners are at the end of a path.
fn event_of<'p>(steps: &[&'p str], class_name: &str) -> Option<&'p str> {
    let is_listener = class_name == "Function" || class_name.starts_with("function ");
    let events = steps.iter().position(|step| step.ends_with("._events"))?;
    let event = steps.get(events + 1)?.strip_prefix("Object.")?;
    is_listener.then_some(event)
}

#[cfg(test)]
mod tests {
    use super::{Grown, pattern};

    fn sentence(path: &str, is_more: bool) -> Option<String> {
        pattern(Grown {
            path,
            class_name: path.rsplit(" > ").next().unwrap_or_default(),
            is_more,
            count: 20,
            bytes: 640,
            retained: 1_000_000,
            file: None,
        })
    }

    /// Paths of leaks, whether there are more and more objects, and a part of the sentence.
    const KNOWN: [(&str, bool, &str); 10] = [
        (
            "RegExp's last match > match{*} > (string)",
            false,
            "regular expression",
        ),
        (
            "Node's internals > node:internal/timers->timerListMap > Object[*] > TimersList._idleNext > Timeout",
            true,
            "timers",
        ),
        ("system (Global handles) > MessagePort", true, "ports"),
        (
            "Node's internals > node:async_hooks->storageList > Array[*] > AsyncLocalStorage",
            true,
            "AsyncLocalStorage",
        ),
        (
            "Node's internals > node:internal/abort_controller->gcPersistentSignals > Set[*] > EventTarget",
            true,
            "AbortSignal.any",
        ),
        ("module > a.cjs->stopped > Promise", false, "not settled"),
        (
            "module > a.cjs->registry > FinalizationRegistry",
            false,
            "register()",
        ),
        ("module > a.cjs->cache > Map[*] > WeakRef", true, "WeakRef"),
        (
            "module > a.cjs->tokens > Map[*] > (sliced string)",
            true,
            "976.6 KiB of text behind 20 slices",
        ),
        (
            "module > a.cjs->bus > EventEmitter._events > Object.resize > Array[*] > function (a.cjs)",
            true,
            "the event \"resize\"",
        ),
    ];

    #[test]
    fn a_known_kind_of_growth_has_a_sentence() {
        for (path, is_more, part) in KNOWN {
            let found = sentence(path, is_more).unwrap_or_default();
            assert!(found.contains(part), "{path}: {found}");
        }
    }

    #[test]
    fn objects_that_only_look_alike_have_none() {
        for (path, is_more) in [
            ("module > a.cjs->matches > Array[*] > (string)", false),
            ("module > a.cjs->timers > Array[*] > Timeout", true),
            ("module > a.cjs->ports > Array[*] > MessagePort", true),
            (
                "module > a.cjs->stores > Array[*] > AsyncLocalStorage",
                true,
            ),
            ("module > a.cjs->targets > Set[*] > EventTarget", true),
            ("module > a.cjs->jobs > Array[*] > Promise", true),
            (
                "module > a.cjs->all > Array[*] > FinalizationRegistry",
                true,
            ),
            (
                "module > a.cjs->words > Array[*] > (concatenated string)",
                true,
            ),
            (
                "module > a.cjs->bus > Bus._events > Object.resize > Array[*] > Item",
                true,
            ),
            (
                "module > a.cjs->bus > Bus.events > Object.resize > Array[*] > function (a.cjs)",
                true,
            ),
            ("module > a.cjs->modules > Array[*] > module b.cjs", true),
        ] {
            assert_eq!(sentence(path, is_more), None, "{path}");
        }
    }

    #[test]
    fn slices_of_short_texts_have_none() {
        let short = Grown {
            path: "module > a.cjs->tokens > Map[*] > (sliced string)",
            class_name: "(sliced string)",
            is_more: true,
            count: 20,
            bytes: 640,
            retained: 1000,
            file: None,
        };
        assert_eq!(pattern(short), None);
    }
}
