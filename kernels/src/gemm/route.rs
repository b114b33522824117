//! The choice of the kernel that multiplies matrices of a size on a device: the one that takes the
//! least time, with what it needs before, by what tuning has measured.

use super::estimate::{
    Machine, distance, estimate, estimate_batch, fastest, in_alignment, in_layout, nearest,
    parts_like, turned, volume,
};
use super::real::{BatchLike, MeasuredBatch, MeasuredTime, Orders, Products, Real, Size, Values};
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
    /// lie, or copied where lines of the other direction are faster by more than the copy takes.
    Tensor,
    /// On those of the Hopper GPUs, with instructions that only these have: `f16` and `bf16` with
    /// operands as they lie; single precision, too, but with A row after row.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The part of its time that a launch on a GPU takes whatever its size, in microseconds. It was
/// fitted to the times of 95 tuned sizes on the H200 by kernels with tiles.
const LAUNCH: f64 = 6.5;

/// How many products of each sum take as long as the rest of a tile's work on a GPU. It was fitted,
/// with `SECOND_LAUNCH` and `ADDING_UP`, to the times of 307 random sizes on the H200 that
/// `scripts/bench gemm-shapes` wrote.
const TILE: f64 = 60.0;

/// What a copy takes besides its own time where the kernel could read the operand as it lies, in
/// microseconds. On the H200 1023 x 1023 x 1023 in double precision had 24.4 TFLOPS with two copies
/// and 30.5 without (BENCHMARKS.md), where the times of kernels and copies let expect the same.
const WAITING: f64 = LAUNCH;

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
    /// Both with factors rounded to TF32.
    tensor_tf32: Vec<MeasuredTime>,
    warpgroup_tf32: Vec<MeasuredTime>,
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
    /// Whether A lies column after column: on CPUs `Direct` copies it for each column of tiles.
    pub(super) a_by_columns: bool,
    pub(super) pipelined: [bool; 2],
    pub(super) tensor: [bool; 2],
    pub(super) warpgroup: [bool; 2],
    pub(super) tensor_parts: [bool; 2],
    /// Those that a kernel which reads lines that begin anywhere would read faster after a copy, to
    /// lines that begin at multiples of 16 bytes.
    pub(super) unaligned: [bool; 2],
    /// Whether the lines that kernels read are of k, where they read either kind: those that the
    /// operands have as they lie.
    pub(super) of_k: [bool; 2],
}

/// The route that is given, where one is, and the products that tensor cores compute for each in
/// single precision.
pub(super) type Given = (Option<Route>, Products);

/// The route that a product takes, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) route: Route,
    /// Whether the lines of A, and of B, are of k where its kernel reads either kind.
    pub(super) of_k: [bool; 2],
    /// Whether operands are copied whose lines begin at no multiple of 16 bytes, though its kernel
    /// reads them.
    pub(super) aligns: bool,
    /// The values of its kernel.
    pub(super) values: Values,
}

/// The kernel of a route.
struct Kernel<'a> {
    route: Route,
    /// What tuning has measured of it.
    times: &'a [MeasuredTime],
    /// Which operands have to be copied for it.
    copied: [bool; 2],
    /// What tuning has measured of such copies.
    copying: &'a [MeasuredTime],
}

/// A choice, and how long it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) choice: Choice,
    pub(super) micros: f64,
}

impl Speeds {
    pub(super) fn of<T: Real>(device: &Device) -> Self {
        let capability = device.info().limits.nv_compute_capability;
        let tensor_times = |orders, products| T::tensor_times(device, (orders, products));
        Self {
            direct: T::direct_times(device),
            pipelined: T::pipelined_times(device),
            panels: T::panels_times(device),
            batched: T::batched_times(device, false),
            batched_tensor: (T::BATCHES_ON_TENSOR_CORES && Orders::Warp.are_taken_by(capability))
                .then(|| T::batched_times(device, true)),
            tensor: tensor_times(Orders::Warp, Products::Three),
            warpgroup: tensor_times(Orders::Warpgroup, Products::Three),
            tensor_tf32: tensor_times(Orders::Warp, Products::One),
            warpgroup_tf32: tensor_times(Orders::Warpgroup, Products::One),
            pipelined_parts: T::pipelined_parts_times(device),
            tensor_parts: T::tensor_parts_times(device),
            to_lines: T::pack_times(device),
            to_panels: T::to_panels_times(device),
            is_cpu: device.info().limits.is_cpu == 1,
            compute_units: device.info().limits.compute_units,
            on_tensor_cores: on_tensor_cores::<T>(capability),
            precise_from: T::PRECISE_FROM,
        }
    }

