//! Local-memory arguments, which the launch passes and no call does.

use crate::error::{Error, Result};
use crate::opencl::RawKernel;
use cltune_core::expr::Env;
use cltune_core::model::{ArgumentKind, Model};

/// Passes the local memory of a configuration that has passed [`Model::check`], so that the lengths
/// have values.
pub(crate) fn set_local_memory(kernel: &RawKernel, model: &Model, env: &Env<'_>) -> Result<()> {
    for (position, argument) in (0_u32..).zip(model.arguments.iter()) {
        let ArgumentKind::Local { element, len } = &argument.kind else {
            continue;
        };
        let len = usize::try_from(len.eval(env).unwrap_or(0)).unwrap_or(0);
        // OpenCL has no empty local memory; a byte stands in for none.
        let bytes = len.saturating_mul(element.size()).max(1);
        kernel
            .set_local(position, bytes)
            .map_err(Error::call(format!("clSetKernelArg `{}`", argument.name)))?;
    }
    Ok(())
}
