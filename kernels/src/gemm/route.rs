//! The choice of the kernel that multiplies matrices of a size on a device: the one that takes the
//! least time, with what it needs before, by what tuning has measured.

use super::real::{MeasuredBatch, MeasuredTime, Orders, Real, Size};
use cltune::Device;

/// A way to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// As the matrices lie.
    Direct,
    /// In tiles; operands that lie otherwise than row after row (B) and column after column (A) are
    /// transposed first.
    Pipelined,
    /// On the tensor cores of NVIDIA's GPUs since compute capability 8.0: single precision by three
    /// products for one, with operands as for `Pipelined`; double precision with operands as they
    /// lie.
    Tensor,
    /// On those of the Hopper GPUs, with instructions that only these have: single precision with A
    /// row after row and B column after column; `f16` and `bf16` with operands as they lie.
    Warpgroup,
    /// In vectors, from panels that both operands are copied to first.
    Panels,
    /// As `Pipelined`, by work-groups with a part of each sum, which a second launch adds up: for
    /// products with few tiles and long sums.
    PipelinedParts,
    /// The same on tensor cores: single precision as `Warpgroup`, double precision as `Tensor`.
    TensorParts,
}

/// What must not be chosen, or has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Whatever is fastest of what is as precise as plain arithmetic in the type. On tensor cores
    /// single precision is split into three products; its error is at most twice that of plain
    /// sums. Double precision is rounded there as elsewhere, and sums of `f16` and `bf16` are in
    /// single precision, cut off rather than rounded before the result is rounded to the type.
    Automatic,
    /// The ordinary units only.
    Plain,
}

/// Without measurements: the least m n k for which packing pays. Its cost grows with the square of
/// the size and what it saves with the cube.
const WORTH_PACKING: f64 = 192.0 * 192.0 * 192.0;

/// Without measurements: the greatest m n k of products that are multiplied in one launch. Larger
/// ones have a kernel for their size.
const WORTH_A_BATCH: f64 = 128.0 * 128.0 * 128.0;

/// Without measurements: the least m n k of products in a batch that are multiplied on tensor cores.
/// Smaller ones are bound by memory.
const WORTH_TENSOR_CORES: f64 = 32.0 * 32.0 * 32.0;

/// The kernels for batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BatchKind {
    Ordinary,
    /// On tensor cores.
    Tensor,
}

/// What is known of a device's speed.
#[derive(Debug)]
pub(super) struct Speeds {
    direct: Vec<MeasuredTime>,
    pipelined: Vec<MeasuredTime>,
    panels: Vec<MeasuredTime>,
    batched: Vec<MeasuredBatch>,
    /// The same on tensor cores; `None` where the type or the device has none for that.
    batched_tensor: Option<Vec<MeasuredBatch>>,
    tensor: Vec<MeasuredTime>,
    warpgroup: Vec<MeasuredTime>,
    pipelined_parts: Vec<MeasuredTime>,
    tensor_parts: Vec<MeasuredTime>,
    /// Copying an operand, to lines of the other direction and to panels.
    to_lines: Vec<MeasuredTime>,
    to_panels: Vec<MeasuredTime>,
    is_cpu: bool,
    /// How many work-groups run at a time.
    compute_units: i64,
    /// The route on the device's tensor cores, where it has some.
    on_tensor_cores: Option<Route>,
    /// The least k for which they are as precise as plain arithmetic.
    precise_from: i32,
}

/// Which operands, A and B, have to be copied before kernels can read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copies {
    pub(super) pipelined: [bool; 2],
    pub(super) tensor: [bool; 2],
    pub(super) warpgroup: [bool; 2],
    pub(super) tensor_parts: [bool; 2],
    /// Whether their lines, as they lie, are of k.
    pub(super) of_k: [bool; 2],
}

/// The route that a product takes, and whether the lines of A, and of B, are of k where its kernel
/// reads either kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) route: Route,
    pub(super) of_k: [bool; 2],
}

