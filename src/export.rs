//! Exports as streams: a thread writes pieces, JavaScript reads them.
//!
//! The thread pauses while a few pieces wait to be read, so an export needs only the memory of these. It is
//! not one of the threads that take work from the queue, because a thread that waits for a slow reader would
//! block the queue. Waiting for a piece is work of the queue. JavaScript copies the piece, into a buffer of its
//! own, and the memory of the piece is used again: fresh memory would cost more than the copy.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::open_heap::{OpenHeap, parsed};
use super::work_control::WorkControl;
use base::columns;
use base::control::Control;
use base::error::Error;
use engine::outputs::exports::{self, Export, Unreadable, unreadable_dump};
use workers::guard::guarded;

/// The largest number of pieces that wait to be read while the next one is written.
const WAITING: usize = 4;

/// Bytes of a piece, at most.
const PIECE: usize = 1 << 19;

/// An export that is read piece by piece.
#[napi]
pub struct ExportHandle {
    stream: Arc<Stream>,
}

/// The arguments of the export, until the first read starts it.
pub(super) struct ExportRequest {
    pub(super) heap: Arc<OpenHeap>,
    pub(super) before: Option<Arc<OpenHeap>>,
    pub(super) export: Export,
}

struct Stream {
    state: Mutex<ExportState>,
}

enum ExportState {
    Waiting(Box<ExportRequest>),
    Started(Started),
    /// The export was read to its end, or closed.
    Ended,
}

/// An export whose thread runs.
struct Started {
    /// The pieces, and at the end the result.
    pieces: Receiver<base::Result<Option<Vec<u8>>>>,
    /// The piece that was waited for.
    piece: Vec<u8>,
    /// Takes pieces that were read.
    emptied: Sender<Vec<u8>>,
}

/// The table `dump` of a dump that could not be read, described as JSON.
#[napi]
pub fn unreadable_dump_table(unreadable: String) -> Result<Buffer> {
    guarded(|| {
        let unreadable: Unreadable = parsed("the dump", &unreadable)?;
        Ok(unreadable_dump(&unreadable)?.into())
    })
}

impl ExportHandle {
    pub(super) fn new(request: ExportRequest) -> Self {
        Self {
            stream: Arc::new(Stream {
                state: Mutex::new(ExportState::Waiting(Box::new(request))),
            }),
        }
    }
}

#[napi]
impl ExportHandle {
    /// Waits for the next piece; its length, 0 at the end. Each call takes the same control, and waits for the
    /// last call to settle. Cancelling the control stops the export.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn wait<'env>(&self, env: &'env Env, control: &WorkControl) -> Result<Object<'env>> {
        guarded(|| {
            let stream = Arc::clone(&self.stream);
            control.start(env, [], move |[], control| {
                let length = stream.wait(control);
                // `close` may have found the lock taken.
                if control.check().is_err() {
                    stream.close();
                }
                length.map(|length| length as u32)
            })
        })
    }

    /// Copies the piece that was waited for to the start of a buffer, which must have its length.
    #[napi]
    pub fn take(&self, mut into: BufferSlice<'_>) -> Result<()> {
        guarded(|| Ok(self.stream.take(&mut into)?))
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
    fn state(&self) -> MutexGuard<'_, ExportState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the thread end. If a read is running, the read does this.
    fn close(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            *state = ExportState::Ended;
        }
    }

    fn wait(&self, control: &Control) -> base::Result<usize> {
        // A stream that was closed is at its end, but its reader must not take that for the end of the export.
        control.check()?;
        let mut state = self.state();
        if let ExportState::Waiting(_) = &*state
            && let ExportState::Waiting(request) =
                std::mem::replace(&mut *state, ExportState::Ended)
        {
            *state = ExportState::Started(request.start(control.clone())?);
        }
        let ExportState::Started(started) = &mut *state else {
            return Ok(0);
        };
        match started.pieces.recv().unwrap_or(Err(Error::Aborted)) {
            Ok(Some(piece)) => {
                started.piece = piece;
                Ok(started.piece.len())
            }
            end => {
                *state = ExportState::Ended;
                end.map(|_| 0)
            }
        }
    }

    fn take(&self, into: &mut [u8]) -> base::Result<()> {
        let ExportState::Started(started) = &mut *self.state() else {
            return Err(Error::Aborted);
        };
        let piece = std::mem::take(&mut started.piece);
        let Some(into) = into.get_mut(..piece.len()) else {
            return Err(Error::Internal {
                message: format!("a piece of {} bytes for a shorter buffer", piece.len()).into(),
            });
        };
        into.copy_from_slice(&piece);
        // The thread may have ended.
        _ = started.emptied.send(piece);
        Ok(())
    }
}

impl ExportRequest {
    /// Starts the thread that writes.
    fn start(self, control: Control) -> base::Result<Started> {
        columns::check_headroom()?;
        let (sender, pieces) = sync_channel(WAITING);
        let (emptied, empty) = channel();
        let thread = std::thread::Builder::new().name("heap-export".to_owned());
        let work = move || {
            let mut pieces = Pieces { sender, empty };
            let written = guarded(|| self.write(&mut pieces, &control));
            // The reader may be gone.
            _ = pieces.sender.send(written.map(|()| None));
        };
        match thread.spawn(work) {
            Ok(_) => Ok(Started {
                pieces,
                piece: Vec::new(),
                emptied,
            }),
            Err(source) => Err(Error::Threads { source }),
        }
    }

    fn write(&self, out: &mut dyn Write, control: &Control) -> base::Result<()> {
        let before = self.before.as_ref().map(|before| before.loaded());
        exports::export(self.heap.loaded(), &self.export, before, out, control)
    }
}

/// A writer that sends the bytes as pieces.
struct Pieces {
    sender: SyncSender<base::Result<Option<Vec<u8>>>>,
    /// Pieces that were read.
    empty: Receiver<Vec<u8>>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PIECE)];
        let mut piece = self.empty.try_recv().unwrap_or_default();
        piece.clear();
        piece.extend_from_slice(bytes);
        // The reader may be gone: it does not see this error.
        let sent = self.sender.send(Ok(Some(piece)));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
