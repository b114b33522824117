//! Fused statements on a real device: configurations are measured and verified against the
//! generated reference, and calls are compared with the host.

use crate::{configurations, queue};
use cltune::{Buffer, Event, Queue, Result, fused};

/// A vector update and a product with its result: one pass, or two.
#[fused(tune(n = 1003))]
fn step(
    queue: &Queue,
    n: u32,
    alpha: f32,
    beta: f32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(len = n)] z: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    x = alpha * x + beta * y - z;
    s = dot(x, y);
}

/// A step of conjugate gradients after the product `q` of the matrix and `p`: numbers that are
/// reduced go on to later statements without the host.
#[fused(tune(n = 1003))]
fn conjugate(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<f64>,
    #[arg(len = n)] r: &mut Buffer<f64>,
    #[arg(len = n)] p: &mut Buffer<f64>,
    #[arg(len = n)] q: &Buffer<f64>,
    #[arg(len = 1, fill = uniform(1, 2))] rr: &mut Buffer<f64>,
) -> Result<Event> {
    let alpha = rr / dot(p, q);
    x += alpha * p;
    r -= alpha * q;
    let next = dot(r, r);
    let beta = next / rr;
    p = r + beta * p;
    rr = next;
}

/// Integers, conditions, conversions, two lengths, and every reduction.
#[fused(tune(n = 1003, m = 77))]
fn mixed(
    queue: &Queue,
    n: u32,
    m: u32,
    #[arg(value = 50)] limit: i32,
    #[arg(len = n)] a: &Buffer<i32>,
    #[arg(len = n)] b: &Buffer<f32>,
    #[arg(len = m)] c: &Buffer<u32>,
    #[arg(out, len = n)] clipped: &mut Buffer<i32>,
    #[arg(out, len = n)] wide: &mut Buffer<f64>,
    #[arg(out, len = m)] shifted: &mut Buffer<u32>,
    #[arg(out, len = 1)] least: &mut Buffer<i32>,
    #[arg(out, len = 1)] most: &mut Buffer<u32>,
    #[arg(out, len = 1)] norms: &mut Buffer<f32>,
) -> Result<Event> {
    let small = if a < limit && b > 0.25 {
        a
    } else {
        limit - a % 7
    };
    clipped = small;
    wide = abs(b as f64) + (if a == 3 { 1.5 } else { 0.0 });
    least = min(small);
    norms = norm1(b) + norm2(b) * norm_inf(b) - max(b);
    shifted = (c << 2) + (c & 5);
    most = max(shifted);
}

/// Numbers that are not in order and repeat after a while.
fn numbers(n: u32, seed: u32) -> impl Iterator<Item = u32> {
    (0..n).map(move |i| (i.wrapping_mul(2_654_435_761) ^ seed) >> 13 & 127)
}

fn floats(n: u32, seed: u32) -> Vec<f32> {
    numbers(n, seed)
        .map(|number| number as f32 / 64.0 - 1.0)
        .collect()
}

fn doubles(n: u32, seed: u32) -> Vec<f64> {
    floats(n, seed).into_iter().map(f64::from).collect()
}

fn near(found: f64, expected: f64, scale: f64) {
    assert!(
        (found - expected).abs() <= scale * expected.abs().max(1.0),
        "{found}, not {expected}"
    );
}

#[test]
fn a_vector_update_and_a_product_with_its_result() -> Result<()> {
    let queue = queue();
    for n in [1_u32, 2, 7, 1003, 4096] {
        let (x, y, z) = (floats(n, 1), floats(n, 2), floats(n, 3));
        let mut xs = Buffer::from_slice(&queue, &x)?;
        let (ys, zs) = (
            Buffer::from_slice(&queue, &y)?,
            Buffer::from_slice(&queue, &z)?,
        );
        let mut s = Buffer::new(queue.context(), 1)?;
        step(&queue, n, 2.0, -1.5, &mut xs, &ys, &zs, &mut s)?;
        let expected: Vec<f32> = (0..n as usize)
            .map(|i| 2.0 * x[i] - 1.5 * y[i] - z[i])
            .collect();
        assert_eq!(xs.read(&queue)?, expected, "{n}");
        let product: f64 = expected.iter().zip(&y).map(|(a, b)| f64::from(a * b)).sum();
        near(s.read(&queue)?[0].into(), product, 1e-5);
    }
    Ok(())
}

#[test]
fn numbers_that_are_reduced_go_on_to_later_statements() -> Result<()> {
    let queue = queue();
    let n = 1003;
    let [start, residual, direction, q] = [1, 2, 3, 4].map(|seed| doubles(n, seed));
    let rr: f64 = residual.iter().map(|r| r * r).sum();
    let inputs = [&start, &residual, &direction];
    let mut buffers = inputs.map(|values| Buffer::from_slice(&queue, values).unwrap());
    let qs = Buffer::from_slice(&queue, &q)?;
    let mut rrs = Buffer::from_slice(&queue, &[rr])?;
    let [xs, rs, ps] = &mut buffers;
    conjugate(&queue, n, xs, rs, ps, &qs, &mut rrs)?;

    let alpha = rr / direction.iter().zip(&q).map(|(p, q)| p * q).sum::<f64>();
    let residual: Vec<f64> = residual
        .iter()
        .zip(&q)
        .map(|(r, q)| r - alpha * q)
        .collect();
    let next: f64 = residual.iter().map(|r| r * r).sum();
    near(rrs.read(&queue)?[0], next, 1e-9);
    for (i, found) in xs.read(&queue)?.into_iter().enumerate() {
        near(found, start[i] + alpha * direction[i], 1e-9);
    }
    for (i, found) in ps.read(&queue)?.into_iter().enumerate() {
        near(found, residual[i] + next / rr * direction[i], 1e-9);
    }
    Ok(())
}

