//! Work with a promise. It is submitted on the JavaScript thread and done on other threads. Its promise is
//! settled once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::JsDeferred;
use napi::bindgen_prelude::*;

use super::error::JsError as CodedError;
use super::input_bytes::NamedBytes;
use super::inputs::PendingInput;
use super::outcome::{Converted, Outcome};
use base::columns;
use base::control::Control;
use base::error::Error as EngineError;
use workers::guard::guarded;
use workers::threads::{cores, start};
use workers::work_queue::WorkQueue;

/// Threads that analyze. An analysis uses memory in proportion to its dump, so only a few run at a time;
/// parts of it run on one thread, so several run at a time.
static ENGINE: WorkQueue = WorkQueue::new("heap-analyzer", || cores().min(4));

/// Threads that read pipes and devices. A read can block without limit, and must not delay analyses.
static PIPES: WorkQueue = WorkQueue::new("heap-analyzer-p", || 16);

/// The work that is done when all inputs are available.
pub(super) trait InputWork<const N: usize, T>:
    for<'a> FnOnce([NamedBytes<'a>; N], &Control) -> base::Result<T> + Send + 'static
{
}

impl<const N: usize, T, W> InputWork<N, T> for W where
    W: for<'a> FnOnce([NamedBytes<'a>; N], &Control) -> base::Result<T> + Send + 'static
{
}

/// Converts a result on the JavaScript thread.
type Settle = Box<dyn FnOnce(Env) -> Result<Converted> + Send>;
type Deferred = JsDeferred<Converted, Settle>;

/// Work with its promise.
pub(super) struct Task {
    number: u64,
    environment: usize,
    control: Control,
    /// `None` once the promise is settled.
    deferred: Mutex<Option<Deferred>>,
    stage: Mutex<TaskStage>,
}

#[derive(Clone, Copy)]
enum TaskStage {
    /// It is in this queue, or is about to enter it.
    Waiting(&'static WorkQueue, u64),
    /// It may be blocked by another process. It holds no file that its caller could need.
    Reading,
    /// It stops when it next checks its control, and has then closed all files.
    Working,
}

/// The unsettled tasks of all environments. The main thread and each worker thread have one environment.
static ENVIRONMENTS: Mutex<Environments> = Mutex::new(Environments {
    watched: BTreeSet::new(),
    tasks: BTreeMap::new(),
});

struct Environments {
    /// Environments with a cleanup hook.
    watched: BTreeSet<usize>,
    /// By environment and number.
    tasks: BTreeMap<(usize, u64), Arc<Task>>,
}

impl Task {
    /// Submits work on these inputs, which starts when a thread is free. Returns the task and its promise.
    pub(super) fn start<'env, const N: usize, T: Outcome>(
        env: &'env Env,
        control: Control,
        inputs: [PendingInput<'static>; N],
        work: impl InputWork<N, T>,
    ) -> std::result::Result<(Arc<Self>, Object<'env>), CodedError> {
        start()?;
        columns::check_headroom()?;
        cancel_at_the_end_of(env).map_err(refused)?;
        let (deferred, promise) = env.create_deferred().map_err(refused)?;
        static LAST: AtomicU64 = AtomicU64::new(0);
        let task = Arc::new(Self {
            number: LAST.fetch_add(1, Ordering::Relaxed),
            environment: env.raw() as usize,
            control,
            deferred: Mutex::new(Some(deferred)),
            stage: Mutex::new(TaskStage::Working),
        });
        let tasks = &mut lock(&ENVIRONMENTS).tasks;
        tasks.insert((task.environment, task.number), Arc::clone(&task));
        task.analyze(inputs, work);
        Ok((task, promise))
    }

    /// Makes the work stop. If no thread has started it yet, or it waits for another process, the promise is
    /// rejected at once.
    pub(super) fn cancel(&self) {
        self.control.cancel();
        let stage = *lock(&self.stage);
        let is_over = match stage {
            TaskStage::Waiting(queue, number) => queue.withdraw(number).is_some(),
            TaskStage::Reading => true,
            TaskStage::Working => false,
        };
        if is_over {
            self.settle::<()>(Err(EngineError::Aborted));
        }
    }

