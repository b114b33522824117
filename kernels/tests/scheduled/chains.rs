//! Random chains of operations on random shapes: primes, 1, larger than every limit.

use crate::host::{Host, Number, Numbers, check, scheduler, sent};
use cltune::schedule::{Matrix, Scheduler};
use cltune::{Buffer, Queue};
use cltune_kernels::scheduled::{difference, gemm, scaled, sum};

const SIZES: [usize; 12] = [1, 2, 3, 7, 16, 31, 64, 97, 128, 131, 200, 257];

/// C = (A + B) (A - B), for a memory that is much less than a matrix.
fn paper<T: Number>(size: usize, count: usize, memory: usize) {
    let mut numbers = Numbers(size as u64);
    let scheduler = scheduler::<T>(count, memory);
    let [mut a, mut b] = [0; 2].map(|_| Host::random(&mut numbers, size, size));
    let (of_a, of_b) = (
        sent::<T>(&scheduler, &mut a, true),
        sent::<T>(&scheduler, &mut b, true),
    );
    let mut c = scheduler.matrix::<T>(size, size).unwrap();
    let left = sum(&of_a, &of_b).unwrap();
    let right = difference(&of_a, &of_b).unwrap();
    gemm(&scheduler, T::of(1.0), left, right, T::of(0.0), &mut c).unwrap();
    let report = scheduler.finish().unwrap();
    let left = a.combined(1.0, &b, 1.0, T::ULP);
    let right = a.combined(1.0, &b, -1.0, T::ULP);
    let nothing = Host::random(&mut numbers, size, size);
    check(
        &c,
        &left.product(1.0, &right, 0.0, &nothing, T::ULP),
        "the paper's expression",
    );
    for device in &report.devices {
        assert!(device.peak <= memory, "{report}");
    }
}

#[test]
fn the_papers_expression_is_right_within_every_limit() {
    for (size, memory) in [(97, 1 << 30), (257, 300_000), (257, 100_000), (300, 60_000)] {
        for count in [1, 2] {
            paper::<f32>(size, count, memory);
        }
    }
    paper::<f64>(131, 2, 100_000);
}

/// The sum and the difference of two matrices become two others in one operation, or those
/// themselves.
fn both<T: Number>(
    numbers: &mut Numbers,
    scheduler: &Scheduler,
    hosts: &mut [Host],
    matrices: &mut [Matrix<T>],
) {
    let mut order = [0, 1, 2, 3];
    for at in 0..3 {
        order.swap(at, at + numbers.below(4 - at));
    }
    let [first, second, left, right] = matrices.get_disjoint_mut(order).unwrap();
    let [to_first, to_second, from_left, from_right] = order;
    let (x, y) = if numbers.below(2) == 0 {
        let function = |queue: &Queue, n, ab: [&Buffer<T>; 2], uv: [&mut Buffer<T>; 2]| {
            T::both(queue, n as u64, ab, uv)
        };
        scheduler
            .store_all("both", [&*left, right], function, [first, second])
            .unwrap();
        (&hosts[from_left], &hosts[from_right])
    } else {
        let function = |queue: &Queue, n, []: [&Buffer<T>; 0], uv: [&mut Buffer<T>; 2]| {
            T::turn(queue, n as u64, uv)
        };
        let none: [&Matrix<T>; 0] = [];
        scheduler
            .update("turn", none, function, [first, second])
            .unwrap();
        (&hosts[to_first], &hosts[to_second])
    };
    let results = [1.0, -1.0].map(|sign| x.combined(1.0, y, sign, T::ULP));
    [hosts[to_first], hosts[to_second]] = results;
}

