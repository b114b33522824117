//! Many products of one size, at equal distances in memory.

use super::checks::{check_fits, check_numbers, check_sizes};
use super::error::GemmError;
use super::multiply::Gemm;
use super::operands::{whole, width};
use super::product::{Product, as_it_lies};
use super::real::{Products, Real, Steps};
use super::route::{BatchKind, Route};
use crate::matrix::{Matrix, MatrixMut, Shape};
use cltune::{Event, Queue};

/// How many products there are, and how far their matrices are apart: those of each product begin
/// so many elements after those of the product before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// How many products.
    pub count: usize,
    /// The elements from the beginning of an A to that of the next: 0 where all products have the
    /// same A. Neighbours may have elements in common.
    pub stride_a: usize,
    /// The same for B.
    pub stride_b: usize,
    /// The same for C. No two products may have an element of C in common.
    pub stride_c: usize,
}

/// A batch that was checked, whose C are row-major.
struct Many<'a, T: Real> {
    first: Product<'a, T>,
    batch: Batch,
    /// A matrix that begins at element 2^31 or later, which kernels for a single product do not
    /// reach, and its first element.
    far: Option<(&'static str, usize)>,
}

impl<T: Real> Gemm<T> {
    /// C ← α A B + β C for each product of a batch. `a`, `b` and `c` are the matrices of the first
    /// product; [`Batch`] says where those of the others are. α and β mean for each product what
    /// they mean for [`Gemm::multiply`]. Nothing is done where the batch or C has no elements.
    ///
    /// Small products are one launch. Products that are so large that each fills the device are
    /// successive ones, as by [`Gemm::multiply`]; by what tuning has measured of a product in a
    /// batch and of one by itself or, where it has measured nothing, by their size. Products of
    /// the same B whose A and C follow each other row after row are a single product of more rows.
    ///
    /// The launches are enqueued; the event, where there is one, is that of the last.
    ///
    /// ```no_run
    /// use cltune_kernels::gemm::{Batch, Gemm, Matrix, MatrixMut, Shape};
    /// use cltune::{Buffer, Queue};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::default_device()?;
    /// // 1000 products of 8 x 8 matrices, one after the other; all have the same A.
    /// let a = Buffer::from_slice(&queue, &[1.0_f32; 64])?;
    /// let b = Buffer::from_slice(&queue, &vec![2.0_f32; 64 * 1000])?;
    /// let mut c = Buffer::new(queue.context(), 64 * 1000)?;
    /// let square = Shape::row_major(8, 8);
    /// Gemm::new(&queue)?.multiply_batched(
    ///     &queue,
    ///     1.0,
    ///     Matrix::new(&a, square),
    ///     Matrix::new(&b, square),
    ///     0.0,
    ///     MatrixMut::new(&mut c, square),
    ///     Batch { count: 1000, stride_a: 0, stride_b: 64, stride_c: 64 },
    /// )?;
    /// assert_eq!(c.read(&queue)?, vec![16.0; 64 * 1000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What is an error of [`Gemm::multiply`] for any of the products, C with elements in common,
    /// and a count or distance of 2^31 or more; nothing is launched then.
    #[expect(clippy::too_many_arguments, reason = "those of BLAS")]
    pub fn multiply_batched(
        &mut self,
        queue: &Queue,
        alpha: T::Real,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        beta: T::Real,
        c: MatrixMut<'_, T>,
        batch: Batch,
    ) -> Result<Option<Event>, GemmError> {
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        let Some(mut many) = Many::new(alpha, a, b, beta, c, batch)? else {
            return Ok(None);
        };
        if many.is_one_product() {
            let product = many.into_one_product();
            return self.multiply_product(queue, product).map(Some);
        }
        let (size, copies) = (many.first.size, many.first.copies(Products::Three));
        let (kind, is_faster) = self.in_a_batch(size, copies);
        if many.far.is_some() || many.batch.count > 1 && is_faster {
            return self.one_launch(queue, kind, many).map(Some);
        }
        many.each(|product| self.multiply_product(queue, product))
    }

    /// The same by a given route, a launch or more for each product; by the kernel for batches, in
    /// one launch, without a route. For tests and comparisons.
    ///
    /// # Errors
    /// As [`Gemm::multiply_batched`], [`GemmError::Unsupported`] for a route that the device has
    /// not, and [`GemmError::TooLarge`] where a product's matrix begins at element 2^31 or later,
    /// which routes do not reach.
    #[expect(clippy::too_many_arguments, reason = "those of BLAS, and the route")]
    pub fn multiply_batched_with(
        &mut self,
        queue: &Queue,
        route: Option<Route>,
        alpha: T::Real,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        beta: T::Real,
        c: MatrixMut<'_, T>,
        batch: Batch,
    ) -> Result<Option<Event>, GemmError> {
        self.check_contexts(queue, a.buffer, b.buffer, c.buffer)?;
        let Some(mut many) = Many::new(alpha, a, b, beta, c, batch)? else {
            return Ok(None);
        };
        match (route, many.far) {
            (None, _) => {
                let (size, copies) = (many.first.size, many.first.copies(Products::Three));
                let (kind, _) = self.in_a_batch(size, copies);
                self.one_launch(queue, kind, many).map(Some)
            }
            (Some(_), Some((name, number))) => Err(GemmError::TooLarge { name, number }),
            (Some(route), None) => {
                many.first.options = route.into();
                many.each(|product| self.multiply_product(queue, product))
            }
        }
    }