/// A way to multiply, and how long it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    route: Route,
    /// Whether the kernel has the lines of A, and of B, of k; `None` where nothing was measured of
    /// such lines, or the kernel reads one kind only.
    of_k: Option<[bool; 2]>,
    pub(super) micros: f64,
}

impl Speeds {
    pub(super) fn of<T: Real>(device: &Device) -> Self {
        let is_there = |orders: Orders| T::lines(orders).is_some() && orders.are_taken_by(device);
        Self {
            direct: T::direct_times(device),
            pipelined: T::pipelined_times(device),
            panels: T::panels_times(device),
            batched: T::batched_times(device, false),
            batched_tensor: (T::BATCHES_ON_TENSOR_CORES && Orders::Warp.are_taken_by(device))
                .then(|| T::batched_times(device, true)),
            tensor: T::tensor_times(device, Orders::Warp),
            warpgroup: T::tensor_times(device, Orders::Warpgroup),
            pipelined_parts: T::pipelined_parts_times(device),
            tensor_parts: T::tensor_parts_times(device),
            to_lines: T::pack_times(device, true),
            to_panels: T::pack_times(device, false),
            is_cpu: device.info().limits.is_cpu == 1,
            compute_units: device.info().limits.compute_units,
            on_tensor_cores: [
                (Orders::Warpgroup, Route::Warpgroup),
                (Orders::Warp, Route::Tensor),
            ]
            .into_iter()
            .find_map(|(orders, route)| is_there(orders).then_some(route)),
            precise_from: T::PRECISE_FROM,
        }
    }

    /// Whether tensor cores may be chosen.
    fn may_use_tensor_cores(&self, size: Size, arithmetic: Arithmetic) -> bool {
        arithmetic == Arithmetic::Automatic && size.k >= self.precise_from
    }

    /// The route for a size.
    pub(super) fn route(&self, size: Size, copies: Copies, arithmetic: Arithmetic) -> Route {
        let known = self.fastest(size, copies, arithmetic);
        known.map_or_else(|| self.unmeasured(size, arithmetic), |way| way.route)
    }

    /// The given route, or the fastest, with lines as they lie, or turned where that is faster together
    /// with the copy.
    pub(super) fn choice(
        &self,
        given: Option<Route>,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Choice {
        let route = given.unwrap_or_else(|| self.route(size, copies, arithmetic));
        let ways = self.ways(size, copies, Arithmetic::Automatic).into_iter();
        let fastest = shortest(ways.filter(|way| way.route == route));
        let of_k = fastest.and_then(|way| way.of_k).unwrap_or(copies.of_k);
        Choice { route, of_k }
    }

    /// The fastest way by what tuning has measured.
    pub(super) fn fastest(
        &self,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Option<Way> {
        shortest(self.ways(size, copies, arithmetic).into_iter())
    }

    /// All ways of whose kernels tuning has measured something.
    fn ways<'a>(&'a self, size: Size, copies: Copies, arithmetic: Arithmetic) -> Vec<Way> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        // Copying, in microseconds, of those operands that need it.
        let copying = |times: &[MeasuredTime], needed: [bool; 2]| {
            let sides = needed.into_iter().zip([size.m, size.n]);
            let copied = sides.filter_map(|(needed, side)| needed.then_some(side));
            let copies = copied.map(|side| [i64::from(side), i64::from(size.k), 1]);
            copies
                .filter_map(|copy| self.estimate(times, copy))
                .sum::<f64>()
        };
        let is_precise = self.may_use_tensor_cores(size, arithmetic);
        let tensor = |times: &'a [MeasuredTime]| if is_precise { times } else { &[] };
        let to_lines = self.to_lines.as_slice();
        let choices = [
            (Route::Direct, self.direct.as_slice(), to_lines, [false; 2]),
            (
                Route::Pipelined,
                &self.pipelined,
                to_lines,
                copies.pipelined,
            ),
            (Route::Tensor, tensor(&self.tensor), to_lines, copies.tensor),
            (
                Route::Warpgroup,
                tensor(&self.warpgroup),
                to_lines,
                copies.warpgroup,
            ),
            (Route::Panels, &self.panels, &self.to_panels, [true; 2]),
            (
                Route::PipelinedParts,
                &self.pipelined_parts,
                to_lines,
                copies.pipelined,
            ),
            (
                Route::TensorParts,
                tensor(&self.tensor_parts),
                to_lines,
                copies.tensor_parts,
            ),
        ];
        let mut ways = Vec::new();
        for (route, times, copied, needed) in choices {
            // As they lie; where that was not measured, as whatever was.
            let lies = Some(copies.of_k);
            let measured = times.iter().any(|time| time.of_k == lies);
            let of_k = lies.filter(|_| measured);
            let as_they_lie = times.iter().filter(|time| !measured || time.of_k == lies);
            let Some(by_itself) = self.estimate(as_they_lie, problem) else {
                continue;
            };
            let micros = by_itself + copying(copied, needed);
            ways.push(Way {
                route,
                of_k,
                micros,
            });
            // What a copy takes has to be known.
            let turned = turned(times, copies.of_k, problem).filter(|_| !copied.is_empty());
            for (turned, ratio) in turned {
                let needed = [0, 1].map(|it| needed[it] || turned[it] != copies.of_k[it]);
                ways.push(Way {
                    route,
                    of_k: Some(turned),
                    micros: by_itself * ratio + copying(copied, needed),
                });
            }
        }
        ways
    }

