//! A multiplication, from its matrices to its launches.

use super::checks::check_route;
use super::error::GemmError;
use super::operands::{
    PANELS_OF_A, Panels, gains_by_copy, in_lines, in_panels, in_stored_lines, whole,
};
use super::options::GemmOptions;
use super::product::{Product, as_it_lies, lines_of_k};
use super::real::{BatchLike, Lines, Orders, Products, Real, Size, Values};
use super::route::{Arithmetic, BatchKind, Choice, Copies, Given, Route, Speeds};
use crate::matrix::{Matrix, MatrixMut, check_context};
use cltune::{Buffer, Event, Policy, Queue};
use std::collections::HashMap;
use std::hash::Hash;

/// For how many sizes a [`Gemm`] keeps what it chose: some hundred kilobytes.
const MOST_CHOSEN: usize = 4096;

/// Multiplies matrices: C ← α A B + β C.
///
/// It keeps what it knows of the device and the memory that operands are copied to, so keep it for
/// as long as there is something to multiply. Any queue of the context may be given to it; that
/// memory is of the queue of the last call, and is allocated again for another one, so that a queue
/// of many products is better given a `Gemm` of its own.
///
/// NaN and infinities spread as sums and products of them do, and what is too large becomes
/// infinity: [`Real`] says what that is in each type, and which denormal numbers count.
///
/// ```no_run
/// use cltune_kernels::gemm::{Gemm, Matrix, MatrixMut, Shape};
/// use cltune::{Buffer, Queue};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::default_device()?;
/// let a = Buffer::from_slice(&queue, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = Buffer::from_slice(&queue, &[1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0])?;
/// let mut c = Buffer::new(queue.context(), 4)?;
/// Gemm::new(&queue)?.multiply(
///     &queue,
///     1.0,
///     Matrix::new(&a, Shape::row_major(2, 3)),
///     Matrix::new(&b, Shape::row_major(3, 2)),
///     0.0,
///     MatrixMut::new(&mut c, Shape::row_major(2, 2)),
/// )?;
/// assert_eq!(c.read(&queue)?, [4.0, 5.0, 10.0, 11.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Gemm<T: Real> {
    speeds: Speeds,
    arithmetic: Arithmetic,
    /// Copies of A and of B, in the order that a kernel reads.
    copies: [Option<Buffer<T::Real>>; 2],
    /// The same as they are stored, for tensor cores.
    stored_copies: [Option<Buffer<T>>; 2],
    /// The address of OpenCL's queue whose commands use the copies; none before the first.
    copied_in: Option<usize>,
    /// What was chosen, by size, by what has to be copied, and by the route and the products that
    /// were given: choosing takes as long as a short launch.
    chosen: HashMap<(Size, Copies, Arithmetic, Given), Choice>,
    /// What was the fastest where it was measured, which goes before that.
    measured: HashMap<(Size, Copies, Arithmetic), Choice>,
    /// The kernel for batches that was chosen, and whether it is faster than a launch for each
    /// product, likewise; and by whether tensor cores can read the matrices.
    chosen_in_batches: HashMap<(Size, Copies, Arithmetic), (BatchKind, bool)>,
    /// Configurations for batches, by the size of a product, how its factors lie, and the kernel.
    batch_params: HashMap<(Size, [bool; 2], BatchKind), T::BatchParams>,
    /// What kernels take for a bias where there is none, and do not read.
    pub(super) no_bias: Buffer<T>,
}

impl<T: Real> Gemm<T> {
    /// For the device of a queue.
    ///
    /// # Errors
    /// [`GemmError::Unsupported`] when the device does not compute with this type, and what OpenCL
    /// refuses.
    pub fn new(queue: &Queue) -> Result<Self, GemmError> {
        let device = queue.device();
        if T::NEEDS_FP64 && device.info().limits.fp64 == 0 {
            return Err(GemmError::Unsupported {
                device: device.to_string(),
                what: "double precision",
            });
        }
        Ok(Self {
            speeds: Speeds::of::<T>(device),
            arithmetic: Arithmetic::Automatic,
            copies: [None, None],
            stored_copies: [None, None],
            copied_in: None,
            chosen: HashMap::new(),
            measured: HashMap::new(),
            chosen_in_batches: HashMap::new(),
            batch_params: HashMap::new(),
            no_bias: Buffer::new(queue.context(), 1)?,
        })
    }