    /// Continues in the queue of the engine, after the queue of the pipes if there is a pipe.
    fn analyze<const N: usize, T: Outcome>(
        self: &Arc<Self>,
        mut inputs: [PendingInput<'static>; N],
        work: impl InputWork<N, T>,
    ) {
        self.run_step(&ENGINE, TaskStage::Working, move |task| {
            // All inputs are inspected first: a missing file is reported before the wait for a pipe.
            if PendingInput::have_pipe(&inputs)? {
                task.read_pipes(inputs, work);
                return Ok(None);
            }
            for input in &mut inputs {
                input.open(&task.control)?;
            }
            work(inputs.each_mut().map(PendingInput::input), &task.control).map(Some)
        });
    }

    /// Reads the pipes. Regular files stay closed meanwhile, so that after an abort the caller can
    /// change them at once.
    fn read_pipes<const N: usize, T: Outcome>(
        self: &Arc<Self>,
        mut inputs: [PendingInput<'static>; N],
        work: impl InputWork<N, T>,
    ) {
        self.run_step::<T>(&PIPES, TaskStage::Reading, move |task| {
            for input in &mut inputs {
                input.read_if_pipe(&task.control)?;
            }
            task.analyze(inputs, work);
            Ok(None)
        });
    }

    /// Submits one step of the work to a queue. The last step returns the outcome.
    fn run_step<T: Outcome>(
        self: &Arc<Self>,
        queue: &'static WorkQueue,
        stage: TaskStage,
        step: impl FnOnce(&Arc<Self>) -> base::Result<Option<T>> + Send + 'static,
    ) {
        let number = queue.next_number();
        *lock(&self.stage) = TaskStage::Waiting(queue, number);
        let task = Arc::clone(self);
        let submitted = queue.submit(number, move || {
            *lock(&task.stage) = stage;
            let result = guarded(|| {
                task.control.check()?;
                step(&task)
            });
            if let Some(result) = result.transpose() {
                // Not every phase checks for cancellation, so it is checked once more.
                let is_wanted = task.control.check();
                task.settle(result.and_then(|outcome| is_wanted.map(|()| outcome)));
            }
        });
        if let Err(source) = submitted {
            self.settle::<T>(Err(EngineError::Threads { source }));
        }
    }

    /// Settles the promise, unless it is settled already. The environment may have ended.
    fn settle<T: Outcome>(&self, result: base::Result<T>) {
        let key = (self.environment, self.number);
        lock(&ENVIRONMENTS).tasks.remove(&key);
        if let Some(deferred) = lock(&self.deferred).take() {
            deferred.resolve(Box::new(|env| match result {
                Ok(outcome) => Converted::new(outcome, env),
                // Only the JavaScript thread can create an error object with a code.
                Err(error) => {
                    let error = JsError::from(CodedError::from(error));
                    Err(error.into_unknown(env).into())
                }
            }));
        }
    }
}

/// Cancels the unsettled tasks of an environment when it ends.
fn cancel_at_the_end_of(env: &Env) -> Result<()> {
    let environment = env.raw() as usize;
    if lock(&ENVIRONMENTS).watched.contains(&environment) {
        return Ok(());
    }
    env.add_env_cleanup_hook(environment, |environment| {
        let tasks: Vec<Arc<Task>> = {
            let mut environments = lock(&ENVIRONMENTS);
            environments.watched.remove(&environment);
            let tasks = environments
                .tasks
                .range((environment, 0)..=(environment, u64::MAX));
            tasks.map(|(_, task)| Arc::clone(task)).collect()
        };
        for task in tasks {
            task.cancel();
        }
    })?;
    lock(&ENVIRONMENTS).watched.insert(environment);
    Ok(())
}

/// The error for a failed call into Node.
fn refused(error: Error) -> EngineError {
    EngineError::Internal {
        message: error.reason.clone().into(),
    }
}

/// A poisoned lock can be used: only code of this file runs under the locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
