//! Takes a dump of a running process.

use std::io;
use std::ops::Range;

use base::control::Control;
use base::error::{Error, Result};

use crate::OutsideError;
use crate::globals::{GlobalsPlace, find_globals};
use crate::layout::GlobalLayout;
use crate::memories::candidates;
use crate::moment::{CopiedMoment, Prepared, Taken};
use crate::process::Process;
use crate::sightings::LinearMemory;
use crate::space::AddressSpace;
use crate::stop::Stopped;

/// Stops the threads, copies, and lets them go on. What has to be searched was searched before.
pub(crate) fn take(
    process: &mut Process,
    memory: &LinearMemory,
    layout: &GlobalLayout,
    tries: u32,
    control: &Control,
) -> Result<Taken> {
    if process.is_own_child() {
        let why = "it is a child of this process, which would take its pause for its end: read it from another process".to_owned();
        let pid = process.pid;
        return Err(OutsideError::Process { pid, why }.into());
    }
    let place = find_globals(process, memory, layout, control)?;
    let mut why = String::new();
    for nth in 1..=tries {
        control.check()?;
        match one_moment(process, memory, layout, place)? {
            Ok(moment) => {
                let engine = place.engine();
                return Ok(Taken {
                    moment,
                    engine,
                    tries: nth,
                });
            }
            Err(reason) => why = reason.to_owned(),
        }
    }
    let pid = process.pid;
    Err(OutsideError::Changed { pid, tries, why }.into())
}

/// A try: what was copied, or what had changed.
type Try = std::result::Result<CopiedMoment, &'static str>;

/// The threads are bound to the thread that stops them, and go on when it ends, so this has one of its own.
fn one_moment(
    process: &mut Process,
    memory: &LinearMemory,
    layout: &GlobalLayout,
    place: GlobalsPlace,
) -> Result<Try> {
    let prepared = Prepared::new(&process.filled(&memory.range))?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("heap-analyzer-s".to_owned())
            .spawn_scoped(scope, || stopped(process, memory, layout, place, prepared))
            .map_err(|source| Error::Threads { source })?;
        thread.join().unwrap_or_else(|_| {
            Err(Error::Internal {
                message: "the thread that copies a memory panicked".into(),
            })
        })
    })
}

fn stopped(
    process: &mut Process,
    memory: &LinearMemory,
    layout: &GlobalLayout,
    place: GlobalsPlace,
    prepared: Prepared,
) -> Result<Try> {
    let stopped = Stopped::all(process).map_err(|error| process.failure(&error))?;
    let result = copy(process, memory, layout, place, prepared);
    let start = stopped.start;
    drop(stopped);
    let pause = start.elapsed();
    result.map(|copied| {
        copied.map(|mut moment| {
            moment.pause = pause;
            moment
        })
    })
}

fn copy(
    process: &mut Process,
    memory: &LinearMemory,
    layout: &GlobalLayout,
    place: GlobalsPlace,
    prepared: Prepared,
) -> Result<Try> {
    let refreshed: io::Result<()> = process.refresh();
    refreshed.map_err(|error| process.failure(&error))?;
    // It may have grown.
    let ranges = candidates(process.mappings(), process.reservations());
    let Some(range) = ranges
        .into_iter()
        .find(|range| range.start == memory.range.start)
    else {
        return Ok(Err("the memory is gone"));
    };
    let size = range.end - range.start;
    let Some(values) = place.read(process, layout, size) else {
        return Ok(Err("the globals have other values than the module allows"));
    };
    let parts: Vec<Range<u64>> = process.filled(&range);
    let copied = prepared.copy(process, &range, parts, values)?;
    Ok(copied.ok_or("a part of the memory could not be read"))
}
