//! What a turn transfers before each launch and after it, and what of that needs no copies.

use super::turn::{Download, Kept, Operand, Piece, Target, Upload};
use crate::opencl::{RawDevice, Region, Runs, is_pinned};
use std::ops::Range;

/// Shorter runs are copied into pinned chunks even where they are in pinned memory: each costs the device about as
/// much as so many bytes. An H200 is sent runs of 512 bytes with 31 GB/s, such of 16 KiB with 55.
const SHORTEST_RUN: usize = 256;

/// What is sent before a piece is launched.
#[derive(Debug)]
pub(super) struct Inflow<'a> {
    /// The position of the argument.
    pub(super) argument: usize,
    pub(super) upload: Upload<'a>,
    /// Whether the device can read it from where it is.
    pub(super) is_direct: bool,
}

/// What is fetched when a piece has been launched.
#[derive(Debug)]
pub(super) struct Outflow<'a> {
    /// The position of the argument.
    pub(super) argument: usize,
    /// Where it is in the buffer.
    pub(super) runs: Runs,
    pub(super) region: Region<'a>,
    /// Whether the device can write it to where it belongs.
    pub(super) is_direct: bool,
}

/// Whether anything is copied on its way to the device, and back.
pub(super) fn are_staged(pieces: &[Piece<'_>], device: RawDevice) -> (bool, bool) {
    let operands = || pieces.iter().flat_map(|piece| &piece.operands);
    let is_sent = operands()
        .flat_map(uploads)
        .any(|upload| !is_source_direct(upload, device));
    let is_fetched = operands().any(|operand| match operand {
        Operand::Buffer {
            download: Some(download),
            ..
        } => match &download.target {
            Target::Place(region) => !is_place_direct(region, device),
            Target::Kept { .. } => true,
        },
        _ => false,
    });
    (is_sent, is_fetched)
}

/// What to send before each piece.
pub(super) fn inflows<'a>(pieces: &'a [Piece<'_>], device: RawDevice) -> Vec<Vec<Inflow<'a>>> {
    let of_operand = |(argument, operand): (usize, &'a Operand<'_>)| {
        uploads(operand).iter().map(move |upload| Inflow {
            argument,
            upload: *upload,
            is_direct: is_source_direct(upload, device),
        })
    };
    let of_piece = |piece: &'a Piece<'_>| {
        let operands = piece.operands.iter().enumerate();
        operands.flat_map(of_operand).collect()
    };
    pieces.iter().map(of_piece).collect()
}

/// Takes what is to be read back out of the pieces: piece, argument, what.
pub(super) fn take_downloads<'r>(pieces: &mut [Piece<'r>]) -> Vec<(usize, usize, Download<'r>)> {
    let mut downloads = Vec::new();
    for (index, piece) in pieces.iter_mut().enumerate() {
        for (argument, operand) in piece.operands.iter_mut().enumerate() {
            if let Operand::Buffer { download, .. } = operand
                && let Some(download) = download.take()
            {
                downloads.push((index, argument, download));
            }
        }
    }
    downloads
}

/// Memory for results whose places are still read.
pub(super) fn keep(downloads: &[(usize, usize, Download<'_>)], pieces: &[Piece<'_>]) -> Vec<Kept> {
    let kept = downloads.iter().filter_map(|(index, argument, download)| {
        let Target::Kept { rows, width } = download.target else {
            return None;
        };
        Some(Kept {
            argument: *argument,
            share: pieces[*index].share,
            bytes: vec![0; rows * width],
        })
    });
    kept.collect()
}

/// What to fetch after each piece.
pub(super) fn outflows<'a>(
    downloads: Vec<(usize, usize, Download<'a>)>,
    kept: &'a mut [Kept],
    pieces: usize,
    device: RawDevice,
) -> Vec<Vec<Outflow<'a>>> {
    let mut kept = kept.iter_mut();
    let mut outflows: Vec<Vec<Outflow<'a>>> = (0..pieces).map(|_| Vec::new()).collect();
    for (index, argument, download) in downloads {
        let region = match download.target {
            Target::Place(region) => Some(region),
            Target::Kept { rows, width } => kept
                .next()
                .and_then(|kept| Region::rows(&mut kept.bytes, rows, width)),
        };
        let Some(region) = region else { continue };
        outflows[index].push(Outflow {
            argument,
            runs: Runs {
                first: download.first,
                pitch: download.pitch,
                ..region.runs()
            },
            is_direct: is_place_direct(&region, device),
            region,
        });
    }
    outflows
}

