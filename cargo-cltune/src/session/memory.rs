//! The memory that a problem takes, and the number of draws of inputs that fit into it.

use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{ArgumentKind, Model};

/// The most host memory that the inputs and results of one run may take, bytes.
const MOST_BYTES: i64 = 1 << 30;

/// How many draws of inputs to keep in memory at once, at most `draws`.
pub(crate) fn draws_at_once(
    model: &Model,
    dims: &[i64],
    limits: &DeviceLimits,
    draws: usize,
) -> usize {
    let Some(bytes) = bytes(model, dims, limits) else {
        return 1;
    };
    let most = MOST_BYTES.min(limits.global_mem_size / 2);
    // On the host the contents and the expected results of every draw, on the device the contents.
    let fitting = most / bytes.total.saturating_mul(3).max(1);
    usize::try_from(fitting).map_or(draws, |fitting| fitting.clamp(1, draws))
}

/// The sizes of buffers, bytes.
pub(crate) struct Bytes {
    /// Of all together.
    pub(crate) total: i64,
    /// Of the largest.
    pub(crate) largest: i64,
}

/// The sizes of a kernel's buffers for a problem; `None` where one has none.
pub(crate) fn bytes(model: &Model, dims: &[i64], limits: &DeviceLimits) -> Option<Bytes> {
    // Lengths use no parameters.
    let env = Env {
        params: &[],
        dims,
        device: limits,
    };
    let mut bytes = Bytes {
        total: 0,
        largest: 0,
    };
    for argument in model.arguments.iter() {
        let ArgumentKind::Buffer {
            element,
            len: Some(len),
            ..
        } = &argument.kind
        else {
            continue;
        };
        let size = len.eval(&env).ok()?.checked_mul(element.size() as i64)?;
        bytes.total = bytes.total.checked_add(size)?;
        bytes.largest = bytes.largest.max(size);
    }
    Some(bytes)
}
