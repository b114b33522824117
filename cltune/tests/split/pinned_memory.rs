//! Split calls from and to pinned memory of the program's own.

use crate::kernels::{convolution, product, saxpy};
use crate::{convolved, device, memory, multiplied, numbers, pinned, set};
use cltune::{Buffer, Context, DeviceSet, PinnedMemory, Queue};

/// What of the arguments is pinned: all, or what is sent, or what is fetched.
const WAYS: [[bool; 2]; 3] = [[true, true], [true, false], [false, true]];

#[test]
fn it_is_memory_as_any_other() {
    let context = Context::new(&device()).unwrap();
    let mut pinned = PinnedMemory::<f64>::zeros(&context, 5).unwrap();
    assert_eq!(*pinned, [0.0; 5]);
    pinned[1..3].fill(1.5);
    assert_eq!(
        format!("{pinned:?}"),
        "PinnedMemory([0.0, 1.5, 1.5, 0.0, 0.0])"
    );
    let queue = Queue::new(&context).unwrap();
    let buffer = Buffer::from_slice(&queue, &pinned).unwrap();
    let mut back = PinnedMemory::zeros(&context, 5).unwrap();
    buffer.read_into(&queue, &mut back).unwrap();
    assert_eq!(*back, *pinned);
    assert!(PinnedMemory::<u8>::zeros(&context, 0).unwrap().is_empty());
}

#[test]
fn it_outlives_what_it_was_made_with() {
    let mut pinned = DeviceSet::new(&[device()])
        .unwrap()
        .pinned(1 << 20)
        .unwrap();
    pinned.fill(7_i64);
    let mut other = PinnedMemory::<i64>::zeros(&Context::new(&device()).unwrap(), 1 << 20).unwrap();
    other.copy_from_slice(&pinned);
    drop(pinned);
    assert!(other.iter().all(|element| *element == 7));
}

#[test]
fn pieces_from_pinned_memory_are_the_same() {
    let (n, mask) = ((6 << 20) + 5, 7);
    let mut devices = pinned([0.5, 0.1, 0.4]);
    let all = numbers(n + mask);
    let w = numbers(mask);
    for [is_sent, is_fetched] in WAYS {
        let all = memory(&devices, is_sent, &all);
        let w = memory(&devices, is_sent, &w);
        let mut y = memory(&devices, is_fetched, &vec![0; n]);
        for first in [0, 1] {
            let x = &all[first..][..n + mask - 1];
            let (size, mask) = (n as u32, mask as u32);
            let report = convolution::split_n(&mut devices, size, mask, x, &w, &mut y).unwrap();
            assert!(y[..] == convolved(x, &w), "{is_sent} {is_fetched} {report}");
            let chunks: Vec<usize> = report.shares.iter().map(|share| share.chunks).collect();
            assert_eq!(chunks, [3, 1, 2], "{report}");
        }
    }
}

#[test]
fn what_is_read_and_written_may_be_pinned() {
    let n = (5 << 20) + 1;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    for are_pinned in WAYS {
        let mut devices = pinned([0.4, 0.4, 0.2]);
        let x = memory(&devices, are_pinned[0], &x);
        let mut y = memory(&devices, are_pinned[1], &vec![1.0; n as usize]);
        let report = saxpy::split_n(&mut devices, n, 2.0, &x, &mut y).unwrap();
        let is_right = y.iter().zip(&x[..]).all(|(y, x)| *y == 2.0 * x + 1.0);
        assert!(is_right, "{report}");
    }
}

#[test]
fn rows_and_columns_of_pinned_memory_are_the_same() {
    // Columns of several kilobytes, which devices take as they are, and such of few bytes.
    for (m, n) in [(512, 1536), (1 << 15, 24)] {
        let k = 3;
        let left: Vec<i64> = (0..m * k).map(|i| i % 13).collect();
        let right: Vec<i64> = (0..k * n).map(|i| i % 17).collect();
        let (m, n, k) = (m as u32, n as u32, k as u32);
        let expected = multiplied(&left, &right, k as usize, n as usize);
        let mut devices = pinned([0.2, 0.5, 0.3]);
        for [is_sent, is_fetched] in WAYS {
            let left = memory(&devices, is_sent, &left);
            let right = memory(&devices, is_sent, &right);
            let mut result = memory(&devices, is_fetched, &vec![-1; (m * n) as usize]);
            product::split_m(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
            assert!(result[..] == expected, "{m} {n} by rows");
            result.fill(-1);
            product::split_n(&mut devices, m, n, k, &left, &right, &mut result).unwrap();
            assert!(result[..] == expected, "{m} {n} by columns");
        }
    }
}

/// Freed addresses become those of other memory.
#[test]
fn addresses_are_used_again() {
    let mut devices = pinned([0.5, 0.5, 0.0]);
    let (n, w) = (1 << 16, [3]);
    for round in 0..24 {
        let x: Vec<i32> = (round..round + n).collect();
        let is_pinned = |which: i32| round / which % 2 == 0;
        let x = memory(&devices, is_pinned(1), &x);
        let mut y = memory(&devices, is_pinned(2), &vec![0; n as usize]);
        convolution::split_n(&mut devices, n as u32, 1, &x, &w, &mut y).unwrap();
        assert!(y.iter().zip(&x[..]).all(|(y, x)| *y == 3 * x), "{round}");
    }
}

#[test]
fn several_threads_use_parts_of_it_at_the_same_time() {
    let (n, parts) = (1_usize << 18, 4);
    let devices = set([1.0; 3]);
    let w = numbers(9);
    let numbers = numbers(parts * n + w.len() - 1);
    let mut x = devices.pinned(numbers.len()).unwrap();
    x.copy_from_slice(&numbers);
    let mut y = devices.pinned(parts * n).unwrap();
    std::thread::scope(|scope| {
        for (part, y) in y.chunks_mut(n).enumerate() {
            let x = &x[part * n..][..n + w.len() - 1];
            let w = &w;
            scope.spawn(move || {
                let mut devices = pinned([0.3, 0.3, 0.4]);
                for _ in 0..4 {
                    y.fill(0);
                    let mask = w.len() as u32;
                    convolution::split_n(&mut devices, n as u32, mask, x, w, y).unwrap();
                }
            });
        }
    });
    assert!(*y == convolved(&x, &w));
}
