//! Queues with threads of their own.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread waits for work before it ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

/// Work in the order of its arrival, for a bounded number of threads, which come and go with it.
pub(super) struct WorkQueue {
    thread_name: &'static str,
    /// The most threads.
    bound: fn() -> usize,
    last_number: AtomicU64,
    state: Mutex<State>,
    arrival: Condvar,
}

struct State {
    waiting: BTreeMap<u64, Job>,
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
}

impl WorkQueue {
    pub(super) const fn new(thread_name: &'static str, bound: fn() -> usize) -> Self {
        Self {
            thread_name,
            bound,
            last_number: AtomicU64::new(0),
            state: Mutex::new(State {
                waiting: BTreeMap::new(),
                threads: 0,
                idle: 0,
            }),
            arrival: Condvar::new(),
        }
    }

    /// A place behind all others.
    pub(super) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a job at its place.
    ///
    /// # Errors
    /// That of the system, if there is no thread and none can be started. The job is gone then.
    pub(super) fn submit(
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
                // The others will come to it.
                Err(_) => {}
            }
        }
        drop(state);
        self.arrival.notify_one();
        Ok(())
    }

    /// Takes a job out that no thread has taken yet.
    pub(super) fn withdraw(&self, number: u64) -> Option<impl FnOnce() + Send + use<>> {
        self.state().waiting.remove(&number)
    }

    /// What a thread does.
    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some((_, job)) = state.waiting.pop_first() {
                drop(state);
                // A thread less would be missing for ever.
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

    /// No code of others runs under the lock, so there is no panic that could leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
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

    /// Keeps a queue's only thread busy until something is sent. Returns when it has begun.
    fn block(queue: &'static WorkQueue) -> Sender<()> {
        let (go_on, told): (_, Receiver<()>) = channel();
        let (begin, begun) = channel();
        submit(queue, move || {
            begin.send(()).unwrap();
            let _ = told.recv();
        });
        begun.recv().unwrap();
        go_on
    }

    #[test]
    fn jobs_start_in_the_order_of_their_arrival() {
        let queue = queue(|| 1);
        let go_on = block(queue);
        let (report, reports) = channel();
        for nth in 0..100 {
            let report = report.clone();
            submit(queue, move || report.send(nth).unwrap());
        }
        drop((go_on, report));
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
        let go_on = block(queue);
        let memory = Arc::new(());
        let held = Arc::clone(&memory);
        let number = submit(queue, move || panic!("withdrawn, but ran with {held:?}"));
        assert!(queue.withdraw(number).is_some());
        assert_eq!(Arc::strong_count(&memory), 1);
        assert!(queue.withdraw(number).is_none());
        drop(go_on);
    }

    #[test]
    fn a_job_that_runs_cannot_be_withdrawn() {
        let queue = queue(|| 1);
        let go_on = block(queue);
        assert!(queue.withdraw(0).is_none());
        drop(go_on);
    }

    #[test]
    fn a_panic_costs_no_thread() {
        let queue = queue(|| 1);
        for _ in 0..3 {
            submit(queue, || panic!("a job's own mistake"));
        }
        drop(block(queue));
        assert_eq!(queue.state().threads, 1);
    }
}
