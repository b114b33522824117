//! One kernel on several devices. Where there is one device only, it takes part several times: each
//! time with a context, a queue and buffers of its own.

mod kernels;
mod pinned_memory;
mod resident_inputs;

use cltune::{Device, DeviceSet, Element, Error, Sharing, SplitReport, Transfers};
use kernels::{blocks, convolution, positions, product, saxpy};
use proptest::prelude::*;
use std::ops::DerefMut;
use std::sync::{Mutex, PoisonError};

fn device() -> Device {
    Device::select().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// Three devices that share the work as given.
fn set(factors: [f64; 3]) -> DeviceSet {
    let mut set = DeviceSet::new(&[device(), device(), device()]).unwrap();
    set.set_sharing(Sharing::Fixed(factors.to_vec()));
    set
}

fn convolved(x: &[i32], w: &[i32]) -> Vec<i32> {
    let sum = |window: &[i32]| window.iter().zip(w).map(|(x, w)| x * w).sum();
    x.windows(w.len()).map(sum).collect()
}

/// The product of matrices with rows of `inner` and `columns` elements.
fn multiplied(left: &[i64], right: &[i64], inner: usize, columns: usize) -> Vec<i64> {
    let of_row = |row: &[i64]| -> Vec<i64> {
        let element = |x: usize| (0..inner).map(|i| row[i] * right[i * columns + x]).sum();
        (0..columns).map(element).collect()
    };
    left.chunks(inner).flat_map(of_row).collect()
}

fn numbers(count: usize) -> Vec<i32> {
    (0..count as i32)
        .map(|i| i % 1009 * 7919 % 1009 - 500)
        .collect()
}

/// Memory with these numbers.
fn memory<T: Element>(
    devices: &DeviceSet,
    is_pinned: bool,
    numbers: &[T],
) -> Box<dyn DerefMut<Target = [T]>> {
    if !is_pinned {
        return Box::new(numbers.to_vec());
    }
    let mut pinned = devices.pinned(numbers.len()).unwrap();
    pinned.copy_from_slice(numbers);
    Box::new(pinned)
}

/// How many positions each share owns.
fn sizes(report: &SplitReport) -> Vec<i64> {
    let size = |share: &cltune::SplitShare| share.owned.end - share.owned.start;
    report.shares.iter().map(size).collect()
}

#[test]
fn every_device_computes_its_share_in_whole_work_groups() {
    let mut devices = set([0.5, 0.3, 0.2]);
    let n = 960_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut y = vec![1.0; n as usize];
    let report = saxpy::split_n(&mut devices, n, 2.0, &x, &mut y).unwrap();
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x + 1.0));
    // 480, 288 and 192 are multiples of 48.
    assert_eq!(sizes(&report), [480, 288, 192]);
    assert_eq!(report.factors(3), [0.5, 0.3, 0.2]);
    assert!(
        report
            .shares
            .iter()
            .all(|share| share.computed == share.owned)
    );
}

#[test]
fn what_is_computed_twice_is_read_and_written_once() {
    // A size that no work-group of more than one work-item divides: a call of the function itself
    // has to take the slowest configuration, and shares overlap instead.
    let mut devices = set([0.4, 0.4, 0.2]);
    let n = 961_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut y = vec![1.0; n as usize];
    let report = saxpy::split_n(&mut devices, n, 2.0, &x, &mut y).unwrap();
    assert!(
        y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x + 1.0),
        "{report}"
    );
    let overlapping = report
        .shares
        .iter()
        .filter(|share| share.computed != share.owned);
    assert_eq!(overlapping.count(), 1, "{report}");
    assert!(
        report
            .shares
            .iter()
            .all(|share| share.configuration.as_deref() == Some("WG = 48"))
    );
}

#[test]
fn a_matrix_is_divided_along_rows_or_columns() {
    let left: Vec<i64> = (0..24 * 5).map(|i| i % 13).collect();
    let right: Vec<i64> = (0..5 * 40).map(|i| i % 17).collect();
    let expected = multiplied(&left, &right, 5, 40);
    let mut devices = set([0.2, 0.5, 0.3]);
    let mut result = vec![-1; 24 * 40];
    let by_rows = product::split_m(&mut devices, 24, 40, 5, &left, &right, &mut result).unwrap();
    assert_eq!((&result, by_rows.total), (&expected, 24));
    result.fill(-1);
    let by_columns = product::split_n(&mut devices, 24, 40, 5, &left, &right, &mut result).unwrap();
    assert_eq!((&result, by_columns.total), (&expected, 40));
    assert_eq!(by_columns.shares.len(), 3);
}