/// A chain of random operations, and the same on the host.
fn chain<T: Number>(seed: u64, count: usize, memory: usize) {
    let mut numbers = Numbers(seed);
    let scheduler = scheduler::<T>(count, memory);
    let size = numbers.among(&SIZES);
    let mut hosts = Vec::new();
    let mut matrices = Vec::new();
    for _ in 0..4 {
        let mut host = Host::random(&mut numbers, size, size);
        matrices.push(sent::<T>(&scheduler, &mut host, true));
        hosts.push(host);
    }
    let ulp = T::ULP;
    for _ in 0..6 {
        if numbers.below(4) == 0 {
            both(&mut numbers, &scheduler, &mut hosts, &mut matrices);
            continue;
        }
        let to = numbers.below(4);
        let mut result = matrices.swap_remove(to);
        let before = hosts[to].clone();
        // Those that are left, with their numbers.
        let others: Vec<usize> = [0, 1, 2, 3].into_iter().filter(|at| *at != to).collect();
        let places = |at: usize| if at == 3 { to } else { at };
        let [x, y] = [0; 2].map(|_| *numbers.among(&[&others[0], &others[1], &others[2]]));
        let (of_x, of_y) = (&matrices[places(x)], &matrices[places(y)]);
        let (on_x, on_y) = (hosts[x].clone(), hosts[y].clone());
        let factor = numbers.among(&[0.5, -1.0, 0.0, 0.25]) / size as f64;
        let beta = numbers.among(&[0.0, 1.0, -0.5]);
        let number = T::of;
        hosts[to] = match numbers.below(5) {
            0 => {
                scheduler
                    .store(sum(of_x, of_y).unwrap(), &mut result)
                    .unwrap();
                on_x.combined(1.0, &on_y, 1.0, ulp)
            }
            1 => {
                let right = difference(of_x, of_y).unwrap();
                let product = gemm(
                    &scheduler,
                    number(factor),
                    of_x,
                    right,
                    number(beta),
                    &mut result,
                );
                product.unwrap();
                let right = on_x.combined(1.0, &on_y, -1.0, ulp);
                on_x.product(T::of(factor).value(), &right, beta, &before, ulp)
            }
            2 => {
                let left = of_x.transposed();
                let product = gemm(
                    &scheduler,
                    number(factor),
                    left,
                    of_y,
                    number(beta),
                    &mut result,
                );
                product.unwrap();
                let left = on_x.transposed();
                left.product(T::of(factor).value(), &on_y, beta, &before, ulp)
            }
            3 => {
                let half = scaled(number(0.5), of_x).unwrap();
                scheduler
                    .store(difference(half, of_y.expression()).unwrap(), &mut result)
                    .unwrap();
                on_x.combined(0.5, &on_y, -1.0, ulp)
            }
            _ => {
                let (left, right) = (sum(of_x, of_y).unwrap(), of_y.transposed());
                gemm(
                    &scheduler,
                    number(factor),
                    left,
                    right,
                    number(0.0),
                    &mut result,
                )
                .unwrap();
                let left = on_x.combined(1.0, &on_y, 1.0, ulp);
                let right = on_y.transposed();
                left.product(T::of(factor).value(), &right, 0.0, &before, ulp)
            }
        };
        matrices.push(result);
        let last = matrices.len() - 1;
        matrices.swap(to, last);
    }
    scheduler
        .finish()
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    for (at, (matrix, host)) in matrices.iter().zip(&hosts).enumerate() {
        check(matrix, host, &format!("seed {seed}, matrix {at}"));
    }
}

#[test]
fn chains_on_random_shapes_are_right() {
    // `scripts/test --full` runs more.
    let rounds = std::env::var("CLTUNE_CHAINS")
        .ok()
        .and_then(|of| of.parse().ok());
    let mut numbers = Numbers(7);
    for seed in 0..rounds.unwrap_or(4) {
        let memory = numbers.among(&[40_000, 100_000, 400_000, 1 << 28]);
        chain::<f32>(seed, 1 + numbers.below(3), memory);
        if seed % 3 == 0 {
            chain::<f64>(seed, 2, 2 * memory);
        }
    }
}
