//! Fused statements over vectors with offsets and strides, indexes of largest values, norms without
//! overflow, and assignments of several vectors at once.

use crate::{configurations, queue};
use cltune::{Buffer, Context, Device, Error, Event, Queue, Result, Tunable, fused};

/// BLAS's axpy, and a product with its result.
#[fused(tune(n = 1003))]
fn step(
    queue: &Queue,
    n: u64,
    alpha: f32,
    #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<f32>,
    offx: u64,
    incx: i64,
    #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<f32>,
    offy: u32,
    incy: i32,
    #[arg(out, len = 1, offset = at)] s: &mut Buffer<f32>,
    at: u32,
) -> Result<Event> {
    y += alpha * x;
    s = dot(x, y);
}

/// BLAS's rot, with an offset alone.
#[fused(tune(n = 1003))]
fn rotated(
    queue: &Queue,
    n: u32,
    c: f32,
    s: f32,
    #[arg(len = n, offset = offx)] x: &mut Buffer<f32>,
    offx: u32,
    #[arg(len = n, stride = incy)] y: &mut Buffer<f32>,
    incy: i32,
) -> Result<Event> {
    (x, y) = (c * x + s * y, c * y - s * x);
}

/// Indexes of elements of several types.
#[fused(tune(n = 1003))]
fn places(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] i: &Buffer<i32>,
    #[arg(len = n)] b: &Buffer<u8>,
    #[arg(out, len = 1)] of_x: &mut Buffer<u64>,
    #[arg(out, len = 1)] of_i: &mut Buffer<u64>,
    #[arg(out, len = 1)] of_b: &mut Buffer<u32>,
) -> Result<Event> {
    of_x = index_of_max(x);
    of_i = index_of_max_abs(i);
    of_b = (index_of_max(b) + 1) as u32;
}

/// The norm in single precision, and of a product.
#[fused(tune(n = 1003))]
fn norms(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = 1)] of_x: &mut Buffer<f32>,
    #[arg(out, len = 1)] twice: &mut Buffer<f32>,
) -> Result<Event> {
    of_x = norm2(x);
    twice = norm2(2.0 * x);
}

/// The norm in double precision.
#[fused(tune(n = 1003))]
fn norm(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f64>,
    #[arg(out, len = 1)] of_x: &mut Buffer<f64>,
) -> Result<Event> {
    of_x = norm2(x);
}

/// So many bytes that positions need more than 32 bits.
#[fused(tune(n = 1003))]
fn ones(queue: &Queue, n: u64, #[arg(out, len = n)] b: &mut Buffer<u8>) -> Result<Event> {
    b = 1;
}

/// What is found in them.
#[fused(tune(n = 1003))]
fn found(
    queue: &Queue,
    n: u64,
    #[arg(len = n)] b: &Buffer<u8>,
    #[arg(out, len = 1)] total: &mut Buffer<u64>,
    #[arg(out, len = 1)] place: &mut Buffer<u64>,
) -> Result<Event> {
    total = sum(b as u64);
    place = index_of_max(b);
}

/// Numbers from -1 to 1 that are not in order and repeat after a while.
fn floats(n: usize, seed: u32) -> Vec<f32> {
    let numbers = (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) ^ seed) >> 13 & 127);
    numbers.map(|number| number as f32 / 64.0 - 1.0).collect()
}

/// The index of an element of a vector of BLAS.
fn index(i: usize, n: usize, offset: usize, stride: i64) -> usize {
    let from = if stride < 0 { n - 1 - i } else { i };
    offset + from * stride.unsigned_abs() as usize
}

/// The configurations whose parameters have such values; of the others the first one.
fn some(tunable: &'static Tunable, dims: &[i64]) -> Vec<Vec<i64>> {
    let model = tunable.model();
    let device = Device::select().expect("these tests need an OpenCL device");
    let widths = [
        (1, 0, 1, 0),
        (4, 0, 2, 1),
        (16, 1, 4, 0),
        (4, 1, 1, 0),
        (1, 1, 1, 1),
    ];
    let all = widths
        .into_iter()
        .map(|(width, fetch, accumulators, finish)| {
            let parameters = model.parameters.iter();
            let codes: Vec<i64> = parameters
                .map(|parameter| match &*parameter.name {
                    "VW" => width,
                    "WG" => 32,
                    "GROUPS" => 4,
                    "FETCH" => fetch,
                    "ACCUMULATORS" => accumulators,
                    "FINISH" => finish,
                    _ => 0,
                })
                .collect();
            assert!(model.check(&codes, dims, &device.info().limits).is_ok());
            codes
        });
    all.collect()
}