/// The same through pinned memory, which devices in the host's memory are not used with otherwise.
fn pinned(factors: [f64; 3]) -> DeviceSet {
    let mut devices = set(factors);
    devices.set_transfers(Transfers::Pinned);
    devices
}

#[test]
fn what_goes_through_pinned_memory_in_pieces_is_the_same() {
    // Shares of 16 MiB and more in both directions together are computed in chunks.
    let (n, mask) = ((6 << 20) + 5, 7);
    let mut devices = pinned([0.5, 0.1, 0.4]);
    let w = numbers(mask);
    let mut y = vec![0; n];
    for first in [0, 1] {
        let x = &numbers(n + mask)[first..][..n + mask - 1];
        let report =
            convolution::split_n(&mut devices, n as u32, mask as u32, x, &w, &mut y).unwrap();
        assert!(y == convolved(x, &w), "{report}");
        let chunks: Vec<usize> = report.shares.iter().map(|share| share.chunks).collect();
        assert_eq!(chunks, [3, 1, 2], "{report}");
    }
}

#[test]
fn what_is_read_and_written_through_pinned_memory_is_the_same() {
    let mut devices = pinned([0.4, 0.4, 0.2]);
    let n = (5 << 20) + 1;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let mut y = vec![1.0; n as usize];
    let report = saxpy::split_n(&mut devices, n, 2.0, &x, &mut y).unwrap();
    let is_right = y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x + 1.0);
    assert!(is_right, "{report}");
}