    /// With this arithmetic instead of [`Arithmetic::Automatic`].
    #[must_use]
    pub const fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = arithmetic;
        self
    }

    /// C ← α A B + β C. As BLAS has it, C is not read where β is 0, nor A and B where α is 0.
    /// Nothing is done where C has no elements.
    ///
    /// The launches are enqueued; the event, where there is one, is that of the last.
    ///
    /// # Errors
    /// Matrices that do not fit together or into their buffers, sizes of 2^31 or more, buffers of
    /// another context than the queue's, or a `Gemm` for one, and what OpenCL refuses.
    pub fn multiply(
        &mut self,
        queue: &Queue,
        alpha: T::Real,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        beta: T::Real,
        c: MatrixMut<'_, T>,
    ) -> Result<Option<Event>, GemmError> {
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        let Some(product) = Product::new(alpha, a, b, beta, c)? else {
            return Ok(None);
        };
        self.multiply_product(queue, product).map(Some)
    }

    /// C ← act(α A B + β C + bias), as the options say, otherwise as [`Gemm::multiply`]: nothing is
    /// launched but what multiplies.
    ///
    /// ```no_run
    /// use cltune_kernels::gemm::{Gemm, GemmOptions, Matrix, MatrixMut, Shape};
    /// use cltune::{Buffer, Queue};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::default_device()?;
    /// let inputs = Buffer::from_slice(&queue, &[1.0_f32, 2.0])?;
    /// let weights = Buffer::from_slice(&queue, &[1.0_f32, -1.0, 0.5, -2.0])?;
    /// let bias = Buffer::from_slice(&queue, &[0.25_f32, 1.0])?;
    /// let mut outputs = Buffer::new(queue.context(), 2)?;
    /// Gemm::new(&queue)?.multiply_with(
    ///     &queue,
    ///     GemmOptions::new().bias(&bias).relu(),
    ///     1.0,
    ///     Matrix::new(&inputs, Shape::row_major(1, 2)),
    ///     Matrix::new(&weights, Shape::row_major(2, 2)),
    ///     0.0,
    ///     MatrixMut::new(&mut outputs, Shape::row_major(1, 2)),
    /// )?;
    /// assert_eq!(outputs.read(&queue)?, [2.25, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Gemm::multiply`], [`GemmError::Bias`] for a bias with fewer elements than C has columns,
    /// and [`GemmError::Unsupported`] for a route that the device has not.
    #[expect(clippy::too_many_arguments, reason = "those of BLAS, and the options")]
    pub fn multiply_with<'a>(
        &mut self,
        queue: &Queue,
        options: impl Into<GemmOptions<'a, T>>,
        alpha: T::Real,
        a: Matrix<'a, T>,
        b: Matrix<'a, T>,
        beta: T::Real,
        c: MatrixMut<'a, T>,
    ) -> Result<Option<Event>, GemmError> {
        let options = options.into();
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        options.check(queue, c.shape.columns)?;
        let Some(mut product) = Product::new(alpha, a, b, beta, c)? else {
            return Ok(None);
        };
        product.options = options;
        self.multiply_product(queue, product).map(Some)
    }

    /// The route that [`multiply`](Self::multiply) takes; `None` where C has no elements, so that
    /// nothing is launched.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply), for sizes that do not fit and buffers that are too short.
    pub fn route(
        &self,
        alpha: T::Real,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, T>,
    ) -> Result<Option<Route>, GemmError> {
        let product = Product::new(alpha, a, b, T::ZERO, c)?;
        Ok(product.map(|product| {
            let open = (None, Products::Three);
            let (size, copies) = (product.size, product.copies(open.1));
            let measured = self.measured.get(&(size, copies, self.arithmetic));
            measured.map_or_else(
                || {
                    self.speeds
                        .choice(open, size, copies, self.arithmetic)
                        .route
                },
                |choice| choice.route,
            )
        }))
    }

    /// Whether the matrices of a product, and what this has of its own, belong to the queue's
    /// context.
    pub(super) fn check_contexts(
        &self,
        queue: &Queue,
        a: &Buffer<T>,
        b: &Buffer<T>,
        c: &Buffer<T>,
    ) -> Result<(), GemmError> {
        self.check_own_context(queue)?;
        for (name, buffer) in [("A", a), ("B", b), ("C", c)] {
            check_context(queue, buffer, || format!("matrix {name}"))?;
        }
        Ok(())
    }

    /// Whether this is for the queue's context. Otherwise a launch would complain of a buffer that
    /// the caller does not know.
    pub(super) fn check_own_context(&self, queue: &Queue) -> Result<(), GemmError> {
        Ok(check_context(queue, &self.no_bias, || {
            "the `Gemm`".to_owned()
        })?)
    }

    fn choose(&mut self, given: Given, product: &Product<'_, T>) -> Choice {
        let (size, copies) = (product.size, product.copies(given.1));
        let (speeds, arithmetic) = (&self.speeds, self.arithmetic);
        let measured = self.measured.get(&(size, copies, arithmetic));
        if let Some(measured) = measured.filter(|_| given == (None, Products::Three)) {
            return *measured;
        }
        let key = (size, copies, arithmetic, given);
        kept(&mut self.chosen, key, || {
            by_policy(speeds.choice(given, size, copies, arithmetic))
        })
    }

    /// The ways of a product that may be the fastest: see [`Speeds::worth_timing`].
    pub(super) fn worth_timing(&self, size: Size, copies: Copies, most: usize) -> Vec<Choice> {
        let choices = self
            .speeds
            .worth_timing(size, copies, self.arithmetic, most);
        choices.into_iter().map(by_policy).collect()
    }

    /// Has products of a size whose operands have to be copied likewise computed in this way.
    pub(super) fn keep_measured(&mut self, size: Size, copies: Copies, choice: Choice) {
        let key = (size, copies, self.arithmetic);
        self.measured.insert(key, choice);
    }

    /// The seconds that a product of these sizes takes by what tuning has measured on the device;
    /// `None` where it has measured nothing.
    pub fn expected_seconds(&self, m: usize, n: usize, k: usize) -> Option<f64> {
        let [m, n, k] = [m, n, k].map(whole);
        // Row after row.
        let tensor = |orders| {
            let lines = T::lines((orders, Products::Three));
            lines.map_or([false; 2], |[a, b]| [a == Lines::Across, b == Lines::OfK])
        };
        let copies = Copies {
            a_by_columns: false,
            pipelined: [true, false],
            tensor: tensor(Orders::Warp),
            warpgroup: tensor(Orders::Warpgroup),
            tensor_parts: T::ORDERS_OF_PARTS.map_or([false; 2], tensor),
            unaligned: [k, n].map(|length| gains_by_copy::<T>(length.unsigned_abs() as usize)),
            of_k: [true, false],
        };
        let known = self
            .speeds
            .fastest(Size { m, n, k }, copies, self.arithmetic);
        known.map(|way| way.micros * 1e-6)
    }

    /// By the route that is given, or the fastest.
    pub(super) fn multiply_product(
        &mut self,
        queue: &Queue,
        product: Product<'_, T>,
    ) -> Result<Event, GemmError> {
        let products = Products::Three;
        let choice = self.choose((product.options.given_route(), products), &product);
        self.multiply_by(queue, choice, products, product)
    }

    /// The kernel for a batch, and whether products take less time by it than each by itself.
    pub(super) fn in_a_batch(&mut self, size: Size, copies: Copies) -> (BatchKind, bool) {
        let (speeds, arithmetic) = (&self.speeds, self.arithmetic);
        let key = (size, copies, arithmetic);
        kept(&mut self.chosen_in_batches, key, || {
            let kind = speeds.batch_kind(size, arithmetic);
            let is_faster = speeds.is_faster_in_a_batch(size, kind, copies, arithmetic);
            (kind, is_faster)
        })
    }

    /// The configuration for batches of products of a size: that of the batch that was tuned for
    /// the most similar size, whatever its count; where none was tuned on this device, what the
    /// selection rule has. `None` leaves that to the launch.
    pub(super) fn batch_params(
        &mut self,
        queue: &Queue,
        size: Size,
        transposed: [bool; 2],
        kind: BatchKind,
    ) -> Result<Option<T::BatchParams>, GemmError> {
        let key = (size, transposed, kind);
        if let Some(known) = self.batch_params.get(&key) {
            return Ok(Some(*known));
        }
        let on_tensor_cores = kind == BatchKind::Tensor;
        let like = match self.speeds.batches_like(size, kind) {
            Some(like) => like,
            // Any: the values do not depend on it.
            None if on_tensor_cores => BatchLike { count: 1, width: 1 },
            None => return Ok(None),
        };
        let params = T::batch_params(queue.device(), size, transposed, like, on_tensor_cores)?;
        self.batch_params.insert(key, params);
        Ok(Some(params))
    }

    /// `products` is for tensor cores.
    pub(super) fn multiply_by(
        &mut self,
        queue: &Queue,
        choice: Choice,
        products: Products,
        product: Product<'_, T>,
    ) -> Result<Event, GemmError> {
        // Before anything is copied.
        check_route::<T>(choice.route, queue.device())?;
        // Without summands there is nothing to copy, which OpenCL has no launch for.
        let route = if product.size.k == 0 {
            Route::Direct
        } else {
            choice.route
        };
        if route != Route::Direct {
            self.separate_copies(queue);
        }
        match route {
            Route::Direct => self.direct(queue, product),
            Route::Panels => self.panels(queue, product),
            Route::Pipelined | Route::PipelinedParts => {
                self.pipelined(queue, (route, choice.values), product)
            }
            Route::TensorParts => self.tensor_parts(queue, choice, product),
            Route::Tensor => self.tensor(queue, (Orders::Warp, products), choice, product),
            Route::Warpgroup => self.tensor(queue, (Orders::Warpgroup, products), choice, product),
        }
    }

    /// Nothing but the order of one queue has the copies of a product read before those of the next
    /// are written: another queue's copies get memory of their own. OpenCL frees what commands still
    /// use when they have ended.
    fn separate_copies(&mut self, queue: &Queue) {
        let this = Some(queue.as_raw().addr());
        if queue.is_out_of_order() || self.copied_in != this {
            self.copies = [None, None];
            self.stored_copies = [None, None];
            self.copied_in = this;
        }
    }

    /// Multiplies matrices as they lie.
    fn direct(&self, queue: &Queue, product: Product<'_, T>) -> Result<Event, GemmError> {
        let (a, b) = (as_it_lies(product.a), as_it_lies(product.b));
        let (size, factors) = (product.size, product.factors);
        let c = product.target(&self.no_bias);
        Ok(T::direct(queue, size, factors, a, b, c)?)
    }

    fn panels(&mut self, queue: &Queue, product: Product<'_, T>) -> Result<Event, GemmError> {
        let [to_a, to_b] = &mut self.copies;
        let a = in_panels(queue, &product.a.transposed(), PANELS_OF_A, to_a)?;
        let b = in_panels(queue, &product.b, Panels::of_b::<T>(), to_b)?;
        let (size, factors) = (product.size, product.factors);
        let c = product.target(&self.no_bias);
        Ok(T::panels(queue, size, factors, a, b, c)?)
    }

    fn pipelined(
        &mut self,
        queue: &Queue,
        (route, values): (Route, Values),
        product: Product<'_, T>,
    ) -> Result<Event, GemmError> {
        let [to_a, to_b] = &mut self.copies;
        let a = in_lines(queue, &product.a.transposed(), to_a)?;
        let b = in_lines(queue, &product.b, to_b)?;
        let (size, factors) = (product.size, product.factors);
        let c = product.target(&self.no_bias);
        Ok(if route == Route::PipelinedParts {
            T::pipelined_parts(queue, values, size, factors, a, b, c)
        } else {
            T::pipelined(queue, values, size, factors, a, b, c)
        }?)
    }

    fn tensor_parts(
        &mut self,
        queue: &Queue,
        choice: Choice,
        product: Product<'_, T>,
    ) -> Result<Event, GemmError> {
        let Choice { aligns, values, .. } = choice;
        let lines = T::ORDERS_OF_PARTS.and_then(|orders| T::lines((orders, Products::Three)));
        let of_k = lines_of_k(lines, choice.of_k);
        let (size, factors) = (product.size, product.factors);
        let [to_a, to_b] = &mut self.stored_copies;
        let a = in_stored_lines(queue, (of_k[0], aligns), &product.a, to_a)?;
        let b = in_stored_lines(queue, (of_k[1], aligns), &product.b.transposed(), to_b)?;
        let c = product.target(&self.no_bias);
        Ok(T::tensor_parts(queue, values, size, factors, a, b, c)?)
    }

    fn tensor(
        &mut self,
        queue: &Queue,
        orders: (Orders, Products),
        choice: Choice,
        product: Product<'_, T>,
    ) -> Result<Event, GemmError> {
        let Choice { aligns, values, .. } = choice;
        let of_k = lines_of_k(T::lines(orders), choice.of_k);
        let [to_a, to_b] = &mut self.stored_copies;
        let a = in_stored_lines(queue, (of_k[0], aligns), &product.a, to_a)?;
        let b = in_stored_lines(queue, (of_k[1], aligns), &product.b.transposed(), to_b)?;
        let (size, factors) = (product.size, product.factors);
        let c = product.target(&self.no_bias);
        Ok(T::tensor(queue, (orders, values), size, factors, a, b, c)?)
    }
}

