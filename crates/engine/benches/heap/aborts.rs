//! How soon cancelled work ends: it is cancelled from another thread, at random moments.

use std::path::Path;
use std::time::{Duration, Instant};

use engine::assemblyscript::InMemory;
use engine::outputs::exports::{Export, HeapDiffOptions, HeapSnapshotOptions};
use engine::questions::{GrowthOptions, Question, growth};
use engine::{Control, Error, Input, Program, Result, Tolerance};
use serde_json::{Value, json};

use crate::Failure;
use crate::support::forge::random::Random;

/// Cancels each kind of work on a heap, as often as `--times` says.
pub fn aborts(dump: &Path, wasm: &Path, times: u32) -> std::result::Result<Value, Failure> {
    let (dump, wasm) = (std::fs::read(dump)?, std::fs::read(wasm)?);
    let start = Instant::now();
    let mut stages = Vec::new();
    let mut last = start;
    everything(&dump, &wasm, &Control::default(), &mut |name| {
        stages.push((name, last.elapsed()));
        last = Instant::now();
    })?;
    let whole = start.elapsed();
    let mut random = Random::new(1);
    let mut latencies: Vec<(Duration, &str)> = Vec::new();
    for _ in 0..times {
        let moment = whole.mul_f64(f64::from(random.below(1 << 20)) / f64::from(1 << 20));
        let control = Control::default();
        let mut stage = "";
        let (done, ended) = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let done = everything(&dump, &wasm, &control, &mut |name| stage = name);
                (done, Instant::now())
            });
            std::thread::sleep(moment);
            let asked = Instant::now();
            control.cancel();
            let (done, ended) = work.join().unwrap();
            (done, ended.saturating_duration_since(asked))
        });
        match done {
            Ok(()) => {}
            Err(Error::Aborted) => latencies.push((ended, stage)),
            Err(error) => return Err(error.into()),
        }
    }
    latencies.sort_unstable();
    let at = |part: f64| {
        let nth = (latencies.len() as f64 * part) as usize;
        let (latency, stage) = latencies[nth.min(latencies.len() - 1)];
        json!({ "ms": latency.as_secs_f64() * 1e3, "after": stage })
    };
    let worst: Vec<Value> = latencies
        .iter()
        .rev()
        .take(10)
        .map(|(latency, stage)| json!({ "ms": latency.as_secs_f64() * 1e3, "after": stage }))
        .collect();
    let histogram: Vec<Value> = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, u64::MAX]
        .into_iter()
        .map(|most| {
            let within = latencies.iter();
            let within = within.filter(|(latency, _)| latency.as_millis() < u128::from(most));
            json!([most, within.count()])
        })
        .collect();
    Ok(json!({
        "bytes": dump.len(),
        "aborts": latencies.len(),
        "whole": whole.as_secs_f64(),
        "stages": stages.iter().map(|(name, time)| json!([name, time.as_secs_f64()])).collect::<Vec<_>>(),
        "median": at(0.5),
        "p99": at(0.99),
        "worst": worst,
        "belowMs": histogram,
    }))
}

fn everything(
    dump: &[u8],
    wasm: &[u8],
    control: &Control,
    ended: &mut impl FnMut(&'static str),
) -> Result<()> {
    let wasm = Input {
        name: "wasm",
        bytes: wasm,
    };
    let input = Input {
        name: "dump",
        bytes: dump,
    };
    let program = Program::read(wasm, control)?.tolerating(Tolerance::default());
    ended("module");
    let contents = Box::new(InMemory(dump.to_vec()));
    ended("copy");
    let heap = program.open(input, contents, control)?;
    ended("open");
    let some = heap.heap().live_heap_objects().nth(7);
    let address = some.map_or(0, |object| heap.heap().memory_address(object).0);
    let questions = [
        ("summary", json!({ "question": "summary" })),
        (
            "find",
            json!({ "question": "find", "contains": "no such text" }),
        ),
        (
            "object",
            json!({ "question": "object", "address": address }),
        ),
        (
            "referrers",
            json!({ "question": "referrers", "address": address }),
        ),
        ("dominators", json!({ "question": "dominators" })),
        (
            "dominators by class",
            json!({ "question": "dominators", "by": "class" }),
        ),
        ("suspects", json!({ "question": "suspects" })),
        ("paths", json!({ "question": "paths", "class": "*" })),
        ("waste", json!({ "question": "waste" })),
        ("unreachable", json!({ "question": "unreachable" })),
        ("report", json!({ "question": "report" })),
    ];
    for (name, question) in questions {
        let question: Question = serde_json::from_value(question).unwrap();
        match engine::questions::ask(&heap, &question, None, control) {
            Ok(_) => ended(name),
            Err(error) if error.code() == "ERR_NO_OBJECT" => ended(name),
            Err(error) => return Err(error),
        }
    }
    let table = engine::questions::place_table(&heap, control)?;
    ended("place table");
    let options: GrowthOptions = serde_json::from_value(json!({})).unwrap();
    growth(&[&table, &table, &table], &options, control)?;
    ended("growth");
    let exports = [
        ("pprof", Export::Pprof {}),
        ("heap-diff", Export::HeapDiff(HeapDiffOptions::default())),
        (
            "heap snapshot",
            Export::HeapSnapshot(HeapSnapshotOptions {
                strings: true,
                all: true,
                may_map: false,
            }),
        ),
    ];
    for (name, export) in exports {
        let before = (name == "heap-diff").then_some(&heap);
        engine::outputs::exports::export(&heap, &export, before, &mut std::io::sink(), control)?;
        ended(name);
    }
    Ok(())
}
