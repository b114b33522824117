//! Inputs in pinned memory that have not changed stay on the devices.

use crate::kernels::{convolution, product, saxpy};
use crate::{convolved, multiplied, numbers, set};
use cltune::{DeviceSet, PinnedMemory, Sharing, SplitReport, Transfers};
use proptest::prelude::*;
use std::sync::{Mutex, PoisonError};

const WAYS: [Transfers; 2] = [Transfers::Direct, Transfers::Pinned];
const MASK: usize = 5;

/// Three devices with half, 30 and 20 % of the work.
fn devices(transfers: Transfers) -> DeviceSet {
    let mut devices = set([0.5, 0.3, 0.2]);
    devices.set_transfers(transfers);
    devices
}

fn pinned<T: cltune::Element>(devices: &DeviceSet, numbers: &[T]) -> PinnedMemory<T> {
    let mut memory = devices.pinned(numbers.len()).unwrap();
    memory.copy_from_slice(numbers);
    memory
}

/// Bytes that the devices were sent, and those that were there.
fn bytes(report: &SplitReport) -> [usize; 2] {
    let shares = || report.shares.iter();
    [
        shares().map(|share| share.sent).sum(),
        shares().map(|share| share.resident).sum(),
    ]
}

/// A convolution whose result has to be right: bytes sent, bytes that were there.
fn convolve(devices: &mut DeviceSet, x: &[i32], w: &[i32]) -> [usize; 2] {
    let n = x.len() + 1 - w.len();
    let mut y = vec![-1; n];
    let report = convolution::split_n(devices, n as u32, w.len() as u32, x, w, &mut y).unwrap();
    assert!(y == convolved(x, w), "{report}");
    bytes(&report)
}

/// All that three devices need of `n` results' inputs: parts with halos, and the mask.
const fn all(n: usize) -> usize {
    4 * (n + 3 * (MASK - 1) + 3 * MASK)
}

#[test]
fn what_has_not_changed_is_sent_once() {
    for transfers in WAYS {
        let mut devices = devices(transfers);
        let n = 960;
        let x = pinned(&devices, &numbers(n + MASK - 1));
        let mut w = pinned(&devices, &numbers(MASK));
        assert_eq!(convolve(&mut devices, &x, &w), [all(n), 0]);
        for _ in 0..3 {
            assert_eq!(convolve(&mut devices, &x, &w), [0, all(n)]);
        }
        // A write is seen, and whatever else stays.
        w[2] += 1;
        let mask = 3 * 4 * MASK;
        assert_eq!(convolve(&mut devices, &x, &w), [mask, all(n) - mask]);
        assert_eq!(convolve(&mut devices, &x, &w), [0, all(n)]);
        // Of a `Vec` nobody knows.
        let mask = w.to_vec();
        for _ in 0..2 {
            let sent = 3 * 4 * MASK;
            assert_eq!(convolve(&mut devices, &x, &mask), [sent, all(n) - sent]);
        }
    }
}

#[test]
fn calls_in_between_change_nothing() {
    let mut devices = devices(Transfers::Pinned);
    let (n, m) = (960, 480);
    let [x, w] = [n + MASK - 1, MASK].map(|len| pinned(&devices, &numbers(len)));
    let other = pinned(&devices, &numbers(m + MASK - 1));
    convolve(&mut devices, &x, &w);
    let mask = 3 * 4 * MASK;
    assert_eq!(convolve(&mut devices, &other, &w), [all(m) - mask, mask]);
    assert_eq!(convolve(&mut devices, &x, &w), [0, all(n)]);
    assert_eq!(convolve(&mut devices, &other, &w), [0, all(m)]);
}

/// A slice that was borrowed to be changed can be lent to a call, and be changed after it, without
/// the memory's owner noticing.
#[test]
fn changes_through_a_borrow_that_goes_on_are_seen() {
    let mut devices = devices(Transfers::Direct);
    let n = 960;
    let mut x = pinned(&devices, &numbers(n + MASK - 1));
    let w = pinned(&devices, &numbers(MASK));
    convolve(&mut devices, &x, &w);
    let mask = 3 * 4 * MASK;
    let borrowed: &mut [i32] = &mut x;
    for element in 0..3 {
        borrowed[element] += 1000;
        assert_eq!(convolve(&mut devices, borrowed, &w), [all(n) - mask, mask]);
    }
    assert_eq!(convolve(&mut devices, &x, &w), [all(n) - mask, mask]);
    assert_eq!(convolve(&mut devices, &x, &w), [0, all(n)]);
}

