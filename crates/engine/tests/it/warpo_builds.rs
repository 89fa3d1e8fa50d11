//! Real builds of the WARPO compiler: every dump in `__test__/samples`, judged by the lists of the collector.
//!
//! Each file `<program>.truth.json` has the objects of the collector's lists, per dump. The live set of a dump
//! is that of its own list if there is one for it alone, or else of the collection that followed it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use engine::heap::Heap;
use engine::instrument::{DATA_END, HEAP_BASE, STACK_POINTER, expose_globals};
use engine::wasm::debug_info::{DebugInfo, Producer};
use engine::wasm::module::Module;
use engine::{Control, Input, Program, Warning};

/// Per dump: the address of each object, with its class id and the size of its block.
type Truth = BTreeMap<u32, BTreeMap<String, (u32, u64)>>;

/// One program of one build.
struct Sample {
    folder: PathBuf,
    program: String,
}

impl Sample {
    fn read(&self, suffix: &str) -> Option<Vec<u8>> {
        let name = format!("{}.{suffix}.gz", self.program);
        let packed = fs::read(self.folder.join(name)).ok()?;
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&packed[..])
            .read_to_end(&mut bytes)
            .unwrap();
        Some(bytes)
    }

    fn dumps(&self) -> Vec<(u32, Vec<u8>)> {
        let dump = |id| Some((id, self.read(&format!("{id}.dump"))?));
        (0..4).filter_map(dump).collect()
    }

    /// What is wrong with the analysis of each dump, with the name of the dump.
    fn problems(&self) -> Vec<String> {
        let wasm = self.read("wasm").unwrap();
        let truth: Option<Truth> = self
            .read("truth.json")
            .map(|json| serde_json::from_slice(&json).unwrap());
        let input = Input {
            name: "module",
            bytes: &wasm[..],
        };
        let program = Program::read(input, &Control::default()).unwrap();
        let analyze = |(id, bytes): (u32, Vec<u8>)| {
            let input = Input {
                name: "dump",
                bytes,
            };
            let problems = match program.analyze(input, &Control::default()) {
                Ok(heap) => self.compare(&heap, id, truth.as_ref()),
                Err(error) => vec![error.to_string()],
            };
            let build = self.folder.file_name().unwrap().to_string_lossy();
            let name = format!("{build}/{}.{id}", self.program);
            problems
                .into_iter()
                .map(move |text| format!("{name}: {text}"))
                .collect::<Vec<_>>()
        };
        self.dumps().into_iter().flat_map(analyze).collect()
    }

    fn compare(&self, heap: &Heap, id: u32, truth: Option<&Truth>) -> Vec<String> {
        let needed = self.needed_warnings();
        let unneeded = heap.warnings.iter();
        let unneeded = unneeded.filter(|warning| !needed.contains(warning.code()));
        let mut problems: Vec<String> = unneeded
            .map(|warning| format!("{}: {warning}", warning.code()))
            .collect();
        let codes: BTreeSet<_> = heap.warnings.iter().map(Warning::code).collect();
        let missing = needed.difference(&codes);
        problems.extend(missing.map(|code| format!("{code} is missing")));
        let Some(truth) = truth else {
            if heap.live_heap_objects().next().is_none() {
                problems.push("nothing is live".to_owned());
            }
            return problems;
        };
        let build = self.folder.file_name().unwrap().to_string_lossy();
        // Without the export, the program ends its own collections, and the lists of each dump are its truth.
        let collected = if build.contains("no-export-runtime") {
            id
        } else {
            id | 1
        };
        let kept = truth[&collected].iter();
        let kept: BTreeSet<(u32, u64)> = kept
            .map(|(address, &(_, size))| (address.parse().unwrap(), size))
            .collect();
        let found: BTreeSet<(u32, u64)> = heap
            .live_heap_objects()
            .map(|object| (heap.memory_address(object).0, heap.shallow_size(object)))
            .collect();
        let (missing, more) = (
            kept.difference(&found).count(),
            found.difference(&kept).count(),
        );
        if (missing, more) != (0, 0) {
            problems.push(format!(
                "{missing} live objects are missing, {more} are not live"
            ));
        }
        problems
    }

    /// The codes of the warnings that the build must have, because it lacks what the analysis would need.
    fn needed_warnings(&self) -> BTreeSet<&'static str> {
        let build = self.folder.to_string_lossy();
        if build.ends_with("no-stack-pointer-O3") {
            // Its only function, `main`, has the allocator and the collector inlined, and collects only if the heap
            // has grown. So no function can be executed as the collector. The constant `g` has no global any more: only
            // the code has the address of its array.
            return ["WARN_ROOTS_INCOMPLETE", "WARN_GLOBAL_UNKNOWN"].into();
        }
        if build.ends_with("stripped") {
            return ["WARN_NAMES_MISSING"].into();
        }
        BTreeSet::new()
    }
}

