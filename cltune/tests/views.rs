//! Views of buffers: where buffers are taken, and the errors of those that cannot be.

use cltune::{Buffer, Context, Device, Error, Event, Queue, Result, tunable};

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// The number of `f32` at whose multiples views begin.
fn step(queue: &Queue) -> usize {
    let bytes = queue.device().info().limits.mem_base_addr_align;
    usize::try_from(bytes / 4).expect("an alignment").max(1)
}

/// y[i] <- 2 * x[i]
#[tunable(params(WG = [1, 2]), global(n), local(WG), tune(n = 64))]
fn doubled(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void doubled(const uint n, __global const float* x, __global float* y) {
        y[get_global_id(0)] = 2 * x[get_global_id(0)];
    }"
}

fn counted(from: usize, to: usize) -> Vec<f32> {
    (from..to).map(|value| value as f32).collect()
}

#[test]
fn a_view_is_taken_where_a_buffer_is() -> Result<()> {
    let queue = queue();
    let (step, n) = (step(&queue), 8);
    let x = Buffer::from_slice(&queue, &counted(0, 4 * step + n))?;
    let mut y = Buffer::from_slice(&queue, &vec![-1.0; 3 * step + n])?;
    // Views may be dropped as soon as the launch is enqueued.
    doubled(
        &queue,
        8,
        &*x.slice(2 * step..)?,
        &mut *y.slice_mut(step..step + n)?,
    )?;
    let mut expected = vec![-1.0; 3 * step + n];
    for (i, element) in expected[step..step + n].iter_mut().enumerate() {
        *element = 2.0 * (2 * step + i) as f32;
    }
    assert_eq!(y.read(&queue)?, expected);
    // A view is read and written as a buffer.
    assert_eq!(
        x.slice(step..step + 3)?.read(&queue)?,
        counted(step, step + 3)
    );
    assert_eq!(x.slice(step..=step)?.len(), 1);
    y.slice_mut(..2)?.write(&queue, &[7.0, 8.0])?;
    assert_eq!(y.read(&queue)?[..3], [7.0, 8.0, -1.0]);
    Ok(())
}

#[test]
fn a_view_of_a_view_is_one_of_the_buffer() -> Result<()> {
    let queue = queue();
    let step = step(&queue);
    let mut x = Buffer::from_slice(&queue, &counted(0, 4 * step))?;
    {
        let outer = x.slice(step..3 * step)?;
        let inner = outer.slice(step..)?;
        assert_eq!(inner.read(&queue)?, counted(2 * step, 3 * step));
        assert!(matches!(
            outer.slice(..=2 * step),
            Err(Error::BeyondBuffer { .. })
        ));
    }
    let mut outer = x.slice_mut(step..)?;
    let mut inner = outer.slice_mut(step..=step)?;
    inner.write(&queue, &[-1.0])?;
    assert_eq!(x.read(&queue)?[2 * step], -1.0);
    Ok(())
}

#[test]
fn both_halves_are_used_at_once() -> Result<()> {
    let queue = queue();
    let step = step(&queue);
    let mut both = Buffer::from_slice(&queue, &counted(0, 2 * step))?;
    let (first, mut second) = both.split_at_mut(step)?;
    let n = u32::try_from(step.min(64)).expect("small");
    doubled(&queue, n - n % 2, &first, &mut second)?;
    assert_eq!(both.read(&queue)?[step + 1], 2.0);
    let (empty, all) = both.split_at_mut(0)?;
    assert_eq!((empty.len(), all.len()), (0, 2 * step));
    assert!(empty.read(&queue)?.is_empty());
    let (all, empty) = both.split_at_mut(2 * step)?;
    assert_eq!((all.len(), empty.len()), (2 * step, 0));
    Ok(())
}

#[test]
fn what_is_no_part_of_a_buffer_is_an_error() -> Result<()> {
    let queue = queue();
    let mut x = Buffer::from_slice(&queue, &counted(0, 10))?;
    let message = |error: Error| error.to_string();
    assert_eq!(
        message(x.slice(8..11).unwrap_err()),
        "a buffer of 10 elements has no elements 8..11"
    );
    let (from, to) = (5, 4);
    for result in [x.slice(from..to), x.slice(11..), x.slice(0..=usize::MAX)] {
        assert!(matches!(result, Err(Error::BeyondBuffer { len: 10, .. })));
    }
    assert!(matches!(
        x.split_at_mut(11),
        Err(Error::BeyondBuffer { .. })
    ));
    Ok(())
}

#[test]
fn a_view_that_begins_at_the_wrong_place_says_where_it_may_begin() -> Result<()> {
    let queue = queue();
    let step = step(&queue);
    if step == 1 {
        return Ok(());
    }
    let mut x = Buffer::from_slice(&queue, &counted(0, 3 * step))?;
    let error = x.slice_mut(step + 1..).unwrap_err().to_string();
    let expected = format!("which are {step} elements here");
    assert!(error.contains(&format!("element {}", step + 1)), "{error}");
    assert!(error.contains(&expected), "{error}");
    // An empty view begins nowhere.
    assert!(x.slice(1..1)?.is_empty());
    Ok(())
}

#[test]
fn a_view_that_is_too_short_and_one_of_another_context_are_refused() -> Result<()> {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &counted(0, 16))?;
    let mut y = Buffer::new(queue.context(), 16)?;
    let error = doubled(&queue, 16, &*x.slice(..8)?, &mut y).unwrap_err();
    assert!(
        matches!(error, Error::BufferTooShort { found: 8, .. }),
        "{error}"
    );
    let other = Queue::new(&Context::new(&Device::select()?)?)?;
    let error = doubled(&other, 8, &*x.slice(..8)?, &mut *y.slice_mut(..8)?).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
    Ok(())
}
