//! Progress and cancellation of running work.
//!
//! The caller of an analysis keeps a clone of its [`Control`]. On another thread, it can read the progress
//! from it, or cancel the work. The work [begins](Control::begin) each phase and reports its progress. At
//! each report, cancelled work stops.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// The number of steps of a long loop between two checks for cancellation. They take about a millisecond, and the
/// checks take no time that can be measured.
pub const CHECK_INTERVAL: usize = 1 << 14;

/// The phases of an analysis, in order, and what may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Reading the module.
    Module,
    /// Walking over the allocator's blocks; of a heap snapshot, finding its parts.
    Blocks,
    /// Reading the headers of the objects among them; of a heap snapshot, its nodes and edges.
    Objects,
    /// Reading the references out of the objects.
    References,
    /// Searching the objects that the roots reach.
    Search,
    /// Computing dominators.
    Dominators,
    /// Computing retained sizes.
    Sizes,
    /// Grouping objects by class.
    View,
    /// Writing a heap in another format. Not a part of an analysis.
    Export,
}

impl Phase {
    /// The phases of an analysis, in order.
    pub const ALL: [Self; 8] = [
        Self::Module,
        Self::Blocks,
        Self::Objects,
        Self::References,
        Self::Search,
        Self::Dominators,
        Self::Sizes,
        Self::View,
    ];

    /// One word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Blocks => "blocks",
            Self::Objects => "objects",
            Self::References => "references",
            Self::Search => "search",
            Self::Dominators => "dominators",
            Self::Sizes => "sizes",
            Self::View => "view",
            Self::Export => "export",
        }
    }

    /// The part of the time of the work, in percent, as measured for an analysis.
    const fn share(self) -> u64 {
        match self {
            Self::Module => 0,
            Self::Blocks => 15,
            Self::Objects => 15,
            Self::References => 20,
            Self::Search => 20,
            Self::Dominators => 15,
            Self::Sizes => 10,
            Self::View => 5,
            Self::Export => 100,
        }
    }
}

/// The progress of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The phase that began last.
    pub phase: Phase,
    /// The part that is done: from 0 to 1, never decreasing.
    pub fraction: f64,
    /// The size of all dumps that are being analyzed, in bytes.
    pub bytes: u64,
}

/// The live objects of the classes with one name, as known before retained sizes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// In full, such as `assembly/game/Player`.
    pub class_name: String,
    /// The number of live objects.
    pub count: u64,
    /// The sum of their shallow sizes in bytes.
    pub shallow_size: u64,
}

/// A handle on running work. The work gets one clone; the caller reads the progress or cancels with another.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<ControlState>,
    /// The bytes of input that this handle is for; `None` for all announced bytes.
    bytes: Option<u64>,
    /// Whether phases and progress of the work are not reported.
    is_unreported: bool,
}

#[derive(Default)]
struct ControlState {
    is_cancelled: AtomicBool,
    phase: AtomicU8,
    /// Bytes of input.
    planned: AtomicU64,
    /// Bytes of input times the percentage of the work that is done on them.
    done: AtomicU64,
    /// Units of all work.
    work: AtomicU64,
    /// The units after which the work is cancelled; 0 for any number.
    most_work: AtomicU64,
    wants_classes: AtomicBool,
    classes: Mutex<Option<Vec<ClassCount>>>,
    observer: Option<Box<dyn Fn(Phase) + Send + Sync>>,
}

impl fmt::Debug for ControlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            is_cancelled,
            phase,
            planned,
            done,
            work,
            most_work: _,
            wants_classes: _,
            classes: _,
            observer: _,
        } = self;
        f.debug_struct("Shared")
            .field("is_cancelled", is_cancelled)
            .field("phase", phase)
            .field("planned", planned)
            .field("done", done)
            .field("work", work)
            .finish_non_exhaustive()
    }
}

impl Control {
    /// A control that calls `observer` whenever a phase begins, on the thread that does the work.
    pub fn observing(observer: impl Fn(Phase) + Send + Sync + 'static) -> Self {
        Self {
            shared: Arc::new(ControlState {
                observer: Some(Box::new(observer)),
                ..ControlState::default()
            }),
            ..Self::default()
        }
    }

    /// Makes the work stop with [`Error::Aborted`] at its next report.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// A control that cancels the work when it has taken this many units.
    pub fn cancelling_after(units: u64) -> Self {
        let control = Self::default();
        let most = &control.shared.most_work;
        most.store(units.max(1), Ordering::Relaxed);
        control
    }

    /// How much was done so far, in units: a unit is one turn of a loop whose length comes from an input, such as a
    /// block, a reference, an instruction or a few bytes. Tests compare it with the size of the input.
    pub fn work(&self) -> u64 {
        self.shared.work.load(Ordering::Relaxed)
    }

    /// The progress of the work.
    pub fn progress(&self) -> Progress {
        let bytes = self.shared.planned.load(Ordering::Relaxed);
        let done = self.shared.done.load(Ordering::Relaxed);
        let phase = usize::from(self.shared.phase.load(Ordering::Relaxed));
        Progress {
            phase: Phase::ALL.get(phase).copied().unwrap_or(Phase::Export),
            fraction: match bytes {
                0 => 0.0,
                _ => (done as f64 / (bytes as f64 * 100.0)).min(1.0),
            },
            bytes,
        }
    }

