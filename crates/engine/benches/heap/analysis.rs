//! Times each stage of an analysis.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use engine::heap::views::{ConstructorView, Selection};
use engine::outputs::formats::JsonStream;
use engine::{Control, Input, Phase, Program};
use memmap2::Mmap;
use serde_json::{Value, json};

use crate::Failure;
use crate::process::{peak_memory, processor_seconds};

/// Analyzes a dump as the command line does. On request, also produces the JSON, without a reader.
pub fn measure(dump: &str, wasm: &str, with_json: bool) -> Result<Value, Failure> {
    let wasm_bytes = std::fs::read(wasm)?;
    let mapped = map(dump)?;
    let dump_bytes = mapped.len();
    let stages = Arc::new(Mutex::new(Stages::default()));
    let observer = Arc::clone(&stages);
    let control = Control::observing(move |phase| observer.lock().unwrap().begin(phase));

    stages.lock().unwrap().begin(Phase::Module);
    let program = Program::read(
        Input {
            name: wasm,
            bytes: &wasm_bytes,
        },
        &Control::default(),
    )?;
    let dump = Input {
        name: dump,
        bytes: mapped,
    };
    let heap = Arc::new(program.analyze(dump, &control)?);
    stages.lock().unwrap().begin(Phase::View);
    let view =
        ConstructorView::new(Arc::clone(&heap), Selection::default(), &Control::default()).unwrap();
    let (seconds, stages) = stages.lock().unwrap().finish();

    let processor = processor_seconds();
    let peak = peak_memory();
    let json = with_json.then(|| measure_json(view)).transpose()?;
    Ok(json!({
        "objects": heap.objects.len(),
        "live": heap.live_heap_objects().count(),
        "references": heap.edges.len(),
        "dumpBytes": dump_bytes,
        "stages": stages,
        "seconds": seconds,
        "processorSeconds": processor,
        "peakBytes": peak,
        "json": json,
    }))
}

fn measure_json(view: ConstructorView) -> Result<Value, Failure> {
    let begin = Instant::now();
    let bytes = io::copy(&mut JsonStream::new(view), &mut io::sink())?;
    Ok(json!({
        "bytes": bytes,
        "seconds": begin.elapsed().as_secs_f64(),
        "peakBytes": peak_memory(),
    }))
}

pub fn map(path: &str) -> Result<Mmap, Failure> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    // SAFETY: the driver of the benchmark does not touch the file meanwhile.
    Ok(unsafe { Mmap::map(&file)? })
}

/// When each stage began.
#[derive(Default)]
struct Stages(Vec<(Phase, Instant)>);

impl Stages {
    fn begin(&mut self, stage: Phase) {
        self.0.push((stage, Instant::now()));
    }

    /// The time of all stages, and of each. The times of a stage that begins again are added.
    fn finish(&self) -> (f64, Vec<(&'static str, f64)>) {
        let ends = self.0.iter().skip(1).map(|&(_, begin)| begin);
        let ends = ends.chain([Instant::now()]);
        let mut times = Phase::ALL.map(|phase| (phase.name(), 0.0));
        for (&(phase, begin), end) in self.0.iter().zip(ends) {
            times[phase as usize].1 += end.duration_since(begin).as_secs_f64();
        }
        let sum = times.iter().map(|(_, seconds)| seconds).sum();
        (sum, times.to_vec())
    }
}
