//! The types of numbers that are multiplied, and what each has kernels for.

use cltune::{Buffer, Device, Element, Event, Queue, Result, bf16, f16};
use std::fmt::Debug;

/// The size of a product: C has m rows and n columns, and sums of k products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    pub(super) m: i32,
    pub(super) n: i32,
    pub(super) k: i32,
}

/// An operand as kernels take it.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T: Element> {
    pub(super) buffer: &'a Buffer<T>,
    pub(super) offset: i32,
    pub(super) leading: i32,
}

/// C as kernels take it, and what becomes of its elements before they are written.
#[derive(Debug)]
pub struct Target<'a, T: Element> {
    pub(super) buffer: &'a mut Buffer<T>,
    pub(super) offset: i32,
    pub(super) leading: i32,
    /// See `epilogue.cl`; the kernel for batches has none.
    pub(super) epilogue: i32,
    /// One element, which is not read, where the epilogue adds none.
    pub(super) bias: &'a Buffer<T>,
}

/// α and β.
#[derive(Clone, Copy, Debug)]
pub struct Factors<R> {
    pub(super) alpha: R,
    pub(super) beta: R,
}

/// Whose values a kernel is launched with.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// Those of a row of the library's results, by its number among all of the kernel's; those that
    /// the selection rule has for the size where there is none.
    pub(super) row: Option<usize>,
    /// In how many parts sums are, of kernels that have parts: as many as were tuned where it is 0.
    pub(super) parts: i32,
}

/// What was measured of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredTime {
    /// Its row among the library's results.
    pub(super) row: usize,
    /// The problem.
    pub(super) size: [i64; 3],
    /// Whether the lines of A and those of B were of k; `None` where the kernel reads one kind of
    /// lines.
    pub(super) of_k: Option<[bool; 2]>,
    /// Whether the lines of A and B began at multiples of 16 bytes; `None` where they have to.
    pub(super) is_aligned: Option<bool>,
    /// The rows and columns of C that a work-group computed; `None` where the time does not go by
    /// rounds of work-groups.
    pub(super) tile: Option<[i64; 2]>,
    /// In how many parts sums were.
    pub(super) parts: i64,
    /// Whether only the tiles of the last round of work-groups are in parts.
    pub(super) whole_rounds: bool,
    /// The time of a launch, in microseconds.
    pub(super) micros: f64,
}

impl MeasuredTime {
    /// Of a size and nothing else.
    pub(super) const fn of(size: [i64; 3]) -> Self {
        Self {
            row: 0,
            size,
            of_k: None,
            is_aligned: None,
            tile: None,
            parts: 1,
            whole_rounds: false,
            micros: 0.0,
        }
    }
}

/// A batch as kernels take it: how many products, and how far their matrices are apart.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub(super) count: i32,
    pub(super) a: i32,
    pub(super) b: i32,
    pub(super) c: i32,
    /// How many elements of A and B can be read at once: offsets, leading dimensions and distances
    /// are multiples of it. A power of two, of at most 16 bytes.
    pub(super) width: i32,
    /// Whether matrices A, and matrices B, have elements in common.
    pub(super) shared: [bool; 2],
}

/// A configuration of the kernel for batches, on the ordinary units or on tensor cores.
#[derive(Clone, Copy, Debug)]
pub enum BatchParams<O, T> {
    /// See `batched.cl`.
    Ordinary(O),
    /// See `batched_tensor.cl`.
    Tensor(T),
}

/// What a configuration for batches goes by besides the size of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLike {
    pub(super) count: i64,
    /// That of [`Steps`]; 1 where the kernel has none.
    pub(super) width: i64,
}

/// What was measured of a batch, and the time that each product took.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredBatch {
    pub(super) like: BatchLike,
    pub(super) each: MeasuredTime,
}