    fn one_launch(
        &mut self,
        queue: &Queue,
        kind: BatchKind,
        many: Many<'_, T>,
    ) -> Result<Event, GemmError> {
        let Many { first, batch, .. } = many;
        let is_shared = |shape: Shape, stride| stride < shape.rows * shape.columns;
        let numbers = [
            [first.a.shape.offset, first.a.shape.leading, batch.stride_a],
            [first.b.shape.offset, first.b.shape.leading, batch.stride_b],
        ];
        let steps = Steps {
            width: width::<T>(numbers.as_flattened()),
            count: whole(batch.count),
            a: whole(batch.stride_a),
            b: whole(batch.stride_b),
            c: whole(batch.stride_c),
            shared: [
                is_shared(first.a.shape, batch.stride_a),
                is_shared(first.b.shape, batch.stride_b),
            ],
        };
        let (a, b) = (as_it_lies(first.a), as_it_lies(first.b));
        let params = self.batch_params(queue, first.size, [a.1, b.1], kind)?;
        let (size, factors) = (first.size, first.factors);
        let c = first.target(&self.no_bias);
        Ok(T::batched(queue, size, (steps, params), factors, a, b, c)?)
    }
}

impl<'a, T: Real> Many<'a, T> {
    /// Checks the matrices; `None` where nothing is to be done.
    fn new(
        alpha: T::Real,
        a: Matrix<'a, T>,
        b: Matrix<'a, T>,
        beta: T::Real,
        c: MatrixMut<'a, T>,
        mut batch: Batch,
    ) -> Result<Option<Self>, GemmError> {
        check_sizes(a.shape, b.shape, c.shape)?;
        let mut far = None;
        let Batch {
            count,
            stride_a,
            stride_b,
            stride_c,
        } = batch;
        let matrices = [
            ("C", c.shape, stride_c, c.buffer.len()),
            ("A", a.shape, stride_a, a.buffer.len()),
            ("B", b.shape, stride_b, b.buffer.len()),
        ];
        for (name, shape, stride, len) in matrices {
            // Nothing is read or written where there are no products.
            check_fits(name, shape, if count == 0 { usize::MAX } else { len })?;
            check_numbers(
                name,
                [shape.rows, shape.columns, shape.offset, shape.leading],
            )?;
            check_numbers(name, [count, stride])?;
            let begin = shape.offset + count.saturating_sub(1) * stride;
            if !shape.is_empty() && count > 0 {
                let needed = shape.offset(begin).extent().unwrap_or(usize::MAX);
                if needed > len {
                    return Err(GemmError::LastTooShort {
                        name,
                        count,
                        needed,
                        len,
                    });
                }
            }
            if i32::try_from(begin).is_err() {
                far = Some((name, begin));
            }
        }
        if let Some(apart) = overlap(c.shape, stride_c, count) {
            return Err(GemmError::Overlap {
                stride: stride_c,
                apart,
            });
        }
        if count == 0 {
            return Ok(None);
        }
        if !c.shape.by_rows {
            // As the factors themselves are exchanged.
            (batch.stride_a, batch.stride_b) = (stride_b, stride_a);
        }
        let first = Product::new(alpha, a, b, beta, c)?;
        Ok(first.map(|first| Self { first, batch, far }))
    }

    /// Whether these are a single product: all have the same B, and the rows of A and C follow each
    /// other from product to product.
    fn is_one_product(&self) -> bool {
        let Self { first, batch, .. } = self;
        let follow = |shape: Shape, stride| shape.by_rows && stride == shape.rows * shape.leading;
        let (a, c) = (first.a.shape, first.c.shape);
        let rows = batch.count * c.rows;
        batch.stride_b == 0
            && follow(a, batch.stride_a)
            && follow(c, batch.stride_c)
            && i32::try_from(rows).is_ok()
    }

    /// That product.
    fn into_one_product(self) -> Product<'a, T> {
        let mut product = self.first;
        product.a.shape.rows *= self.batch.count;
        product.c.shape.rows *= self.batch.count;
        product.size.m = whole(product.c.shape.rows);
        product
    }

    /// Does them one after the other; the last event.
    fn each(
        &mut self,
        mut multiply: impl FnMut(Product<'_, T>) -> Result<Event, GemmError>,
    ) -> Result<Option<Event>, GemmError> {
        let Self { first, batch, .. } = self;
        let mut last = None;
        for index in 0..batch.count {
            let moved = |shape: Shape, stride| shape.offset(shape.offset + index * stride);
            let c = MatrixMut {
                shape: moved(first.c.shape, batch.stride_c),
                buffer: &mut *first.c.buffer,
            };
            last = Some(multiply(Product {
                size: first.size,
                factors: first.factors,
                a: Matrix {
                    shape: moved(first.a.shape, batch.stride_a),
                    ..first.a
                },
                b: Matrix {
                    shape: moved(first.b.shape, batch.stride_b),
                    ..first.b
                },
                c,
                options: first.options,
                is_transposed: first.is_transposed,
            })?);
        }
        Ok(last)
    }
}

/// The least difference of the numbers of two products that have an element of C in common; `None`
/// where there are no such products.
fn overlap(shape: Shape, stride: usize, count: usize) -> Option<usize> {
    if shape.is_empty() {
        return None;
    }
    let (lines, length) = if shape.by_rows {
        (shape.rows, shape.columns)
    } else {
        (shape.columns, shape.rows)
    };
    let leading = shape.leading;
    // Side by side: each line of a product is between those of the others.
    if stride >= length && count.saturating_sub(1) * stride + length <= leading {
        return None;
    }
    let extent = (lines - 1) * leading + length;
    (1..count)
        .take_while(|apart| apart * stride < extent)
        .find(|apart| {
            // Where the later product begins: in a line of the earlier one, or before the next.
            let (line, at) = (apart * stride / leading, apart * stride % leading);
            at < length || line + 1 < lines && leading - at < length
        })
}
