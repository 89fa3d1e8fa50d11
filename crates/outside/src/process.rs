//! A running process of Linux: `/proc/<pid>`.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use base::error::Result;

use crate::OutsideError;
use crate::mapping::{Backing, Mapping, parse_mappings};
use crate::memories::Reservations;
use crate::refusal::{ProcessFacts, why_refused};
use crate::space::AddressSpace;

const SYSTEM_PAGE: u64 = 4096;
/// In an entry of `pagemap`: the page is in memory, or was swapped.
const USED: u64 = 0b11 << 62;
/// How many entries of `pagemap` are read at once.
const ENTRIES: usize = 4096;

/// A process that can be read. It stays the same one, also if it ends and its id is used again.
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it began, in ticks since the system did.
    pub since: u64,
    /// The name of its program.
    pub program: String,
    folder: PathBuf,
    memory: File,
    pages: Option<File>,
    mappings: Vec<Mapping>,
}

impl Process {
    /// Opens a process.
    ///
    /// # Errors
    /// [`OutsideError::Process`], [`OutsideError::Refused`].
    pub fn open(pid: u32) -> Result<Self> {
        Self::open_below(Path::new("/proc"), pid)
    }

    /// As [`open`](Self::open), in another folder than `/proc`.
    pub fn open_below(proc: &Path, pid: u32) -> Result<Self> {
        let folder = proc.join(pid.to_string());
        let failed = |error: &io::Error| explain(proc, pid, error);
        let since = start_of(&folder).map_err(|error| failed(&error))?;
        let memory = File::open(folder.join("mem")).map_err(|error| failed(&error))?;
        let mut process = Self {
            pid,
            since,
            program: program_of(&folder),
            memory,
            pages: File::open(folder.join("pagemap")).ok(),
            folder,
            mappings: Vec::new(),
        };
        process.refresh().map_err(|error| failed(&error))?;
        // Between two looks, the id may have become that of another process.
        if start_of(&process.folder).ok() != Some(since) {
            let why = "it ended while it was read".to_owned();
            return Err(OutsideError::Process { pid, why }.into());
        }
        if process.mappings.is_empty() {
            let why = "it has no memory: it has ended, or is a part of the system".to_owned();
            return Err(OutsideError::Process { pid, why }.into());
        }
        Ok(process)
    }

    /// Reads again what is mapped.
    pub fn refresh(&mut self) -> io::Result<()> {
        self.mappings = parse_mappings(&fs::read_to_string(self.folder.join("maps"))?);
        Ok(())
    }

    /// The threads.
    pub fn threads(&self) -> io::Result<Vec<i32>> {
        let entries = fs::read_dir(self.folder.join("task"))?;
        Ok(entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect())
    }

    /// Whether it is the child of this process, which would hear of its stops as if it had ended.
    pub fn is_own_child(&self) -> bool {
        field_of(&self.folder, "PPid") == Some(u64::from(std::process::id()))
    }

    /// The error for a failure.
    pub fn failure(&self, error: &io::Error) -> base::Error {
        let proc = self.folder.parent().unwrap_or(Path::new("/proc"));
        explain(proc, self.pid, error)
    }

    fn used_pages(&self, pages: &File, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let mut entries = vec![0; 8 * ENTRIES];
        let mut page = range.start / SYSTEM_PAGE;
        let end = range.end / SYSTEM_PAGE;
        while page < end {
            let count = (end - page).min(ENTRIES as u64) as usize;
            let bytes = &mut entries[..8 * count];
            pages.read_exact_at(bytes, 8 * page).ok()?;
            for (nth, entry) in bytes.as_chunks::<8>().0.iter().enumerate() {
                if u64::from_le_bytes(*entry) & USED == 0 {
                    continue;
                }
                let start = (page + nth as u64) * SYSTEM_PAGE;
                match found.last_mut() {
                    Some(last) if last.end == start => last.end += SYSTEM_PAGE,
                    _ => found.push(start..start + SYSTEM_PAGE),
                }
            }
            page += count as u64;
        }
        Some(found)
    }
}

impl AddressSpace for Process {
    fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    fn reservations(&self) -> Reservations {
        Reservations::Mapped
    }

    fn read(&self, address: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            match self
                .memory
                .read_at(&mut into[done..], address + done as u64)
            {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        done
    }

    fn touched(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let Some(pages) = &self.pages else {
            return vec![range.clone()];
        };
        self.used_pages(pages, range)
            .unwrap_or_else(|| vec![range.clone()])
    }
}

impl Process {
    /// The parts of a memory that may have anything but zeros. What a file has that is mapped there counts.
    pub fn filled(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut found = Vec::new();
        for mapping in &self.mappings {
            let inside = mapping.range.start.max(range.start)..mapping.range.end.min(range.end);
            if inside.start >= inside.end {
                continue;
            }
            match mapping.backing {
                Backing::Zeros => found.extend(self.touched(&inside)),
                _ => found.push(inside),
            }
        }
        found
    }
}

/// Which processes there are.
pub fn all_processes(proc: &Path) -> io::Result<Vec<u32>> {
    let mut found: Vec<u32> = fs::read_dir(proc)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    found.sort_unstable();
    Ok(found)
}

/// The user as whom this process runs.
pub fn own_user() -> u32 {
    fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid())
}

