//! Parts of operands: their keys, and where they are in host memory and on the device.

use super::device_memory::{BlockKey, Value};
use super::engine::Step;
use super::job::{Source, moved};
use super::matrix_core::MatrixCore;
use crate::opencl::BlockPlace;
use cltune_core::tasks::{Operand, Rect, padded};

/// The inputs of a step, each with the part that it needs.
pub(super) fn inputs(step: &Step) -> impl Iterator<Item = (&Source, Rect, &Operand)> {
    let Step {
        job, tile, panel, ..
    } = step;
    let inputs = job.inputs.iter().zip(&job.shape.inputs);
    inputs.map(|(source, operand)| (source, job.shape.rect(operand, tile, *panel), operand))
}

/// The key of a part of an input.
pub(super) fn key(source: &Source, rect: Rect, operand: &Operand) -> BlockKey {
    let leading = leading(rect, operand);
    match source {
        Source::Matrix {
            core,
            version,
            origin,
        } => BlockKey {
            value: Value::Matrix {
                id: core.id,
                version: *version,
            },
            rect: moved(rect, *origin),
            leading,
        },
        Source::Map { id, .. } => BlockKey {
            value: Value::Temporary(*id),
            rect,
            leading,
        },
    }
}

/// The distance of lines of a block, elements.
pub(super) const fn leading(rect: Rect, operand: &Operand) -> usize {
    if operand.is_padded && rect.lines > 1 {
        padded(rect.length, operand.element)
    } else {
        rect.length
    }
}

/// Where a block is in host memory, and at the beginning of a buffer.
pub(super) fn place(core: &MatrixCore, rect: Rect, leading: usize) -> BlockPlace {
    let element = core.element;
    let first = (rect.line * core.length + rect.at) * element;
    let (width, rows) = (rect.length * element, rect.lines);
    let (pitch, buffer_pitch) = (core.length * element, leading * element);
    if width == pitch && width == buffer_pitch {
        let width = width * rows;
        return BlockPlace {
            first,
            pitch: width,
            width,
            rows: 1,
            buffer_first: 0,
            buffer_pitch: width,
        };
    }
    BlockPlace {
        first,
        pitch,
        width,
        rows,
        buffer_first: 0,
        buffer_pitch,
    }
}
