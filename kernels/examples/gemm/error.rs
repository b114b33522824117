//! The distance of products from sums in double precision.

use crate::way::{Way, WithTf32};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{Arithmetic, GemmError, Matrix, MatrixMut, Route, Shape};
use std::error::Error;
use std::process::ExitCode;

/// So many rows of C are compared, spread over all of them: sums on the host take minutes for all
/// rows of large matrices, and errors of so many are those of all.
const ROWS: usize = 64;

/// How much more wrong than plain single precision it may be on tensor cores.
const ALLOWED: f64 = 2.0;

/// A type of elements with its rounding.
trait Element: WithTf32 {
    /// The largest relative error of rounding, of what sums are computed in and of what is stored.
    const UNITS: (f64, f64);
    fn rounded(value: f32) -> Self;
    fn exactly(self) -> f64;
}

impl Element for f32 {
    const UNITS: (f64, f64) = (f32::EPSILON as f64 / 2.0, f32::EPSILON as f64 / 2.0);
    fn rounded(value: f32) -> Self {
        value
    }
    fn exactly(self) -> f64 {
        self.into()
    }
}

impl Element for f64 {
    const UNITS: (f64, f64) = (f64::EPSILON / 2.0, f64::EPSILON / 2.0);
    /// Products of what is single precision have no rounding error in double precision, so that the
    /// reference knows them; sums have.
    fn rounded(value: f32) -> Self {
        value.into()
    }
    fn exactly(self) -> f64 {
        self
    }
}

impl Element for f16 {
    const UNITS: (f64, f64) = (f32::EPSILON as f64 / 2.0, 1.0 / 2048.0);
    fn rounded(value: f32) -> Self {
        Self::from_f32(value)
    }
    fn exactly(self) -> f64 {
        self.to_f64()
    }
}

impl Element for bf16 {
    const UNITS: (f64, f64) = (f32::EPSILON as f64 / 2.0, 1.0 / 256.0);
    fn rounded(value: f32) -> Self {
        Self::from_f32(value)
    }
    fn exactly(self) -> f64 {
        self.to_f64()
    }
}

/// How wrong a product is.
struct Deviation {
    /// || C - exact || / || exact ||, Frobenius' norm.
    relative: f64,
    /// The largest error of an element, in parts of the bound on it: Higham 2002, section 3.1, and
    /// one rounding for what is stored.
    of_bound: f64,
}