    /// The time, in microseconds, by that of the most similar problem. A problem that is another
    /// takes somewhat more than its work lets expect.
    fn estimate<'a>(
        &self,
        times: impl IntoIterator<Item = &'a MeasuredTime>,
        problem: [i64; 3],
    ) -> Option<f64> {
        let (away, nearest) = nearest(times, problem)?;
        let work = |problem, parts| work(problem, nearest.tile, parts, self.compute_units);
        let doubt = DOUBT.mul_add(away, 1.0);
        let parts = self.parts_like(nearest, problem);
        let of_nearest = work(nearest.size, nearest.parts);
        Some(nearest.micros * work(problem, parts) / of_nearest * doubt)
    }

    /// The number of parts of sums for a problem, from that of the most similar one that was tuned.
    /// There are as many rounds of work-groups, the last one as full as possible.
    fn parts_like(&self, nearest: &MeasuredTime, problem: [i64; 3]) -> i64 {
        if nearest.parts == 1 || nearest.size == problem {
            return nearest.parts;
        }
        let tiles = |size| tiles(size, nearest.tile);
        let compute_units = self.compute_units as f64;
        let rounds = (tiles(nearest.size) * nearest.parts as f64 / compute_units).ceil();
        let parts = (rounds * compute_units / tiles(problem)) as i64;
        parts.clamp(2, (problem[2] / LEAST_PART).clamp(2, MOST_PARTS))
    }

    /// In how many parts a route sums up, with lines of A and B of k or not; 0, which is how many
    /// were tuned, where nothing was measured of such.
    pub(super) fn parts(&self, route: Route, size: Size, of_k: [bool; 2]) -> i32 {
        let times = match route {
            Route::PipelinedParts => &self.pipelined_parts,
            Route::TensorParts => &self.tensor_parts,
            _ => return 1,
        };
        let times = times
            .iter()
            .filter(|of| of.of_k.is_none_or(|it| it == of_k));
        let problem = [size.m, size.n, size.k].map(i64::from);
        let parts = nearest(times, problem).map(|(_, of)| self.parts_like(of, problem));
        parts.map_or(0, |parts| i32::try_from(parts).unwrap_or(0))
    }

    /// Whether products of a size take less time in a batch, of a kind, than each by itself.
    pub(super) fn is_faster_in_a_batch(
        &self,
        size: Size,
        kind: BatchKind,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> bool {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let in_a_batch = Self::estimate_batch(self.batches(kind), problem);
        let known = in_a_batch.zip(self.fastest(size, copies, arithmetic));
        known.map_or_else(
            || volume(problem) <= WORTH_A_BATCH,
            |(in_a_batch, way)| in_a_batch <= way.micros.max(self.shortest_launch()),
        )
    }

    /// The kind of kernel that takes less time for a batch, by what tuning has measured; where it
    /// has measured nothing, by the size. `is_aligned` where tensor cores can read the matrices.
    pub(super) fn batch_kind(
        &self,
        size: Size,
        is_aligned: bool,
        arithmetic: Arithmetic,
    ) -> BatchKind {
        let tensor = self.batched_tensor.as_deref();
        let may_be = is_aligned && self.may_use_tensor_cores(size, arithmetic);
        let Some(tensor) = tensor.filter(|_| may_be) else {
            return BatchKind::Ordinary;
        };
        let problem = [size.m, size.n, size.k].map(i64::from);
        let times = [tensor, &self.batched].map(|of| Self::estimate_batch(of, problem));
        let is_tensor = match times {
            [Some(tensor), Some(ordinary)] => tensor <= ordinary,
            _ => volume(problem) >= WORTH_TENSOR_CORES,
        };
        if is_tensor {
            BatchKind::Tensor
        } else {
            BatchKind::Ordinary
        }
    }

    fn batches(&self, kind: BatchKind) -> &[MeasuredBatch] {
        match kind {
            BatchKind::Ordinary => &self.batched,
            BatchKind::Tensor => self.batched_tensor.as_deref().unwrap_or_default(),
        }
    }

    /// The time of a product in a batch, in microseconds, by that of the most similar size. It may be
    /// bound by memory there and by arithmetic here, or the reverse, so that it is the longer of
    /// what both let expect. One that is smaller than all that were measured takes no less than
    /// those: a tile takes as long whether the product fills it or not.
    fn estimate_batch(batches: &[MeasuredBatch], problem: [i64; 3]) -> Option<f64> {
        let each = batches.iter().map(|batch| &batch.each);
        let shortest = each.clone().map(|of| of.micros).reduce(f64::min)?;
        let (away, nearest) = nearest(each, problem)?;
        let arithmetic = volume(problem) / volume(nearest.size);
        let memory = surface(problem) / surface(nearest.size);
        let doubt = DOUBT.mul_add(away, 1.0);
        Some((nearest.micros * arithmetic.max(memory) * doubt).max(shortest))
    }

    /// The least time of a launch that was measured, in microseconds: products that are smaller
    /// than all that were measured take no less by themselves.
    fn shortest_launch(&self) -> f64 {
        let routes = [
            &self.direct,
            &self.pipelined,
            &self.panels,
            &self.tensor,
            &self.warpgroup,
        ];
        let times = routes.into_iter().flatten().map(|of| of.micros);
        times.fold(f64::INFINITY, f64::min)
    }

    /// The count of the batch that was tuned for the most similar size.
    pub(super) fn batches_like(&self, size: Size, kind: BatchKind) -> Option<i64> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let away = |batch: &MeasuredBatch| distance(batch.each.size, problem);
        let batches = self.batches(kind).iter();
        let nearest = batches.min_by(|a, b| away(a).total_cmp(&away(b)));
        nearest.map(|batch| batch.count)
    }

    /// The route where nothing is known of this device.
    fn unmeasured(&self, size: Size, arithmetic: Arithmetic) -> Route {
        if volume([size.m, size.n, size.k].map(i64::from)) < WORTH_PACKING {
            Route::Direct
        } else if self.is_cpu {
            Route::Panels
        } else {
            let tensor = self.on_tensor_cores;
            let tensor = tensor.filter(|_| self.may_use_tensor_cores(size, arithmetic));
            tensor.unwrap_or(Route::Pipelined)
        }
    }
}

