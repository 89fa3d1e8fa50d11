//! Files that were compressed by gzip or zstd.

use std::io::Write as _;

use engine::dumps::Compression;
use engine::{Control, Error, Reading};

use crate::containers::{file, open_as, raw, raw_reading, refused};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_what_they_contain() {
    let wasm = file("prog.debug.wasm");
    let reference = file("ref.debug.dump.gz");
    let core = file("as.debug.core");
    // Two members: gzip files may be joined.
    let (start, end) = reference.split_at(70_000);
    let members = [gzip(start), gzip(end)].concat();
    for compressed in [file("ref.debug.dump.zst"), members, gzip(&core)] {
        let (_, dump) = open_as(&compressed, &wasm, &Reading::default()).unwrap();
        assert!(dump == reference);
    }
    let (memory, values) = raw(&reference, &wasm);
    let (_, dump) = open_as(&gzip(&memory), &wasm, &raw_reading(&values)).unwrap();
    assert!(dump == reference);
}

#[test]
fn damaged_compressed_files_are_errors() {
    let wasm = file("prog.debug.wasm");
    for whole in [gzip(&file("ref.debug.dump.gz")), file("ref.debug.dump.zst")] {
        for end in (5..whole.len()).step_by(487).chain([whole.len() - 1]) {
            let error = refused(&whole[..end], &wasm, &Reading::default());
            assert_eq!(error.code(), "ERR_COMPRESSED", "{end}: {error}");
        }
        let mut changed = whole;
        let middle = changed.len() / 2;
        changed[middle] ^= 0x55;
        let error = refused(&changed, &wasm, &Reading::default());
        assert_eq!(error.code(), "ERR_COMPRESSED", "{error}");
    }
}

#[test]
fn what_a_compressed_file_contains_is_bounded() {
    // A zstd file of many blocks that repeat one byte: 128 KiB for each 4 bytes.
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for _ in 0..4096 {
        bomb.extend([0x02, 0x00, 0x10, 0x00]);
    }
    let error = Compression::Zstandard
        .decompress(&bomb, u64::MAX, &Control::default())
        .unwrap_err();
    assert_eq!(error.code(), "ERR_OUT_OF_PROPORTION", "{error}");
    let zeros = gzip(&vec![0; 1 << 20]);
    let decompressed = Compression::Gzip.decompress(&zeros, 1 << 20, &Control::default());
    assert_eq!(decompressed.unwrap().len(), 1 << 20);
    let error = Compression::Gzip
        .decompress(&zeros, (1 << 20) - 1, &Control::default())
        .unwrap_err();
    assert_eq!(error.code(), "ERR_OUT_OF_PROPORTION");
    let cancelled = Control::default();
    cancelled.cancel();
    let error = Compression::Gzip.decompress(&zeros, 1 << 20, &cancelled);
    assert!(matches!(error, Err(Error::Aborted)));
}

#[test]
fn a_zstd_window_beyond_the_bound_is_refused() {
    // An empty last block, with windows of 128 MiB, 144 MiB and the largest that there is.
    let frame = |window: u8| [0x28, 0xb5, 0x2f, 0xfd, 0x00, window, 0x01, 0x00, 0x00];
    let read = |window| {
        let control = Control::default();
        Compression::Zstandard.decompress(&frame(window), u64::MAX, &control)
    };
    assert_eq!(read(17 << 3).unwrap(), [0; 0]);
    for window in [(17 << 3) + 1, 0xff] {
        assert_eq!(read(window).unwrap_err().code(), "ERR_COMPRESSED");
    }
}
