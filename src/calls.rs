//! How the work of a call is done: at once, or as a task.

use napi::bindgen_prelude::{ClassInstance, Either, Env, Object};

use super::error::Result;
use super::inputs::{InputArg, PendingInput};
use super::outcome::Outcome;
use super::tasks::InputWork;
use super::work_control::WorkControl;
use base::control::Control;
use workers::threads::run_on_own_thread;

/// The result of a call, or a promise for it.
pub type Returned<'env, T> = Either<T, Object<'env>>;

/// Does work on inputs, each with the name of its argument: as a task with this control; without one, before this
/// returns.
pub(super) fn call<'env, const N: usize, T: Outcome>(
    env: &'env Env,
    inputs: [(&str, Option<InputArg<'_>>); N],
    control: Option<ClassInstance<WorkControl>>,
    work: impl InputWork<N, T>,
) -> Result<Returned<'env, T>> {
    let Some(control) = control else {
        let mut inputs = inputs.map(|(name, argument)| PendingInput::borrowed(name, argument));
        let value = run_on_own_thread(|| {
            let control = Control::default();
            PendingInput::have_pipe(&inputs)?;
            for input in &mut inputs {
                input.open(&control)?;
            }
            work(inputs.each_mut().map(PendingInput::input), &control)
        })?;
        return Ok(Either::A(value.registered(*env)));
    };
    let mut copies = std::array::from_fn(|_| PendingInput::absent());
    for (copy, (name, argument)) in copies.iter_mut().zip(inputs) {
        *copy = PendingInput::copied(name, argument)?;
    }
    Ok(Either::B(control.start(env, copies, work)?))
}
