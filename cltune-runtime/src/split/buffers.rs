//! A device's buffers, which stay for later turns.

use super::turn::{Operand, Piece};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{Error, Result};

/// One buffer for each argument of each piece.
#[derive(Debug, Default)]
pub(super) struct Buffers(Vec<Vec<Option<Buffer<u8>>>>);

impl Buffers {
    /// Makes buffers that are large enough.
    pub(super) fn allocate(&mut self, context: &Context, pieces: &[Piece<'_>]) -> Result<()> {
        self.0.truncate(pieces.len());
        self.0.resize_with(pieces.len(), Vec::new);
        for (buffers, piece) in self.0.iter_mut().zip(pieces) {
            if buffers.len() < piece.operands.len() {
                buffers.resize_with(piece.operands.len(), || None);
            }
            for (buffer, operand) in buffers.iter_mut().zip(&piece.operands) {
                match operand {
                    Operand::Buffer { bytes, .. } => fit(buffer, context, *bytes)?,
                    Operand::OfFirst { .. } => *buffer = None,
                    Operand::Scalar(_) => {}
                }
            }
        }
        Ok(())
    }

    /// The buffer of an argument of a piece, which [`Buffers::allocate`] has made.
    pub(super) fn get(&self, piece: usize, argument: usize) -> Result<&Buffer<u8>> {
        let buffers = self.0.get(piece);
        let buffer = buffers.and_then(|buffers| buffers.get(argument)?.as_ref());
        buffer.ok_or(Error::Arguments {
            kernel: String::new(),
            expected: buffers.map_or(0, Vec::len),
            found: argument,
        })
    }
}

/// Replaces a buffer that is too small.
fn fit(buffer: &mut Option<Buffer<u8>>, context: &Context, bytes: usize) -> Result<()> {
    if buffer.as_ref().is_none_or(|buffer| buffer.len() < bytes) {
        // First, so that there is room for its successor. The slack is for shares that grow a little
        // while the split is corrected.
        *buffer = None;
        let with_slack = bytes.saturating_add(bytes / 16);
        let made = Buffer::new(context, with_slack);
        *buffer = Some(made.or_else(|_| Buffer::new(context, bytes))?);
    }
    Ok(())
}
