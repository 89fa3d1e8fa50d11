//! The control of asynchronous work, as JavaScript sees it.

use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::inputs::PendingInput;
use super::outcome::Outcome;
use super::tasks::{InputWork, Task};
use base::control::{ClassCount, Control};
use workers::guard::guarded;

/// A handle on asynchronous work.
#[napi]
#[derive(Default)]
pub struct WorkControl {
    control: Control,
    task: Mutex<Option<Arc<Task>>>,
}

/// The live objects of one class.
#[napi(object, object_from_js = false)]
pub struct ClassCountData {
    /// In full, such as `assembly/game/Player`.
    pub class_name: String,
    /// The number of objects.
    pub count: f64,
    /// The sum of their shallow sizes.
    pub shallow_size: f64,
}

/// The progress of the work.
#[napi(object, object_from_js = false)]
pub struct ProgressData {
    /// The name of the phase that began last.
    pub phase: &'static str,
    /// From 0 to 1.
    pub fraction: f64,
    /// The size of all dumps.
    pub bytes: f64,
}

#[napi]
impl WorkControl {
    /// A handle for work that is not started yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work that was started with this handle.
    #[napi]
    pub fn cancel(&self) -> Result<()> {
        guarded(|| {
            self.control.cancel();
            if let Some(task) = &*self.task() {
                task.cancel();
            }
            Ok(())
        })
    }

    /// Asks for the counts of the live objects by class before dominators are known.
    #[napi]
    pub fn request_classes(&self) -> Result<()> {
        guarded(|| {
            self.control.request_classes();
            Ok(())
        })
    }

    /// These counts, once.
    #[napi]
    pub fn take_classes(&self) -> Result<Option<Vec<ClassCountData>>> {
        guarded(|| {
            let classes = self.control.take_classes();
            Ok(classes.map(|classes| classes.into_iter().map(Into::into).collect()))
        })
    }

    /// Its progress.
    #[napi]
    pub fn progress(&self) -> Result<ProgressData> {
        guarded(|| {
            let progress = self.control.progress();
            Ok(ProgressData {
                phase: progress.phase.name(),
                fraction: progress.fraction,
                bytes: progress.bytes as f64,
            })
        })
    }
}

impl From<ClassCount> for ClassCountData {
    fn from(class: ClassCount) -> Self {
        Self {
            class_name: class.class_name,
            count: class.count as f64,
            shallow_size: class.shallow_size as f64,
        }
    }
}

impl WorkControl {
    /// Starts work on inputs that this handle controls.
    pub(super) fn start<'env, const N: usize, T: Outcome>(
        &self,
        env: &'env Env,
        inputs: [PendingInput<'static>; N],
        work: impl InputWork<N, T>,
    ) -> Result<Object<'env>> {
        let (task, promise) = Task::start(env, self.control.clone(), inputs, work)?;
        *self.task() = Some(task);
        Ok(promise)
    }

    fn task(&self) -> std::sync::MutexGuard<'_, Option<Arc<Task>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