    /// Whether tensor cores may be chosen.
    fn may_use_tensor_cores(&self, size: Size, arithmetic: Arithmetic) -> bool {
        arithmetic == Arithmetic::Automatic && size.k >= self.precise_from
    }

    /// The given route, or the fastest, with lines as they lie, or turned where that is faster
    /// together with the copy.
    pub(super) fn choice(
        &self,
        (given, products): Given,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Choice {
        let ways = self.ways(products, size, copies, arithmetic, 1).into_iter();
        let open = ways.filter(|way| given.is_none_or(|route| way.choice.route == route));
        shortest(open).map_or_else(
            || {
                let route = given.unwrap_or_else(|| self.unmeasured(size, arithmetic));
                of_nothing(route, copies)
            },
            |way| way.choice,
        )
    }

    /// The fastest way by what tuning has measured.
    pub(super) fn fastest(
        &self,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Option<Way> {
        let ways = self.ways(Products::Three, size, copies, arithmetic, 1);
        shortest(ways.into_iter())
    }

    /// The ways that may be the fastest: at most so many that are expected to be, with up to three
    /// values for a kernel; where tuning has measured nothing, the routes that suit any device of
    /// its kind.
    pub(super) fn worth_timing(
        &self,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
        most: usize,
    ) -> Vec<Choice> {
        let mut ways = self.ways(Products::Three, size, copies, arithmetic, 3);
        ways.sort_by(|one, other| one.micros.total_cmp(&other.micros));
        ways.truncate(most);
        if !ways.is_empty() {
            return ways.into_iter().map(|way| way.choice).collect();
        }
        let tensor = self.tensor_route(size, arithmetic);
        let routes = [Route::Direct, self.tiled_route()]
            .into_iter()
            .chain(tensor);
        routes.map(|route| of_nothing(route, copies)).collect()
    }

    /// All ways of whose kernels tuning has measured something, with at most so many values for a
    /// kernel as the operands lie.
    fn ways(
        &self,
        products: Products,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
        most: usize,
    ) -> Vec<Way> {
        let is_precise = self.may_use_tensor_cores(size, arithmetic);
        let lies_aligned = copies.unaligned == [false; 2];
        let mut ways = Vec::new();
        for kernel in self.kernels(products, copies, is_precise) {
            ways.extend(self.ways_of(&kernel, size, copies, false, most));
            // With copies of the lines that begin at no multiple of 16 bytes, where it reads any.
            if !lies_aligned && kernel.times.iter().any(|time| time.is_aligned.is_some()) {
                ways.extend(self.ways_of(&kernel, size, copies, true, most));
            }
        }
        ways
    }

    /// The kernel of each route; those on tensor cores only where they are precise enough.
    fn kernels(
        &self,
        products: Products,
        copies: Copies,
        is_precise: bool,
    ) -> impl Iterator<Item = Kernel<'_>> {
        let (of_warps, of_warpgroups) = match products {
            Products::One => (&self.tensor_tf32, &self.warpgroup_tf32),
            Products::Three => (&self.tensor, &self.warpgroup),
        };
        let parts = &self.tensor_parts;
        let ordinary = [
            (Route::Direct, &self.direct, [false; 2]),
            (Route::Pipelined, &self.pipelined, copies.pipelined),
            (Route::Panels, &self.panels, [true; 2]),
            (
                Route::PipelinedParts,
                &self.pipelined_parts,
                copies.pipelined,
            ),
        ];
        let tensor = [
            (Route::Tensor, of_warps, copies.tensor),
            (Route::Warpgroup, of_warpgroups, copies.warpgroup),
            (Route::TensorParts, parts, copies.tensor_parts),
        ];
        let tensor = tensor.into_iter().filter(move |_| is_precise);
        ordinary
            .into_iter()
            .chain(tensor)
            .map(|(route, times, copied)| Kernel {
                route,
                times,
                copied,
                copying: match route {
                    Route::Panels => &self.to_panels,
                    _ => &self.to_lines,
                },
            })
    }

    /// The ways by a kernel: with lines as they lie, and turned. Where it `aligns`, operands whose
    /// lines begin at no multiple of 16 bytes are copied.
    fn ways_of(
        &self,
        kernel: &Kernel<'_>,
        size: Size,
        copies: Copies,
        aligns: bool,
        most: usize,
    ) -> Vec<Way> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let route = kernel.route;
        let aligned = copies.unaligned.map(|it| it && aligns);
        let is_aligned = copies.unaligned == aligned;
        let times = &in_alignment(kernel.times, is_aligned);
        let needed = either(kernel.copied, aligned);
        let values = self.values(route, times, copies.of_k, problem, most);
        let Some(&(_, fastest)) = values.first() else {
            return Vec::new();
        };
        let way = |of_k, of, micros| Way {
            choice: Choice {
                route,
                of_k,
                aligns,
                values: self.values_of(of, problem),
            },
            micros,
        };
        let within = |of: &MeasuredTime| match of.tile {
            Some([_, columns]) if route == Route::Direct && self.is_cpu => {
                let each = self.copying(&self.to_panels, size, [copies.a_by_columns, false]);
                each * (f64::from(size.n) / columns as f64).ceil()
            }
            _ => 0.0,
        };
        let waiting = WAITING * aligned.map(f64::from).iter().sum::<f64>();
        let besides = |needed| waiting + self.copying(kernel.copying, size, needed);
        let with = |&(of, by_itself)| {
            let micros = by_itself + within(of) + besides(needed);
            way(copies.of_k, of, micros)
        };
        let mut ways: Vec<_> = values.iter().map(with).collect();
        // What a copy takes has to be known.
        let turned = turned(times, copies.of_k, problem).filter(|_| !kernel.copying.is_empty());
        for (of_k, ratio) in turned {
            let differ = [0, 1].map(|it| of_k[it] != copies.of_k[it]);
            if let Some(&(of, _)) = self.values(route, times, of_k, problem, 1).first() {
                let micros = fastest * ratio + besides(either(needed, differ));
                ways.push(way(of_k, of, micros));
            }
        }
        ways
    }