fn uploads<'a, 'r>(operand: &'a Operand<'r>) -> &'a [Upload<'r>] {
    match operand {
        Operand::Buffer { uploads, .. } => uploads,
        Operand::Scalar(_) | Operand::OfFirst { .. } => &[],
    }
}

fn is_source_direct(upload: &Upload<'_>, device: RawDevice) -> bool {
    let first = upload.source.as_ptr().addr();
    is_direct(&(first..first + upload.source.len()), upload.runs, device)
}

fn is_place_direct(region: &Region<'_>, device: RawDevice) -> bool {
    is_direct(&region.addresses(), region.runs(), device)
}

fn is_direct(addresses: &Range<usize>, runs: Runs, device: RawDevice) -> bool {
    (runs.rows <= 1 || runs.width >= SHORTEST_RUN) && is_pinned(addresses, device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::device::Device;
    use crate::element::Element;
    use crate::pinned::PinnedMemory;
    use cltune_core::split::{Share, Span};

    const ROWS: usize = 4;

    /// A piece that is sent rows of `width` bytes, and of which others are fetched.
    fn piece<'a>(source: &'a [u8], target: &'a mut [u8], width: usize) -> Piece<'a> {
        let runs = Runs {
            first: 8,
            width,
            rows: ROWS,
            pitch: source.len() / ROWS,
        };
        let pitch = target.len() / ROWS;
        #[expect(clippy::single_range_in_vec_init, reason = "one range of columns")]
        let region = Region::columns(target, ROWS, pitch, &[8..8 + width]);
        let operand = |upload: Option<Upload<'a>>, download| Operand::Buffer {
            len: width * ROWS,
            bytes: width * ROWS,
            uploads: upload.into_iter().collect(),
            contents: None,
            download,
        };
        let upload = Upload {
            source,
            runs,
            at: 0,
        };
        let download = Download {
            first: 0,
            pitch: width,
            target: Target::Place(region.unwrap().pop().unwrap()),
        };
        let span = Span { start: 0, len: 1 };
        Piece {
            share: Share {
                member: 0,
                owned: span,
                computed: span,
            },
            dims: Vec::new(),
            operands: vec![operand(Some(upload), None), operand(None, Some(download))],
        }
    }

    #[test]
    fn what_is_pinned_needs_no_copies_unless_its_runs_are_short() {
        let context = Context::new(&Device::select().unwrap()).unwrap();
        let device = context.device().raw();
        let pinned = || PinnedMemory::<f32>::zeros(&context, 1000).unwrap();
        let pageable = || vec![0_f32; 1000];
        let staged = |source: &[f32], target: &mut [f32], width| {
            let piece = piece(f32::as_bytes(source), f32::as_bytes_mut(target), width);
            let mut pieces = [piece];
            let are_staged = are_staged(&pieces, device);
            // What is decided for each of them is the same.
            let downloads = take_downloads(&mut pieces);
            let mut kept = keep(&downloads, &pieces);
            let is_sent = inflows(&pieces, device)[0][0].is_direct;
            let is_fetched = outflows(downloads, &mut kept, 1, device)[0][0].is_direct;
            assert_eq!(are_staged, (!is_sent, !is_fetched));
            are_staged
        };
        assert_eq!(staged(&pinned(), &mut pinned(), 512), (false, false));
        assert_eq!(
            staged(&pinned()[10..910], &mut pinned()[4..904], 512),
            (false, false)
        );
        assert_eq!(staged(&pinned(), &mut pinned(), 128), (true, true));
        assert_eq!(staged(&pageable(), &mut pinned(), 512), (true, false));
        assert_eq!(staged(&pinned(), &mut pageable(), 512), (false, true));
    }
}
