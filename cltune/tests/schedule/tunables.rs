//! Tunables with `split(…)` as operations.

use crate::divided::{blocks, convolution, positions, product, saxpy};
use crate::kernels::{counted, increase, scheduler, sum, vector};
use cltune::schedule::{Matrix, ScheduleError, Scheduler};
use cltune::{Buffer, Element, Event, Queue, Result, tunable};

/// Sums of three by three: rows and columns are divided, and both have a halo.
#[tunable(
    params(W = [8], H = [2]),
    global(w.next_multiple_of(W), h.next_multiple_of(H)), local(W, H),
    tune(w = 64, h = 16),
    split(h = H, w = W),
)]
pub(crate) fn blur(
    queue: &Queue,
    w: u32,
    h: u32,
    #[arg(len = (w + 2) * (h + 2), split(h, halo = 2 * (w + 2)), split(w, rows = h + 2, halo = 2))]
    x: &Buffer<i32>,
    #[arg(out, len = w * h, split(h), split(w, rows = h))] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void blur(const uint w, const uint h, __global const int* x, __global float* y) {
        const uint i = get_global_id(0), j = get_global_id(1);
        if (i >= w || j >= h) return;
        int sum = 0;
        for (uint b = 0; b < 3; b++)
            for (uint a = 0; a < 3; a++) sum += x[(j + b) * (w + 2) + i + a];
        y[j * w + i] = sum;
    }"
}

/// The lower and the upper half of each number.
#[tunable(params(WG = [4]), global(n), local(WG), tune(n = 64), split(n = WG))]
pub(crate) fn halves(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n, split(n))] x: &Buffer<i32>,
    #[arg(out, len = n, split(n))] low: &mut Buffer<i32>,
    #[arg(out, len = n, split(n))] high: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void halves(__global const int* x, __global int* low, __global int* high) {
        low[get_global_id(0)] = x[get_global_id(0)] & 0xffff;
        high[get_global_id(0)] = x[get_global_id(0)] >> 16;
    }"
}

fn matrix<T: Element>(
    scheduler: &Scheduler,
    [rows, columns]: [usize; 2],
    values: &[T],
) -> Matrix<T> {
    let mut matrix = scheduler.matrix(rows, columns).unwrap();
    matrix.values_mut().copy_from_slice(values);
    matrix
}

fn numbers(count: usize) -> Vec<i32> {
    let number = |i: usize| (i % 1009 * 7919 % 1009) as i32 - 500;
    (0..count).map(number).collect()
}

fn convolved(x: &[i32], w: &[i32]) -> Vec<i32> {
    let sum = |window: &[i32]| window.iter().zip(w).map(|(x, w)| x * w).sum();
    x.windows(w.len()).map(sum).collect()
}

/// Ends, within the limit of the devices, and in several tiles.
#[track_caller]
fn finish(scheduler: &Scheduler, limit: usize) {
    let report = scheduler.finish().unwrap();
    let is_within = |device: &cltune::schedule::DeviceReport| device.peak <= limit;
    assert!(report.devices.iter().all(is_within), "{report}");
    let tasks: usize = report.devices.iter().map(|device| device.tasks).sum();
    assert!(tasks > 1, "nothing was divided: {report}");
}

