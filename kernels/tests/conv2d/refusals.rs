//! Calls that are refused, and their errors.

use cltune::{Buffer, Error, Queue};
use cltune_kernels::conv2d::{Border, Conv2dError, Filter, FilterError, convolve};

#[test]
fn filters_that_are_none() {
    let queue = Queue::default_device().unwrap();
    for size in [0, 2, 128, 129, u32::MAX] {
        let error = Filter::new(&queue, size, &[1.0; 4]).unwrap_err();
        assert!(matches!(error, FilterError::Size { .. }), "{error}");
        assert!(error.to_string().contains("odd, from 1 to 127"), "{error}");
    }
    let error = Filter::new(&queue, 3, &[1.0; 8]).unwrap_err();
    assert!(matches!(error, FilterError::Weights { found: 8, .. }));
    assert_eq!(error.to_string(), "a filter of 3 x 3 has 9 weights, not 8");
}

#[test]
fn buffers_that_are_too_short() {
    let queue = Queue::default_device().unwrap();
    let filter = Filter::new(&queue, 3, &[1.0; 9]).unwrap();
    let short = Buffer::from_slice(&queue, &[0.0; 11]).unwrap();
    let enough = Buffer::from_slice(&queue, &[0.0; 12]).unwrap();
    for (input, len, argument) in [(&short, 12, "input"), (&enough, 11, "output")] {
        let mut output = Buffer::new(queue.context(), len).unwrap();
        let error = convolve(&queue, 4, 3, &filter, Border::Zero, input, &mut output).unwrap_err();
        let Conv2dError::Runtime(Error::BufferTooShort {
            argument: found,
            needed: 12,
            found: 11,
            ..
        }) = &error
        else {
            panic!("{error}");
        };
        assert_eq!(found, argument);
    }
}

#[test]
fn pictures_that_no_coordinate_reaches() {
    let queue = Queue::default_device().unwrap();
    let filter = Filter::new(&queue, 1, &[1.0]).unwrap();
    let input = Buffer::from_slice(&queue, &[0.0]).unwrap();
    let mut output = Buffer::from_slice(&queue, &[0.0]).unwrap();
    for (width, height) in [(u32::MAX, 1), (1, (1 << 30) + 1), (u32::MAX, u32::MAX)] {
        let error = convolve(
            &queue,
            width,
            height,
            &filter,
            Border::Zero,
            &input,
            &mut output,
        );
        assert!(matches!(error, Err(Conv2dError::Size { .. })));
    }
    // The largest possible: the buffers are what is too small.
    let error = convolve(
        &queue,
        1 << 30,
        1 << 30,
        &filter,
        Border::Zero,
        &input,
        &mut output,
    );
    assert!(matches!(
        error,
        Err(Conv2dError::Runtime(Error::BufferTooShort { .. }))
    ));
}
