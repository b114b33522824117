//! Blocks of matrices, and which of them a tile needs.

/// A direction in which an operation is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The lines of the results.
    I,
    /// The positions within a line of the results.
    J,
    /// What is summed over.
    K,
    /// None: there is one.
    One,
}

/// A part of a matrix as it lies: `lines` of `length` elements that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    /// The first line.
    pub line: usize,
    /// The number of lines.
    pub lines: usize,
    /// The first element of each line.
    pub at: usize,
    /// The number of elements of each line.
    pub length: usize,
}

impl Rect {
    /// The number of elements.
    pub const fn elements(&self) -> usize {
        self.lines * self.length
    }

    /// Whether an element belongs to both.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.line < other.line + other.lines
            && other.line < self.line + self.lines
            && self.at < other.at + other.length
            && other.at < self.at + self.length
    }
}

/// The length of a line of a block in a device's memory, elements: lines begin at multiples of 16
/// bytes, which kernels read at once. `element` is the size of one, bytes.
pub const fn padded(length: usize, element: usize) -> usize {
    if element == 0 || element >= 16 {
        return length;
    }
    length.next_multiple_of(16 / element)
}

/// How much of an operand belongs to positions of an axis, across its lines or along them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Lines, or elements of a line, for each position.
    pub step: usize,
    /// Those behind the last position's that are needed as well.
    pub halo: usize,
}

impl Reach {
    /// One for each position.
    pub const ONE: Self = Self { step: 1, halo: 0 };

    /// So many for a single position: of an operand that does not have the axis.
    pub const fn all(count: usize) -> Self {
        Self {
            step: count,
            halo: 0,
        }
    }

    /// The lines or elements of so many positions.
    pub const fn len(self, positions: usize) -> usize {
        positions
            .saturating_mul(self.step)
            .saturating_add(self.halo)
    }
}

/// What tiles consist of along an axis of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// Tiles are multiples of so many positions, at least 1, but for the last one.
    pub size: usize,
    /// Whether the last one is computed as a multiple, too: together with positions before it,
    /// which belong to another tile.
    pub is_exact: bool,
}

impl Grain {
    /// Tiles of any size.
    pub const ONE: Self = Self {
        size: 1,
        is_exact: false,
    };

    /// The size of tiles along an axis of `all` positions where about `wanted` are meant.
    pub fn block(self, wanted: usize, all: usize) -> usize {
        let block = wanted.clamp(1, all.max(1)).next_multiple_of(self.size);
        if block < all {
            block
        } else if self.is_exact && all > self.size {
            all / self.size * self.size
        } else {
            all
        }
    }
}

/// How an operand belongs to the axes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The axes of its lines and of the elements of a line.
    pub axes: [Axis; 2],
    /// How much of it positions of these axes need.
    pub reach: [Reach; 2],
    /// Its first line, and the first element of each: it may be a part of a matrix.
    pub origin: [usize; 2],
    /// The size of an element, bytes.
    pub element: usize,
    /// The number of blocks that are sent for a block of it: 1 for a matrix, and more for a
    /// temporary that is computed from several.
    pub leaves: usize,
    /// Whether it is a temporary.
    pub is_computed: bool,
    /// Whether lines of blocks are padded.
    pub is_padded: bool,
}

impl Operand {
    /// The bytes of a block in a device's memory, for these sizes of the axes.
    pub fn block_bytes(&self, blocks: [usize; 3]) -> usize {
        let [lines, length] = self.size(blocks);
        self.bytes(lines, length)
    }

    /// The lines of a block and their length, for these sizes of the axes.
    pub fn size(&self, blocks: [usize; 3]) -> [usize; 2] {
        [0, 1].map(|at| self.reach[at].len(along(self.axes[at], blocks)))
    }

    /// The bytes of lines in a device's memory.
    pub const fn bytes(&self, lines: usize, length: usize) -> usize {
        let length = if self.is_padded && lines > 1 {
            padded(length, self.element)
        } else {
            length
        };
        lines.saturating_mul(length).saturating_mul(self.element)
    }

    /// Whether blocks differ along an axis.
    pub fn has(&self, axis: Axis) -> bool {
        self.axes.contains(&axis)
    }
}

/// A result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it belongs to the axes.
    pub operand: Operand,
    /// Whether it is read before it is written.
    pub is_read: bool,
}

