//! Opens a file below a folder, while other processes may replace folders by links.

#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::path::{Component, Path};

use napi_derive::napi;

use super::error::Result;
#[cfg(unix)]
use base::error::Error;
use base::file_action::FileAction;
use workers::guard::guarded;

/// Opens a file for reading, by a path below a folder. No part of the path may be a link or `..`. The result is a
/// descriptor, which the caller closes, or nothing on systems without such calls.
#[napi]
pub fn open_beneath(folder: String, path: String) -> Result<Option<i32>> {
    guarded(|| {
        #[cfg(unix)]
        {
            use std::os::fd::IntoRawFd;
            let opened = opened(Path::new(&folder), Path::new(&path));
            let file = opened.map_err(|source| {
                let action = FileAction::Open;
                Error::Io { action, source }
                    .in_file(Path::new(&folder).join(&path).to_string_lossy())
            })?;
            Ok(Some(file.into_raw_fd()))
        }
        #[cfg(not(unix))]
        {
            _ = (folder, path);
            Ok(None)
        }
    })
}

/// Every folder is opened relative to the one before it, and no step follows a link. So the file was below the folder
/// when it was opened, whatever other processes replaced meanwhile. `openat2` of Linux does the same in one call, but
/// needs this as well: for macOS, for older kernels, and for sandboxes that refuse unknown calls.
#[cfg(unix)]
fn opened(folder: &Path, path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // A folder that may be entered need not be readable.
    #[cfg(target_os = "linux")]
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
    #[cfg(not(target_os = "linux"))]
    const FOLDER: OFlags = OFlags::DIRECTORY;
    const STEP: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);
    // Nothing waits for the other end of a pipe.
    const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    let mut at = openat(CWD, folder, FOLDER.union(STEP), Mode::empty())?;
    for name in names {
        at = openat(&at, name, FOLDER.union(STEP), Mode::empty())?;
    }
    Ok(openat(&at, last, FILE.union(STEP), Mode::empty())?)
}