fn shortest(ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.min_by(|a, b| a.micros.total_cmp(&b.micros))
}

/// The other layouts of A and B than that in which they lie, and which part of its time a kernel takes
/// in each: by the most similar size that was measured in both, with doubt where that is another.
fn turned(
    times: &[MeasuredTime],
    as_they_lie: [bool; 2],
    problem: [i64; 3],
) -> impl Iterator<Item = ([bool; 2], f64)> {
    let all = [false, true].map(|a| [[a, false], [a, true]]).into_iter();
    let others = all.flatten().filter(move |other| *other != as_they_lie);
    others.filter_map(move |other| {
        let of = |layout| times.iter().filter(move |time| time.of_k == Some(layout));
        let same_size = |one: &MeasuredTime| of(as_they_lie).find(|it| it.size == one.size);
        let both = of(other).filter_map(|one| Some((one, same_size(one)?)));
        let away = |(one, _): &(&MeasuredTime, _)| distance(one.size, problem);
        let nearest = both.min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let doubt = DOUBT.mul_add(away(&nearest), 1.0);
        let (turned, lies) = nearest;
        Some((other, turned.micros / lies.micros * doubt))
    })
}

/// How much longer a problem is taken to need for each unit of its [`distance`] from the one whose
/// time is known. A kernel is seldom as fast for another shape: on the H200 128 x 4096 x 4096 took
/// 189 us by `Tensor`, where its time at 1024, which is 8 away, and that of copying let expect 118
/// (BENCHMARKS.md).
const DOUBT: f64 = 0.1;