#[test]
fn where_the_split_moves_only_what_is_missing_is_sent() {
    for transfers in WAYS {
        let mut devices = devices(transfers);
        let n = 960;
        let [x, w] = [n + MASK - 1, MASK].map(|len| pinned(&devices, &numbers(len)));
        convolve(&mut devices, &x, &w);
        // 480, 288 and 192 positions; then 384, 384 and 192.
        devices.set_sharing(Sharing::Fixed(vec![0.4, 0.4, 0.2]));
        assert_eq!(convolve(&mut devices, &x, &w), [4 * 96, all(n) - 4 * 96]);
        // Both are there now.
        for factors in [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]] {
            devices.set_sharing(Sharing::Fixed(factors.to_vec()));
            assert_eq!(convolve(&mut devices, &x, &w), [0, all(n)]);
        }
        // Two parts of what the first device needs are there, and what is between and after them is
        // not.
        devices.set_sharing(Sharing::Fixed(vec![1.0, 0.0, 0.0]));
        let whole = 4 * (n + MASK - 1 + MASK);
        let sent = 4 * (n - 480);
        assert_eq!(convolve(&mut devices, &x, &w), [sent, whole - sent]);
    }
}

#[test]
fn what_is_written_to_is_always_sent() {
    for transfers in WAYS {
        let mut devices = devices(transfers);
        let n = 960;
        let x = pinned(&devices, &vec![2.0_f32; n]);
        let mut y = pinned(&devices, &vec![1.0_f32; n]);
        for call in 1..4_u8 {
            let report = saxpy::split_n(&mut devices, n as u32, 3.0, &x, &mut y).unwrap();
            let expected = 1.0 + 6.0 * f32::from(call);
            assert!(
                y.iter().all(|y| (*y - expected).abs() < 1e-6),
                "{call} {report}"
            );
            let there = if call == 1 { 0 } else { 4 * n };
            assert_eq!(bytes(&report), [8 * n - there, there], "{report}");
        }
    }
}

#[test]
fn results_are_inputs_of_the_next_call() {
    let mut devices = devices(Transfers::Pinned);
    let n = 960;
    let w = pinned(&devices, &[3]);
    let mut memory = [0, 1].map(|_| pinned(&devices, &vec![1; n]));
    for call in 1..6 {
        let [from, to] = &mut memory;
        convolution::split_n(&mut devices, n as u32, 1, from, &w, to).unwrap();
        assert!(to.iter().all(|element| *element == 3_i32.pow(call)));
        memory.reverse();
    }
}

