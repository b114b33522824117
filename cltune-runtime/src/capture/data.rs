//! The arguments of a launch, as files.

use super::text::{number, quoted};
use crate::error::{Error, Result};
use crate::kernel::Arg;
use crate::queue::Queue;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, Model};
use std::fs;
use std::io;
use std::path::Path;

/// Why arguments were not kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum DataError {
    #[error(transparent)]
    Device(#[from] Error),
    #[error(transparent)]
    File(#[from] io::Error),
}

/// Writes what the kernel reads into a folder, before the launch. What was written, as a list in
/// JSON: buffers and vectors as files of little-endian elements, scalars by value.
pub(super) fn keep(
    folder: &Path,
    model: &Model,
    queue: &Queue,
    dims: &[i64],
    args: &[Arg<'_>],
) -> Result<String, DataError> {
    let mut kept = Vec::new();
    for (argument, arg) in model.arguments.iter().zip(args) {
        let name = quoted(&argument.name);
        match &argument.kind {
            ArgumentKind::Scalar { scalar, .. } => {
                let Some(bytes) = arg.as_scalar() else {
                    continue;
                };
                let Some(scalar) = scalar.as_scalar() else {
                    kept.push(file(folder, &argument.name, bytes)?);
                    continue;
                };
                if let Some(value) = number(scalar, bytes) {
                    kept.push(format!("{{\"name\":{name},\"value\":{value}}}"));
                }
            }
            ArgumentKind::Buffer {
                element,
                access: Access::Read | Access::ReadWrite,
                len,
                ..
            } => {
                if let Some(image) = arg.as_image() {
                    let mut bytes = vec![0; image.shape().bytes()];
                    queue.wait_for_earlier()?;
                    let read = queue.raw().read_image(image, &mut bytes);
                    read.map_err(Error::call("clEnqueueReadImage for CLTUNE_CAPTURE_DATA"))?;
                    kept.push(file(folder, &argument.name, &bytes)?);
                    continue;
                }
                let Some((raw, there)) = arg.as_buffer() else {
                    continue;
                };
                let env = Env {
                    params: &[],
                    dims,
                    device: &queue.device().info().limits,
                };
                let declared = len.as_ref().and_then(|len| len.eval(&env).ok());
                let declared = declared.and_then(|len| usize::try_from(len).ok());
                let elements = declared.unwrap_or(there).min(there);
                let mut bytes = vec![0; elements * element.size()];
                if !bytes.is_empty() {
                    queue.wait_for_earlier()?;
                    let read = queue.raw().read(raw, 0, &mut bytes);
                    read.map_err(Error::call("clEnqueueReadBuffer for CLTUNE_CAPTURE_DATA"))?;
                }
                kept.push(file(folder, &argument.name, &bytes)?);
            }
            ArgumentKind::Buffer { .. } => {}
        }
    }
    Ok(format!("[{}]", kept.join(",")))
}

/// Writes the elements of an argument into a file; its entry in the list.
fn file(folder: &Path, argument: &str, bytes: &[u8]) -> io::Result<String> {
    // Names in Rust are names of files everywhere.
    let file = format!("{argument}.bin");
    fs::write(folder.join(&file), bytes)?;
    let (name, file) = (quoted(argument), quoted(&file));
    Ok(format!("{{\"name\":{name},\"file\":{file}}}"))
}