/// The most parts of sums, and the least products of one: those of fewer take longer to be added up
/// than to be computed.
const MOST_PARTS: i64 = 32;
const LEAST_PART: i64 = 128;

/// How long a problem takes, in a unit of the kernel's own. With tiles, work-groups run in rounds, one
/// on each compute unit, and those of a round take a time that is proportional to k. Parts of sums
/// are written and read again besides.
fn work(problem: [i64; 3], tile: Option<[i64; 2]>, parts: i64, compute_units: i64) -> f64 {
    if tile.is_none() {
        return volume(problem);
    }
    let rounds = (tiles(problem, tile) * parts as f64 / compute_units as f64).ceil();
    let k = problem[2].max(1) as f64 / parts as f64;
    rounds * if parts == 1 { k } else { k + ADDING_UP }
}

/// How many products of each sum take as long as writing the sums of a part and reading them again.
/// By its data sheet a compute unit of the H200, with its share of 4.8 TB/s, takes 1.8 us for the two
/// at a tile of 64 x 64 in double precision; with its share of 67 TFLOPS, as long as 110 products of
/// each sum.
const ADDING_UP: f64 = 128.0;

/// How many tiles C has.
fn tiles([m, n, _]: [i64; 3], tile: Option<[i64; 2]>) -> f64 {
    let sides = [m, n].into_iter().zip(tile.unwrap_or([1; 2]));
    let along = sides.map(|(side, tile)| (side.max(1) as f64 / tile as f64).ceil());
    along.product()
}

/// The most similar problem of those that were measured, and its distance.
fn nearest<'a>(
    times: impl IntoIterator<Item = &'a MeasuredTime>,
    problem: [i64; 3],
) -> Option<(f64, &'a MeasuredTime)> {
    let away = times.into_iter().map(|of| (distance(of.size, problem), of));
    away.min_by(|a, b| a.0.total_cmp(&b.0))
}

fn volume(size: [i64; 3]) -> f64 {
    size.iter().map(|&side| side.max(1) as f64).product()
}

/// The elements of A, B and C.
fn surface([m, n, k]: [i64; 3]) -> f64 {
    [[m, k], [k, n], [m, n]]
        .map(|[a, b]| volume([a, b, 1]))
        .iter()
        .sum()
}

