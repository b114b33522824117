//! The memory and the time that an operation takes on a device in blocks of a size.

use super::blocks::{Axis, Cut, Operand, Output, Reach, Shape};
use super::rates::LinkRates;

/// The facts about a device that the size of blocks depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceFacts {
    /// The memory that may be used, bytes.
    pub memory: usize,
    /// The largest buffer, bytes.
    pub largest: usize,
    /// How fast data moves.
    pub rates: LinkRates,
    /// The speed of the operation's kernel, work per second; `None` for a device that does not
    /// take part, or of which nothing is known.
    pub speed: Option<f64>,
}

/// The memory of a device that an operation needs, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// For one panel after the other.
    pub least: usize,
    /// For transfers beside launches: what the next two steps are sent, and the next tile, as well.
    pub overlapped: usize,
    /// What is not left to keep blocks in: launches under way still use one step and one tile more.
    pub passing: usize,
    /// The largest block.
    pub largest: usize,
}

/// The time that a device takes for tiles, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// For a tile among many, the mean.
    pub tile: f64,
    /// For a tile by what the device has of its operands: in its first row and in later ones, the
    /// first tile of the row and later ones.
    pub tiles: [[f64; 2]; 2],
    /// Before the first launch.
    pub begin: f64,
    /// After the last one.
    pub end: f64,
    /// Bytes between host and device for a tile, both directions.
    pub traffic: f64,
}

/// What a task costs beside its launches, in launches: to be given to a device, and to be taken
/// from it.
const FOR_TASK: f64 = 4.0;

/// The part of what hides behind something longer that counts: steps differ, so not all of it
/// hides. Of blocks that are equally fast, those with the least traffic are chosen.
const NOT_HIDDEN: f64 = 0.1;

impl Need {
    /// That of an operation in blocks of this size, of which a device computes several tiles.
    pub fn of(shape: &Shape, cut: Cut) -> Self {
        Self::of_tiles(shape, cut, f64::INFINITY)
    }

    /// The same of a device that computes so many tiles: the result of one tile leaves while the
    /// next one is computed, if there is any.
    fn of_tiles(shape: &Shape, Cut(blocks): Cut, tiles: f64) -> Self {
        let output = shape.output_bytes(blocks);
        // Of a panel: what the launch reads, what is sent, and what is computed from that.
        let (mut read, mut sent, mut made, mut largest) = (0_usize, 0_usize, 0_usize, 0);
        for output in &shape.outputs {
            largest = largest.max(output.operand.block_bytes(blocks));
        }
        for input in &shape.inputs {
            let bytes = input.block_bytes(blocks);
            largest = largest.max(bytes);
            read = read.saturating_add(bytes);
            if input.is_computed {
                made = made.saturating_add(bytes);
            }
            sent = sent.saturating_add(bytes.saturating_mul(input.leaves));
        }
        let workspace = (read as f64 * shape.workspace) as usize;
        // What is computed from blocks that were sent needs room beside them.
        let panel = made.saturating_add(sent);
        let is_one_panel = shape.sizes[2] <= blocks[2];
        let is_alone = tiles <= 1.0 || shape.counts(Cut(blocks))[..2] == [1, 1];
        let outputs = if is_one_panel || !is_alone {
            output.saturating_mul(2)
        } else {
            output
        };
        let overlapped = outputs
            .saturating_add(made.saturating_mul(2))
            .saturating_add(sent.saturating_mul(3))
            .saturating_add(workspace);
        Self {
            least: output.saturating_add(panel).saturating_add(workspace),
            overlapped,
            passing: overlapped.saturating_add(panel).saturating_add(output),
            largest,
        }
    }

    /// Whether a device has so much.
    pub const fn fits(&self, device: &DeviceFacts) -> bool {
        self.least <= device.memory && self.largest <= device.largest
    }
}

impl Cost {
    /// That of a device with a kernel of this speed, of which `tiles` are expected to be computed
    /// there.
    pub fn of(shape: &Shape, cut: Cut, device: &DeviceFacts, speed: f64, tiles: f64) -> Self {
        let need = Need::of_tiles(shape, cut, tiles);
        let counts = shape.counts(cut).map(|count| count as f64);
        let all = counts[0] * counts[1];
        let LinkRates {
            up: up_rate,
            down: down_rate,
            memory,
            launch,
            line,
        } = device.rates;
        let output = shape.output_bytes(shape.sizes) as f64 / all;
        let spare = device.memory.saturating_sub(need.passing) as f64;
        let inputs = shape.inputs.iter();
        let inputs: Vec<_> = inputs.map(|of| (of, Span::of(shape, of, counts))).collect();
        let own = shape.outputs.iter().filter(|output| output.is_read);
        let own: usize = own.map(|of| of.operand.block_bytes(shape.sizes)).sum();
        let own = own as f64 / all;
        let (mut written, mut read) = (0.0, 0.0);
        for Output { operand, is_read } in &shape.outputs {
            let seconds = Span::of(shape, operand, counts).lines * line;
            written += seconds;
            if *is_read {
                read += seconds;
            }
        }
        // Each panel but the first reads what the earlier ones have summed up.
        let summed = 2.0 * output * (counts[2] - 1.0);
        // What a launch makes copies of, it reads and writes each time.
        let read_again: f64 = inputs.iter().map(|(_, span)| span.bytes).sum();
        let sent = Sent::of(inputs, counts, tiles, spare);
        let moved = summed + 2.0 * shape.workspace * read_again;
        let launches = (counts[2] + FOR_TASK) * launch;
        let arithmetic = shape.total_work() / all / speed + launches;
        let down = output / down_rate + written;
        let up = |of: &Part| (of.bytes + own) / up_rate + of.lines * line + read;
        let tile = |of: Part| {
            let (work, up) = (arithmetic + (of.computed + moved) / memory, up(&of));
            if need.overlapped <= device.memory {
                let longest = work.max(up).max(down);
                longest + NOT_HIDDEN * (work + up + down - longest)
            } else {
                work + up + down
            }
        };
        let tiles = sent.parts.map(|row| row.map(tile));
        Self {
            tile: sent.mean(tiles),
            tiles,
            begin: up(&sent.parts[0][0]) / counts[2],
            end: down,
            traffic: sent.mean(sent.parts.map(|row| row.map(|of| of.bytes))) + own + output,
        }
    }