/// The kernels of a type. Not for use outside: it keeps [`Real`] sealed.
pub trait Kernels: Element {
    /// What is computed in.
    type Real: Element + PartialEq;
    /// A configuration of `batched`.
    type BatchParams: Copy + Debug + Send + Sync;
    /// Whether `batched` has a kernel for tensor cores, to which 32 work-items give orders.
    const BATCHES_ON_TENSOR_CORES: bool;
    /// Whether kernels for tensor cores read lines that begin at no multiple of 16 bytes.
    const TENSOR_READS_ANY_LINES: bool = false;

    /// Whether the device has to support `double`.
    const NEEDS_FP64: bool;
    /// The least k for which tensor cores are as precise as plain arithmetic.
    const PRECISE_FROM: i32 = 0;
    /// Zero.
    const ZERO: Self::Real;
    /// The columns of a panel of B, and those of the widest tile.
    const PANELS_OF_B: (i32, i32);
    /// Who gives the orders of `tensor_parts`; `None` where there is no such kernel.
    const ORDERS_OF_PARTS: Option<Orders> = None;

    /// An operand as what is computed in; `None` where it has to be converted.
    fn as_stored(buffer: &Buffer<Self>) -> Option<&Buffer<Self::Real>>;

    /// Brings rows of length k, and what they are filled up to, into panels of a width; see
    /// `to_panels.cl`.
    fn to_panels(
        queue: &Queue,
        rows: (i32, i32, i32),
        panel: i32,
        transposed: bool,
        from: Operand<'_, Self>,
        to: &mut Buffer<Self::Real>,
    ) -> Result<Event>;

    /// Brings rows of length k, and what they are filled up to, into lines of the other direction;
    /// see `pack.cl`.
    fn pack(
        queue: &Queue,
        rows: (i32, i32, i32),
        transposed: bool,
        from: Operand<'_, Self>,
        to: &mut Buffer<Self::Real>,
    ) -> Result<Event>;

    /// The same, as they are stored.
    fn transpose(
        queue: &Queue,
        rows: (i32, i32, i32),
        transposed: bool,
        from: Operand<'_, Self>,
        to: &mut Buffer<Self>,
    ) -> Result<Event>;