/// The distance that the selection rule uses: squared logarithms of ratios.
fn distance(a: [i64; 3], b: [i64; 3]) -> f64 {
    let ratios = a
        .iter()
        .zip(b)
        .map(|(&a, b)| (a.max(1) as f64 / b.max(1) as f64).ln());
    ratios.map(|log| log * log).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(side: i64, micros: f64) -> MeasuredTime {
        MeasuredTime {
            micros,
            ..MeasuredTime::of([side; 3])
        }
    }

    fn cube(side: i32) -> Size {
        Size {
            m: side,
            n: side,
            k: side,
        }
    }

    /// Of a device with one compute unit of which nothing was measured.
    fn nothing() -> Speeds {
        Speeds {
            direct: Vec::new(),
            pipelined: Vec::new(),
            panels: Vec::new(),
            batched: Vec::new(),
            batched_tensor: None,
            tensor: Vec::new(),
            warpgroup: Vec::new(),
            pipelined_parts: Vec::new(),
            tensor_parts: Vec::new(),
            to_lines: Vec::new(),
            to_panels: Vec::new(),
            is_cpu: false,
            compute_units: 1,
            on_tensor_cores: None,
            precise_from: 16,
        }
    }

    const NO_COPIES: Copies = Copies {
        pipelined: [false; 2],
        tensor: [false; 2],
        warpgroup: [false; 2],
        tensor_parts: [false; 2],
        of_k: [true, false],
    };

    #[test]
    fn the_least_time_with_copies_decides() {
        let speeds = Speeds {
            direct: vec![measured(100, 10.0)],
            pipelined: vec![measured(1000, 1000.0)],
            tensor: vec![measured(1000, 500.0)],
            warpgroup: vec![measured(1000, 450.0)],
            to_lines: vec![MeasuredTime {
                micros: 100.0,
                ..MeasuredTime::of([1000, 1000, 1])
            }],
            on_tensor_cores: Some(Route::Warpgroup),
            ..nothing()
        };
        let route = |side, copies| speeds.route(cube(side), copies, Arithmetic::Automatic);
        assert_eq!(route(1000, NO_COPIES), Route::Warpgroup);
        let b_is_by_rows = Copies {
            warpgroup: [false, true],
            ..NO_COPIES
        };
        assert_eq!(route(1000, b_is_by_rows), Route::Tensor);
        let plain = speeds.route(cube(1000), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
        // At 20, far from all that was measured: direct takes 0.14 us, tensor 0.017 and copying
        // both operands 0.33.
        let copies = Copies {
            pipelined: [true; 2],
            tensor: [true; 2],
            warpgroup: [true; 2],
            tensor_parts: [true; 2],
            ..NO_COPIES
        };
        assert_eq!(route(20, copies), Route::Direct);
        assert_eq!(route(20, NO_COPIES), Route::Warpgroup);
        // Too short sums for tensor cores.
        assert_eq!(route(15, NO_COPIES), Route::Pipelined);
    }

    #[test]
    fn an_operand_is_turned_where_the_kernel_gains_more_than_the_copy_takes() {
        let times = |side, of_k, micros| MeasuredTime {
            of_k: Some(of_k),
            ..measured(side, micros)
        };
        let copy = |side, micros| MeasuredTime {
            micros,
            ..MeasuredTime::of([side, side, 1])
        };
        let (rows, columns) = ([true, false], [true, true]);
        let mut speeds = Speeds {
            tensor: vec![
                times(500, rows, 20.0),
                times(500, columns, 25.0),
                times(4000, rows, 2400.0),
                times(4000, columns, 2900.0),
            ],
            to_lines: vec![copy(500, 6.0), copy(4000, 70.0)],
            ..nothing()
        };
        let by_columns = Copies {
            of_k: columns,
            ..NO_COPIES
        };
        let lines = |speeds: &Speeds, side, copies| {
            let (tensor, size) = (Some(Route::Tensor), cube(side));
            let choice = speeds.choice(tensor, size, copies, Arithmetic::Automatic);
            choice.of_k
        };
        let of_k = |speeds: &Speeds, side| lines(speeds, side, by_columns);
        assert_eq!(of_k(&speeds, 4000), rows);
        assert_eq!(of_k(&speeds, 500), columns);
        let way = speeds.fastest(cube(4000), by_columns, Arithmetic::Automatic);
        let micros = way.unwrap().micros;
        assert!((micros - 2470.0).abs() < 1e-9, "{micros}");
        // Operands that are copied anyway are so to whichever lines are faster.
        let copied = Copies {
            tensor: [false, true],
            ..by_columns
        };
        assert_eq!(lines(&speeds, 500, copied), rows);
        // Far from what was measured that is no reason any more.
        assert_eq!(lines(&speeds, 100, copied), columns);
        // Nor is it where nobody knows what a copy takes.
        let copies = std::mem::take(&mut speeds.to_lines);
        assert_eq!(of_k(&speeds, 4000), columns);
        speeds.to_lines = copies;
        // Where a layout was not measured, operands stay as they lie.
        speeds.tensor.retain(|time| time.of_k == Some(rows));
        assert_eq!(of_k(&speeds, 4000), columns);
    }

    #[test]
    fn what_was_measured_for_the_very_shape_is_believed_rather_than_what_another_lets_expect() {
        let skinny = [128, 4096, 4096];
        let near = MeasuredTime {
            micros: 120.0,
            ..MeasuredTime::of(skinny)
        };
        // As much work as 104 us at 1024.
        let far = measured(1024, 52.0);
        let expected = nothing().estimate(&[far], skinny).unwrap();
        assert!((180.0..200.0).contains(&expected), "{expected}");
        let exact = nothing().estimate(&[far, near], skinny).unwrap();
        assert!((exact - 120.0).abs() < 1e-9, "{exact}");
    }

    /// 132 compute units have 64 work-groups at 1024, 100 at 1280 x 1280, and 150, so two rounds,
    /// at 1280 x 1800.
    #[test]
    fn a_round_of_few_work_groups_takes_as_long_as_a_full_one() {
        let known = MeasuredTime {
            tile: Some([128; 2]),
            ..measured(1024, 50.0)
        };
        let speeds = Speeds {
            compute_units: 132,
            ..nothing()
        };
        let time = |problem| speeds.estimate(&[known], problem).unwrap();
        assert!((time([1024; 3]) - 50.0).abs() < 1e-9);
        let (one, two) = (time([1280, 1280, 1024]), time([1280, 1800, 1024]));
        assert!((50.0..52.0).contains(&one), "{one}");
        assert!((100.0..110.0).contains(&two), "{two}");
        let half = time([1024, 1024, 512]);
        assert!((25.0..27.0).contains(&half), "{half}");
    }

    /// 132 compute units and 64 tiles at 512 x 512.
    #[test]
    fn sums_are_in_parts_where_there_are_few_tiles() {
        let size = |m, n, k| Size { m, n, k };
        let speeds = Speeds {
            tensor: vec![MeasuredTime {
                tile: Some([64; 2]),
                ..measured(1024, 50.0)
            }],
            tensor_parts: vec![MeasuredTime {
                tile: Some([64; 2]),
                parts: 4,
                micros: 60.0,
                ..MeasuredTime::of([512, 512, 4096])
            }],
            compute_units: 132,
            ..nothing()
        };
        let route = |size| speeds.route(size, NO_COPIES, Arithmetic::Automatic);
        assert_eq!(route(size(512, 512, 4096)), Route::TensorParts);
        assert_eq!(route(size(300, 300, 5000)), Route::TensorParts);
        assert_eq!(route(size(2048, 2048, 2048)), Route::Tensor);
        let parts = |size| speeds.parts(Route::TensorParts, size, NO_COPIES.of_k);
        assert_eq!(parts(size(512, 512, 4096)), 4);
        // Two rounds, as tuned, of 25 tiles in 10 parts; of too short sums in fewer, and of many
        // tiles in no less than two.
        assert_eq!(parts(size(300, 300, 5000)), 10);
        assert_eq!(parts(size(300, 300, 600)), 4);
        assert_eq!(parts(size(4096, 4096, 4096)), 2);
        let pipelined = speeds.parts(Route::PipelinedParts, size(300, 300, 5000), [false; 2]);
        assert_eq!(pipelined, 0);
        let plain = speeds.route(size(512, 512, 4096), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
    }

    #[test]
    fn unknown_devices_go_by_type_and_size() {
        let mut speeds = Speeds {
            is_cpu: true,
            ..nothing()
        };
        let route =
            |speeds: &Speeds, side| speeds.route(cube(side), NO_COPIES, Arithmetic::Automatic);
        assert_eq!(route(&speeds, 50), Route::Direct);
        assert_eq!(route(&speeds, 500), Route::Panels);
        speeds.is_cpu = false;
        assert_eq!(route(&speeds, 500), Route::Pipelined);
        speeds.on_tensor_cores = Some(Route::Tensor);
        assert_eq!(route(&speeds, 500), Route::Tensor);
        let plain = speeds.route(cube(500), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
    }

    #[test]
    fn batches_are_one_launch_where_a_product_takes_less_time_in_one() {
        let batch = |side, count, micros| MeasuredBatch {
            count,
            each: measured(side, micros),
        };
        let mut speeds = Speeds {
            direct: vec![measured(64, 7.0), measured(256, 16.0)],
            pipelined: vec![measured(1000, 60.0)],
            batched: vec![batch(16, 1000, 0.01), batch(128, 50, 0.2)],
            precise_from: 0,
            ..nothing()
        };
        let is_faster = |speeds: &Speeds, side| {
            let kind = BatchKind::Ordinary;
            speeds.is_faster_in_a_batch(cube(side), kind, NO_COPIES, Arithmetic::Automatic)
        };
        // Pipelined would take 0.0015 us at 16, if launches could be as short as that.
        assert!(is_faster(&speeds, 16) && is_faster(&speeds, 256));
        // 0.2 us for 128 are 95 for 1000, more with doubt.
        assert!(!is_faster(&speeds, 1000));
        assert_eq!(
            speeds.batches_like(cube(20), BatchKind::Ordinary),
            Some(1000)
        );
        assert_eq!(
            speeds.batches_like(cube(100), BatchKind::Ordinary),
            Some(50)
        );
        // By the size where nothing is known.
        speeds.batched = Vec::new();
        assert!(is_faster(&speeds, 128) && !is_faster(&speeds, 129));
        assert_eq!(speeds.batches_like(cube(20), BatchKind::Ordinary), None);
    }

    #[test]
    fn batches_are_on_tensor_cores_where_that_is_faster_and_they_can_read_the_matrices() {
        let batch = |side, micros| MeasuredBatch {
            count: 100,
            each: measured(side, micros),
        };
        let mut speeds = Speeds {
            batched: vec![batch(16, 0.001), batch(128, 0.2)],
            batched_tensor: Some(vec![batch(16, 0.002), batch(128, 0.05)]),
            precise_from: 0,
            ..nothing()
        };
        let kind = |speeds: &Speeds, side, is_aligned| {
            speeds.batch_kind(cube(side), is_aligned, Arithmetic::Automatic)
        };
        assert_eq!(kind(&speeds, 16, true), BatchKind::Ordinary);
        assert_eq!(kind(&speeds, 128, true), BatchKind::Tensor);
        assert_eq!(kind(&speeds, 128, false), BatchKind::Ordinary);
        let plain = speeds.batch_kind(cube(128), true, Arithmetic::Plain);
        assert_eq!(plain, BatchKind::Ordinary);
        // Half as many operations as at 64, and more than half of the memory.
        speeds.batched_tensor = Some(vec![batch(51, 0.005)]);
        speeds.batched = vec![batch(64, 0.008)];
        assert_eq!(kind(&speeds, 51, true), BatchKind::Tensor);
        // Smaller than what was measured: not faster.
        speeds.batched = vec![batch(16, 0.001), batch(128, 0.2)];
        speeds.batched_tensor = Some(vec![batch(64, 0.004)]);
        assert_eq!(kind(&speeds, 63, true), BatchKind::Tensor);
        assert_eq!(kind(&speeds, 24, true), BatchKind::Ordinary);
        // By the size where nothing is known.
        speeds.batched_tensor = Some(Vec::new());
        assert_eq!(kind(&speeds, 31, true), BatchKind::Ordinary);
        assert_eq!(kind(&speeds, 32, true), BatchKind::Tensor);
        speeds.batched_tensor = None;
        assert_eq!(kind(&speeds, 128, true), BatchKind::Ordinary);
    }
}