fn samples(root: &Path) -> Vec<Sample> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(samples(&path));
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && let Some(program) = name.strip_suffix(".wasm.gz")
        {
            found.push(Sample {
                folder: root.to_owned(),
                program: program.to_owned(),
            });
        }
    }
    found
}

#[test]
fn the_live_set_of_every_real_build_is_what_the_collector_keeps_and_nothing_is_in_doubt() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/samples");
    let samples = samples(&root);
    assert!(samples.len() >= 18, "{} samples", samples.len());
    let problems: Vec<String> = samples.iter().flat_map(Sample::problems).collect();
    assert_eq!(problems, [""; 0], "{}", problems.join("\n"));
}

/// A build without a shadow stack, and a dump of it, whose header has no boundaries.
fn without_shadow_stack() -> (Vec<u8>, Vec<u8>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../__test__/samples/warpo-february/refused-no-stack-pointer-O1");
    let sample = Sample {
        folder,
        program: "a2".to_owned(),
    };
    (sample.read("wasm").unwrap(), sample.read("0.dump").unwrap())
}

/// The position in the dump of the global that holds the address of the allocator's root.
const ROOT_IN_DUMP: usize = 24 + 4 * 9;

#[test]
fn without_boundaries_in_the_header_a_dump_with_a_wrong_root_of_the_allocator_is_refused() {
    let (wasm, dump) = without_shadow_stack();
    let input = Input {
        name: "module",
        bytes: &wasm[..],
    };
    let program = Program::read(input, &Control::default()).unwrap();
    let root = dump[ROOT_IN_DUMP..].first_chunk::<4>().unwrap();
    let root = u32::from_le_bytes(*root);
    // Inside static data, unaligned, one step too far, outside the memory, and behind all memory.
    for wrong in [16, root + 4, root + 16, 1 << 20, u32::MAX - 15] {
        let mut bytes = dump.clone();
        bytes[ROOT_IN_DUMP..ROOT_IN_DUMP + 4].copy_from_slice(&u32::to_le_bytes(wrong));
        let input = Input {
            name: "dump",
            bytes,
        };
        let error = program.analyze(input, &Control::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_HEAP_CORRUPT", "{wrong:#x}: {error}");
    }
}

#[test]
fn a_module_without_a_shadow_stack_can_be_exposed_and_exposing_it_again_changes_nothing() {
    let (wasm, _) = without_shadow_stack();
    let exposed = expose_globals(&wasm).unwrap();
    let module = Module::parse(&exposed, &Control::default()).unwrap();
    let root = module.globals.named("~lib/rt/tlsf/ROOT").unwrap().index;
    for name in [DATA_END, HEAP_BASE, STACK_POINTER] {
        let exported = module.globals.exported(name).unwrap();
        assert_eq!(exported.index, root, "{name}");
    }
    assert!(expose_globals(&exposed).unwrap() == exposed);
}

#[test]
fn the_debug_information_of_real_builds_says_that_warpo_wrote_it() {
    let (wasm, _) = without_shadow_stack();
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    let debug_info = DebugInfo::read(&module, &Control::default()).unwrap();
    assert_eq!(debug_info.unwrap().producer, Producer::Warpo);
}