#[test]
fn vectors_begin_anywhere_and_have_strides_of_either_sign() -> Result<()> {
    let queue = queue();
    let layouts = [
        (1, (0, 1), (0, 1)),
        (1003, (3, 1), (5, 1)),
        (1003, (4, 1), (8, 1)),
        (257, (1, 2), (0, -1)),
        (97, (2, -3), (7, 5)),
        (0, (9, -2), (0, 3)),
    ];
    let widths = [
        (1, step::FETCH::strided, 1, step::FINISH::launch),
        (1, step::FETCH::contiguous, 1, step::FINISH::r#loop),
        (4, step::FETCH::strided, 4, step::FINISH::r#loop),
        (4, step::FETCH::contiguous, 2, step::FINISH::launch),
    ];
    for (n, (offx, incx), (offy, incy)) in layouts {
        let reach = |offset: usize, stride: i64| match n {
            0 => offset + 1,
            _ => offset + (n - 1) * stride.unsigned_abs() as usize + 1,
        };
        let (x, y) = (floats(reach(offx, incx), 1), floats(reach(offy, incy), 2));
        let mut expected = y.clone();
        let mut product = 0.0;
        for i in 0..n {
            let of_x = f64::from(x[index(i, n, offx, incx)]);
            let of_y = &mut expected[index(i, n, offy, incy)];
            *of_y += 2.0 * of_x as f32;
            product += of_x * f64::from(*of_y);
        }
        for (width, fetch, accumulators, finish) in widths {
            let xs = Buffer::from_slice(&queue, &x)?;
            let mut ys = Buffer::from_slice(&queue, &y)?;
            let mut s = Buffer::from_slice(&queue, &[7.0_f32; 3])?;
            let params = step::Params {
                FUSE: step::FUSE::all,
                VW: width,
                WG: 32,
                GROUPS: 4,
                FETCH: fetch,
                ACCUMULATORS: accumulators,
                FINISH: finish,
            };
            step::launch_with(
                &params,
                &queue,
                n as u64,
                2.0,
                &xs,
                offx as u64,
                incx,
                &mut ys,
                offy as u32,
                incy as i32,
                &mut s,
                1,
            )?;
            assert_eq!(ys.read(&queue)?, expected, "{n} {incx} {incy} {width}");
            let found = s.read(&queue)?;
            assert_eq!((found[0], found[2]), (7.0, 7.0));
            assert!((f64::from(found[1]) - product).abs() <= 1e-4 * product.abs().max(1.0));
        }
    }
    Ok(())
}

#[test]
fn vectors_that_do_not_fit_are_refused_before_anything_runs() -> Result<()> {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 10])?;
    let mut y = Buffer::from_slice(&queue, &[1.0_f32; 10])?;
    let mut s = Buffer::from_slice(&queue, &[0.0_f32])?;
    let mut call = |n, offx, incx, offy, incy| {
        step(
            &queue, n, 1.0, &x, offx, incx, &mut y, offy, incy, &mut s, 0,
        )
        .map(drop)
    };
    call(4, 0, 3, 0, -3)?;
    for (n, offx, incx, needed) in [(4, 1, 3, 11), (4, 3, -3, 13), (2, u64::MAX, 1, usize::MAX)] {
        let error = call(n, offx, incx, 0, 1).unwrap_err();
        assert!(
            matches!(&error, Error::BufferTooShort { argument, needed: found, .. }
                if argument == "x" && *found == needed),
            "{error}"
        );
    }
    let error = call(u64::MAX, 0, i64::MIN, 0, 1).unwrap_err();
    assert!(!error.to_string().is_empty());
    let error = call(2, 0, 1, 0, 0).unwrap_err();
    assert!(matches!(error, Error::ZeroStride { .. }), "{error}");
    // One element for all positions may be read.
    call(10, 3, 0, 0, 1)?;
    assert_eq!(
        y.read(&queue)?,
        [3.0, 2.0, 2.0, 3.0, 2.0, 2.0, 3.0, 2.0, 2.0, 3.0]
    );
    Ok(())
}

