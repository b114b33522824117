//! Every function and operator of statements on a real device, compared with the host's of the same
//! name.

use crate::{is_cpu, queue};
use cltune::{Buffer, Event, Queue, Result, fused};

/// Two configurations of a tunable that fills vectors: of single elements, and of vectors with a
/// rest, which are stored past the caches on a CPU.
macro_rules! widths {
    ($module:ident, $queue:expr) => {
        [
            $module::Params {
                VW: 1,
                WG: 32,
                GROUPS: 1,
                FETCH: $module::FETCH::strided,
                STREAM: false,
            },
            $module::Params {
                VW: 4,
                WG: 32,
                GROUPS: 4,
                FETCH: $module::FETCH::contiguous,
                STREAM: is_cpu($queue.device()),
            },
        ]
    };
}

/// Functions of one argument for a type: a tunable whose outputs have the functions' names, and
/// `functions`, which compares them with the host.
macro_rules! functions_of_one {
    ($module:ident, $real:ident: $($name:ident within $ulps:literal,)*) => {
        mod $module {
            use super::*;

            #[fused(tune(n = 1003))]
            #[expect(dead_code, reason = "it is launched in each of the `widths`")]
            fn functions(
                queue: &Queue,
                n: u32,
                #[arg(len = n)] x: &Buffer<$real>,
                $(#[arg(out, len = n)] $name: &mut Buffer<$real>,)*
            ) -> Result<Event> {
                ($($name),*) = ($($name(x)),*);
            }

            pub(super) fn compare(queue: &Queue, x: &[$real]) -> Result<()> {
                let xs = Buffer::from_slice(queue, x)?;
                $(let mut $name = Buffer::new(queue.context(), x.len())?;)*
                for params in widths!(functions, queue) {
                    let n = x.len() as u32;
                    functions::launch_with(&params, queue, n, &xs, $(&mut $name),*)?;
                    $(for (x, found) in x.iter().zip($name.read(queue)?) {
                        let what = format!("{}({x:?}) in {}", stringify!($name), stringify!($real));
                        let bound = $ulps * f64::from($real::EPSILON);
                        let expected = f64::from(*x).$name() as $real;
                        near(found.into(), expected.into(), bound, &what);
                    })*
                }
                Ok(())
            }
        }
    };
}

/// The host's function of a name that Rust has not.
trait Roots {
    fn rsqrt(self) -> f64;
}

impl Roots for f64 {
    fn rsqrt(self) -> f64 {
        1.0 / self.sqrt()
    }
}

/// The errors that OpenCL 1.2 allows (section 7.4), and those of the host.
macro_rules! all_functions_of_one {
    ($module:ident, $real:ident) => {
        functions_of_one! { $module, $real:
            abs within 0.0,
            floor within 0.0,
            ceil within 0.0,
            round within 0.0,
            trunc within 0.0,
            sqrt within 4.0,
            rsqrt within 4.0,
            cbrt within 4.0,
            exp within 4.0,
            exp2 within 4.0,
            exp_m1 within 4.0,
            ln within 4.0,
            ln_1p within 4.0,
            log2 within 4.0,
            log10 within 4.0,
            sin within 5.0,
            cos within 5.0,
            tan within 6.0,
            asin within 5.0,
            acos within 5.0,
            atan within 6.0,
            tanh within 6.0,
        }
    };
}

all_functions_of_one!(single, f32);
all_functions_of_one!(double, f64);

/// Functions of two and three arguments for a type.
macro_rules! functions_of_several {
    ($module:ident, $real:ident) => {
        mod $module {
            use super::*;

            #[fused(tune(n = 1003))]
            #[expect(dead_code, reason = "it is launched in each of the `widths`")]
            fn functions(
                queue: &Queue,
                n: u32,
                #[arg(len = n)] x: &Buffer<$real>,
                #[arg(len = n)] y: &Buffer<$real>,
                #[arg(len = n)] z: &Buffer<$real>,
                #[arg(out, len = n)] least: &mut Buffer<$real>,
                #[arg(out, len = n)] most: &mut Buffer<$real>,
                #[arg(out, len = n)] within: &mut Buffer<$real>,
                #[arg(out, len = n)] added: &mut Buffer<$real>,
                #[arg(out, len = n)] power: &mut Buffer<$real>,
                #[arg(out, len = n)] angle: &mut Buffer<$real>,
                #[arg(out, len = n)] length: &mut Buffer<$real>,
            ) -> Result<Event> {
                (least, most, within, added, power, angle, length) = (
                    min(x, y),
                    max(x, y),
                    clamp(x, -0.75, abs(y)),
                    mul_add(-x, y, -z),
                    pow(abs(x), y),
                    atan2(x, y),
                    hypot(x, y),
                );
            }

            pub(super) fn compare(queue: &Queue, x: &[$real], y: &[$real]) -> Result<()> {
                // Products that cancel but for what their rounding takes away.
                let z: Vec<$real> = x.iter().zip(y).map(|(x, y)| -(x * y)).collect();
                let inputs = [x, y, &z].map(|values| Buffer::from_slice(queue, values).unwrap());
                let [of_x, of_y, of_z] = &inputs;
                let mut results = [(); 7].map(|()| Buffer::new(queue.context(), x.len()).unwrap());
                for params in widths!(functions, queue) {
                    let [least, most, within, added, power, angle, length] = &mut results;
                    functions::launch_with(
                        &params,
                        queue,
                        x.len() as u32,
                        of_x,
                        of_y,
                        of_z,
                        least,
                        most,
                        within,
                        added,
                        power,
                        angle,
                        length,
                    )?;
                    let [least, most, within, added, power, angle, length] =
                        results.each_ref().map(|result| result.read(queue).unwrap());
                    for (i, (x, y)) in x.iter().zip(y).enumerate() {
                        let check = |what: &str, found: $real, expected: f64, ulps: f64| {
                            let what = format!("{what} of {x:?} and {y:?}, {}", stringify!($real));
                            let bound = ulps * f64::from($real::EPSILON);
                            near(found.into(), (expected as $real).into(), bound, &what);
                        };
                        check("min", least[i], x.min(*y).into(), 0.0);
                        check("max", most[i], x.max(*y).into(), 0.0);
                        // What is undefined where limits are no numbers or exchanged.
                        if !x.is_nan() && !y.is_nan() {
                            check("clamp", within[i], x.clamp(-0.75, y.abs()).into(), 0.0);
                        }
                        check("mul_add", added[i], (-x).mul_add(*y, -z[i]).into(), 0.0);
                        let (x, y) = (f64::from(*x), f64::from(*y));
                        check("pow", power[i], x.abs().powf(y), 17.0);
                        check("atan2", angle[i], x.atan2(y), 7.0);
                        check("hypot", length[i], x.hypot(y), 5.0);
                    }
                }
                Ok(())
            }
        }
    };
}

functions_of_several!(single_of_several, f32);
functions_of_several!(double_of_several, f64);

/// Operators and functions of integers for a type. The second operand is a divisor and a number of
/// bits, and the least number is not divided.
macro_rules! integers {
    ($($module:ident, $integer:ident, $bits:literal: $negative:expr;)*) => {$(
        mod $module {
            use super::*;

            #[fused(tune(n = 1003))]
            #[expect(dead_code, reason = "it is launched in each of the `widths`")]
            fn operators(
                queue: &Queue,
                n: u32,
                #[arg(len = n)] a: &Buffer<$integer>,
                #[arg(len = n)] b: &Buffer<$integer>,
                #[arg(out, len = n)] sum: &mut Buffer<$integer>,
                #[arg(out, len = n)] difference: &mut Buffer<$integer>,
                #[arg(out, len = n)] product: &mut Buffer<$integer>,
                #[arg(out, len = n)] quotient: &mut Buffer<$integer>,
                #[arg(out, len = n)] remainder: &mut Buffer<$integer>,
                #[arg(out, len = n)] both: &mut Buffer<$integer>,
                #[arg(out, len = n)] either: &mut Buffer<$integer>,
                #[arg(out, len = n)] one: &mut Buffer<$integer>,
                #[arg(out, len = n)] left: &mut Buffer<$integer>,
                #[arg(out, len = n)] right: &mut Buffer<$integer>,
                #[arg(out, len = n)] least: &mut Buffer<$integer>,
                #[arg(out, len = n)] most: &mut Buffer<$integer>,
                #[arg(out, len = n)] within: &mut Buffer<$integer>,
                #[arg(out, len = n)] size: &mut Buffer<$integer>,
                #[arg(out, len = n)] chosen: &mut Buffer<$integer>,
            ) -> Result<Event> {
                (sum, difference, product, quotient, remainder, both, either, one, left, right, least, most,
                    within, size, chosen) = (
                    a + b, a - b, a * b, a / b, a % b, a & b, a | b, a ^ b, a << b, a >> b, min(a, b), max(a, b),
                    clamp(a, 2, if b > 3 { 100 } else { 90 }), abs(a), if !(a != b) || a >= 90 && b < 4 { b + 1 } else { a / 2 }
                );
            }

            pub(super) fn compare(queue: &Queue) -> Result<()> {
                let (least, most) = ($integer::MIN, $integer::MAX);
                let mut a: Vec<$integer> = vec![least, least + 1, most - 1, most, 0, 1, 3, 90, 99, 100, 101];
                a.extend((0..90).map(|i: $integer| i.wrapping_mul(most / 17).wrapping_add(i)));
                let b: Vec<$integer> = (0..a.len()).map(|i| 1 + (i as $integer) % ($bits - 1)).collect();
                let inputs = [&a, &b].map(|values| Buffer::from_slice(queue, values).unwrap());
                let mut results = [(); 15].map(|()| Buffer::new(queue.context(), a.len()).unwrap());
                for params in widths!(operators, queue) {
                    let [sum, difference, product, quotient, remainder, both, either, one, left, right, least,
                        most, within, size, chosen] = &mut results;
                    operators::launch_with(
                        &params, queue, a.len() as u32, &inputs[0], &inputs[1], sum, difference, product,
                        quotient, remainder, both, either, one, left, right, least, most, within, size,
                        chosen,
                    )?;
                    let found = results.each_ref().map(|result| result.read(queue).unwrap());
                    for (i, (&a, &b)) in a.iter().zip(&b).enumerate() {
                        let negative: fn($integer) -> $integer = $negative;
                        let expected = [
                            a.wrapping_add(b),
                            a.wrapping_sub(b),
                            a.wrapping_mul(b),
                            a / b,
                            a % b,
                            a & b,
                            a | b,
                            a ^ b,
                            a << b,
                            a >> b,
                            a.min(b),
                            a.max(b),
                            a.clamp(2, if b > 3 { 100 } else { 90 }),
                            if a < 1 { negative(a) } else { a },
                            if a == b || a >= 90 && b < 4 { b + 1 } else { a / 2 },
                        ];
                        let found: Vec<$integer> = found.iter().map(|values| values[i]).collect();
                        assert_eq!(found, expected, "{a} and {b}, {}", stringify!($integer));
                    }
                }
                Ok(())
            }
        }
    )*};
}

// The magnitude of the least number is no number of the type, and wraps around.
integers! {
    of_i8, i8, 8: i8::wrapping_neg;
    of_u8, u8, 8: |zero| zero;
    of_i16, i16, 16: i16::wrapping_neg;
    of_u16, u16, 16: |zero| zero;
    of_i32, i32, 32: i32::wrapping_neg;
    of_u32, u32, 32: |zero| zero;
    of_i64, i64, 64: i64::wrapping_neg;
    of_u64, u64, 64: |zero| zero;
}

/// Conditions of types of each size, joined and turned around, and conversions.
#[fused(tune(n = 1003))]
fn conditions(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] a: &Buffer<i8>,
    #[arg(len = n)] b: &Buffer<u16>,
    #[arg(len = n)] c: &Buffer<f32>,
    #[arg(len = n)] d: &Buffer<i64>,
    #[arg(out, len = n)] wide: &mut Buffer<i64>,
    #[arg(out, len = n)] narrow: &mut Buffer<i8>,
    #[arg(out, len = n)] real: &mut Buffer<f32>,
    #[arg(out, len = n)] other: &mut Buffer<u16>,
) -> Result<Event> {
    (wide, narrow, real, other) = (
        if !(a > 0) || b != 7 && c == c {
            d >> 1
        } else {
            -(a as i64)
        },
        if d != 0 && !(c <= 0.25) { a } else { d as i8 },
        if (a == 3 || b >= 40) && !(d < 0) {
            c
        } else {
            a as f32 / 4.0
        },
        if !(c != c || a < -5) {
            b | 1
        } else {
            abs(d) as u16
        },
    );
}

