//! Products, matrix-vector products and sums: all layouts, all factors.

use crate::host::{Host, Number, Numbers, check, scheduler, sent};
use cltune::Device;
use cltune_kernels::scheduled::{dot, gemm, gemv, sum, total};

fn product<T: Number>(numbers: &mut Numbers, sizes: [usize; 3], memory: usize) {
    let scheduler = scheduler::<T>(2, memory);
    let layouts = [0; 3].map(|_| numbers.below(2) == 0);
    let are_transposed = [0; 2].map(|_| numbers.below(2) == 0);
    let (alpha, beta) = (
        numbers.among(&[1.0, -0.5, 0.0]),
        numbers.among(&[0.0, 1.0, 0.25]),
    );
    let mut operand = |rows: usize, columns: usize, is_transposed: bool| {
        if is_transposed {
            Host::random(numbers, columns, rows)
        } else {
            Host::random(numbers, rows, columns)
        }
    };
    let (mut a, mut b) = (
        operand(sizes[0], sizes[2], are_transposed[0]),
        operand(sizes[2], sizes[1], are_transposed[1]),
    );
    let mut c = operand(sizes[0], sizes[1], false);
    let of_a = sent::<T>(&scheduler, &mut a, layouts[0]);
    let of_b = sent::<T>(&scheduler, &mut b, layouts[1]);
    let mut of_c = sent::<T>(&scheduler, &mut c, layouts[2]);
    let left = if are_transposed[0] {
        of_a.transposed()
    } else {
        of_a.expression()
    };
    let right = if are_transposed[1] {
        of_b.transposed()
    } else {
        of_b.expression()
    };
    gemm(
        &scheduler,
        T::of(alpha),
        left,
        right,
        T::of(beta),
        &mut of_c,
    )
    .unwrap();
    scheduler.finish().unwrap();
    let left = if are_transposed[0] { a.transposed() } else { a };
    let right = if are_transposed[1] { b.transposed() } else { b };
    let what = format!("{sizes:?} {layouts:?} {are_transposed:?} {alpha} {beta} {memory}");
    check(&of_c, &left.product(alpha, &right, beta, &c, T::ULP), &what);
}

#[test]
fn products_of_all_layouts_are_right_within_limits() {
    let mut numbers = Numbers(3);
    for round in 0..10 {
        let sizes = [0; 3].map(|_| numbers.among(&[1, 5, 64, 97, 131, 190]));
        let memory = numbers.among(&[30_000, 120_000, 1 << 26]);
        product::<f32>(&mut numbers, sizes, memory);
        if round % 4 == 0 {
            product::<f64>(&mut numbers, sizes, 2 * memory);
        }
    }
}

/// Also those that are too slow to be given anything beside the others.
#[test]
fn every_device_computes_products_alone() {
    let count = Device::all().unwrap().len().max(2);
    let mut numbers = Numbers(11);
    let scheduler = scheduler::<f32>(count, 100_000);
    let [mut a, mut b] = [0; 2].map(|_| Host::random(&mut numbers, 97, 97));
    let of_a = sent::<f32>(&scheduler, &mut a, true);
    let of_b = sent::<f32>(&scheduler, &mut b, true);
    for alone in 0..count {
        for device in 0..count {
            scheduler.set_resting(device, device != alone);
        }
        let mut c = Host::random(&mut numbers, 97, 97);
        let mut of_c = sent::<f32>(&scheduler, &mut c, true);
        let left = sum(&of_a, &of_b).unwrap();
        gemm(&scheduler, 0.5, left, of_b.transposed(), -1.0, &mut of_c).unwrap();
        let report = scheduler.finish().unwrap();
        let tasks = report.devices.iter().map(|device| device.tasks > 0);
        let expected = (0..count).map(|device| device == alone);
        assert!(tasks.eq(expected), "{report}");
        let left = a.combined(1.0, &b, 1.0, f32::ULP);
        let right = left.product(0.5, &b.transposed(), -1.0, &c, f32::ULP);
        check(&of_c, &right, &report.devices[alone].device);
    }
}

#[test]
fn a_matrix_times_a_vector_is_right() {
    let mut numbers = Numbers(5);
    for (m, k) in [(1, 300), (331, 1), (257, 131)] {
        let scheduler = scheduler::<f32>(2, 50_000);
        let mut a = Host::random(&mut numbers, m, k);
        let (mut x, mut y) = (
            Host::random(&mut numbers, k, 1),
            Host::random(&mut numbers, m, 1),
        );
        let of_a = sent::<f32>(&scheduler, &mut a, true);
        let of_x = sent::<f32>(&scheduler, &mut x, false);
        let mut of_y = sent::<f32>(&scheduler, &mut y, false);
        gemv(&scheduler, 2.0, &of_a, &of_x, -1.0, &mut of_y).unwrap();
        scheduler.finish().unwrap();
        let right = a.product(2.0, &x, -1.0, &y, f64::from(f32::EPSILON));
        check(&of_y, &right, &format!("{m}x{k}"));
    }
}

#[test]
fn sums_of_vectors_are_right_and_do_not_depend_on_the_devices() {
    for len in [1, 1009, 2_500_000] {
        let mut results = Vec::new();
        for (count, memory) in [(1, 1 << 26), (3, 1 << 26), (2, 2_000_000)] {
            let scheduler = scheduler::<f32>(count, memory);
            let [mut x, mut y] = [0; 2].map(|_| scheduler.vector::<f32>(len).unwrap());
            for (at, value) in x.values_mut().iter_mut().enumerate() {
                *value = (at % 7) as f32;
            }
            y.values_mut().fill(0.5);
            let [mut product, mut all] = [0; 2].map(|_| scheduler.vector::<f32>(1).unwrap());
            dot(&scheduler, &x, sum(&y, &y).unwrap(), &mut product).unwrap();
            total(&scheduler, &x, &mut all).unwrap();
            scheduler.finish().unwrap();
            let right: f64 = (0..len).map(|at| (at % 7) as f64).sum();
            for result in [&product, &all] {
                let found = f64::from(result.values().unwrap()[0]);
                assert!(
                    (found - right).abs() <= 1e-5 * right,
                    "{len}: {found} {right}"
                );
                results.push(found);
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let scheduler = scheduler::<f32>(1, 1 << 20);
    let a = scheduler.matrix::<f32>(3, 4).unwrap();
    let mut c = scheduler.matrix::<f32>(3, 3).unwrap();
    let error = gemm(&scheduler, 1.0, &a, &a, 0.0, &mut c)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("product of float") && error.contains("B is 3 x 4"),
        "{error}"
    );
    let error = dot(&scheduler, &a, &a, &mut c).unwrap_err().to_string();
    assert!(error.contains("a vector of 3 elements"), "{error}");
}
