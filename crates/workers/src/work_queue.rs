//! Queues of jobs, each with its threads. A thread whose read hangs is replaced, so that it holds back no other job.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread waits for work before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// A read of one piece of a file that takes longer hangs: its disk or its server does not answer.
const HANGING: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 1000 });

/// Threads of a queue beyond its bound, for those that hang.
const MOST_REPLACED: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// Jobs in the order of their arrival, for a bounded number of threads. Threads start when jobs arrive,
/// and end when there have been none for some time.
pub struct WorkQueue {
    thread_name: &'static str,
    /// The most threads.
    bound: fn() -> usize,
    last_number: AtomicU64,
    state: Mutex<QueueState>,
    arrival: Condvar,
}

struct QueueState {
    waiting: BTreeMap<u64, Job>,
    threads: Vec<Arc<ReadingThread>>,
    /// Threads that wait for work.
    idle: usize,
    /// Whether a thread looks whether those of the queue hang.
    is_watched: bool,
}

impl QueueState {
    fn has_room(&self, bound: usize) -> bool {
        let hanging = self
            .threads
            .iter()
            .filter(|reading| reading.hangs())
            .count()
            .min(MOST_REPLACED);
        self.threads.len() < bound + hanging
    }
}

/// Since when a thread has been reading.
#[derive(Default)]
struct ReadingThread {
    /// In milliseconds since [`START`], from 1 on; 0 if it does not read.
    since: AtomicU64,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
}

impl ReadingThread {
    fn hangs(&self) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        since > 0 && u128::from(now().saturating_sub(since)) > HANGING.as_millis()
    }
}

thread_local! {
    static READING: RefCell<Option<Arc<ReadingThread>>> = const { RefCell::new(None) };
}

/// Reads a piece of a file. If that takes long on a thread of a queue, another thread does the jobs that wait.
pub fn while_reading<T>(read: impl FnOnce() -> T) -> T {
    let reading = READING.with_borrow(Clone::clone);
    if let Some(reading) = &reading {
        reading.since.store(now(), Ordering::Relaxed);
    }
    let result = read();
    if let Some(reading) = &reading {
        reading.since.store(0, Ordering::Relaxed);
    }
    result
}

impl WorkQueue {
    /// A queue whose threads have this name. `bound` says how many there may be.
    pub const fn new(thread_name: &'static str, bound: fn() -> usize) -> Self {
        Self {
            thread_name,
            bound,
            last_number: AtomicU64::new(0),
            state: Mutex::new(QueueState {
                waiting: BTreeMap::new(),
                threads: Vec::new(),
                idle: 0,
                is_watched: false,
            }),
            arrival: Condvar::new(),
        }
    }

    /// A place at the end of the queue.
    pub fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a job at its place.
    ///
    /// # Errors
    /// The system's error, if there is no thread and none can be started. The job is then dropped.
    pub fn submit(
        &'static self,
        number: u64,
        job: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let mut state = self.state();
        state.waiting.insert(number, Box::new(job));
        if let Err(error) = self.start_for_waiting(&mut state)
            // Otherwise the threads that exist will take the job.
            && state.threads.is_empty()
        {
            let job = state.waiting.remove(&number);
            drop(state);
            drop(job);
            return Err(error);
        }
        if state.waiting.len() > state.idle && !state.is_watched {
            let watching = thread::Builder::new().spawn(|| self.watch());
            state.is_watched = watching.is_ok();
        }
        drop(state);
        self.arrival.notify_one();
        Ok(())
    }

    /// Starts a thread, if a job waits and there may be one more.
    fn start_for_waiting(&'static self, state: &mut QueueState) -> io::Result<()> {
        if state.waiting.len() <= state.idle || !state.has_room((self.bound)()) {
            return Ok(());
        }
        let reading = Arc::new(ReadingThread::default());
        let own = Arc::clone(&reading);
        let thread = thread::Builder::new().name(self.thread_name.to_owned());
        thread.spawn(move || self.work(&own))?;
        state.threads.push(reading);
        Ok(())
    }

    /// As long as jobs wait, starts threads for those that hang.
    fn watch(&'static self) {
        loop {
            thread::sleep(HANGING / 2);
            let mut state = self.state();
            if state.waiting.len() <= state.idle {
                state.is_watched = false;
                return;
            }
            // It is tried again.
            let _ = self.start_for_waiting(&mut state);
        }
    }