/// An operation: the sizes of its axes, and what it reads and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The sizes of I, J and K, each at least 1.
    pub sizes: [usize; 3],
    /// What tiles consist of along I and J.
    pub grains: [Grain; 2],
    /// The results, one or more. A tile is a part of each of them.
    pub outputs: Vec<Output>,
    /// What is read.
    pub inputs: Vec<Operand>,
    /// Arithmetic operations for each I x J x K.
    pub work: f64,
    /// Memory that a launch needs of its own, as a part of the bytes of its inputs.
    pub workspace: f64,
}

/// The size of blocks along I, J and K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cut(pub [usize; 3]);

/// A block of the results: its first position and its size along I and J.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The first positions along I and J.
    pub first: [usize; 2],
    /// The sizes along I and J.
    pub size: [usize; 2],
}

impl Shape {
    /// The arithmetic of the whole operation.
    pub fn total_work(&self) -> f64 {
        self.sizes.iter().map(|size| *size as f64).product::<f64>() * self.work
    }

    /// The number of tiles along I and J, and of panels.
    pub fn counts(&self, Cut(blocks): Cut) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.sizes[axis].div_ceil(blocks[axis].max(1)))
    }

    /// The tiles, J first.
    pub fn tiles(&self, cut: Cut) -> Vec<Tile> {
        let Cut([height, width, _]) = cut;
        let [down, across, _] = self.counts(cut);
        let tile = |index: usize| {
            let first = [index / across * height, index % across * width];
            Tile {
                first,
                size: [
                    height.min(self.sizes[0] - first[0]),
                    width.min(self.sizes[1] - first[1]),
                ],
            }
        };
        (0..down * across).map(tile).collect()
    }

    /// The first position and the size of a panel along K.
    pub fn panel(&self, Cut([_, _, depth]): Cut, panel: usize) -> [usize; 2] {
        let first = panel * depth;
        [first, depth.min(self.sizes[2].saturating_sub(first))]
    }

    /// What is computed for a tile: the tile, and before it what is missing to whole
    /// [grains](Grain), as far as there is any.
    pub fn computed(&self, tile: &Tile) -> Tile {
        let mut computed = *tile;
        for (axis, grain) in self.grains.iter().enumerate() {
            let excess = tile.size[axis] % grain.size;
            if grain.is_exact && excess > 0 {
                let before = (grain.size - excess).min(tile.first[axis]);
                computed.first[axis] -= before;
                computed.size[axis] += before;
            }
        }
        computed
    }

    /// The bytes of the blocks of all results in a device's memory, for these sizes of the axes.
    pub fn output_bytes(&self, blocks: [usize; 3]) -> usize {
        let bytes = |output: &Output| output.operand.block_bytes(blocks);
        self.outputs
            .iter()
            .map(bytes)
            .fold(0, usize::saturating_add)
    }

    /// Whether any result is read before it is written.
    pub fn reads_outputs(&self) -> bool {
        self.outputs.iter().any(|output| output.is_read)
    }

    /// The part of a result that a tile is.
    pub fn result_rect(&self, output: &Operand, tile: &Tile) -> Rect {
        part(output, tile, [0, self.sizes[2]])
    }

    /// The part of an operand that is needed to [compute](Self::computed) a tile for positions
    /// along K: first and size. Of the result, what is written on the device.
    pub fn rect(&self, operand: &Operand, tile: &Tile, panel: [usize; 2]) -> Rect {
        part(operand, &self.computed(tile), panel)
    }

    /// The part of an operand that is needed to compute a tile in all panels.
    pub fn whole_rect(&self, operand: &Operand, tile: &Tile) -> Rect {
        self.rect(operand, tile, [0, self.sizes[2]])
    }
}

/// The part of an operand that belongs to a tile and to positions along K.
fn part(operand: &Operand, tile: &Tile, panel: [usize; 2]) -> Rect {
    let span = |axis: Axis| match axis {
        Axis::I => [tile.first[0], tile.size[0]],
        Axis::J => [tile.first[1], tile.size[1]],
        Axis::K => panel,
        Axis::One => [0, 1],
    };
    let of = |at: usize| {
        let ([first, size], reach) = (span(operand.axes[at]), operand.reach[at]);
        [first * reach.step, reach.len(size)]
    };
    let ([line, lines], [at, length]) = (of(0), of(1));
    Rect {
        line: operand.origin[0] + line,
        lines,
        at: operand.origin[1] + at,
        length,
    }
}

/// The size of an axis.
pub(super) const fn along(axis: Axis, sizes: [usize; 3]) -> usize {
    match axis {
        Axis::I => sizes[0],
        Axis::J => sizes[1],
        Axis::K => sizes[2],
        Axis::One => 1,
    }
}
