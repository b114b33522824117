//! A device's buffers, which stay for later turns.

use super::contents::Contents;
use super::residents::{Copy, Residents};
use super::turn::{Operand, Piece, Supply, Upload};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::Runs;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// One buffer for each argument of each piece.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Those that every turn fills anew.
    own: Vec<Vec<Option<Buffer<u8>>>>,
    residents: Residents,
    /// Inputs of the turn that stay on the device for later ones: piece, argument.
    lent: HashMap<(usize, usize), Arc<Buffer<u8>>>,
}

/// What a turn finds on the device.
#[derive(Debug)]
pub(super) struct Found {
    /// One for each argument.
    pub(super) supplies: Vec<Supply>,
    /// To be done before anything else.
    pub(super) copies: Vec<Copy>,
}

impl Buffers {
    /// Makes buffers that are large enough, and leaves out of the uploads what is on the device already.
    pub(super) fn allocate(
        &mut self,
        context: &Context,
        pieces: &mut [Piece<'_>],
    ) -> Result<Found> {
        self.lent.clear();
        self.residents.begin();
        let mut supplies = supplies(pieces);
        // First, so that what the turn needs is not taken for something that makes room.
        for (key, uploads, contents) in inputs(pieces) {
            if let Some(buffer) = self.residents.find(contents) {
                self.lent.insert(key, buffer);
                uploads.clear();
            }
        }
        let mut copies = Vec::new();
        for (key, uploads, contents) in inputs(pieces) {
            if self.lent.contains_key(&key) {
                continue;
            }
            // Another argument of the turn may have the same.
            if let Some(buffer) = self.residents.find(contents) {
                self.lent.insert(key, buffer);
                uploads.clear();
                continue;
            }
            let vacant = self.residents.make(context, *contents)?;
            if let Some(missing) = vacant.missing {
                *uploads = only(uploads, &missing);
            }
            copies.extend(vacant.copies);
            self.lent.insert(key, vacant.buffer);
        }
        for (supply, left) in supplies.iter_mut().zip(self::supplies(pieces)) {
            supply.sent = left.sent;
        }
        self.allocate_own(context, pieces)?;
        Ok(Found { supplies, copies })
    }

    /// Those of arguments that every turn fills anew.
    fn allocate_own(&mut self, context: &Context, pieces: &[Piece<'_>]) -> Result<()> {
        self.own.truncate(pieces.len());
        self.own.resize_with(pieces.len(), Vec::new);
        for (index, (buffers, piece)) in self.own.iter_mut().zip(pieces).enumerate() {
            if buffers.len() < piece.operands.len() {
                buffers.resize_with(piece.operands.len(), || None);
            }
            for (argument, (buffer, operand)) in buffers.iter_mut().zip(&piece.operands).enumerate()
            {
                match operand {
                    Operand::Buffer { .. } if self.lent.contains_key(&(index, argument)) => {}
                    Operand::Buffer { bytes, .. } => {
                        let residents = &self.residents;
                        residents.make_room(|| fit(buffer, context, *bytes))?;
                    }
                    Operand::OfFirst { .. } => *buffer = None,
                    Operand::Scalar(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Says that all uploads of the turn have ended, so that later ones may need none.
    pub(super) fn filled(&mut self) {
        self.residents.filled();
    }

    /// Frees what is kept for later turns; whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        self.lent.clear();
        self.residents.give_up()
    }

    /// How many bytes of these addresses of the memory that has this stamp are on the device.
    pub(super) fn count(&self, stamp: NonZeroU64, addresses: &Range<usize>) -> usize {
        self.residents.count(stamp, addresses)
    }

    /// The buffer of an argument of a piece, which [`Buffers::allocate`] has made.
    pub(super) fn get(&self, piece: usize, argument: usize) -> Result<&Buffer<u8>> {
        if let Some(buffer) = self.lent.get(&(piece, argument)) {
            return Ok(buffer);
        }
        let buffers = self.own.get(piece);
        let buffer = buffers.and_then(|buffers| buffers.get(argument)?.as_ref());
        buffer.ok_or(Error::Arguments {
            kernel: String::new(),
            expected: buffers.map_or(0, Vec::len),
            found: argument,
        })
    }
}

/// The arguments of which it is known whether they have changed: piece and argument, uploads, what they are.
fn inputs<'a, 'r>(
    pieces: &'a mut [Piece<'r>],
) -> impl Iterator<Item = ((usize, usize), &'a mut Vec<Upload<'r>>, &'a Contents)> {
    let of_piece = |(index, piece): (usize, &'a mut Piece<'r>)| {
        let operands = piece.operands.iter_mut().enumerate();
        operands.filter_map(move |(argument, operand)| match operand {
            Operand::Buffer {
                uploads,
                contents: Some(contents),
                ..
            } => Some(((index, argument), uploads, &*contents)),
            _ => None,
        })
    };
    pieces.iter_mut().enumerate().flat_map(of_piece)
}

/// What is to be sent of each argument, and all of it needed.
fn supplies(pieces: &[Piece<'_>]) -> Vec<Supply> {
    let arguments = pieces.iter().map(|piece| piece.operands.len()).max();
    let mut supplies = vec![Supply::default(); arguments.unwrap_or(0)];
    for piece in pieces {
        for (supply, operand) in supplies.iter_mut().zip(&piece.operands) {
            if let Operand::Buffer { uploads, .. } = operand {
                let bytes: usize = uploads.iter().map(|upload| upload.runs.len()).sum();
                supply.needed += bytes;
                supply.sent += bytes;
            }
        }
    }
    supplies
}

/// Parts of uploads that have no gaps.
fn only<'r>(uploads: &[Upload<'r>], missing: &[Range<usize>]) -> Vec<Upload<'r>> {
    let parts = |upload: &Upload<'r>| {
        let Upload { source, runs, .. } = *upload;
        missing.iter().map(move |range| Upload {
            source,
            runs: Runs {
                first: runs.first + range.start,
                width: range.len(),
                rows: 1,
                pitch: range.len(),
            },
            at: range.start,
        })
    };
    uploads.iter().flat_map(parts).collect()
}

/// Replaces a buffer that is too small.
fn fit(buffer: &mut Option<Buffer<u8>>, context: &Context, bytes: usize) -> Result<()> {
    if buffer.as_ref().is_none_or(|buffer| buffer.len() < bytes) {
        // First, so that there is room for its successor.
        *buffer = None;
        *buffer = Some(with_slack(context, bytes)?);
    }
    Ok(())
}

/// A buffer that is also large enough for shares that grow a little while the split is corrected.
pub(super) fn with_slack(context: &Context, bytes: usize) -> Result<Buffer<u8>> {
    let made = Buffer::allocate(context, bytes.saturating_add(bytes / 16));
    made.or_else(|_| Buffer::allocate(context, bytes))
}
