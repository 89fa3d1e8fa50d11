//! Profiles of a running program.

use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, ClassInstance, Env, Object};
use napi_derive::napi;

use super::error::Result;
use super::heap_handle::HeapHandle;
use super::open_heap::{AnswerData, OpenHeap};
use super::work_control::WorkControl;
use base::columns;
use base::control::Control;
use base::error::Error;
use base::units::Address;
use engine::instrument::InstrumentError;
use engine::instrument::allocations::{
    CONTEXTS_MODULE, LIVE_SAMPLES_MODULE, instrument_allocations as instrument,
};
use engine::instrument::name_functions;
use engine::outputs::exports::{CallProfile, sampled_blocks};
use engine::outputs::formats::{allocation_sites_text, site_growth_text};
use engine::questions::{self, AllocationSites, LoadedHeap};
use engine::wasm::module;
use engine::wasm::module::Module;
use engine::wasm::symbols::{GoTable, Symbols};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

/// The memory that must be free before the work begins, per byte of the module.
const ROOM_PER_BYTE: u64 = 16;

/// A module that reports its allocations.
#[napi(object)]
pub struct InstrumentedModule {
    /// The module.
    pub wasm: Buffer,
    /// Its table as JSON.
    pub table: String,
}

/// Makes a module report its allocations. `symbols` is a file with names of its functions. `contexts` says whether it is
/// to know the way of calls to each allocation.
#[napi]
pub fn instrument_allocations(
    wasm: &[u8],
    symbols: Option<String>,
    contexts: bool,
) -> Result<InstrumentedModule> {
    guarded(|| {
        check(wasm)?;
        let (wasm, table) = match symbols {
            Some(symbols) => instrument(&name_functions(wasm, &symbols)?, contexts)?,
            None => instrument(wasm, contexts)?,
        };
        let table = serde_json::to_string(&table).map_err(internal)?;
        Ok(InstrumentedModule {
            wasm: wasm.into(),
            table,
        })
    })
}

/// The module that keeps a profiler's live samples.
#[napi]
pub fn live_samples_module() -> Buffer {
    LIVE_SAMPLES_MODULE.into()
}

/// The module that keeps a profiler's known contexts of calls.
#[napi]
pub fn contexts_module() -> Buffer {
    CONTEXTS_MODULE.into()
}

/// The functions at each of these offsets in a module's file, the innermost first, as JSON.
#[napi]
pub fn symbolize(wasm: &[u8], source_map: Option<String>, offsets: Vec<u32>) -> Result<String> {
    guarded(|| {
        check(wasm)?;
        let symbols = Symbols::read(wasm, source_map.as_deref())?;
        let frames: Vec<_> = offsets
            .iter()
            .map(|&offset| symbols.frames(u64::from(offset)))
            .collect();
        Ok(serde_json::to_string(&frames).map_err(internal)?)
    })
}

/// Reads stacks of a Go program.
#[napi]
pub struct GoStacks {
    table: GoTable,
}

#[napi]
impl GoStacks {
    /// Finds the table of functions in a module; `null` if there is none.
    #[napi(factory)]
    pub fn find(wasm: &[u8]) -> Result<Self> {
        guarded(|| {
            check(wasm)?;
            let module = Module::parse(wasm, &Control::default())?;
            let table = GoTable::find(&module).ok_or_else(|| {
                Error::from(InstrumentError::AllocatorMissing {
                    found: "a Go program without a table of functions that this version can read"
                        .to_owned(),
                    expected: "a module that Go 1.18 or newer linked",
                })
            })?;
            Ok(Self { table })
        })
    }

    /// The return addresses on the stack in memory, the innermost first.
    #[napi]
    pub fn stack(&self, memory: &[u8], stack_pointer: u32, depth: u32) -> Result<Vec<f64>> {
        guarded(|| {
            let stack = self.table.stack(memory, stack_pointer, depth as usize);
            Ok(stack.into_iter().map(|pc| pc as f64).collect())
        })
    }

    /// The functions at return addresses, as JSON.
    #[napi]
    pub fn symbolize(&self, addresses: Vec<f64>) -> Result<String> {
        guarded(|| {
            let frames: Vec<_> = addresses
                .iter()
                .map(|&pc| self.table.frame(pc as u64).unwrap_or_default())
                .collect();
            Ok(serde_json::to_string(&frames).map_err(internal)?)
        })
    }
}

/// Encodes a profile, given as JSON, for pprof.
#[napi]
pub fn encode_profile(profile: String) -> Result<Buffer> {
    guarded(|| Ok(CallProfile::from_json(&profile)?.encode()?.into()))
}

/// What is alive in a heap by the line that allocated it.
#[napi(object, object_from_js = false)]
pub struct AllocationSitesData {
    /// As JSON.
    pub json: String,
    /// As a table with the first of them.
    pub text: String,
    /// As a profile.
    pub pprof: Buffer,
}

