//! Fused statements on a real device: every configuration is measured and verified, and calls are
//! compared with the host.

use cltune_runtime::{Buffer, Event, Queue, Result, fused};

/// A vector update and a product with its result.
#[fused(tune(n = [1, 1003, 4096]))]
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

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

#[test]
fn a_vector_update_and_a_product_with_its_result() -> Result<()> {
    let queue = queue();
    println!("{}", step::TUNABLE.model().source);
    for n in [1_u32, 2, 7, 1003, 4096] {
        let x: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
        let y: Vec<f32> = (0..n).map(|i| (i % 5) as f32 * 0.5).collect();
        let z: Vec<f32> = (0..n).map(|i| (i % 3) as f32).collect();
        let mut xs = Buffer::from_slice(&queue, &x)?;
        let (ys, zs) = (Buffer::from_slice(&queue, &y)?, Buffer::from_slice(&queue, &z)?);
        let mut s = Buffer::new(queue.context(), 1)?;
        step(&queue, n, 2.0, -1.5, &mut xs, &ys, &zs, &mut s)?;
        let expected: Vec<f32> = (0..n as usize).map(|i| 2.0 * x[i] - 1.5 * y[i] - z[i]).collect();
        assert_eq!(xs.read(&queue)?, expected, "{n}");
        let product: f32 = expected.iter().zip(&y).map(|(a, b)| a * b).sum();
        let found = s.read(&queue)?[0];
        assert!((found - product).abs() <= 1e-5 * product.abs().max(1.0), "{n}: {found} {product}");
    }
    Ok(())
}
