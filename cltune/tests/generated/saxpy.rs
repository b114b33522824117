//! The shortest tunable with every part that most kernels have.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- a*x + y
#[tunable(
    params(WG = [32, 64, 128, 256], WPT = [1, 2, 4, 8], VW = [1, 2, 4]),
    constraints(WPT % VW == 0, n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    tune(n = [1 << 20, 1 << 24]),
    defaults(WG = 64, WPT = 1, VW = 1),
    reference(kernel = "saxpy_reference", global(n)),
    bytes(12 * n), flops(2 * n),
)]
pub(crate) fn saxpy(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    r#"
    __kernel void saxpy(const uint n, const float a, __global const float* x, __global float* y) {
        const uint first = get_global_id(0) * WPT;
        for (uint i = first; i < first + WPT; i++) y[i] = a * x[i] + y[i];
    }
    __kernel void saxpy_reference(const uint n, const float a, __global const float* x,
                                  __global float* y) {
        const uint i = get_global_id(0);
        y[i] = a * x[i] + y[i];
    }
    "#
}

#[test]
fn the_function_launches_the_kernel() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &vec![2.0_f32; 1024])?;
    let mut y = Buffer::from_slice(&queue, &vec![1.0_f32; 1024])?;
    saxpy(&queue, 1024, 3.0, &x, &mut y)?;
    assert_eq!(y.read(&queue)?, vec![7.0; 1024]);
    let params = saxpy::Params {
        WG: 32,
        WPT: 4,
        VW: 2,
    };
    saxpy::launch_with(&params, &queue, 1024, 3.0, &x, &mut y)?;
    assert_eq!(y.read(&queue)?, vec![13.0; 1024]);
    Ok(())
}

#[test]
fn the_module_says_what_a_call_gets() -> Result<()> {
    let queue = Queue::default_device()?;
    let selection = saxpy::select(queue.device(), saxpy::Problem { n: 1024 })?;
    assert_eq!(
        selection.params,
        saxpy::Params {
            WG: 64,
            WPT: 1,
            VW: 1
        }
    );
    let params = saxpy::default_params(queue.device(), saxpy::Problem { n: 1024 })?;
    assert_eq!(params, selection.params);
    assert!(saxpy::BAKED.is_empty());
    Ok(())
}