/// The user to whom a process belongs.
pub fn owner_of(proc: &Path, pid: u32) -> Option<u32> {
    Some(fs::metadata(proc.join(pid.to_string())).ok()?.uid())
}

fn explain(proc: &Path, pid: u32, error: &io::Error) -> base::Error {
    let folder = proc.join(pid.to_string());
    let is_gone = matches!(error.raw_os_error(), Some(libc::ESRCH | libc::ENOENT));
    if is_gone || !folder.exists() {
        let why = "there is no such process, or it has ended".to_owned();
        return OutsideError::Process { pid, why }.into();
    }
    let facts = ProcessFacts {
        owner: owner_of(proc, pid),
        user: own_user(),
        state: state_of(&folder),
        tracer: field_of(&folder, "TracerPid").unwrap_or(0),
        scope: fs::read_to_string(proc.join("sys/kernel/yama/ptrace_scope"))
            .ok()
            .and_then(|text| text.trim().parse().ok()),
        capabilities: effective(&proc.join("self")),
        error: error.to_string(),
        is_denied: matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)),
    };
    why_refused(pid, &facts).into()
}

fn effective(folder: &Path) -> u64 {
    let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
        .unwrap_or(0)
}

fn field_of(folder: &Path, name: &str) -> Option<u64> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line?.split_ascii_whitespace().next()?.parse().ok()
}

fn state_of(folder: &Path) -> Option<char> {
    after_name(&fs::read_to_string(folder.join("stat")).ok()?)?
        .chars()
        .next()
}

/// When a process began, in ticks.
fn start_of(folder: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(folder.join("stat"))?;
    let fields = after_name(&text).and_then(|rest| rest.split_ascii_whitespace().nth(19));
    fields
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The fields after the name. A name may have spaces and parentheses.
fn after_name(stat: &str) -> Option<&str> {
    Some(stat.rsplit_once(')')?.1.trim_start())
}

fn program_of(folder: &Path) -> String {
    let path = fs::read_link(folder.join("exe")).ok();
    let name = path.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let name = name.unwrap_or_else(|| fs::read_to_string(folder.join("comm")).unwrap_or_default());
    name.trim().trim_end_matches(" (deleted)").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc` with one process, which is removed at the end.
    struct FakeProc(PathBuf);

    impl FakeProc {
        fn new(name: &str) -> Self {
            let name = format!("proc-{name}-{}", std::process::id());
            let fake = Self(std::env::temp_dir().join(name));
            fake.put(
                "7/stat",
                "7 (a) name (x) S 1 7 7 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 9 0 4321 1 1",
            );
            fake.put(
                "7/status",
                "Name:\ta\nState:\tS (sleeping)\nPPid:\t1\nTracerPid:\t0\n",
            );
            fake.put("7/comm", "name\n");
            fake.put("7/maps", "1000-3000 rw-p 0 0:0 0\n");
            fake.put("7/task/7/comm", "name\n");
            fake.put("7/task/9/comm", "name\n");
            fake.put("7/mem", &"m".repeat(0x3000));
            fake
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            _ = path.parent().map(fs::create_dir_all);
            _ = fs::write(path, text);
        }

        fn open(&self) -> Result<Process> {
            Process::open_below(&self.0, 7)
        }

        fn error(&self) -> String {
            self.open()
                .map_or_else(|error| error.to_string(), |_| String::new())
        }
    }

    impl Drop for FakeProc {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_name_may_have_spaces_and_parentheses() {
        let fake = FakeProc::new("names");
        let process = fake.open().ok();
        let process = process.as_ref();
        assert_eq!(process.map(|one| one.since), Some(4321));
        assert_eq!(process.map(|one| one.program.as_str()), Some("name"));
        let threads = process.and_then(|one| one.threads().ok()).map(|mut all| {
            all.sort_unstable();
            all
        });
        assert_eq!(threads, Some(vec![7, 9]));
        assert_eq!(process.map(Process::is_own_child), Some(false));
    }

    /// The only range; nothing if there is another number of them.
    fn only(ranges: Option<Vec<Range<u64>>>) -> Range<u64> {
        match ranges.as_deref() {
            Some([range]) => range.clone(),
            _ => 0..0,
        }
    }

    #[test]
    fn only_pages_that_were_used_are_read() {
        let fake = FakeProc::new("pages");
        let entries: Vec<u8> = [0, USED & !(1 << 63), 0, 1]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        fake.put("7/pagemap", "");
        _ = fs::write(fake.0.join("7/pagemap"), entries);
        let process = fake.open().ok();
        let touched = process.as_ref().map(|one| one.touched(&(0x1000..0x3000)));
        assert_eq!(only(touched), 0x1000..0x2000);
        // Where the system does not say, everything may have been used.
        let touched = process.map(|one| one.touched(&(0x1000..0x9000)));
        assert_eq!(only(touched), 0x1000..0x9000);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let fake = FakeProc::new("refusals");
        fake.put("7/maps", "");
        assert!(fake.error().contains("is a part of the system"));
        fake.put("7/stat", "7 (a) S");
        assert!(fake.error().contains("cannot read process 7"));
        _ = fs::remove_file(fake.0.join("7/mem"));
        fake.put(
            "7/stat",
            "7 (a) Z 1 7 7 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 9 0 4321 1 1",
        );
        _ = fs::remove_dir_all(fake.0.join("7"));
        assert!(fake.error().contains("no such process"));
    }
}