    /// Removes a job that no thread has taken yet.
    pub fn withdraw(&self, number: u64) -> Option<impl FnOnce() + Send + use<>> {
        self.state().waiting.remove(&number)
    }

    /// The loop of a thread.
    fn work(&self, reading: &Arc<ReadingThread>) {
        READING.set(Some(Arc::clone(reading)));
        let mut state = self.state();
        loop {
            // Those that hung have gone on, so there are too many.
            if !state.has_room((self.bound)() + 1) {
                break;
            }
            if let Some((_, job)) = state.waiting.pop_first() {
                drop(state);
                // A panic must not end the thread: it would not be replaced.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.state();
                continue;
            }
            state.idle += 1;
            let waited = self.arrival.wait_timeout(state, IDLE_TIMEOUT);
            let (woken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() {
                break;
            }
        }
        state.threads.retain(|other| !Arc::ptr_eq(other, reading));
    }

    /// A poisoned lock can be used: only code of this file runs under it, and it does not panic.
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn queue(bound: fn() -> usize) -> &'static WorkQueue {
        Box::leak(Box::new(WorkQueue::new("queue", bound)))
    }

    fn submit(queue: &'static WorkQueue, job: impl FnOnce() + Send + 'static) -> u64 {
        let number = queue.next_number();
        queue.submit(number, job).unwrap();
        number
    }

    /// Blocks a queue's only thread until something is sent. Returns when it is blocked.
    fn block(queue: &'static WorkQueue) -> Sender<()> {
        let (release, released): (_, Receiver<()>) = channel();
        let (begin, begun) = channel();
        submit(queue, move || {
            begin.send(()).unwrap();
            let _ = released.recv();
        });
        begun.recv().unwrap();
        release
    }

    #[test]
    fn jobs_start_in_the_order_of_their_arrival() {
        let queue = queue(|| 1);
        let release = block(queue);
        let (report, reports) = channel();
        for nth in 0..100 {
            let report = report.clone();
            submit(queue, move || report.send(nth).unwrap());
        }
        drop((release, report));
        assert!(reports.iter().eq(0..100));
    }

    #[test]
    fn there_are_never_more_threads_than_the_bound() {
        let queue = queue(|| 3);
        let running = Arc::new(AtomicUsize::new(0));
        let (report, reports) = channel();
        for _ in 0..200 {
            let (running, report) = (Arc::clone(&running), report.clone());
            submit(queue, move || {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                std::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                report.send(now).unwrap();
            });
        }
        drop(report);
        assert!(reports.iter().all(|now| now <= 3));
        assert!(queue.state().threads.len() <= 3);
    }

    #[test]
    fn a_read_that_hangs_holds_back_no_job_and_work_that_takes_long_does() {
        let queue = queue(|| 2);
        let hangs = |reads: bool| {
            let (release, released): (_, Receiver<()>) = channel();
            let wait = move || {
                let _ = released.recv();
            };
            submit(
                queue,
                move || if reads { while_reading(wait) } else { wait() },
            );
            release
        };
        let pending = || {
            let (report, reports) = channel();
            submit(queue, move || report.send(()).unwrap());
            reports
        };
        let working = [hangs(false), hangs(false)];
        let late = pending();
        assert!(late.recv_timeout(HANGING * 2).is_err());
        drop(working);
        late.recv().unwrap();
        let reading: Vec<_> = (0..5).map(|_| hangs(true)).collect();
        pending().recv().unwrap();
        assert_eq!(queue.state().threads.len(), 6);
        // Then there are as many again as there may be.
        drop(reading);
        while queue.state().threads.len() > 2 {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_that_was_withdrawn_is_dropped_and_never_runs() {
        let queue = queue(|| 1);
        let release = block(queue);
        let memory = Arc::new(());
        let held = Arc::clone(&memory);
        let number = submit(queue, move || panic!("withdrawn, but ran with {held:?}"));
        assert!(queue.withdraw(number).is_some());
        assert_eq!(Arc::strong_count(&memory), 1);
        assert!(queue.withdraw(number).is_none());
        drop(release);
    }

    #[test]
    fn a_job_that_runs_cannot_be_withdrawn() {
        let queue = queue(|| 1);
        let release = block(queue);
        assert!(queue.withdraw(0).is_none());
        drop(release);
    }

    #[test]
    fn a_panic_does_not_end_a_thread() {
        let queue = queue(|| 1);
        for _ in 0..3 {
            submit(queue, || panic!("a panic in a job"));
        }
        drop(block(queue));
        assert_eq!(queue.state().threads.len(), 1);
    }
}