    /// The same where everything takes longer by a factor.
    #[must_use]
    pub(super) fn slowed(self, factor: f64) -> Self {
        Self {
            tile: self.tile * factor,
            tiles: self.tiles.map(|row| row.map(|tile| tile * factor)),
            ..self
        }
    }
}

/// What is sent for a tile where blocks are kept for later ones. Tiles of one row follow each
/// other.
///
/// The times of tiles are added, not their bytes: a first row, for which everything is sent, may
/// take longer than its arithmetic although all rows together would not.
struct Sent {
    /// In the first row and in later ones, for the first tile of a row and for later ones.
    parts: [[Part; 2]; 2],
    /// The rows that the device has tiles of, and its tiles of each.
    rows: f64,
    in_row: f64,
}

/// What is sent for one tile.
#[derive(Clone, Copy, Default)]
struct Part {
    bytes: f64,
    /// The lines of blocks that are far apart in host memory.
    lines: f64,
    /// The bytes of what temporaries are computed from and to.
    computed: f64,
}

/// The part of an operand that all panels of a tile need, the mean.
struct Span {
    bytes: f64,
    /// The lines of its blocks that are far apart in host memory, 0 where blocks have whole lines.
    lines: f64,
}

impl Span {
    fn of(shape: &Shape, operand: &Operand, counts: [f64; 3]) -> Self {
        let [(lines, _), (length, blocks)] = [0, 1].map(|at| {
            let (positions, blocks) = match operand.axes[at] {
                Axis::I => (shape.sizes[0] as f64 / counts[0], counts[0]),
                Axis::J => (shape.sizes[1] as f64 / counts[1], counts[1]),
                // A tile has all panels.
                Axis::K => (shape.sizes[2] as f64, counts[2]),
                Axis::One => (1.0, 1.0),
            };
            let Reach { step, halo } = operand.reach[at];
            (positions * step as f64 + halo as f64, blocks)
        });
        // The whole line of the matrix, and the parts of it that the tile has as lines of blocks.
        let (whole_line, parts) = if operand.axes[1] == Axis::K {
            (length, blocks)
        } else {
            (length * blocks, 1.0)
        };
        let whole_line = whole_line * operand.element as f64;
        let is_apart = blocks > 1.0 && whole_line >= LinkRates::FAR as f64;
        Self {
            bytes: lines * length * operand.element as f64,
            lines: if is_apart { lines * parts } else { 0.0 },
        }
    }
}

impl Sent {
    /// That of a device that computes so many tiles and has `spare` bytes to keep blocks in.
    fn of(mut inputs: Vec<(&Operand, Span)>, counts: [f64; 3], tiles: f64, mut spare: f64) -> Self {
        let in_row = counts[1].min(tiles).max(1.0);
        let rows = (tiles / counts[1]).clamp(1.0, counts[0]);
        let mut sent = [[Part::default(); 2]; 2];
        // What a row has in common is kept first.
        inputs.sort_by_key(|(input, _)| input.has(Axis::J));
        for (input, Span { bytes, lines }) in inputs {
            let is_shared_in_row = !input.has(Axis::J);
            let kept = if is_shared_in_row {
                bytes
            } else if input.has(Axis::I) {
                0.0
            } else {
                bytes * in_row
            };
            let part = if kept > 0.0 {
                (spare / kept).clamp(0.0, 1.0)
            } else {
                0.0
            };
            spare = (spare - kept).max(0.0);
            let again = 1.0 - part;
            let parts = match (is_shared_in_row, input.has(Axis::I)) {
                (true, true) => [[1.0, again], [1.0, again]],
                // What no tile has for itself is sent once.
                (true, false) => [[1.0, again], [again, again]],
                (false, true) => [[1.0; 2]; 2],
                (false, false) => [[1.0; 2], [again; 2]],
            };
            let leaves = input.leaves as f64;
            for (sent, part) in sent.as_flattened_mut().iter_mut().zip(parts.as_flattened()) {
                sent.bytes += bytes * part * leaves;
                sent.lines += lines * part * leaves;
                if input.is_computed {
                    sent.computed += bytes * part * (leaves + 1.0);
                }
            }
        }
        Self {
            parts: sent,
            rows,
            in_row,
        }
    }

    /// The mean of something of all tiles of the device.
    fn mean(&self, of: [[f64; 2]; 2]) -> f64 {
        let row = |[first, later]: [f64; 2]| first + (self.in_row - 1.0) * later;
        (row(of[0]) + (self.rows - 1.0) * row(of[1])) / (self.in_row * self.rows)
    }
}
