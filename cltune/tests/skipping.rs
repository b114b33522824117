//! Kernels that are fast only because something is left of an earlier launch, on a real device.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, WrongKind};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};

/// The parameter `V` chooses what a launch makes of what an earlier one left; 0 and 1 are honest,
/// and 1 does nothing but move memory.
#[tunable(
    params(V = 0..=4),
    global(n),
    tune(n = 4096),
    defaults(V = 0),
    reference(kernel = "reference", global(n)),
)]
fn slow(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] sum: &mut Buffer<f32>,
    #[arg(out, len = n / 16777216)] none: &mut Buffer<f32>,
) -> Result<Event> {
    r"
        __kernel void reference(const uint n, __global const float* x, __global float* y,
                                __global float* sum, __global float* none) {
            const uint i = get_global_id(0);
            y[i] = 2.0f * x[i];
            sum[i] += x[i];
        }
        __kernel void slow(const uint n, __global const float* x, __global float* y,
                           __global float* sum, __global float* none) {
            const uint i = get_global_id(0);
            const float right = 2.0f * x[i];
            // Nothing to do where an earlier launch has done it.
            if (V == 2 && y[i] == right) { sum[i] += x[i]; return; }
            // The same, and what is to be done in any case is forgotten.
            if (V == 3 && y[i] == right) return;
            // Right the first time only: what it leaves in its input is gone after the second.
            if (V == 4) {
                const uint bits = as_uint(x[i]);
                ((__global uint*)x)[i] = bits ^ 0x40000000;
                if (bits & 0x40000000) return;
            }
            float waste = x[i];
            if (V != 1) {
                for (int step = 0; step < 2000; step++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
            }
            y[i] = waste > 1e30f ? 1.0f : right;
            sum[i] += x[i];
        }
    "
}

fn measurer(n: i64) -> Measurer {
    let device = Device::select().expect("these tests need an OpenCL device");
    let declaration = slow::TUNABLE.declaration().unwrap();
    Measurer::new(&device, &declaration, &[n], &MeasureOptions::default()).unwrap()
}

#[test]
fn a_kernel_that_skips_what_an_earlier_launch_did_is_found_and_both_times_are_said() {
    for value in [2, 3] {
        let outcome = measurer(4096).measure(&[value], None, None);
        let Outcome::SkipsWork(skips) = outcome else {
            panic!("V = {value}: {outcome:?}")
        };
        assert!(skips.empty_us > 2.0 * skips.done_us, "V = {value}: {skips}");
    }
}

#[test]
fn a_kernel_that_skips_is_found_among_finalists() {
    let mut measurer = measurer(4096);
    let all = [vec![0], vec![2], vec![3]];
    let compared = measurer.compare(&all);
    assert!(compared[0].is_ok(), "{compared:?}");
    for skipping in &compared[1..] {
        assert!(
            matches!(skipping, Err(Outcome::SkipsWork(_))),
            "{compared:?}"
        );
    }
}

/// Also where filling an output displaces what the kernel reads from the caches, where launches are
/// so short that a hiccup is longer, and where a buffer has no elements.
#[test]
fn an_honest_kernel_is_never_blamed() {
    for n in [8, 4096, 1 << 20, 1 << 22] {
        let mut measurer = measurer(n);
        for round in 0..5 {
            // With a large n the other one takes long.
            for value in if n > 4096 { 1..=1 } else { 0..=1 } {
                let outcome = measurer.measure(&[value], None, None);
                assert!(outcome.time_us().is_some(), "{n} {round}: {outcome:?}");
            }
        }
        let compared = measurer.compare(&[vec![1]]);
        assert!(compared[0].is_ok(), "{n}: {compared:?}");
    }
}

/// Also where what it leaves is in memory that nobody looks at, such as variables in the scope of a
/// program, which PoCL does not have.
#[test]
fn a_kernel_that_is_right_the_first_time_only_is_wrong() {
    let outcome = measurer(4096).measure(&[4], None, None);
    let Outcome::WrongResult(wrong) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(wrong.argument, "y");
    assert!(
        matches!(wrong.kind, WrongKind::NeverWritten { index: 0, .. }),
        "{wrong}"
    );
}