/// A result of the device and of the host, which may both be no number or both infinite. `bound` is
/// a part of the host's.
fn near(found: f64, expected: f64, bound: f64, what: &str) {
    let is_right = found == expected
        || found.is_nan() && expected.is_nan()
        || (found - expected).abs() <= bound * expected.abs() && expected.is_finite();
    assert!(is_right, "{what}: {found:e}, not {expected:e}");
}

/// Numbers of either sign, halves among them, and what is no ordinary number.
fn reals() -> Vec<f32> {
    let ordinary = (0..97).map(|i| ((i * 37 % 97) as f32 - 48.0) / 8.0);
    let others = [
        0.0,
        -0.0,
        1e-3,
        -0.999,
        20.0,
        1e6,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    ordinary.chain(others).collect()
}

/// The numbers of single precision, and some between them.
fn doubles(values: &[f32]) -> Vec<f64> {
    let inexact = |value: &f32| f64::from(*value) * (1.0 + 1e-12);
    let exact = values.iter().map(|value| f64::from(*value));
    exact.chain(values.iter().map(inexact)).collect()
}

fn has_double(queue: &Queue) -> bool {
    queue.device().info().limits.fp64 == 1
}

#[test]
fn functions_are_those_of_the_host() -> Result<()> {
    let queue = queue();
    let x = reals();
    single::compare(&queue, &x)?;
    if has_double(&queue) {
        double::compare(&queue, &doubles(&x))?;
    }
    Ok(())
}

#[test]
fn functions_of_several_numbers_are_those_of_the_host() -> Result<()> {
    let queue = queue();
    let x = reals();
    // Each with several others, itself among them.
    let shift = |by: usize| x.iter().cycle().skip(by).take(x.len()).copied();
    let y: Vec<f32> = [0, 1, 5, 50].into_iter().flat_map(shift).collect();
    let x = x.repeat(4);
    single_of_several::compare(&queue, &x, &y)?;
    if has_double(&queue) {
        let (x, y) = (doubles(&x), doubles(&y));
        double_of_several::compare(&queue, &x, &y)?;
    }
    Ok(())
}

#[test]
fn operators_of_integers_of_every_size_are_those_of_the_host() -> Result<()> {
    let queue = queue();
    of_i8::compare(&queue)?;
    of_u8::compare(&queue)?;
    of_i16::compare(&queue)?;
    of_u16::compare(&queue)?;
    of_i32::compare(&queue)?;
    of_u32::compare(&queue)?;
    of_i64::compare(&queue)?;
    of_u64::compare(&queue)
}

#[test]
fn conditions_of_types_of_every_size_go_together() -> Result<()> {
    let queue = queue();
    let count = 203_u32;
    let a: Vec<i8> = (0..count).map(|i| (i * 11 % 17) as i8 - 8).collect();
    let b: Vec<u16> = (0..count).map(|i| (i * 7 % 60) as u16).collect();
    let c: Vec<f32> = (0..count)
        .map(|i| (i * 5 % 19) as f32 / 8.0 - 1.0)
        .collect();
    let c: Vec<f32> = c
        .iter()
        .map(|c| if *c == 0.5 { f32::NAN } else { *c })
        .collect();
    let d: Vec<i64> = (0..count).map(|i| i64::from(i * 3 % 23) - 11).collect();
    let of_a = Buffer::from_slice(&queue, &a)?;
    let of_b = Buffer::from_slice(&queue, &b)?;
    let of_c = Buffer::from_slice(&queue, &c)?;
    let of_d = Buffer::from_slice(&queue, &d)?;
    let (context, len) = (queue.context(), count as usize);
    let (mut wide, mut narrow) = (Buffer::new(context, len)?, Buffer::new(context, len)?);
    let (mut real, mut other) = (Buffer::new(context, len)?, Buffer::new(context, len)?);
    for params in widths!(conditions, queue) {
        conditions::launch_with(
            &params,
            &queue,
            count,
            &of_a,
            &of_b,
            &of_c,
            &of_d,
            &mut wide,
            &mut narrow,
            &mut real,
            &mut other,
        )?;
        let (wide, narrow) = (wide.read(&queue)?, narrow.read(&queue)?);
        let (real, other) = (real.read(&queue)?, other.read(&queue)?);
        for i in 0..len {
            let (a, b, c, d) = (a[i], b[i], c[i], d[i]);
            let what = format!("{a}, {b}, {c}, {d}");
            let is_first = a <= 0 || b != 7 && !c.is_nan();
            let expected = if is_first { d >> 1 } else { -i64::from(a) };
            assert_eq!(wide[i], expected, "{what}");
            let is_first = d != 0 && (c > 0.25 || c.is_nan());
            assert_eq!(narrow[i], if is_first { a } else { d as i8 }, "{what}");
            let is_first = (a == 3 || b >= 40) && d >= 0;
            let expected = if is_first { c } else { f32::from(a) / 4.0 };
            near(real[i].into(), expected.into(), 0.0, &what);
            let is_first = !c.is_nan() && a >= -5;
            let expected = if is_first {
                b | 1
            } else {
                d.unsigned_abs() as u16
            };
            assert_eq!(other[i], expected, "{what}");
        }
    }
    Ok(())
}
