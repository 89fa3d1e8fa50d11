//! Exports as streams: a thread writes pieces, JavaScript reads them.
//!
//! The thread pauses while a few pieces wait to be read, so an export needs only the memory of these. It is
//! not one of the threads that take work from the queue, because a thread that waits for a slow reader would
//! block the queue. Reading a piece is work of the queue.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::analysis::WorkControl;
use super::error::Result;
use super::guard::guarded;
use super::heap::OpenHeap;
use super::tasks::Outcome;
use crate::columns;
use crate::control::Control;
use crate::error::Error;
use crate::exports::Export;

/// The largest number of pieces that wait to be read while the next one is written.
const WAITING: usize = 2;

/// An export that is read piece by piece.
#[napi]
pub struct ExportHandle {
    stream: Arc<Stream>,
}

/// The arguments of the export, until the first read starts it.
pub(super) struct Request {
    pub(super) heap: Arc<OpenHeap>,
    pub(super) before: Option<Arc<OpenHeap>>,
    pub(super) export: Export,
}

struct Stream {
    state: Mutex<State>,
}

enum State {
    Waiting(Box<Request>),
    /// The pieces, and at the end the result.
    Started(Receiver<crate::Result<Option<Vec<u8>>>>),
    /// The export was read to its end, or closed.
    Ended,
}

impl ExportHandle {
    pub(super) fn new(request: Request) -> Self {
        Self {
            stream: Arc::new(Stream {
                state: Mutex::new(State::Waiting(Box::new(request))),
            }),
        }
    }
}

#[napi]
impl ExportHandle {
    /// The next piece; null at the end. Each call takes the same control, and waits for the last call to settle.
    /// Cancelling the control stops the export.
    #[napi(ts_return_type = "Promise<Buffer | null>")]
    pub fn read<'env>(&self, env: &'env Env, control: &WorkControl) -> Result<Object<'env>> {
        guarded(|| {
            let stream = Arc::clone(&self.stream);
            control.start(env, [], move |[], control| {
                let piece = stream.next(control);
                // `close` may have found the lock taken.
                if control.check().is_err() {
                    stream.close();
                }
                piece.map(Outcome::Piece)
            })
        })
    }

    /// Releases the heaps as soon as the thread has stopped. The control must have been cancelled.
    #[napi]
    pub fn close(&self) -> Result<()> {
        guarded(|| {
            self.stream.close();
            Ok(())
        })
    }
}

impl Stream {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread end. If a read is running, the read does this.
    fn close(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            *state = State::Ended;
        }
    }

    fn next(&self, control: &Control) -> crate::Result<Option<Vec<u8>>> {
        // A stream that was closed is at its end, but its reader must not take that for the end of the export.
        control.check()?;
        let mut state = self.state();
        if let State::Waiting(_) = &*state
            && let State::Waiting(request) = std::mem::replace(&mut *state, State::Ended)
        {
            *state = State::Started(request.start(control.clone())?);
        }
        let State::Started(pieces) = &*state else {
            return Ok(None);
        };
        let piece = pieces.recv().unwrap_or(Err(Error::Aborted));
        if !matches!(piece, Ok(Some(_))) {
            *state = State::Ended;
        }
        piece
    }
}

impl Request {
    /// Starts the thread that writes.
    fn start(self, control: Control) -> crate::Result<Receiver<crate::Result<Option<Vec<u8>>>>> {
        columns::check_headroom()?;
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("heap-export".to_owned());
        let work = move || {
            let mut pieces = Pieces(sender);
            let written = guarded(|| self.write(&mut pieces, &control));
            // The reader may be gone.
            _ = pieces.0.send(written.map(|()| None));
        };
        match thread.spawn(work) {
            Ok(_) => Ok(receiver),
            Err(source) => Err(Error::Threads { source }),
        }
    }

    fn write(&self, out: &mut dyn Write, control: &Control) -> crate::Result<()> {
        let before = self.before.as_ref().map(|before| before.loaded());
        self.heap
            .loaded()
            .export(&self.export, before, out, control)
    }
}

/// A writer that sends the bytes as pieces.
struct Pieces(SyncSender<crate::Result<Option<Vec<u8>>>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.send(Ok(Some(bytes.to_vec())));
        // The reader is gone, and does not see this error.
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