/// A row of exact results, and of the sums of the products' sizes.
struct ExactRow {
    row: usize,
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

/// Prints how wrong each arithmetic is; fails where tensor cores are more than `ALLOWED` times as
/// wrong as plain single precision.
pub(crate) fn compare(queue: &Queue, size: [usize; 3]) -> Result<ExitCode, Box<dyn Error>> {
    let [m, n, k] = size;
    if size.contains(&0) {
        return Err("matrices without elements have no error: give sizes from 1 on".into());
    }
    println!(
        "{}, {m} x {n} x {k}, elements from -1 to 1, {} rows compared",
        queue.device(),
        m.min(ROWS)
    );
    let ways = [
        ("plain", Way::Chosen(Arithmetic::Plain)),
        ("auto", Way::Chosen(Arithmetic::Automatic)),
        ("tensor", Way::By(Route::Tensor)),
        ("warpgroup", Way::By(Route::Warpgroup)),
        ("in parts", Way::By(Route::PipelinedParts)),
        ("in parts on tensor cores", Way::By(Route::TensorParts)),
        ("tf32", Way::Tf32),
    ];
    let single = Inputs::<f32>::new(size);
    let mut plain = None;
    let mut too_wrong = false;
    for (name, way) in ways {
        let Some(relative) = single.shown(queue, name, way, plain)? else {
            continue;
        };
        let plain = *plain.get_or_insert(relative);
        // TF32 is asked for by those who want no more.
        let fine = relative <= ALLOWED * plain;
        too_wrong |= name != "tf32" && !fine;
    }
    let way = Way::Chosen(Arithmetic::Automatic);
    let double = Inputs::<f64>::new(size);
    double.shown(queue, "f64", way, None)?;
    double.shown(queue, "f64 in parts", Way::By(Route::TensorParts), None)?;
    Inputs::<f16>::new(size).shown(queue, "f16", way, None)?;
    Inputs::<bf16>::new(size).shown(queue, "bf16", way, None)?;
    Ok(if too_wrong {
        println!("more than {ALLOWED} times as wrong as plain single precision");
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The factors, row after row, and what is exact.
struct Inputs<T> {
    size: [usize; 3],
    left: Vec<T>,
    right: Vec<T>,
    exact: Vec<ExactRow>,
}

impl<T: Element> Inputs<T> {
    fn new(size: [usize; 3]) -> Self {
        let [m, n, k] = size;
        let random = |count: usize, seed: u64| -> Vec<T> {
            (0..count).map(|at| T::rounded(noise(seed, at))).collect()
        };
        let (left, right) = (random(m * k, 1), random(k * n, 2));
        Self {
            size,
            exact: exact_rows(size, &left, &right),
            left,
            right,
        }
    }

    /// Multiplies and prints how wrong that is, beside how wrong plain single precision is. Returns
    /// the relative error; `None` where the device cannot.
    fn shown(
        &self,
        queue: &Queue,
        name: &str,
        way: Way,
        plain: Option<f64>,
    ) -> Result<Option<f64>, Box<dyn Error>> {
        match self.deviation(queue, way) {
            Ok(Deviation { relative, of_bound }) => {
                let beside = plain.map_or(String::new(), |plain| {
                    format!(", {:.2} times plain's", relative / plain)
                });
                println!(
                    "{name:>24}: relative error {relative:.2e}{beside}, at most {of_bound:.2e} of Higham's bound"
                );
                Ok(Some(relative))
            }
            Err(GemmError::Unsupported { what, .. }) => {
                println!("{name:>24}: no {what}");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn deviation(&self, queue: &Queue, way: Way) -> Result<Deviation, GemmError> {
        let [m, n, k] = self.size;
        let left = Buffer::from_slice(queue, &self.left)?;
        let right = Buffer::from_slice(queue, &self.right)?;
        let mut product = Buffer::new(queue.context(), m * n)?;
        let _launched = way.multiply(
            &mut way.multiplier::<T>(queue)?,
            queue,
            Matrix::new(&left, Shape::row_major(m, k)),
            Matrix::new(&right, Shape::row_major(k, n)),
            MatrixMut::new(&mut product, Shape::row_major(m, n)),
            None,
        )?;
        let found = product.read(queue)?;
        let (computed, stored) = T::UNITS;
        let (mut errors, mut squares, mut of_bound) = (0.0_f64, 0.0_f64, 0.0_f64);
        for ExactRow { row, sums, sizes } in &self.exact {
            let found = &found[row * n..][..n];
            for ((found, sum), size) in found.iter().zip(sums).zip(sizes) {
                let error = (found.exactly() - sum).abs();
                errors += error * error;
                squares += sum * sum;
                let bound = computed * k as f64 * size + stored * sum.abs();
                of_bound = of_bound.max(error / bound);
            }
        }
        Ok(Deviation {
            relative: (errors / squares).sqrt(),
            of_bound,
        })
    }
}

/// Rows of the product that are as good as exact, computed by all of the machine's cores.
fn exact_rows<T: Element>(size: [usize; 3], left: &[T], right: &[T]) -> Vec<ExactRow> {
    let [m, n, k] = size;
    let count = m.min(ROWS);
    let rows: Vec<usize> = (0..count).map(|at| at * m / count).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let parts: Vec<_> = rows
            .chunks(count.div_ceil(threads))
            .map(|part| {
                scope.spawn(move || -> Vec<ExactRow> {
                    let exact = |&row: &usize| exact_row(row, &left[row * k..][..k], right, n);
                    part.iter().map(exact).collect()
                })
            })
            .collect();
        parts
            .into_iter()
            .flat_map(|part| {
                part.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}

/// One row. All products are exact in double precision; what rounding loses of their sums is summed
/// up beside them (Knuth's two-sum), so that double precision has an exact reference, too.
fn exact_row<T: Element>(row: usize, left: &[T], right: &[T], n: usize) -> ExactRow {
    let (mut sums, mut lost, mut sizes) = (vec![0.0_f64; n], vec![0.0_f64; n], vec![0.0_f64; n]);
    for (factor, line) in left.iter().zip(right.chunks_exact(n)) {
        let factor = factor.exactly();
        let results = sums.iter_mut().zip(&mut lost).zip(&mut sizes);
        for (((sum, lost), size), element) in results.zip(line) {
            let product = factor * element.exactly();
            let more = *sum + product;
            let of_product = more - *sum;
            *lost += (*sum - (more - of_product)) + (product - of_product);
            *sum = more;
            *size += product.abs();
        }
    }
    for (sum, lost) in sums.iter_mut().zip(&lost) {
        *sum += lost;
    }
    ExactRow { row, sums, sizes }
}

/// Number `at` of a sequence of numbers from -1 to 1 with all bits of single precision: Steele, Lea
/// & Flood's SplitMix64.
fn noise(seed: u64, at: usize) -> f32 {
    let mut bits = (at as u64)
        .wrapping_add(seed << 40)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) as i64) as f32 / (i64::MAX as f32)
}
