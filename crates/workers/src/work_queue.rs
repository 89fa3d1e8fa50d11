//! Queues of jobs, each with its threads.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread waits for work before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

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
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
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
                threads: 0,
                idle: 0,
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
        if state.waiting.len() > state.idle && state.threads < (self.bound)() {
            let thread = std::thread::Builder::new().name(self.thread_name.to_owned());
            match thread.spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    let job = state.waiting.remove(&number);
                    drop(state);
                    drop(job);
                    return Err(error);
                }
                // The threads that exist will take the job.
                Err(_) => {}
            }
        }
        drop(state);
        self.arrival.notify_one();
        Ok(())
    }

    /// Removes a job that no thread has taken yet.
    pub fn withdraw(&self, number: u64) -> Option<impl FnOnce() + Send + use<>> {
        self.state().waiting.remove(&number)
    }

    /// The loop of a thread.
    fn work(&self) {
        let mut state = self.state();
        loop {
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
                state.threads -= 1;
                return;
            }
        }
    }

    /// A poisoned lock can be used: only code of this file runs under it, and it does not panic.
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use std::sync::Arc;
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
        assert!(queue.state().threads <= 3);
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
        assert_eq!(queue.state().threads, 1);
    }
}