    /// See `pipelined.cl`.
    fn pipelined(
        queue: &Queue,
        values: Values,
        size: Size,
        factors: Factors<Self::Real>,
        a: Operand<'_, Self::Real>,
        b: Operand<'_, Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// See `panels.cl`.
    fn panels(
        queue: &Queue,
        size: Size,
        factors: Factors<Self::Real>,
        a: &Buffer<Self::Real>,
        b: &Buffer<Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// See `direct.cl`.
    fn direct(
        queue: &Queue,
        size: Size,
        factors: Factors<Self::Real>,
        a: (Operand<'_, Self>, bool),
        b: (Operand<'_, Self>, bool),
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// The configuration of `batched` for so many products, of which so many elements are read at
    /// once, of operands that lie column after column or not; of the kernel for tensor cores where
    /// the type has one and that is asked for.
    fn batch_params(
        device: &Device,
        size: Size,
        transposed: [bool; 2],
        like: BatchLike,
        on_tensor_cores: bool,
    ) -> Result<Self::BatchParams>;

    /// See `batched.cl` and `batched_tensor.cl`. With a configuration, or one of `batched.cl` that
    /// the launch itself chooses.
    fn batched(
        queue: &Queue,
        size: Size,
        how: (Steps, Option<Self::BatchParams>),
        factors: Factors<Self::Real>,
        a: (Operand<'_, Self>, bool),
        b: (Operand<'_, Self>, bool),
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// What is known of `batched` on this device; of the kernel for tensor cores likewise.
    fn batched_times(device: &Device, on_tensor_cores: bool) -> Vec<MeasuredBatch>;
    /// What is known of `direct` on this device.
    fn direct_times(device: &Device) -> Vec<MeasuredTime>;
    /// What is known of `pipelined` on this device.
    fn pipelined_times(device: &Device) -> Vec<MeasuredTime>;
    /// What is known of `panels` on this device.
    fn panels_times(device: &Device) -> Vec<MeasuredTime>;
    /// What is known of `pack` on this device: rows, k, 1.
    fn pack_times(device: &Device) -> Vec<MeasuredTime>;
    /// What is known of `to_panels` on this device: rows, k, 1.
    fn to_panels_times(device: &Device) -> Vec<MeasuredTime>;
    /// How the kernel for tensor cores reads A and B; `None` where there is no such kernel.
    fn lines(how: (Orders, Products)) -> Option<[Lines; 2]>;
    /// What is known of `tensor` on this device.
    fn tensor_times(device: &Device, how: (Orders, Products)) -> Vec<MeasuredTime>;
    /// See `split.cl`, `tensor_f64.cl`, `warpgroup.cl` and `warpgroup_stored.cl`. Where there is no
    /// kernel for these orders, it is that of the others.
    fn tensor(
        queue: &Queue,
        how: ((Orders, Products), Values),
        size: Size,
        factors: Factors<Self::Real>,
        a: OfLines<'_, Self>,
        b: OfLines<'_, Self>,
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// `pipelined` with sums in parts; see `parts.cl`.
    fn pipelined_parts(
        queue: &Queue,
        values: Values,
        size: Size,
        factors: Factors<Self::Real>,
        a: Operand<'_, Self::Real>,
        b: Operand<'_, Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event>;
    /// What is known of `pipelined_parts` on this device.
    fn pipelined_parts_times(device: &Device) -> Vec<MeasuredTime>;

    /// `tensor` of `ORDERS_OF_PARTS` likewise. Where there is no such kernel, sums are in one part.
    fn tensor_parts(
        queue: &Queue,
        values: Values,
        size: Size,
        factors: Factors<Self::Real>,
        a: OfLines<'_, Self>,
        b: OfLines<'_, Self>,
        c: Target<'_, Self>,
    ) -> Result<Event> {
        let how = (Orders::Warpgroup, Products::Three);
        Self::tensor(queue, (how, values), size, factors, a, b, c)
    }
    /// What is known of `tensor_parts` on this device.
    fn tensor_parts_times(_device: &Device) -> Vec<MeasuredTime> {
        Vec::new()
    }
}

/// An operand, and whether its lines are of k.
pub(super) type OfLines<'a, T> = (Operand<'a, T>, bool);

/// The lines of operands that a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Of k elements.
    OfK,
    /// Of m or n elements.
    Across,
    /// Both.
    Either,
}

/// Who gives orders to tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// 32 work-items: NVIDIA's GPUs since compute capability 8.0.
    Warp,
    /// 128 work-items, which do not wait for the end: compute capability 9.0.
    Warpgroup,
}

impl Orders {
    /// Whether NVIDIA's GPUs of a compute capability have such tensor cores; that of other devices
    /// is 0.
    pub(super) const fn are_taken_by(self, capability: i64) -> bool {
        match self {
            Self::Warp => capability >= 80,
            // Not 90 and later: these instructions have no successor of the same name.
            Self::Warpgroup => capability == 90,
        }
    }

    /// Whether, besides, there is a kernel for them in a type.
    pub(super) fn are_there<T: Kernels>(self, capability: i64) -> bool {
        T::lines((self, Products::Three)).is_some() && self.are_taken_by(capability)
    }
}

/// How many products of TF32 numbers stand for one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Products {
    /// One: as precise as TF32.
    One,
    /// Three: as precise as single precision.
    Three,
}

/// A type of numbers that [`Gemm`](super::Gemm) multiplies: `f32`, `f64`, and `f16` and `bf16`,
/// which are computed in `f32` and rounded once, to nearest even, when C is written.
///
/// A sum with a NaN is NaN in every type. One with an infinity is infinite, or NaN where it has both
/// infinities or 0 times one. Overflow is to infinity:
///
/// | type | is infinite from | denormal numbers |
/// |---|---|---|
/// | `f32` | the overflow of a sum or a part of it on | where the device's single precision has them |
/// | `f64` | likewise | always |
/// | `f16` | a result of 65,520 on. A sum beyond that is finite in `f32`, and α may bring it back | always |
/// | `bf16` | as `f32`, and what is rounded to more than 3.39e38 | as `f32`; they may be taken for 0 |
pub trait Real: Kernels {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}
impl Real for bf16 {}