#[test]
fn several_vectors_are_assigned_at_once() -> Result<()> {
    let queue = queue();
    let n = 1003;
    let (x, y) = (floats(n + 1, 1), floats(2 * n, 2));
    let mut xs = Buffer::from_slice(&queue, &x)?;
    let mut ys = Buffer::from_slice(&queue, &y)?;
    rotated(&queue, n as u32, 0.5, 2.0, &mut xs, 1, &mut ys, -2)?;
    let (found_x, found_y) = (xs.read(&queue)?, ys.read(&queue)?);
    assert_eq!(found_x[0], x[0]);
    for i in 0..n {
        let at = index(i, n, 0, -2);
        assert_eq!(found_x[1 + i], 0.5 * x[1 + i] + 2.0 * y[at]);
        assert_eq!(found_y[at], 0.5 * y[at] - 2.0 * x[1 + i]);
        assert_eq!(found_y[at + 1], y[at + 1]);
    }
    Ok(())
}

#[test]
fn the_first_of_the_largest_values_is_found() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    let nan = f32::NAN;
    let first = |values: &[f32]| {
        let known = values
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_nan());
        let largest = known
            .clone()
            .map(|(_, value)| *value)
            .fold(f32::NEG_INFINITY, f32::max);
        let mut known = known;
        known
            .find(|(_, value)| **value == largest && largest > f32::NEG_INFINITY)
            .map_or(0, |(at, _)| at)
    };
    let mut long = floats(1003, 9);
    long[700] = 5.0;
    long[702] = 5.0;
    long[3] = nan;
    let mut high = floats(1003, 9);
    high[1002] = f32::INFINITY;
    let cases: [Vec<f32>; 7] = [
        vec![],
        vec![-3.0],
        vec![nan, nan],
        vec![f32::NEG_INFINITY; 5],
        vec![1.0; 40],
        long,
        high,
    ];
    for x in cases {
        let n = x.len();
        let i: Vec<i32> = x
            .iter()
            .map(|value| (*value * -100.0).clamp(-1e6, 1e6) as i32)
            .collect();
        let b: Vec<u8> = i.iter().map(|value| *value as u8).collect();
        let of_i: Vec<f32> = i.iter().map(|value| value.unsigned_abs() as f32).collect();
        let of_b: Vec<f32> = b.iter().map(|value| f32::from(*value)).collect();
        for codes in some(&places::TUNABLE, &[n as i64]) {
            let (xs, is, bs) = (
                Buffer::from_slice(&queue, &x)?,
                Buffer::from_slice(&queue, &i)?,
                Buffer::from_slice(&queue, &b)?,
            );
            let mut found = [Buffer::new(context, 1)?, Buffer::new(context, 1)?];
            let mut narrow = Buffer::new(context, 1)?;
            let [at_x, at_i] = &mut found;
            let [.., fetch, accumulators, finish] = codes[..] else {
                panic!("{codes:?}");
            };
            let fetch = [places::FETCH::strided, places::FETCH::contiguous][fetch as usize];
            let finish = [places::FINISH::launch, places::FINISH::r#loop][finish as usize];
            let width = codes[1];
            let params = places::Params {
                FUSE: places::FUSE::all,
                VW: width,
                WG: 32,
                GROUPS: 4,
                FETCH: fetch,
                ACCUMULATORS: accumulators,
                FINISH: finish,
            };
            places::launch_with(
                &params,
                &queue,
                n as u32,
                &xs,
                &is,
                &bs,
                at_x,
                at_i,
                &mut narrow,
            )?;
            let zero = |values: &[f32]| first(values) as u64;
            assert_eq!(found[0].read(&queue)?[0], zero(&x), "{x:?}");
            // The least integer is an element, too, so that 0 is found for zeros.
            assert_eq!(found[1].read(&queue)?[0], zero(&of_i), "{i:?}");
            assert_eq!(
                u64::from(narrow.read(&queue)?[0]),
                if n == 0 { 1 } else { 1 + zero(&of_b) }
            );
        }
    }
    Ok(())
}

