//! Transfers of a pipeline: pinned memory needs no copies, unless its runs are short.

use super::*;
use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::pinned::PinnedMemory;
use cltune_core::split::{Share, Span};

const ROWS: usize = 4;

/// A chunk that is sent rows of `width` bytes, and of which others are fetched.
fn chunk<'a>(source: &'a [u8], target: &'a mut [u8], width: usize) -> Chunk<'a> {
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
    Chunk {
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
        let chunk = chunk(f32::as_bytes(source), f32::as_bytes_mut(target), width);
        let mut chunks = [chunk];
        let are_staged = are_staged(&chunks, device);
        // What is decided for each of them is the same.
        let downloads = take_downloads(&mut chunks);
        let mut deferred = deferred_results(&downloads, &chunks);
        let is_sent = input_transfers(&chunks, device)[0][0].is_direct;
        let is_fetched = output_transfers(downloads, &mut deferred, 1, device)[0][0].is_direct;
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
