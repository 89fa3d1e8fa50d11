//! Reading other processes and core files: one function, whose request and answer are JSON.

use std::fs::File;

use napi::bindgen_prelude::{Buffer, Env, Object};
use napi_derive::napi;
use serde::{Deserialize, Serialize};

use super::error::Result;
use super::outcome::Outcome;
use super::work_control::WorkControl;
use base::control::Control;
use base::error::Error;
use outside::api::{self, TargetName};
use workers::guard::guarded;

/// What is asked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "question")]
enum OutsideRequest {
    /// All processes of this user that have a memory, or these.
    Memories { pids: Option<Vec<u32>> },
    /// The memories of a target.
    Describe { target: TargetName },
    /// The module of a memory.
    Module { target: TargetName, address: u64 },
    /// A dump of a memory, into an open file that is empty.
    Dump {
        target: TargetName,
        address: u64,
        tries: u32,
        descriptor: i32,
    },
}

/// What is answered.
#[napi(object, object_from_js = false)]
pub struct OutsideAnswer {
    /// All but bytes.
    pub json: String,
    /// The bytes of a module.
    pub module: Option<Buffer>,
}

impl Outcome for OutsideAnswer {}

/// Reads other processes and core files.
#[napi(ts_return_type = "Promise<OutsideAnswer>")]
pub fn outside<'env>(
    env: &'env Env,
    control: &WorkControl,
    request: String,
    wasm: Option<&[u8]>,
) -> Result<Object<'env>> {
    guarded(|| {
        let request: OutsideRequest = serde_json::from_str(&request).map_err(internal)?;
        let wasm = wasm.map(<[u8]>::to_vec);
        control.start(env, [], move |[], control| {
            answer(request, wasm.as_deref(), control)
        })
    })
}

fn answer(
    request: OutsideRequest,
    wasm: Option<&[u8]>,
    control: &Control,
) -> base::Result<OutsideAnswer> {
    match request {
        OutsideRequest::Memories { pids } => json(&api::all_memories(pids.as_deref(), control)?),
        OutsideRequest::Describe { target } => json(&api::describe(&target, wasm, control)?),
        OutsideRequest::Module { target, address } => {
            let module = api::module(&target, address, wasm, control)?;
            Ok(OutsideAnswer {
                json: "null".to_owned(),
                module: Some(module.into()),
            })
        }
        OutsideRequest::Dump {
            target,
            address,
            tries,
            descriptor,
        } => {
            let wasm = wasm.ok_or_else(|| internal("a dump without a module"))?;
            let output = opened(descriptor)?;
            json(&api::dump(&target, address, wasm, tries, &output, control)?)
        }
    }
}

fn json(answer: &impl Serialize) -> base::Result<OutsideAnswer> {
    Ok(OutsideAnswer {
        json: serde_json::to_string(answer).map_err(internal)?,
        module: None,
    })
}

/// The file of a descriptor, which stays the caller's.
#[cfg(unix)]
fn opened(descriptor: i32) -> base::Result<File> {
    use std::os::fd::BorrowedFd;
    if descriptor < 0 {
        return Err(internal("no descriptor"));
    }
    // SAFETY: the caller, which is this package, closes it after the answer.
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let own = file.try_clone_to_owned().map_err(internal)?;
    Ok(own.into())
}

/// Node's descriptors are not those of the system.
#[cfg(not(unix))]
fn opened(_: i32) -> base::Result<File> {
    Err(internal("core files cannot be read on this system yet"))
}

fn internal(error: impl ToString) -> Error {
    Error::Internal {
        message: error.to_string().into(),
    }
}
