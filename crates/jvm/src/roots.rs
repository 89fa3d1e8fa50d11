//! The roots with their names: threads with their frames, and what else a JVM starts from.

use std::collections::HashMap;

use crate::classes::JavaClasses;
use crate::edges::storage_labels;
use crate::heap_records::{RootReason, RootRecord};
use crate::id_index::IdIndex;
use crate::outline::{Outline, StackFrame};
use crate::scan::HprofReading;
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{NamedStarts, RootKind};

/// What classes of the JVM itself begin with.
const RUNTIME: [&str; 6] = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.ietf."];

/// A root with its name.
pub(crate) type NamedRoot = (RootKind, String, ObjectIndex);

/// What roots are read from.
pub(crate) struct RootReader<'a> {
    pub(crate) reading: HprofReading<'a>,
    pub(crate) outline: &'a Outline,
    pub(crate) index: &'a IdIndex<'a>,
    /// Names of threads by their objects.
    pub(crate) thread_name: &'a dyn Fn(ObjectIndex) -> Result<Option<String>>,
}

/// A thread that runs.
struct Thread {
    name: String,
    /// Its frames, from the innermost on.
    frames: Vec<u64>,
}

impl RootReader<'_> {
    /// The roots, each with its name.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted), those of
    /// `thread_name`.
    pub(crate) fn named(&self, roots: &[RootRecord], step: &Step<'_>) -> Result<Vec<NamedRoot>> {
        let threads = self.threads(roots)?;
        let mut named = columns::with_capacity(roots.len())?;
        for (nth, root) in roots.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let Some(object) = self.index.get(root.id) else {
                continue;
            };
            let (kind, name) = self.name(root.reason, &threads);
            named.push((kind, name, object));
        }
        Ok(named)
    }

    /// Threads by serial number.
    fn threads(&self, roots: &[RootRecord]) -> Result<HashMap<u32, Thread>> {
        let mut threads = HashMap::new();
        for root in roots {
            let RootReason::Thread { serial, trace } = root.reason else {
                continue;
            };
            let name = match self.index.get(root.id) {
                Some(object) => (self.thread_name)(object)?,
                None => None,
            };
            let frames = self.outline.traces.get(&trace).cloned().unwrap_or_default();
            let name = name.unwrap_or_else(|| format!("{serial}"));
            threads.insert(serial, Thread { name, frames });
        }
        Ok(threads)
    }

    fn name(&self, reason: RootReason, threads: &HashMap<u32, Thread>) -> (RootKind, String) {
        let thread = |serial: u32| match threads.get(&serial) {
            Some(thread) => format!("thread \"{}\"", thread.name),
            None => format!("thread {serial}"),
        };
        let system = |name: &str| (RootKind::System, name.to_owned());
        match reason {
            RootReason::StickyClass => (RootKind::Global, "system class".to_owned()),
            RootReason::JavaFrame {
                thread: serial,
                frame,
            } => {
                let found = threads.get(&serial);
                let id = found.and_then(|found| found.frames.get(frame as usize));
                let text = id
                    .and_then(|id| self.outline.frames.get(id))
                    .map_or_else(String::new, |frame| {
                        format!(" at {}", self.frame_text(*frame))
                    });
                (RootKind::Stack, format!("{}{text}", thread(serial)))
            }
            RootReason::JniLocal { thread: serial, .. } => (
                RootKind::Stack,
                format!("{} in native code", thread(serial)),
            ),
            RootReason::NativeStack { thread: serial } => (
                RootKind::Stack,
                format!("{} in native code", thread(serial)),
            ),
            RootReason::ThreadBlock { thread: serial } => (RootKind::Stack, thread(serial)),
            // Threads of one pool are one place.
            RootReason::Thread { serial, .. } => {
                (RootKind::System, without_numbers(&thread(serial)))
            }
            RootReason::JniGlobal => system("JNI global"),
            RootReason::Monitor | RootReason::JniMonitor => system("locked monitor"),
            RootReason::InternedString => system("interned string"),
            RootReason::Finalizing => system("finalizer"),
            RootReason::Debugger => system("debugger"),
            RootReason::ReferenceCleanup => system("reference cleanup"),
            RootReason::VmInternal => system("virtual machine"),
            RootReason::Unknown => system("unknown root"),
        }
    }

    /// `Cache.put(Cache.java:41)`.
    fn frame_text(&self, frame: StackFrame) -> String {
        frame_text(self.reading.file, self.outline, frame)
    }
}

fn frame_text(file: &[u8], outline: &Outline, frame: StackFrame) -> String {
    let name = |id| outline.name(file, id).unwrap_or_default();
    let class = outline.class_names.get(&frame.class_serial);
    let class = class.map_or_else(String::new, |&id| crate::classes::java_name(&name(id)));
    let method = name(frame.method);
    let place = match (name(frame.file).as_ref(), frame.line) {
        ("", _) => "unknown source".to_owned(),
        (_, -3) => "native method".to_owned(),
        (file, line @ 1..) => format!("{file}:{line}"),
        (file, _) => file.to_owned(),
    };
    format!("{class}.{method}({place})")
}

/// A text with `*` in the place of each number.
fn without_numbers(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            digit if digit.is_ascii_digit() => {
                if !shown.ends_with('*') {
                    shown.push('*');
                }
            }
            other => shown.push(other),
        }
    }
    shown
}

/// The first kind of each root, ascending by object.
pub(crate) fn entries(named: &[NamedRoot]) -> Result<Vec<(ObjectIndex, RootKind)>> {
    let mut entries = columns::collected(named.iter().map(|&(kind, _, object)| (object, kind)))?;
    entries.sort_unstable();
    entries.dedup_by_key(|&mut (object, _)| object);
    Ok(entries)
}

/// The static fields of classes that live as long as the JVM: paths begin there. First those of the program.
/// No path enters a class of the JVM itself before these. `count` is the number of objects.
pub(crate) fn starts(
    classes: &JavaClasses,
    is_permanent: &[bool],
    reading: HprofReading<'_>,
    index: &IdIndex<'_>,
    count: usize,
) -> Result<NamedStarts> {
    let mut starts = NamedStarts {
        is_engine: Bits::new(count)?,
        storage: storage_labels(classes),
        ..NamedStarts::default()
    };
    let permanent = classes.all.iter().zip(is_permanent).filter(|&(_, &is)| is);
    for (class, _) in permanent {
        let is_runtime = RUNTIME.iter().any(|start| class.name.starts_with(start));
        if let Some(object) = index.get(class.id).filter(|_| is_runtime) {
            starts.is_engine.insert(object.0);
        }
        let into = if is_runtime {
            &mut starts.engine
        } else {
            &mut starts.program
        };
        for value in &class.statics {
            let name = classes.names.text(value.name);
            if value.java_type != crate::bytes::JavaType::Object || name.starts_with('<') {
                continue;
            }
            let bytes = reading.file.get(value.at as usize..);
            let target = bytes.and_then(|bytes| index.get(reading.ids.read(bytes)));
            if let Some(target) = target {
                columns::push(into, (format!("{}.{name}", class.name), target))?;
            }
        }
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_pool_have_one_name() {
        assert_eq!(without_numbers("pool-12-thread-3"), "pool-*-thread-*");
    }
}