#[track_caller]
fn says(result: std::result::Result<(), ScheduleError>, parts: &[&str]) {
    let text = result.unwrap_err().to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn a_convolution_that_is_larger_than_every_device_has_its_halo_and_all_of_its_mask() {
    for n in [40_000, 100_003] {
        let scheduler = scheduler(2, 40_000);
        let (x, w) = (numbers(n + 30), numbers(31));
        let (in_x, in_w) = (vector(&scheduler, &x), vector(&scheduler, &w));
        let mut y = scheduler.vector(n).unwrap();
        convolution::enqueue(&scheduler, n as u32, 31, &in_x, &in_w, &mut y).unwrap();
        finish(&scheduler, 40_000);
        assert!(*y.values().unwrap() == *convolved(&x, &w), "{n}");
    }
}

#[test]
fn what_is_read_and_written_is_so_once_also_where_work_groups_overlap() {
    // Whole work-groups of 48 and of 64 positions, and not.
    for n in [9_600, 10_007] {
        let scheduler = scheduler(3, 12_000);
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let in_x = vector(&scheduler, &x);
        let mut y = vector(&scheduler, &vec![1.0_f32; n]);
        for _ in 0..3 {
            saxpy::enqueue(&scheduler, n as u32, 2.0, &in_x, &mut y).unwrap();
        }
        finish(&scheduler, 12_000);
        let values = y.values().unwrap();
        let wrong = (0..n).find(|i| values[*i] != 6.0 * x[*i] + 1.0);
        assert_eq!(wrong, None, "{n}");

        let x = numbers(n);
        let in_x = vector(&scheduler, &x);
        let mut y = vector(&scheduler, &vec![7; n]);
        blocks::enqueue(&scheduler, n as u32, &in_x, &mut y).unwrap();
        blocks::enqueue(&scheduler, n as u32, &in_x, &mut y).unwrap();
        finish(&scheduler, 12_000);
        let values = y.values().unwrap();
        let wrong = (0..n).find(|i| values[*i] != 6 * x[*i] + 7);
        assert_eq!(wrong, None, "{n}");
    }
}

#[test]
fn a_product_is_divided_along_rows_and_columns() {
    let (m, n, k) = (120, 88, 50);
    let left: Vec<i64> = (0..m * k).map(|i| i as i64 % 13).collect();
    let right: Vec<i64> = (0..k * n).map(|i| i as i64 % 17 - 5).collect();
    // Less than half of either operand.
    let scheduler = scheduler(2, 15_000);
    let in_left = matrix(&scheduler, [m, k], &left);
    let in_right = matrix(&scheduler, [k, n], &right);
    let mut result = scheduler.matrix(m, n).unwrap();
    product::enqueue(
        &scheduler,
        m as u32,
        n as u32,
        k as u32,
        &in_left,
        &in_right,
        &mut result,
    )
    .unwrap();
    finish(&scheduler, 15_000);
    let values = result.values().unwrap();
    for row in 0..m {
        for column in 0..n {
            let expected: i64 = (0..k)
                .map(|i| left[row * k + i] * right[i * n + column])
                .sum();
            assert_eq!(values[row * n + column], expected, "{row} {column}");
        }
    }
}

#[test]
fn halos_are_across_lines_and_along_them_and_elements_have_two_types() {
    for (w, h) in [(61, 45), (8, 200), (1, 1), (3, 1000)] {
        let x = numbers((w + 2) * (h + 2));
        let scheduler = scheduler(2, 8_000);
        let picture = matrix(&scheduler, [h + 2, w + 2], &x);
        let mut sums = scheduler.matrix::<f32>(h, w).unwrap();
        blur::enqueue(&scheduler, w as u32, h as u32, &picture, &mut sums).unwrap();
        let report = scheduler.finish().unwrap();
        assert!(report.devices.iter().all(|of| of.peak <= 8_000), "{report}");
        let values = sums.values().unwrap();
        for (j, i) in (0..h).flat_map(|j| (0..w).map(move |i| (j, i))) {
            let at = |b: usize, a: usize| x[(j + b) * (w + 2) + i + a];
            let sum: i32 = (0..9).map(|of| at(of / 3, of % 3)).sum();
            assert_eq!(values[j * w + i], sum as f32, "{w} {h} {j} {i}");
        }
    }
}

#[test]
fn a_kernel_knows_where_its_tile_begins_and_what_its_type_cannot_hold_is_an_error() {
    let scheduler = scheduler(2, 4_000);
    let mut y = scheduler.vector(8_000).unwrap();
    positions::enqueue(&scheduler, 8_000, -100, &mut y).unwrap();
    finish(&scheduler, 4_000);
    let values = y.values().unwrap();
    assert!(values.iter().zip(-100..).all(|(value, at)| *value == at));
    drop(values);
    let mut y = scheduler.vector(100_000).unwrap();
    positions::enqueue(&scheduler, 100_000, 0, &mut y).unwrap();
    says(
        scheduler.finish().map(drop),
        &["positions", "`first`", "i16", "larger type"],
    );
    let error = y.values().map(drop).unwrap_err().to_string();
    assert!(error.contains("no values"), "{error}");
}

#[test]
fn a_tunable_with_two_results_is_enqueued() {
    let scheduler = scheduler(2, 4_000);
    let x = numbers(8_000);
    let in_x = vector(&scheduler, &x);
    let [mut low, mut high] = [0; 2].map(|_| scheduler.vector::<i32>(8_000).unwrap());
    halves::enqueue(&scheduler, 8_000, &in_x, &mut low, &mut high).unwrap();
    finish(&scheduler, 4_000);
    let (low, high) = (low.values().unwrap(), high.values().unwrap());
    let is_wrong = |i: &usize| (low[*i], high[*i]) != (x[*i] & 0xffff, x[*i] >> 16);
    assert_eq!((0..8_000).find(is_wrong), None);
}

/// Lines of which a share of rows is several, but a share of columns nothing.
#[test]
fn a_matrix_in_shorter_lines_is_divided_along_rows_only() {
    let scheduler = scheduler(2, 5_000);
    let mut a = scheduler.matrix::<i64>(200, 8).unwrap();
    let mut b = scheduler.matrix::<i64>(8, 8).unwrap();
    a.values_mut().fill(2);
    b.values_mut().fill(3);
    let mut c = scheduler.matrix::<i64>(400, 4).unwrap();
    product::enqueue(&scheduler, 200, 8, 8, &a, &b, &mut c).unwrap();
    finish(&scheduler, 5_000);
    assert!(c.values().unwrap().iter().all(|value| *value == 48));
}

/// Each operation reads what the one before has written, also tile by tile of other sizes.
#[test]
fn operations_before_and_after_it_are_in_order() {
    let n = 20_000;
    let scheduler = scheduler(3, 30_000);
    let ramp = counted(&scheduler, n, 1);
    let (mut a, mut b) = (
        scheduler.matrix(n, 1).unwrap(),
        scheduler.matrix(n, 1).unwrap(),
    );
    for round in 0..3 {
        // a = 2 r + b; b = a + 3 a; a += b
        scheduler.store(sum(&ramp, &ramp).unwrap(), &mut a).unwrap();
        saxpy::enqueue(&scheduler, n as u32, 1.0, &b, &mut a).unwrap();
        scheduler.store(&a, &mut b).unwrap();
        saxpy::enqueue(&scheduler, n as u32, 3.0, &a, &mut b).unwrap();
        let more = |queue: &Queue, n, [b]: [&Buffer<f32>; 1], [a]: [&mut Buffer<f32>; 1]| {
            increase(queue, n as u64, b, a).map(drop)
        };
        scheduler.update("increase", [&b], more, [&mut a]).unwrap();
        // What it was to write is given up, or overwritten.
        if round == 1 {
            let mut unused = scheduler.matrix(n, 1).unwrap();
            saxpy::enqueue(&scheduler, n as u32, 3.0, &a, &mut unused).unwrap();
        }
    }
    scheduler.finish().unwrap();
    // The numbers are integers that 24 bits hold.
    for (matrix, factor) in [(&a, 210.0), (&b, 168.0)] {
        let values = matrix.values().unwrap();
        let wrong = (0..n).find(|i| values[*i] != factor * *i as f32);
        assert_eq!(wrong, None, "{factor}");
    }
}

#[test]
fn what_cannot_be_enqueued_is_an_error_before_anything_runs() {
    let scheduler = scheduler(2, 1 << 20);
    let x = vector(&scheduler, &numbers(64));
    let mut low = scheduler.vector::<i32>(64).unwrap();
    // A mask that is too short, and a vector that is too long.
    let mask = vector(&scheduler, &[1; 5]);
    says(
        convolution::enqueue(&scheduler, 58, 7, &x, &mask, &mut low),
        &["convolution", "`w`", "7", "5"],
    );
    says(
        convolution::enqueue(&scheduler, 50, 5, &x, &mask, &mut low),
        &["`x`", "1 lines of 64", "1 line of 54"],
    );
    says(
        convolution::enqueue(&scheduler, 0, 5, &x, &mask, &mut low),
        &["nothing to divide"],
    );
    says(
        blocks::enqueue(
            &scheduler,
            5,
            &vector(&scheduler, &[1; 5]),
            &mut vector(&scheduler, &[1; 5]),
        ),
        &["blocks", "n = 5", "no configuration"],
    );
    // Lines of which no share of rows is a part.
    let [left, right] = [0; 2].map(|_| scheduler.matrix::<i64>(8, 8).unwrap());
    let mut result = scheduler.matrix::<i64>(4, 16).unwrap();
    says(
        product::enqueue(&scheduler, 8, 8, 8, &left, &right, &mut result),
        &[
            "`c`",
            "4 lines of 16",
            "64 elements in 1 line",
            "a divisor of 8",
        ],
    );
    let other = crate::kernels::scheduler(1, 1 << 20);
    let mut result = other.matrix::<i64>(8, 8).unwrap();
    says(
        product::enqueue(&scheduler, 8, 8, 8, &left, &right, &mut result),
        &["product", "`c`", "another scheduler"],
    );
    assert_eq!(scheduler.finish().unwrap().work(), 0.0);
}

#[test]
fn what_all_tiles_need_has_to_fit_a_device() {
    let scheduler = scheduler(2, 3_000);
    let (x, w) = (
        vector(&scheduler, &numbers(2_999)),
        vector(&scheduler, &numbers(1_000)),
    );
    let mut y = scheduler.vector(2_000).unwrap();
    convolution::enqueue(&scheduler, 2_000, 1_000, &x, &w, &mut y).unwrap();
    // 16 positions: 4000 bytes of the mask, 4 * (16 + 999) of the signal, 64 of the result.
    says(
        scheduler.finish().map(drop),
        &["convolution", "8124 bytes", "raise"],
    );
}