#[test]
fn norms_neither_overflow_nor_underflow() -> Result<()> {
    let queue = queue();
    let context = queue.context();
    let big = f32::MAX / 64.0;
    let cases: [(Vec<f32>, f64); 9] = [
        (vec![], 0.0),
        (vec![0.0; 10], 0.0),
        (vec![3.0, 4.0], 5.0),
        (vec![3.0 * 1e30, 4.0 * 1e30], 5.0 * 1e30),
        (vec![3.0 * 1e-30, 4.0 * 1e-30], 5.0 * 1e-30),
        (vec![big; 1024], 32.0 * f64::from(big)),
        (vec![1e-20; 10000], 1e-18),
        (vec![1e-30, 1e-19, 1.0, 1e25], 1e25),
        (vec![f32::INFINITY, 1.0, 1e-30], f64::INFINITY),
    ];
    for (x, expected) in cases {
        let xs = Buffer::from_slice(&queue, &x)?;
        let (mut one, mut two) = (Buffer::new(context, 1)?, Buffer::new(context, 1)?);
        norms(&queue, x.len() as u32, &xs, &mut one, &mut two)?;
        let (one, two) = (
            f64::from(one.read(&queue)?[0]),
            f64::from(two.read(&queue)?[0]),
        );
        let near =
            |found: f64, expected: f64| found == expected || (found / expected - 1.0).abs() < 1e-5;
        assert!(
            near(one, expected) && near(two, 2.0 * expected),
            "{one} {two}, not {expected}"
        );
    }
    let xs = Buffer::from_slice(&queue, &[1.0, f32::NAN, f32::INFINITY])?;
    let (mut one, mut two) = (Buffer::new(context, 1)?, Buffer::new(context, 1)?);
    norms(&queue, 3, &xs, &mut one, &mut two)?;
    assert!(one.read(&queue)?[0].is_nan());

    if queue.device().info().limits.fp64 == 0 {
        return Ok(());
    }
    let doubles = [
        (vec![3e200, 4e200], 5e200),
        (vec![3e-300, 4e-300], 5e-300),
        (vec![3.0, 4.0], 5.0),
    ];
    for (x, expected) in doubles {
        let mut found = Buffer::new(context, 1)?;
        norm(&queue, 2, &Buffer::from_slice(&queue, &x)?, &mut found)?;
        assert!((found.read(&queue)?[0] / expected - 1.0_f64).abs() < 1e-14);
    }
    Ok(())
}

/// Ways to fetch and to finish, with some sizes.
const SOME: &str = "(VW == 1 || VW == 4) && WG == 32 && GROUPS == 4";

#[test]
fn configurations_are_right() {
    for tunable in [
        &step::TUNABLE,
        &rotated::TUNABLE,
        &places::TUNABLE,
        &norms::TUNABLE,
    ] {
        configurations::are_right(tunable, SOME, 4, 3);
    }
    if queue().device().info().limits.fp64 == 1 {
        configurations::are_right(&norm::TUNABLE, SOME, 4, 3);
    }
}

/// A device without double precision is refused by what is declared.
#[test]
fn double_precision_needs_a_device_that_has_it() -> Result<()> {
    let queue = Queue::new(&Context::new(&Device::select()?)?)?;
    let mut limits = queue.device().info().limits.clone();
    if limits.fp64 == 0 {
        println!("{} has no double precision", queue.device());
        return Ok(());
    }
    let model = norm::TUNABLE.model();
    let codes = &some(&norm::TUNABLE, &[10])[0];
    assert!(model.check(codes, &[10], &limits).is_ok());
    limits.fp64 = 0;
    let refusal = model.check(codes, &[10], &limits).unwrap_err().to_string();
    assert!(refusal.contains("fp64"), "{refusal}");
    let single = norms::TUNABLE.model();
    assert!(
        single
            .check(&some(&norms::TUNABLE, &[10])[0], &[10], &limits)
            .is_ok()
    );
    Ok(())
}

/// It needs more than 4 GiB on the device.
#[test]
fn more_elements_than_32_bits_count() -> Result<()> {
    if cltune_tests::is_left_to_full() {
        return Ok(());
    }
    let queue = queue();
    let n = (1_u64 << 32) + 1;
    let most = queue.device().info().limits.max_mem_alloc_size;
    assert!(
        most >= n as i64,
        "{} has no buffers of {n} bytes",
        queue.device()
    );
    let context = queue.context();
    let mut bytes = Buffer::<u8>::new(context, n as usize)?;
    ones(&queue, n, &mut bytes)?;
    bytes.slice_mut(1 << 32..)?.write(&queue, &[9])?;
    let (mut total, mut place) = (Buffer::new(context, 1)?, Buffer::new(context, 1)?);
    found(&queue, n, &bytes, &mut total, &mut place)?;
    assert_eq!(total.read(&queue)?, [(1_u64 << 32) + 9]);
    assert_eq!(place.read(&queue)?, [1_u64 << 32]);
    Ok(())
}