impl Gemm<f32> {
    /// C ← α A B + β C with factors rounded to TF32, which has 11 significant bits: an error of
    /// about 3e-4 of the result, several times as fast. Only on NVIDIA's GPUs since compute
    /// capability 8.0.
    ///
    /// # Errors
    /// As [`Gemm::multiply`], and [`GemmError::Unsupported`] on other devices.
    pub fn multiply_tf32(
        &mut self,
        queue: &Queue,
        alpha: f32,
        a: Matrix<'_, f32>,
        b: Matrix<'_, f32>,
        beta: f32,
        c: MatrixMut<'_, f32>,
    ) -> Result<Option<Event>, GemmError> {
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        let Some(product) = Product::new(alpha, a, b, beta, c)? else {
            return Ok(None);
        };
        let capability = queue.device().info().limits.nv_compute_capability;
        let route = if Orders::Warpgroup.are_taken_by(capability) {
            Route::Warpgroup
        } else {
            Route::Tensor
        };
        let products = Products::One;
        let choice = self.choose((Some(route), products), &product);
        self.multiply_by(queue, choice, products, product).map(Some)
    }
}

/// A choice as the policy of launches has it: policies but that of baked values have their own.
fn by_policy(mut choice: Choice) -> Choice {
    if !matches!(cltune::policy(), Ok(Policy::Baked)) {
        choice.values.row = None;
    }
    choice
}

