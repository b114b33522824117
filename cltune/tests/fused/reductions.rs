//! Reductions on a real device that other tests have not, also of nothing, compared with the host.
//! All numbers are such that sums are exact in single precision.

use crate::{configurations, queue};
use cltune::{Buffer, Event, Queue, Result, fused};

/// Rows and columns of matrices reduced to vectors.
#[fused(tune(m = 13, n = 21))]
fn lines(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(matrix = [m, n])] b: &Buffer<f32>,
    #[arg(out, len = m)] least: &mut Buffer<f32>,
    #[arg(out, len = m)] most: &mut Buffer<f32>,
    #[arg(out, len = m)] size: &mut Buffer<f32>,
    #[arg(out, len = m)] largest: &mut Buffer<f32>,
    #[arg(out, len = n)] sum: &mut Buffer<f32>,
    #[arg(out, len = n)] dot: &mut Buffer<f32>,
    #[arg(out, len = n)] column_most: &mut Buffer<f32>,
    #[arg(out, len = n)] column_size: &mut Buffer<f32>,
    #[arg(out, len = n)] column_largest: &mut Buffer<f32>,
) -> Result<Event> {
    least = row_min(a);
    most = row_max(a);
    size = row_norm1(a);
    largest = row_norm_inf(a);
    sum = column_sum(a);
    dot = column_dot(a, b);
    column_most = column_max(b);
    column_size = column_norm1(a);
    column_largest = column_norm_inf(a);
}

/// The least, the largest, and the largest magnitude of a vector of a type.
macro_rules! extremes {
    ($($module:ident: $number:ident, $least:expr, $most:expr;)*) => {$(
        mod $module {
            use super::*;

            #[fused(tune(n = 1003))]
            fn extremes(
                queue: &Queue,
                n: u32,
                #[arg(len = n)] x: &Buffer<$number>,
                #[arg(out, len = 1)] least: &mut Buffer<$number>,
                #[arg(out, len = 1)] most: &mut Buffer<$number>,
                #[arg(out, len = 1)] magnitude: &mut Buffer<$number>,
            ) -> Result<Event> {
                least = min(x);
                most = max(x);
                magnitude = norm_inf(x);
            }

            #[allow(clippy::cast_lossless, reason = "the type is the macro's")]
            pub(super) fn compare(queue: &Queue) -> Result<()> {
                let many: Vec<u8> = (0..100_u32).map(|i| (i * 7 % 101 + 20) as u8).collect();
                for (x, expected) in [
                    (&[][..], [$most, $least, 0 as $number]),
                    (&[3], [3 as $number; 3]),
                    (&many, [20, 120, 120].map(|number| number as $number)),
                ] {
                    let x: Vec<$number> = x.iter().map(|x| *x as $number).collect();
                    let xs = Buffer::from_slice(queue, &x)?;
                    let mut results = [(); 3].map(|()| Buffer::new(queue.context(), 1).unwrap());
                    let [least, most, magnitude] = &mut results;
                    extremes(queue, x.len() as u32, &xs, least, most, magnitude)?;
                    let found = results.map(|result| result.read(queue).unwrap()[0]);
                    assert_eq!(found, expected, "{} {}", x.len(), stringify!($number));
                }
                Ok(())
            }
        }
    )*};
}

extremes! {
    of_f32: f32, f32::NEG_INFINITY, f32::INFINITY;
    of_f64: f64, f64::NEG_INFINITY, f64::INFINITY;
    of_i8: i8, i8::MIN, i8::MAX;
    of_u16: u16, u16::MIN, u16::MAX;
    of_i64: i64, i64::MIN, i64::MAX;
    of_u64: u64, u64::MIN, u64::MAX;
}

/// Numbers from -1 to 1 that are not in order and repeat after a while.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let number = |i: u32| (i.wrapping_mul(2_654_435_761) ^ seed) >> 13 & 127;
    let count = u32::try_from(count).unwrap();
    (0..count).map(|i| number(i) as f32 / 64.0 - 1.0).collect()
}

#[test]
fn rows_and_columns_are_reduced_also_where_they_have_no_elements() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    for (m, n) in [
        (13_usize, 21_usize),
        (1, 1),
        (40, 3),
        (3, 0),
        (0, 4),
        (0, 0),
    ] {
        let (a, b) = (numbers(m * n, 1), numbers(m * n, 2));
        let (of_a, of_b) = (
            Buffer::from_slice(&queue, &a)?,
            Buffer::from_slice(&queue, &b)?,
        );
        let mut rows = [(); 4].map(|()| Buffer::new(context, m).unwrap());
        let mut columns = [(); 5].map(|()| Buffer::new(context, n).unwrap());
        let [least, most, size, largest] = &mut rows;
        let [sum, dot, column_most, column_size, column_largest] = &mut columns;
        lines(
            &queue,
            m as u32,
            n as u32,
            &of_a,
            &of_b,
            least,
            most,
            size,
            largest,
            sum,
            dot,
            column_most,
            column_size,
            column_largest,
        )?;
        let least = |values: &[f32]| values.iter().copied().fold(f32::INFINITY, f32::min);
        let most = |values: &[f32]| values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum = |values: &[f32]| values.iter().fold(0.0, |sum, value| sum + value);
        let rows = rows.map(|result| result.read(&queue).unwrap());
        for i in 0..m {
            let row = &a[i * n..][..n];
            let sizes: Vec<f32> = row.iter().map(|a| a.abs()).collect();
            let expected = [least(row), most(row), sum(&sizes), most(&sizes).max(0.0)];
            assert_eq!(
                rows.each_ref().map(|row| row[i]),
                expected,
                "row {i} of {m} x {n}"
            );
        }
        let columns = columns.map(|result| result.read(&queue).unwrap());
        for j in 0..n {
            let of = |values: &[f32]| -> Vec<f32> {
                values.iter().skip(j).step_by(n).copied().collect()
            };
            let (a, b) = (of(&a), of(&b));
            let sizes: Vec<f32> = a.iter().map(|a| a.abs()).collect();
            let products: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
            let expected = [
                sum(&a),
                sum(&products),
                most(&b),
                sum(&sizes),
                most(&sizes).max(0.0),
            ];
            let found = columns.each_ref().map(|column| column[j]);
            assert_eq!(found, expected, "column {j} of {m} x {n}");
        }
    }
    Ok(())
}

#[test]
fn the_extremes_of_no_elements_are_those_of_the_type() -> Result<()> {
    let queue = queue();
    of_f32::compare(&queue)?;
    of_i8::compare(&queue)?;
    of_u16::compare(&queue)?;
    of_i64::compare(&queue)?;
    of_u64::compare(&queue)?;
    if queue.device().info().limits.fp64 == 1 {
        of_f64::compare(&queue)?;
    }
    Ok(())
}

/// Work-groups that PoCL builds soon.
const SMALL: &str = "WGX * WGY <= 64";

#[test]
fn configurations_are_right() {
    configurations::are_right(&lines::TUNABLE, SMALL, 8, 4);
}