/// Joins a heap with a profile of the same moment; without a profile, what the heap itself says of allocations.
#[napi]
pub fn allocation_sites(
    heap: ClassInstance<HeapHandle>,
    profile: Option<&[u8]>,
    limit: u32,
    width: Option<u32>,
) -> Result<AllocationSitesData> {
    guarded(|| {
        let sites = sites_of(&heap, profile)?;
        let heap = heap.heap()?;
        let name = heap.loaded().dump_name();
        Ok(AllocationSitesData {
            json: serde_json::to_string(&sites).map_err(internal)?,
            text: allocation_sites_text(&sites, limit as usize, columns(width)),
            pprof: CallProfile::of_sites(&sites, name).encode()?.into(),
        })
    })
}

/// The columns of a text.
fn columns(width: Option<u32>) -> Option<usize> {
    width.map(|width| width as usize)
}

fn sites_of(heap: &HeapHandle, profile: Option<&[u8]>) -> Result<AllocationSites> {
    let heap = heap.heap()?;
    let sites = run_on_own_thread(|| sites_in(heap.loaded(), profile, &Control::default()));
    Ok(sites?)
}

fn sites_in(
    loaded: &LoadedHeap,
    profile: Option<&[u8]>,
    control: &Control,
) -> base::Result<AllocationSites> {
    match profile {
        Some(profile) => questions::allocation_sites(loaded, &sampled_blocks(profile)?, control),
        None => questions::recorded_sites(loaded, control),
    }
}

/// A heap with a profile of the same moment, or with allocations of its own.
type Moment = (Arc<OpenHeap>, Option<Vec<u8>>);

/// As `allocationSites`, or as `siteGrowth` if there is an earlier heap: as JSON, as a task.
#[napi(ts_return_type = "Promise<AnswerData>")]
pub fn sites_async<'env>(
    env: &'env Env,
    heap: ClassInstance<HeapHandle>,
    profile: Option<&[u8]>,
    before: Option<ClassInstance<HeapHandle>>,
    before_profile: Option<&[u8]>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let moment = |heap: &HeapHandle, profile: Option<&[u8]>| -> Result<Moment> {
            Ok((heap.heap()?, profile.map(<[u8]>::to_vec)))
        };
        let after = moment(&heap, profile)?;
        let before = match &before {
            Some(before) => Some(moment(before, before_profile)?),
            None => None,
        };
        control.start(env, [], move |[], control| {
            let sites =
                |(heap, profile): &Moment| sites_in(heap.loaded(), profile.as_deref(), control);
            let found = sites(&after)?;
            let text = match &before {
                Some(before) => {
                    serde_json::to_string(&questions::site_growth(&sites(before)?, &found))
                }
                None => serde_json::to_string(&found),
            };
            Ok(AnswerData {
                text: text.map_err(internal)?,
                warnings: Vec::new(),
            })
        })
    })
}

/// The line that allocated an object, by a profile of the same moment: as JSON, `null` if its block was not sampled.
#[napi(ts_return_type = "Promise<AnswerData>")]
pub fn allocation_line_async<'env>(
    env: &'env Env,
    heap: ClassInstance<HeapHandle>,
    profile: &[u8],
    address: u32,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let heap = heap.heap()?;
        let profile = profile.to_vec();
        control.start(env, [], move |[], control| {
            let sampled = sampled_blocks(&profile)?;
            let line =
                questions::allocation_line(heap.loaded(), &sampled, Address(address), control)?;
            Ok(AnswerData {
                text: serde_json::to_string(&line).map_err(internal)?,
                warnings: Vec::new(),
            })
        })
    })
}

/// Which lines' allocations grew.
#[napi(object, object_from_js = false)]
pub struct SiteGrowthData {
    /// As JSON.
    pub json: String,
    /// As a table with the first of them.
    pub text: String,
}

/// Compares two moments of a run: each is a heap, with a profile of the same moment or with allocations of its own.
#[napi]
pub fn site_growth(
    before: ClassInstance<HeapHandle>,
    before_profile: Option<&[u8]>,
    after: ClassInstance<HeapHandle>,
    after_profile: Option<&[u8]>,
    limit: u32,
    width: Option<u32>,
) -> Result<SiteGrowthData> {
    guarded(|| {
        let before = sites_of(&before, before_profile)?;
        let growth = questions::site_growth(&before, &sites_of(&after, after_profile)?);
        Ok(SiteGrowthData {
            json: serde_json::to_string(&growth).map_err(internal)?,
            text: site_growth_text(&growth, limit as usize, columns(width)),
        })
    })
}

fn check(wasm: &[u8]) -> base::Result<()> {
    module::check_start(wasm)?;
    let room = (wasm.len() as u64).saturating_mul(ROOM_PER_BYTE);
    columns::check_room(room, "profiling the module")
}

pub(super) fn internal(error: serde_json::Error) -> Error {
    Error::Internal {
        message: error.to_string().into(),
    }
}