/// What was chosen for a key before, or is chosen now.
fn kept<K: Eq + Hash, V: Copy>(
    chosen: &mut HashMap<K, V>,
    key: K,
    choose: impl FnOnce() -> V,
) -> V {
    if chosen.len() >= MOST_CHOSEN {
        chosen.clear();
    }
    *chosen.entry(key).or_insert_with(choose)
}

#[cfg(test)]
mod tests {
    use super::{Gemm, Product, Products};
    use crate::gemm::{Matrix, MatrixMut, Route, Shape};
    use cltune::{Buffer, Queue};

    #[test]
    fn a_product_without_copies_leaves_those_of_another_queue() {
        const SIDE: usize = 16;
        let first = Queue::default_device().unwrap();
        let second = Queue::new(first.context()).unwrap();
        let square = Shape::row_major(SIDE, SIDE);
        let factor = Buffer::from_slice(&first, &[1.0_f32; SIDE * SIDE]).unwrap();
        let mut product = Buffer::new(first.context(), SIDE * SIDE).unwrap();
        let mut gemm = Gemm::new(&first).unwrap();
        for (queue, route) in [(&first, Route::Panels), (&second, Route::Direct)] {
            let (a, b) = (Matrix::new(&factor, square), Matrix::new(&factor, square));
            let c = MatrixMut::new(&mut product, square);
            gemm.multiply_with(queue, route, 1.0, a, b, 0.0, c).unwrap();
            queue.finish().unwrap();
            assert!(gemm.copies.iter().all(Option::is_some), "{route:?}");
        }
    }

