//! The memory and the time that an operation takes on a device in blocks of a size.

use super::blocks::{Axis, Cut, Shape};
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
    /// That of an operation in blocks of this size.
    pub fn of(shape: &Shape, Cut(blocks): Cut) -> Self {
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
        let outputs = if is_one_panel || shape.counts(Cut(blocks))[..2] != [1, 1] {
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
        let need = Need::of(shape, cut);
        let counts = shape.counts(cut).map(|count| count as f64);
        let all = counts[0] * counts[1];
        let LinkRates {
            up: up_rate,
            down: down_rate,
            memory,
            launch,
        } = device.rates;
        let output = shape.output_bytes(shape.sizes) as f64 / all;
        let spare = device.memory.saturating_sub(need.passing) as f64;
        let Sent {
            first,
            later,
            in_row,
            computed,
        } = Sent::of(shape, counts, tiles, spare);
        let own = shape.outputs.iter().filter(|output| output.is_read);
        let own: usize = own.map(|of| of.operand.block_bytes(shape.sizes)).sum();
        let own = own as f64 / all;
        // Each panel but the first reads what the earlier ones have summed up.
        let moved = computed + 2.0 * output * (counts[2] - 1.0);
        let launches = (counts[2] + FOR_TASK) * launch;
        let work = shape.total_work() / all / speed + moved / memory + launches;
        let down = output / down_rate;
        let tile = |sent: f64| {
            let up = (sent + own) / up_rate;
            if need.overlapped <= device.memory {
                let longest = work.max(up).max(down);
                longest + NOT_HIDDEN * (work + up + down - longest)
            } else {
                work + up + down
            }
        };
        Self {
            tile: (tile(first) + (in_row - 1.0) * tile(later)) / in_row,
            begin: (first + own) / up_rate / counts[2],
            end: down,
            traffic: (first + (in_row - 1.0) * later) / in_row + own + output,
        }
    }
}

/// The bytes that are sent for a tile where blocks are kept for later ones. Tiles of one row follow
/// each other.
struct Sent {
    /// For the first tile of a row, and for later ones.
    first: f64,
    later: f64,
    /// The tiles of a row on the same device.
    in_row: f64,
    /// What temporaries are computed from and to, the mean.
    computed: f64,
}

impl Sent {
    /// Those of a device that computes so many tiles and has `spare` bytes to keep blocks in.
    fn of(shape: &Shape, counts: [f64; 3], tiles: f64, mut spare: f64) -> Self {
        let in_row = counts[1].min(tiles).max(1.0);
        let rows = (tiles / counts[1]).clamp(1.0, counts[0]);
        let (mut first, mut later, mut computed) = (0.0, 0.0, 0.0);
        // What a row has in common is kept first.
        let mut inputs: Vec<_> = shape.inputs.iter().collect();
        inputs.sort_by_key(|input| input.has(Axis::J));
        for input in inputs {
            let [lines, length] = [0, 1].map(|at| {
                let positions = match input.axes[at] {
                    Axis::I => shape.sizes[0] as f64 / counts[0],
                    Axis::J => shape.sizes[1] as f64 / counts[1],
                    Axis::K => shape.sizes[2] as f64,
                    Axis::One => 1.0,
                };
                positions * input.reach[at].step as f64 + input.reach[at].halo as f64
            });
            let bytes = lines * length * input.element as f64;
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
            // What no tile has for itself is sent for the first row only.
            let in_rows = 1.0 - part * (1.0 - 1.0 / rows);
            let (at_first, afterwards) = match (is_shared_in_row, input.has(Axis::I)) {
                (true, true) => (1.0, 1.0 - part),
                (true, false) => (in_rows, 1.0 - part),
                (false, _) => (in_rows, in_rows),
            };
            let leaves = input.leaves as f64;
            first += bytes * at_first * leaves;
            later += bytes * afterwards * leaves;
            if input.is_computed {
                let mean = (at_first + (in_row - 1.0) * afterwards) / in_row;
                computed += bytes * mean * (leaves + 1.0);
            }
        }
        Self {
            first,
            later,
            in_row,
            computed,
        }
    }
}
