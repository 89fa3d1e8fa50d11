//! What a file is, judged by its first bytes. A wrong input is then named in the error.

use std::fmt;

/// The bytes that every heap dump starts with.
pub const DUMP_MAGIC: [u8; 4] = *b"ASHD";
/// The bytes that every WebAssembly module and every component starts with.
pub const MODULE_MAGIC: [u8; 4] = *b"\0asm";

/// A kind of file that is passed by mistake instead of a dump or a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A heap dump (ASHD).
    HeapDump,
    /// A WebAssembly core module.
    Module,
    /// A coredump of WebAssembly: a module whose first section is named `core`.
    Coredump,
    /// WebAssembly text (`.wat`).
    ModuleText,
    /// A file compressed by gzip.
    Gzip,
    /// A file compressed by zstd.
    Zstandard,
    /// A ZIP archive.
    Zip,
    /// A web page.
    Html,
    /// JSON text, such as a heap snapshot of V8.
    Json,
    /// A heap dump of a JVM (HPROF).
    Hprof,
}

impl FileKind {
    /// Recognises a file by its first four bytes: only these are read of a pipe before its kind is known. A coredump is
    /// told from a module by [`COREDUMP_BYTES`] bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let start = *bytes.first_chunk::<4>()?;
        Some(match &start.map(|byte| byte.to_ascii_lowercase()) {
            _ if start == DUMP_MAGIC => Self::HeapDump,
            _ if start == *b"JAVA" => Self::Hprof,
            _ if is_coredump(bytes) => Self::Coredump,
            _ if start == MODULE_MAGIC => Self::Module,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Self::Zstandard,
            [b'p', b'k', 3, 4] => Self::Zip,
            b"<!do" | b"<htm" => Self::Html,
            b"(mod" | [b';', b';', ..] | [b'(', b';', ..] => Self::ModuleText,
            [b'{', b'"' | b' ' | b'\n' | b'\r', ..] | [0xef, 0xbb, 0xbf, b'{'] => Self::Json,
            _ => return None,
        })
    }
}

/// The bytes before a text in UTF-8 that some programs write: a byte order mark.
pub const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// The most bytes that come before the end of the name `core`: the header, the section's id, its size and the length
/// of its name.
pub const COREDUMP_BYTES: usize = 8 + 1 + 5 + 1 + 4;

/// Whether a module begins with the custom section `core`.
fn is_coredump(bytes: &[u8]) -> bool {
    const HEADER: [u8; 9] = *b"\0asm\x01\0\0\0\0";
    let Some(after) = bytes.strip_prefix(&HEADER) else {
        return false;
    };
    // The size of the section has one to five bytes, of which only the last is below 128.
    let Some(size) = after.iter().take(5).position(|&byte| byte < 0x80) else {
        return false;
    };
    after[size + 1..].starts_with(b"\x04core")
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeapDump => "a heap dump",
            Self::Module => "a WebAssembly module",
            Self::Coredump => "a coredump of WebAssembly",
            Self::ModuleText => "WebAssembly text",
            Self::Gzip => "a gzip file",
            Self::Zstandard => "a zstd file",
            Self::Zip => "a ZIP archive",
            Self::Html => "an HTML page",
            Self::Json => "JSON text",
            Self::Hprof => "a heap dump of a JVM",
        })
    }
}

/// The start of a file of a wrong kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStart {
    /// What the file is; `None` if its kind is not known.
    pub kind: Option<FileKind>,
    bytes: [u8; 4],
    length: u8,
}

impl FileStart {
    /// The start of a file with these contents.
    pub fn of(file: &[u8]) -> Self {
        let mut bytes = [0; 4];
        let length = file.len().min(bytes.len());
        bytes[..length].copy_from_slice(&file[..length]);
        Self {
            kind: FileKind::of(file),
            bytes,
            length: length as u8,
        }
    }

    /// The first bytes of the file, four at most.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Why a file is not of the kind that was expected, and what to pass instead.
pub fn wrong_kind(found: &FileStart, expected: &str, magic: &str, instead: &str) -> String {
    let Some(kind) = found.kind else {
        if found.length == 0 {
            return format!(
                "the file is empty, so it is not {expected}: its writer was stopped, or the disk is full; {instead}"
            );
        }
        return format!(
            "not {expected}: expected {magic:?} at offset 0, found {:?}; {instead}",
            String::from_utf8_lossy(found.bytes())
        );
    };
    let instead = match kind {
        FileKind::HeapDump | FileKind::Module | FileKind::Coredump => {
            "were the dump and the module swapped?"
        }
        FileKind::Gzip => "decompress it first, with gunzip",
        FileKind::Zstandard => "decompress it first, with unzstd",
        FileKind::Zip => "decompress it first, with unzip",
        FileKind::Html => "if it was downloaded, the server sent a page instead of the file",
        FileKind::ModuleText if expected.contains("module") => {
            "pass the binary (.wasm) instead of the text (.wat)"
        }
        FileKind::ModuleText | FileKind::Json | FileKind::Hprof => instead,
    };
    format!("this is {kind}, not {expected}: {instead}")
}