    /// Asks for the counts of the live objects by class as soon as these are known, before dominators are.
    pub fn request_classes(&self) {
        self.shared.wants_classes.store(true, Ordering::Relaxed);
    }

    /// The counts that were requested, once they are known: shallow size ↓, count ↓, name ↑. They are
    /// returned once.
    pub fn take_classes(&self) -> Option<Vec<ClassCount>> {
        let classes = self.shared.classes.lock();
        // Only whole lists are stored.
        classes.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores the counts if they were requested.
    pub fn report_classes(&self, counts: impl FnOnce() -> Vec<ClassCount>) {
        if self.shared.wants_classes.load(Ordering::Relaxed) {
            let counts = counts();
            let classes = self.shared.classes.lock();
            *classes.unwrap_or_else(PoisonError::into_inner) = Some(counts);
        }
    }

    /// Announces the analysis of a dump of `bytes` bytes, and returns the handle for it. Work that is not
    /// announced does not count as progress.
    pub fn part(&self, bytes: u64) -> Self {
        self.shared.planned.fetch_add(bytes, Ordering::Relaxed);
        Self {
            bytes: Some(bytes),
            ..self.clone()
        }
    }

    /// The handle for work beside the phases of an analysis: it can be cancelled, but does not count as progress.
    pub fn unreported(&self) -> Self {
        Self {
            is_unreported: true,
            ..self.clone()
        }
    }

    /// Begins a phase of `units` units.
    pub fn begin(&self, phase: Phase, units: u64) -> Step<'_> {
        let planned = || self.shared.planned.load(Ordering::Relaxed);
        let budget = if self.is_unreported {
            0
        } else {
            self.bytes.unwrap_or_else(planned) * phase.share()
        };
        if !self.is_unreported {
            self.shared.phase.store(phase as u8, Ordering::Relaxed);
            if let Some(observer) = &self.shared.observer {
                observer(phase);
            }
        }
        Step {
            control: self,
            budget,
            units: units.max(1),
            done: AtomicU64::new(0),
        }
    }

    /// Counts units of work that is not a separate phase, and stops cancelled work. Long loops must call this every
    /// few thousand units.
    ///
    /// # Errors
    /// [`Error::Aborted`] once the work was cancelled.
    pub fn count(&self, units: u64) -> Result<()> {
        let work = self.shared.work.fetch_add(units, Ordering::Relaxed) + units;
        let most = self.shared.most_work.load(Ordering::Relaxed);
        if most != 0 && work >= most {
            self.cancel();
        }
        self.check()
    }

    /// Stops cancelled work that is not a separate phase.
    ///
    /// # Errors
    /// [`Error::Aborted`] once the work was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.shared.is_cancelled.load(Ordering::Relaxed) {
            Err(Error::Aborted)
        } else {
            Ok(())
        }
    }
}

/// A running phase. When it is dropped, all its units count as done.
#[derive(Debug)]
pub struct Step<'c> {
    control: &'c Control,
    /// How much the whole phase adds to [`ControlState::done`].
    budget: u64,
    units: u64,
    done: AtomicU64,
}

impl<'c> Step<'c> {
    /// The control of the phase.
    pub fn control(&self) -> &'c Control {
        self.control
    }

    /// Long loops must call this every [`CHECK_INTERVAL`] steps or so, with the number of units since the last call.
    ///
    /// # Errors
    /// [`Error::Aborted`] once the work was cancelled.
    pub fn advance(&self, units: u64) -> Result<()> {
        let before = self.done.fetch_add(units, Ordering::Relaxed);
        self.report(before, before + units);
        self.control.count(units)
    }

    fn report(&self, before: u64, after: u64) {
        let share = |units: u64| {
            // The product may exceed 64 bits.
            let product = u128::from(self.budget) * u128::from(units.min(self.units));
            (product / u128::from(self.units)) as u64
        };
        let progress = share(after) - share(before);
        self.control
            .shared
            .done
            .fetch_add(progress, Ordering::Relaxed);
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        let done = self.done.load(Ordering::Relaxed);
        self.report(done, self.units.max(done));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_phases_together_are_the_whole_work() {
        let control = Control::default();
        let parts = [control.part(1 << 32), control.part(5)];
        let mut last = 0.0;
        for phase in Phase::ALL {
            for part in &parts {
                let step = part.begin(phase, 7);
                for _ in 0..9 {
                    assert!(step.advance(1).is_ok());
                    let progress = control.progress();
                    assert_eq!(progress.phase, phase);
                    assert!(progress.fraction >= last, "progress never goes back");
                    last = progress.fraction;
                }
            }
        }
        assert_eq!(last, 1.0);
        assert_eq!(control.progress().bytes, (1 << 32) + 5);
    }

    #[test]
    fn a_phase_that_ends_early_counts_as_done() {
        let control = Control::default();
        control.part(1000);
        drop(control.begin(Phase::Blocks, 50));
        assert_eq!(control.progress().fraction, 0.15);
    }

    #[test]
    fn cancelled_work_stops_at_its_next_report() {
        let control = Control::default();
        let step = control.begin(Phase::Blocks, 10);
        assert!(step.advance(1).is_ok());
        control.cancel();
        assert!(matches!(step.advance(1), Err(Error::Aborted)));
    }
}