#[test]
fn rows_and_columns_of_matrices_stay() {
    let (m, n, k) = (24, 40, 5);
    let left: Vec<i64> = (0..m * k).map(|i| i % 13).collect();
    let right: Vec<i64> = (0..k * n).map(|i| i % 17).collect();
    let mut expected = multiplied(&left, &right, k as usize, n as usize);
    for transfers in WAYS {
        let mut devices = devices(transfers);
        let [mut left, right] = [&left, &right].map(|matrix| pinned(&devices, matrix));
        let mut result = vec![-1; (m * n) as usize];
        let (m, n, k) = (m as u32, n as u32, k as u32);
        for call in 0..2 {
            let report =
                product::split_m(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
            assert!(result == expected, "{report}");
            assert_eq!(bytes(&report)[0] > 0, call == 0, "{report}");
        }
        for call in 0..2 {
            let report =
                product::split_n(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
            assert!(result == expected, "{report}");
            // Columns of the second matrix are made of no rows; of the first all is needed.
            assert_eq!(bytes(&report)[0] > 0, call == 0, "{report}");
        }
        // All of the second matrix stays.
        left[0] += 1;
        expected = multiplied(&left, &right, k as usize, n as usize);
        let report = product::split_m(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
        assert!(result == expected, "{report}");
        assert_eq!(
            bytes(&report),
            [(m * k * 8) as usize, (3 * k * n * 8) as usize]
        );
        left[0] -= 1;
        expected = multiplied(&left, &right, k as usize, n as usize);
    }
}

#[test]
fn pieces_stay_too() {
    let (n, mask) = ((6 << 20) + 5, 7);
    let mut devices = set([0.5, 0.1, 0.4]);
    devices.set_transfers(Transfers::Pinned);
    let [mut x, w] = [n + mask - 1, mask].map(|len| pinned(&devices, &numbers(len)));
    let mut y = vec![0; n];
    for is_changed in [true, false, false, true, false] {
        if is_changed {
            x[n / 2] += 1;
        }
        let report =
            convolution::split_n(&mut devices, n as u32, mask as u32, &x, &w, &mut y).unwrap();
        assert!(y == convolved(&x, &w), "{report}");
        assert_eq!(bytes(&report)[0] > 0, is_changed, "{report}");
        let chunks: Vec<usize> = report.shares.iter().map(|share| share.chunks).collect();
        assert_eq!(chunks, [3, 1, 2], "{report}");
    }
}

/// Chunks of columns, of which each has a part of every row.
#[test]
fn pieces_of_columns_stay_too() {
    let (m, n, k) = (8, 1 << 19, 2);
    let left: Vec<i64> = (0..m * k).map(|i| i % 13).collect();
    let right: Vec<i64> = (0..k * n).map(|i| i % 17).collect();
    let mut devices = set([0.5, 0.5, 0.0]);
    devices.set_transfers(Transfers::Pinned);
    let mut memory = pinned(&devices, &right);
    let mut result = vec![-1; (m * n) as usize];
    let mut right = right;
    for is_changed in [true, false, true, false] {
        if is_changed {
            memory[n as usize] += 1;
            right[n as usize] += 1;
        }
        let [m, n, k] = [m, n, k].map(|size| size as u32);
        let report = product::split_m(&mut devices, m, n, k, &left, &memory, &mut result).unwrap();
        assert!(
            result == multiplied(&left, &right, k as usize, n as usize),
            "{report}"
        );
        assert!(
            report.shares.iter().all(|share| share.chunks == 3),
            "{report}"
        );
        // The second matrix for each device, beside the first, which is in a `Vec`.
        let is_sent = bytes(&report)[0] > 2 * 8 * right.len();
        assert_eq!(is_sent, is_changed, "{report}");
    }
}

#[test]
fn several_threads_keep_what_they_share_while_others_free_theirs() {
    let n = 1 << 12;
    let devices = devices(Transfers::Direct);
    let [x, w] = [n + MASK - 1, MASK].map(|len| pinned(&devices, &numbers(len)));
    std::thread::scope(|scope| {
        for transfers in [Transfers::Direct, Transfers::Pinned] {
            let (x, w) = (&x, &w);
            scope.spawn(move || {
                let mut devices = self::devices(transfers);
                for call in 0..12 {
                    let sent = convolve(&mut devices, x, w)[0];
                    assert_eq!(sent > 0, call == 0);
                }
            });
            scope.spawn(move || {
                let mut devices = self::devices(transfers);
                for call in 0..12 {
                    let numbers: Vec<i32> = x.iter().map(|x| x - call).collect();
                    let other = pinned(&devices, &numbers);
                    convolve(&mut devices, &other, w);
                }
            });
        }
    });
}

#[test]
fn memory_at_the_same_addresses_is_other_memory() {
    let mut devices = devices(Transfers::Direct);
    let n = 960;
    let w = pinned(&devices, &numbers(MASK));
    for call in 0..6 {
        let x: Vec<i32> = numbers(n + MASK - 1).iter().map(|x| x + call).collect();
        // Its owner is dropped with the call.
        let x = pinned(&devices, &x);
        assert!(convolve(&mut devices, &x, &w)[0] >= 4 * n);
    }
}

#[test]
fn the_time_that_is_possible_is_that_of_calls_that_send_as_much() {
    let mut devices = DeviceSet::new(&[crate::device(), crate::device()]).unwrap();
    let n = 1 << 18;
    let mut x = pinned(&devices, &numbers(n));
    let mut y = vec![0; n];
    for call in 0..24 {
        let mut possible = |x: &[i32]| {
            let report = convolution::split_n(&mut devices, n as u32, 1, x, &[3], &mut y);
            report.unwrap().theoretical
        };
        x[0] += 1;
        let [with, without] = [possible(&x), possible(&x)];
        // After the first calls, speeds of both kinds are measured.
        assert!(call < 8 || with.is_some() && without.is_some() && with != without);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_in_between_results_are_right(
        calls in prop::collection::vec(
            (
                (0..4_usize, 1..300_usize),
                [0.0..1.0_f64, 0.0..1.0, 0.01..1.0],
                prop_oneof![Just(Transfers::Direct), Just(Transfers::Pinned)],
                prop::option::of((0..400_usize, any::<i16>())),
                any::<[bool; 2]>(),
            ),
            1..8,
        ),
    ) {
        static DEVICES: Mutex<Option<(DeviceSet, PinnedMemory<i32>)>> = Mutex::new(None);
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let (devices, memory) = devices.get_or_insert_with(|| {
            let devices = set([1.0; 3]);
            let memory = pinned(&devices, &numbers(400));
            (devices, memory)
        });
        let w = [2, -1, 1];
        for ((first, n), factors, transfers, change, [is_through, is_dropped]) in calls {
            devices.set_sharing(Sharing::Fixed(factors.to_vec()));
            devices.set_transfers(transfers);
            if let Some((place, value)) = change {
                memory[place] = i32::from(value);
            }
            let range = first * 16..first * 16 + n + w.len() - 1;
            if is_through {
                let borrowed: &mut [i32] = memory;
                convolve(devices, &borrowed[range.clone()], &w);
                borrowed[range.start] += 1;
                convolve(devices, &borrowed[range], &w);
            } else {
                convolve(devices, &memory[range], &w);
            }
            if is_dropped {
                *memory = pinned(devices, memory);
            }
        }
    }
}