#[test]
fn rows_and_columns_go_through_pinned_memory() {
    // Chunks of 2 MiB: several for each share of the result.
    let (m, n, k) = (512, 1536, 3);
    let left: Vec<i64> = (0..m * k).map(|i| i % 13).collect();
    let right: Vec<i64> = (0..k * n).map(|i| i % 17).collect();
    let expected = multiplied(&left, &right, k as usize, n as usize);
    let mut devices = pinned([0.2, 0.5, 0.3]);
    let (m, n, k) = (m as u32, n as u32, k as u32);
    let mut result = vec![-1; (m * n) as usize];
    product::split_m(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
    assert!(result == expected, "by rows");
    result.fill(-1);
    product::split_n(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
    assert!(result == expected, "by columns");
}

/// A product of two devices whose shares have three chunks each.
fn in_three_pieces(
    [m, n]: [u32; 2],
    split: impl FnOnce(&mut DeviceSet, u32, &[i64], &[i64], &mut [i64]) -> SplitReport,
) {
    let (rows, columns, k) = (i64::from(m), i64::from(n), 2);
    let left: Vec<i64> = (0..rows * k).map(|i| i % 13).collect();
    let right: Vec<i64> = (0..k * columns).map(|i| i % 17).collect();
    let mut result = vec![-1; (rows * columns) as usize];
    let mut devices = pinned([0.5, 0.5, 0.0]);
    let report = split(&mut devices, k as u32, &left, &right, &mut result);
    assert!(result == multiplied(&left, &right, k as usize, n as usize));
    let chunks = report.shares.iter().map(|share| share.chunks);
    assert!(chunks.eq([3; 2]), "{report}");
}

#[test]
fn a_share_of_few_columns_is_computed_in_pieces_of_rows() {
    // A work-group computes four columns, so there are no chunks of columns.
    let (m, n) = (1 << 19, 8);
    in_three_pieces([m, n], |devices, k, left, right, result| {
        product::split_n(devices, m, n, k, left, right, result).unwrap()
    });
}

#[test]
fn a_share_of_few_rows_is_computed_in_pieces_of_columns() {
    // A work-group computes four rows, so there are no chunks of rows.
    let (m, n) = (8, 1 << 19);
    in_three_pieces([m, n], |devices, k, left, right, result| {
        product::split_m(devices, m, n, k, left, right, result).unwrap()
    });
}

#[test]
fn a_kernel_can_be_told_where_its_share_begins() {
    let mut devices = set([0.3, 0.3, 0.4]);
    let mut y = vec![0; 64];
    positions::split_n(&mut devices, 64, 100, &mut y).unwrap();
    assert_eq!(y, (100..164).collect::<Vec<i32>>());
    // The last share would begin at more than the type holds.
    let mut y = vec![0; 80_000];
    let error = positions::split_n(&mut devices, 80_000, 0, &mut y).unwrap_err();
    assert!(
        matches!(&error, Error::ShareBeyondType { argument, scalar: "i16", .. } if argument == "first"),
        "{error}"
    );
}

#[test]
fn unknown_devices_are_probed_and_then_balanced() {
    let mut devices = DeviceSet::new(&[device(), device()]).unwrap();
    let (n, mask) = (1 << 18, 65);
    let x = numbers(n + mask - 1);
    let w = numbers(mask);
    let expected = convolved(&x, &w);
    for call in 0..3 {
        let mut y = vec![0; n];
        let report =
            convolution::split_n(&mut devices, n as u32, mask as u32, &x, &w, &mut y).unwrap();
        assert!(y == expected, "{report}");
        assert_eq!(report.total, n as i64);
        // Small shares come first as long as nothing is known.
        assert_eq!(report.shares.len() > 2, call == 0, "{report}");
        assert_eq!(report.theoretical.is_some(), call > 0, "{report}");
        let factors = report.factors(2);
        assert!((factors[0] + factors[1] - 1.0).abs() < 1e-9);
    }
}

#[test]
fn one_device_is_a_set_too() {
    let mut devices = DeviceSet::new(&[device()]).unwrap();
    let mut y = vec![0; 64];
    let report = positions::split_n(&mut devices, 64, 0, &mut y).unwrap();
    assert_eq!(sizes(&report), [64]);
    assert!(matches!(DeviceSet::new(&[]), Err(Error::NoDevice)));
}

#[test]
fn slices_that_are_too_short_are_the_callers_mistake() {
    let mut devices = set([1.0, 1.0, 1.0]);
    let mut y = vec![0; 63];
    let error = positions::split_n(&mut devices, 64, 0, &mut y).unwrap_err();
    assert!(
        matches!(
            error,
            Error::BufferTooShort {
                needed: 64,
                found: 63,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(devices.lost().count(), 0);
}

#[test]
fn nothing_to_compute_is_no_problem_to_divide() {
    let mut devices = set([1.0, 1.0, 1.0]);
    let error = positions::split_n(&mut devices, 0, 0, &mut []).unwrap_err();
    assert!(matches!(error, Error::Division { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn results_are_those_of_one_device(
        n in 1..700_usize,
        mask in prop_oneof![Just(1_usize), Just(6)],
        factors in [0.0..1.0_f64, 0.0..1.0, 0.01..1.0],
        transfers in prop_oneof![Just(Transfers::Direct), Just(Transfers::Pinned)],
        are_pinned in any::<[bool; 3]>(),
        skipped in 0..3_usize,
    ) {
        // One for all cases: what was built is built.
        static DEVICES: Mutex<Option<DeviceSet>> = Mutex::new(None);
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let devices = devices.get_or_insert_with(|| set([1.0; 3]));
        devices.set_sharing(Sharing::Fixed(factors.to_vec()));
        devices.set_transfers(transfers);
        // Parts of memory, which is pinned or is not.
        let x = memory(devices, are_pinned[0], &numbers(skipped + n + mask));
        let w = memory(devices, are_pinned[1], &numbers(mask));
        let mut y = memory(devices, are_pinned[2], &vec![-1; skipped + n + 1]);
        let (x, result) = (&x[skipped..][..n + mask - 1], &mut y[skipped..][..n]);
        convolution::split_n(devices, n as u32, mask as u32, x, &w, result).unwrap();
        prop_assert_eq!(&*result, convolved(x, &w));
        let is_untouched = y[..skipped].iter().chain(&y[skipped + n..]).all(|y| *y == -1);
        prop_assert!(is_untouched, "{:?}", &y[..]);
    }

    #[test]
    fn every_size_with_room_for_a_work_group_is_computed(
        n in 1..400_usize,
        members in 1..=3_usize,
        factors in [0.01..1.0_f64, 0.0..1.0, 0.0..1.0],
        is_balanced in any::<bool>(),
    ) {
        static DEVICES: [Mutex<Option<DeviceSet>>; 3] = [const { Mutex::new(None) }; 3];
        let mut devices = DEVICES[members - 1].lock().unwrap_or_else(PoisonError::into_inner);
        let devices = devices.get_or_insert_with(|| DeviceSet::new(&vec![device(); members]).unwrap());
        let fixed = Sharing::Fixed(factors[..members].to_vec());
        devices.set_sharing(if is_balanced { Sharing::Balanced } else { fixed });
        let x = numbers(n);
        let mut y = vec![1; n];
        let result = blocks::split_n(devices, n as u32, &x, &mut y);
        if n < 8 {
            prop_assert!(matches!(result, Err(Error::NoDeviceLeft { .. })), "{result:?}");
        } else {
            let report = result.unwrap();
            let expected: Vec<i32> = x.iter().map(|x| 3 * x + 1).collect();
            prop_assert_eq!(y, expected, "{}", report);
        }
    }
}