    /// How long copying takes, in microseconds, of those operands that need it.
    fn copying(&self, times: &[MeasuredTime], size: Size, needed: [bool; 2]) -> f64 {
        let sides = needed.into_iter().zip([size.m, size.n]);
        let copied = sides.filter_map(|(needed, side)| needed.then_some(side));
        let copies = copied.map(|side| [i64::from(side), i64::from(size.k), 1]);
        copies
            .filter_map(|copy| estimate(times, copy, self.machine()))
            .sum()
    }

    /// The problems whose values a route takes for another with lines of A and B of k or not, and
    /// the time with them, the shortest first: of those whose time goes by rounds of work-groups
    /// on a GPU at most so many that are the fastest, otherwise the most similar.
    fn values<'a>(
        &self,
        route: Route,
        times: &'a [MeasuredTime],
        of_k: [bool; 2],
        problem: [i64; 3],
        most: usize,
    ) -> Vec<(&'a MeasuredTime, f64)> {
        let times = in_layout(times, of_k);
        let machine = self.machine();
        if !self.is_cpu && route != Route::Direct {
            return fastest(times, problem, machine, most);
        }
        let nearest = nearest(times, problem).map(|(_, nearest)| nearest);
        let known = nearest.and_then(|of| Some((of, estimate([of], problem, machine)?)));
        known.into_iter().collect()
    }

    /// The values of a problem for another. For itself and on a CPU, the selection rule has them.
    fn values_of(&self, of: &MeasuredTime, problem: [i64; 3]) -> Values {
        let parts = parts_like(of, problem, self.machine());
        Values {
            row: (of.size != problem && !self.is_cpu).then_some(of.row),
            parts: i32::try_from(parts).unwrap_or(0),
        }
    }

    const fn machine(&self) -> Machine {
        let (launch, tile) = if self.is_cpu {
            (0.0, 0.0)
        } else {
            (LAUNCH, TILE)
        };
        Machine {
            compute_units: self.compute_units,
            launch,
            tile,
        }
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
        let in_a_batch = estimate_batch(self.batches(kind), problem);
        let known = in_a_batch.zip(self.fastest(size, copies, arithmetic));
        known.map_or_else(
            || volume(problem) <= WORTH_A_BATCH,
            |(in_a_batch, way)| in_a_batch <= way.micros.max(self.shortest_launch()),
        )
    }

    /// The kind of kernel that takes less time for a batch, by what tuning has measured; where it
    /// has measured nothing, by the size.
    pub(super) fn batch_kind(&self, size: Size, arithmetic: Arithmetic) -> BatchKind {
        let tensor = self.batched_tensor.as_deref();
        let may_be = size.k > 0 && self.may_use_tensor_cores(size, arithmetic);
        let Some(tensor) = tensor.filter(|_| may_be) else {
            return BatchKind::Ordinary;
        };
        let problem = [size.m, size.n, size.k].map(i64::from);
        let times = [tensor, &self.batched].map(|of| estimate_batch(of, problem));
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

    /// The count of the batch that was tuned for the most similar size, and the like.
    pub(super) fn batches_like(&self, size: Size, kind: BatchKind) -> Option<BatchLike> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let away = |batch: &MeasuredBatch| distance(batch.each.size, problem);
        let batches = self.batches(kind).iter();
        let nearest = batches.min_by(|a, b| away(a).total_cmp(&away(b)));
        nearest.map(|batch| batch.like)
    }

    /// The route where nothing is known of this device.
    fn unmeasured(&self, size: Size, arithmetic: Arithmetic) -> Route {
        if volume([size.m, size.n, size.k].map(i64::from)) < WORTH_PACKING {
            Route::Direct
        } else {
            let tensor = self.tensor_route(size, arithmetic);
            tensor.unwrap_or_else(|| self.tiled_route())
        }
    }

    /// The route of large products on the ordinary units, on any device of its kind.
    const fn tiled_route(&self) -> Route {
        if self.is_cpu {
            Route::Panels
        } else {
            Route::Pipelined
        }
    }

    /// The route on tensor cores, where the device has some that may be chosen.
    fn tensor_route(&self, size: Size, arithmetic: Arithmetic) -> Option<Route> {
        let tensor = self.on_tensor_cores;
        tensor.filter(|_| self.may_use_tensor_cores(size, arithmetic))
    }
}

/// The route on the tensor cores of NVIDIA's GPUs of a compute capability, where a type has one.
fn on_tensor_cores<T: Real>(capability: i64) -> Option<Route> {
    let routes = [
        (Orders::Warpgroup, Route::Warpgroup),
        (Orders::Warp, Route::Tensor),
    ];
    let there =
        |(orders, route): (Orders, Route)| orders.are_there::<T>(capability).then_some(route);
    routes.into_iter().find_map(there)
}

/// A route of which tuning has measured nothing.
const fn of_nothing(route: Route, copies: Copies) -> Choice {
    Choice {
        route,
        of_k: copies.of_k,
        aligns: false,
        values: Values {
            row: None,
            parts: 0,
        },
    }
}

/// What either is true of, for A and B.
fn either(one: [bool; 2], other: [bool; 2]) -> [bool; 2] {
    [0, 1].map(|it| one[it] || other[it])
}

fn shortest(ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.min_by(|a, b| a.micros.total_cmp(&b.micros))
}

#[cfg(test)]
#[path = "../../tests/unit/gemm_route.rs"]
mod tests;