#[test]
fn integers_conditions_conversions_and_every_reduction() -> Result<()> {
    let queue = queue();
    for (n, m) in [(1_u32, 1_u32), (1003, 77)] {
        let a: Vec<i32> = numbers(n, 5).map(|number| number as i32).collect();
        let (b, c): (_, Vec<u32>) = (floats(n, 6), numbers(m, 7).collect());
        let buffers = (
            Buffer::from_slice(&queue, &a)?,
            Buffer::from_slice(&queue, &b)?,
        );
        let cs = Buffer::from_slice(&queue, &c)?;
        let context = queue.context();
        let mut clipped = Buffer::new(context, n as usize)?;
        let mut wide = Buffer::new(context, n as usize)?;
        let mut shifted = Buffer::new(context, m as usize)?;
        let (mut least, mut most) = (Buffer::new(context, 1)?, Buffer::new(context, 1)?);
        let mut norms = Buffer::new(context, 1)?;
        mixed(
            &queue,
            n,
            m,
            50,
            &buffers.0,
            &buffers.1,
            &cs,
            &mut clipped,
            &mut wide,
            &mut shifted,
            &mut least,
            &mut most,
            &mut norms,
        )?;
        let small = |i: usize| {
            if a[i] < 50 && b[i] > 0.25 {
                a[i]
            } else {
                50 - a[i] % 7
            }
        };
        let expected: Vec<i32> = (0..n as usize).map(small).collect();
        assert_eq!(clipped.read(&queue)?, expected);
        assert_eq!(least.read(&queue)?[0], *expected.iter().min().unwrap());
        let expected = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f64::from(b.abs()) + if *a == 3 { 1.5 } else { 0.0 });
        assert_eq!(wide.read(&queue)?, expected.collect::<Vec<f64>>());
        let expected: Vec<u32> = c.iter().map(|c| (c << 2) + (c & 5)).collect();
        assert_eq!(shifted.read(&queue)?, expected);
        assert_eq!(most.read(&queue)?[0], *expected.iter().max().unwrap());
        let absolute = b.iter().map(|b| f64::from(b.abs()));
        let norm1: f64 = absolute.clone().sum();
        let norm2: f64 = b.iter().map(|b| f64::from(b * b)).sum::<f64>().sqrt();
        let most = b.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let expected = norm1 + norm2 * absolute.fold(0.0, f64::max) - f64::from(most);
        near(norms.read(&queue)?[0].into(), expected, 1e-5);
    }
    Ok(())
}

/// Those that are read overlap, and those that are written are the halves of a buffer.
#[test]
fn views_of_one_buffer_are_operands() -> Result<()> {
    let queue = queue();
    // Views begin at multiples of so many elements.
    let bytes = queue.device().info().limits.mem_base_addr_align;
    let apart = usize::try_from(bytes / 4).unwrap().max(1);
    let n = 3 * apart;
    let (read, written) = (floats((n + apart) as u32, 1), floats((n + 3) as u32, 2));
    let reads = Buffer::from_slice(&queue, &read)?;
    let mut writes = Buffer::from_slice(&queue, &written)?;
    let (first, later) = (reads.slice(..n)?, reads.slice(apart..)?);
    let (mut head, mut tail) = writes.split_at_mut(n)?;
    // The last element of the first half is none of the vector's.
    let n = n - 1;
    step(
        &queue, n as u32, 0.5, 2.0, &mut head, &first, &later, &mut tail,
    )?;
    let mut expected = written.clone();
    for i in 0..n {
        expected[i] = 0.5 * written[i] + 2.0 * read[i] - read[apart + i];
    }
    let found = writes.read(&queue)?;
    let product = expected[..n].iter().zip(&read);
    let product: f64 = product.map(|(a, b)| f64::from(a * b)).sum();
    near(found[n + 1].into(), product, 1e-5);
    expected[n + 1] = found[n + 1];
    assert_eq!(found, expected);
    Ok(())
}

/// Ways to fetch and to fuse, with some sizes.
const SOME: &str = "(VW == 1 || VW == 4) && WG == 32";

#[test]
fn configurations_of_one_pass_and_of_two_are_right() {
    let few = format!("{SOME} && (GROUPS == 1 || GROUPS == 16)");
    configurations::are_right(&step::TUNABLE, &few, 8, 6);
}

#[test]
fn configurations_of_several_passes_are_right() {
    let few = format!("{SOME} && GROUPS == 16");
    configurations::are_right(&conjugate::TUNABLE, &few, 8, 6);
}

#[test]
fn configurations_with_two_lengths_and_types_are_right() {
    let few = format!("{SOME} && GROUPS == 16");
    configurations::are_right(&mixed::TUNABLE, &few, 8, 6);
}
