//! The choice of the kernel that multiplies matrices of a size on a device: the one that takes the
//! least time, with what it needs before, by what tuning has measured.

use super::estimate::{
    Machine, distance, estimate, estimate_batch, fastest, in_layout, nearest, parts_like, turned,
    volume,
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
/// fitted, with `SECOND_LAUNCH` and `ADDING_UP`, to the times on the H200 in kernels/cltune.lock of
/// 95 sizes by kernels with tiles; docs/gemm.md says how well.
const LAUNCH: f64 = 6.5;

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
    pub(super) pipelined: [bool; 2],
    pub(super) tensor: [bool; 2],
    pub(super) warpgroup: [bool; 2],
    pub(super) tensor_parts: [bool; 2],
    /// Whether the lines that kernels read are of k, where they read either kind: those that the
    /// operands have as they lie.
    pub(super) of_k: [bool; 2],
}

/// The route that is given, where one is, and the products that tensor cores compute for each in
/// single precision.
pub(super) type Given = (Option<Route>, Products);

/// The route that a product takes, whether the lines of A, and of B, are of k where its kernel
/// reads either kind, and the values of its kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) route: Route,
    pub(super) of_k: [bool; 2],
    pub(super) values: Values,
}

/// A choice, and how long it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    choice: Choice,
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
            batched_tensor: T::BATCHES_ON_TENSOR_CORES
                .filter(|_| Orders::Warp.are_taken_by(capability))
                .map(|_| T::batched_times(device, true)),
            tensor: tensor_times(Orders::Warp, Products::Three),
            warpgroup: tensor_times(Orders::Warpgroup, Products::Three),
            tensor_tf32: tensor_times(Orders::Warp, Products::One),
            warpgroup_tf32: tensor_times(Orders::Warpgroup, Products::One),
            pipelined_parts: T::pipelined_parts_times(device),
            tensor_parts: T::tensor_parts_times(device),
            to_lines: T::pack_times(device, true),
            to_panels: T::pack_times(device, false),
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
        let ways = self.ways(products, size, copies, arithmetic).into_iter();
        let open = ways.filter(|way| given.is_none_or(|route| way.choice.route == route));
        shortest(open).map_or_else(
            || Choice {
                route: given.unwrap_or_else(|| self.unmeasured(size, arithmetic)),
                of_k: copies.of_k,
                values: Values {
                    row: None,
                    parts: 0,
                },
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
        let ways = self.ways(Products::Three, size, copies, arithmetic);
        shortest(ways.into_iter())
    }

    /// All ways of whose kernels tuning has measured something.
    fn ways<'a>(
        &'a self,
        products: Products,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Vec<Way> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let machine = self.machine();
        // Copying, in microseconds, of those operands that need it.
        let copying = |times: &[MeasuredTime], needed: [bool; 2]| {
            let sides = needed.into_iter().zip([size.m, size.n]);
            let copied = sides.filter_map(|(needed, side)| needed.then_some(side));
            let copies = copied.map(|side| [i64::from(side), i64::from(size.k), 1]);
            copies
                .filter_map(|copy| estimate(times, copy, machine))
                .sum::<f64>()
        };
        let is_precise = self.may_use_tensor_cores(size, arithmetic);
        let tensor = |times: &'a [MeasuredTime]| if is_precise { times } else { &[] };
        let to_lines = self.to_lines.as_slice();
        let (of_warps, of_warpgroups) = match products {
            Products::One => (&self.tensor_tf32, &self.warpgroup_tf32),
            Products::Three => (&self.tensor, &self.warpgroup),
        };
        let choices = [
            (Route::Direct, self.direct.as_slice(), to_lines, [false; 2]),
            (
                Route::Pipelined,
                &self.pipelined,
                to_lines,
                copies.pipelined,
            ),
            (Route::Tensor, tensor(of_warps), to_lines, copies.tensor),
            (
                Route::Warpgroup,
                tensor(of_warpgroups),
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
            let Some((of, by_itself)) = self.values(route, times, copies.of_k, problem) else {
                continue;
            };
            let way = |of_k, of, micros| Way {
                choice: Choice {
                    route,
                    of_k,
                    values: self.values_of(of, problem),
                },
                micros,
            };
            let micros = by_itself + copying(copied, needed);
            ways.push(way(copies.of_k, of, micros));
            // What a copy takes has to be known.
            let turned = turned(times, copies.of_k, problem).filter(|_| !copied.is_empty());
            for (of_k, ratio) in turned {
                let needed = [0, 1].map(|it| needed[it] || of_k[it] != copies.of_k[it]);
                let Some((of, _)) = self.values(route, times, of_k, problem) else {
                    continue;
                };
                ways.push(way(of_k, of, by_itself * ratio + copying(copied, needed)));
            }
        }
        ways
    }

    /// The problem whose values a route takes for another with lines of A and B of k or not, and
    /// the time with them: the fastest of those whose time goes by rounds of work-groups on a GPU,
    /// otherwise the most similar.
    fn values<'a>(
        &self,
        route: Route,
        times: &'a [MeasuredTime],
        of_k: [bool; 2],
        problem: [i64; 3],
    ) -> Option<(&'a MeasuredTime, f64)> {
        let times = in_layout(times, of_k);
        if !self.is_cpu && route != Route::Direct {
            return fastest(times, problem, self.machine());
        }
        let (_, nearest) = nearest(times, problem)?;
        Some((nearest, estimate([nearest], problem, self.machine())?))
    }

    /// The values of a problem for another. For itself and on a CPU, the selection rule has them.
    fn values_of(&self, of: &MeasuredTime, problem: [i64; 3]) -> Values {
        let parts = parts_like(of, problem, self.compute_units);
        Values {
            row: (of.size != problem && !self.is_cpu).then_some(of.row),
            parts: i32::try_from(parts).unwrap_or(0),
        }
    }

    const fn machine(&self) -> Machine {
        Machine {
            compute_units: self.compute_units,
            launch: if self.is_cpu { 0.0 } else { LAUNCH },
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
        } else if self.is_cpu {
            Route::Panels
        } else {
            let tensor = self.on_tensor_cores;
            let tensor = tensor.filter(|_| self.may_use_tensor_cores(size, arithmetic));
            tensor.unwrap_or(Route::Pipelined)
        }
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

fn shortest(ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.min_by(|a, b| a.micros.total_cmp(&b.micros))
}

#[cfg(test)]
mod tests {
    use super::super::real::Kernels;
    use super::*;
    use cltune::{bf16, f16};

    fn measured(side: i64, micros: f64) -> MeasuredTime {
        MeasuredTime {
            micros,
            ..MeasuredTime::of([side; 3])
        }
    }

    fn route(speeds: &Speeds, size: Size, copies: Copies, arithmetic: Arithmetic) -> Route {
        let open = (None, Products::Three);
        speeds.choice(open, size, copies, arithmetic).route
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
            tensor_tf32: Vec::new(),
            warpgroup_tf32: Vec::new(),
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
        let automatic = |side, copies| route(&speeds, cube(side), copies, Arithmetic::Automatic);
        assert_eq!(automatic(1000, NO_COPIES), Route::Warpgroup);
        let b_is_by_rows = Copies {
            warpgroup: [false, true],
            ..NO_COPIES
        };
        assert_eq!(automatic(1000, b_is_by_rows), Route::Tensor);
        let plain = route(&speeds, cube(1000), NO_COPIES, Arithmetic::Plain);
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
        assert_eq!(automatic(20, copies), Route::Direct);
        assert_eq!(automatic(20, NO_COPIES), Route::Warpgroup);
        // Too short sums for tensor cores.
        assert_eq!(automatic(15, NO_COPIES), Route::Pipelined);
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
            let (tensor, size) = ((Some(Route::Tensor), Products::Three), cube(side));
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

    /// Where B lies row after row.
    #[test]
    fn tf32_goes_by_times_of_its_own_kernel_and_copies_b_only_where_that_pays() {
        let times = |of_k, micros| MeasuredTime {
            of_k: Some(of_k),
            ..measured(1000, micros)
        };
        let (rows, columns) = ([true, false], [true, true]);
        let mut speeds = Speeds {
            warpgroup: vec![measured(1000, 450.0)],
            warpgroup_tf32: vec![times(rows, 120.0), times(columns, 100.0)],
            to_lines: vec![MeasuredTime {
                micros: 30.0,
                ..MeasuredTime::of([1000, 1000, 1])
            }],
            ..nothing()
        };
        let lines = |speeds: &Speeds, copies| {
            let tf32 = (Some(Route::Warpgroup), Products::One);
            let choice = speeds.choice(tf32, cube(1000), copies, Arithmetic::Automatic);
            choice.of_k
        };
        assert_eq!(lines(&speeds, NO_COPIES), rows);
        // Lines that do not begin at multiples of 16 bytes are copied anyway.
        let copied = Copies {
            warpgroup: [false, true],
            ..NO_COPIES
        };
        assert_eq!(lines(&speeds, copied), columns);
        speeds.warpgroup_tf32[0].micros = 140.0;
        assert_eq!(lines(&speeds, NO_COPIES), columns);
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
        let automatic = |size| route(&speeds, size, NO_COPIES, Arithmetic::Automatic);
        assert_eq!(automatic(size(512, 512, 4096)), Route::TensorParts);
        assert_eq!(automatic(size(300, 300, 5000)), Route::TensorParts);
        assert_eq!(automatic(size(2048, 2048, 2048)), Route::Tensor);
        let in_parts = |route, size| {
            let given = (Some(route), Products::Three);
            let choice = speeds.choice(given, size, NO_COPIES, Arithmetic::Automatic);
            choice.values.parts
        };
        let parts = |size| in_parts(Route::TensorParts, size);
        assert_eq!(parts(size(512, 512, 4096)), 4);
        // Two rounds, as tuned, of 25 tiles in 10 parts; of too short sums in fewer, and of many
        // tiles in no less than two.
        assert_eq!(parts(size(300, 300, 5000)), 10);
        assert_eq!(parts(size(300, 300, 600)), 4);
        assert_eq!(parts(size(4096, 4096, 4096)), 2);
        let pipelined = in_parts(Route::PipelinedParts, size(300, 300, 5000));
        assert_eq!(pipelined, 0);
        let plain = route(&speeds, size(512, 512, 4096), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
    }

    /// Turing, two of Ampere, Ada, Hopper, and two of Blackwell, which do not have Hopper's
    /// instructions. Single products of 16 bits have a kernel for those alone.
    #[test]
    fn tensor_cores_are_used_by_compute_capability_and_type() {
        let (warp, warpgroup) = (Some(Route::Tensor), Some(Route::Warpgroup));
        let expected = [
            // Another vendor's device.
            (0, [None; 4], [false; 2]),
            (75, [None; 4], [false; 2]),
            (80, [warp, warp, None, None], [true, false]),
            (86, [warp, warp, None, None], [true, false]),
            (89, [warp, warp, None, None], [true, false]),
            (90, [warpgroup, warp, warpgroup, warpgroup], [true; 2]),
            (100, [warp, warp, None, None], [true, false]),
            (120, [warp, warp, None, None], [true, false]),
        ];
        for (capability, routes, orders) in expected {
            let of_types = [
                on_tensor_cores::<f32>(capability),
                on_tensor_cores::<f64>(capability),
                on_tensor_cores::<f16>(capability),
                on_tensor_cores::<bf16>(capability),
            ];
            assert_eq!(of_types, routes, "{capability}");
            let taken = [Orders::Warp, Orders::Warpgroup].map(|it| it.are_taken_by(capability));
            assert_eq!(taken, orders, "{capability}");
            // Sums in parts.
            let is_in_parts = |orders: Option<Orders>| orders.unwrap().are_taken_by(capability);
            assert_eq!(is_in_parts(f32::ORDERS_OF_PARTS), capability == 90);
            assert_eq!(is_in_parts(f64::ORDERS_OF_PARTS), capability >= 80);
        }
        assert_eq!(f16::ORDERS_OF_PARTS.or(bf16::ORDERS_OF_PARTS), None);
    }

    #[test]
    fn unknown_devices_go_by_type_and_size() {
        let mut speeds = Speeds {
            is_cpu: true,
            ..nothing()
        };
        let automatic =
            |speeds: &Speeds, side| route(speeds, cube(side), NO_COPIES, Arithmetic::Automatic);
        assert_eq!(automatic(&speeds, 50), Route::Direct);
        assert_eq!(automatic(&speeds, 500), Route::Panels);
        speeds.is_cpu = false;
        assert_eq!(automatic(&speeds, 500), Route::Pipelined);
        speeds.on_tensor_cores = Some(Route::Tensor);
        assert_eq!(automatic(&speeds, 500), Route::Tensor);
        let plain = route(&speeds, cube(500), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
    }

    #[test]
    fn batches_are_one_launch_where_a_product_takes_less_time_in_one() {
        let like = |count| BatchLike { count, width: 1 };
        let batch = |side, count, micros| MeasuredBatch {
            like: like(count),
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
            Some(like(1000))
        );
        assert_eq!(
            speeds.batches_like(cube(100), BatchKind::Ordinary),
            Some(like(50))
        );
        // By the size where nothing is known.
        speeds.batched = Vec::new();
        assert!(is_faster(&speeds, 128) && !is_faster(&speeds, 129));
        assert_eq!(speeds.batches_like(cube(20), BatchKind::Ordinary), None);
    }

    #[test]
    fn batches_are_on_tensor_cores_where_that_is_faster_and_they_can_read_the_matrices() {
        let batch = |side, micros| MeasuredBatch {
            like: BatchLike {
                count: 100,
                width: 1,
            },
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
        // A product of 66 has four tiles of 64 x 64, and one of 96 x 96.
        let in_tiles = |side, micros, tile| {
            let batch = batch(side, micros);
            MeasuredBatch {
                each: MeasuredTime {
                    tile: Some([tile; 2]),
                    ..batch.each
                },
                ..batch
            }
        };
        speeds.batched = vec![in_tiles(64, 0.028, 64)];
        speeds.batched_tensor = Some(vec![in_tiles(66, 0.032, 96)]);
        assert_eq!(kind(&speeds, 66, true), BatchKind::Tensor);
        assert_eq!(kind(&speeds, 64, true), BatchKind::Ordinary);
        // By the size where nothing is known.
        speeds.batched_tensor = Some(Vec::new());
        assert_eq!(kind(&speeds, 31, true), BatchKind::Ordinary);
        assert_eq!(kind(&speeds, 32, true), BatchKind::Tensor);
        speeds.batched_tensor = None;
        assert_eq!(kind(&speeds, 128, true), BatchKind::Ordinary);
    }
}