    #[test]
    fn what_was_measured_goes_before_what_tuning_lets_expect() {
        const SIDE: usize = 16;
        let queue = Queue::default_device().unwrap();
        let square = Shape::row_major(SIDE, SIDE);
        let factor = Buffer::from_slice(&queue, &[2.0_f32; SIDE * SIDE]).unwrap();
        let mut product = Buffer::new(queue.context(), SIDE * SIDE).unwrap();
        let (a, b) = (Matrix::new(&factor, square), Matrix::new(&factor, square));
        let mut gemm = Gemm::new(&queue).unwrap();
        for route in [Route::Direct, Route::Panels] {
            let c = MatrixMut::new(&mut product, square);
            let known = Product::new(1.0, a, b, 0.0, c).unwrap().unwrap();
            let (size, copies) = (known.size, known.copies(Products::Three));
            let given = (Some(route), Products::Three);
            let choice = gemm.choose(given, &known);
            gemm.keep_measured(size, copies, choice);
            let c = MatrixMut::new(&mut product, square);
            assert_eq!(gemm.route(1.0, a, b, c).unwrap(), Some(route));
            let c = MatrixMut::new(&mut product, square);
            gemm.multiply(&queue, 1.0, a, b, 0.0, c).unwrap();
            let are_copied = gemm.copies.iter().all(Option::is_some);
            assert_eq!(are_copied, route == Route::Panels);
            // A route that is given goes before both.
            let other = (Some(Route::Pipelined), Products::Three);
            let c = MatrixMut::new(&mut product, square);
            let known = Product::new(1.0, a, b, 0.0, c).unwrap().unwrap();
            assert_eq!(gemm.choose(other, &known).route, Route::Pipelined);
        }
    }
}
