//! Structs as elements of buffers, by value, in scratch and local memory, on a real device.

use cltune_runtime::tuning::{
    MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult,
};
use cltune_runtime::{
    Buffer, Context, Device, Event, KernelStruct, Queue, Result, Tunable, tunable,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, KernelStruct)]
#[repr(C)]
struct Body {
    #[kernel_struct(vector)]
    place: [f32; 4],
    velocity: [f32; 3],
    #[kernel_struct(fill = uniform(0, 9))]
    steps: i32,
}

mod settings {
    use cltune_runtime::KernelStruct;

    #[derive(Clone, Copy, Debug, Default, KernelStruct)]
    #[kernel_struct(name = "struct settings")]
    #[repr(C)]
    pub(super) struct Settings {
        pub(super) step: f32,
        pub(super) soft: f32,
        #[kernel_struct(fill = constant(0))]
        pub(super) first: u32,
        pub(super) count: u32,
    }
}

#[tunable(
    source = "tests/kernels/structs.cl",
    params(WG = [8, 32], WRONG = [0, 1, 2, 3, 4, 5]),
    constraints(n % WG == 0),
    global(n), local(WG),
    local_memory(16 * WG),
    reference(kernel = "leap_reference", global(n)),
    tolerance(accumulates = n),
    split(n = WG),
    tune(n = [64, 128]),
)]
fn leap(
    queue: &Queue,
    n: u32,
    with: settings::Settings,
    #[arg(len = n)] before: &Buffer<Body>,
    #[arg(out, len = n, split(n))] after: &mut Buffer<Body>,
) -> Result<Event>;

fn device() -> Device {
    Device::select().expect("these tests need an OpenCL device; scripts/setup installs one")
}

fn queue() -> Queue {
    Queue::new(&Context::new(&device()).unwrap()).unwrap()
}

fn measurer(tunable: &'static Tunable, on_device: bool) -> Result<Measurer, PrepareError> {
    let declaration = tunable.declaration().unwrap();
    let mut options = MeasureOptions::default();
    options.compare_on_device = Some(on_device);
    Measurer::new(&device(), &declaration, &declaration.problems[0], &options)
}

/// The outcome of a configuration for the first problem, also on inputs of other kinds.
fn outcome(tunable: &'static Tunable, codes: &[i64], on_device: bool) -> Outcome {
    let mut measurer = measurer(tunable, on_device).unwrap();
    match measurer.measure(codes, None, None) {
        Outcome::Ok(measured) => measurer
            .verify(codes)
            .map_or_else(|failed| failed, |_| Outcome::Ok(measured)),
        failed => failed,
    }
}

fn wrong(codes: &[i64], on_device: bool) -> WrongResult {
    match outcome(&leap::TUNABLE, codes, on_device) {
        Outcome::WrongResult(wrong) => wrong,
        other => panic!("{codes:?}: {other:?}"),
    }
}

#[test]
fn structs_are_tuned_and_a_wrong_field_is_named() {
    for on_device in [false, true] {
        for wg in [8, 32] {
            let right = outcome(&leap::TUNABLE, &[wg, 0], on_device);
            assert!(matches!(right, Outcome::Ok(_)), "{wg}: {right:?}");
        }
        let said = wrong(&[8, 1], on_device).to_string();
        assert!(said.starts_with("after[5].velocity[1] is "), "{said}");
        assert!(
            said.contains("1 of 192 values of this field differ"),
            "{said}"
        );
        let integer = wrong(&[8, 2], on_device);
        let said = integer.to_string();
        assert!(said.starts_with("after[6].steps is "), "{said}");
        let json = serde_json::to_string(&integer).unwrap();
        assert_eq!(serde_json::from_str::<WrongResult>(&json).unwrap(), integer);
        let missing = wrong(&[32, 3], on_device);
        assert!(
            matches!(missing.kind, WrongKind::NeverWritten { count: 4, .. }),
            "{missing}"
        );
        let said = missing.to_string();
        assert!(
            said.starts_with("after[63].place[0] is never written"),
            "{said}"
        );
        let beside = wrong(&[32, 4], on_device);
        assert!(beside.kind.is_out_of_bounds(), "{beside}");
        let said = wrong(&[8, 5], on_device).to_string();
        assert!(
            said.starts_with("before[7].velocity[2] is written"),
            "{said}"
        );
    }
}

#[test]
fn a_call_computes_with_structs() {
    let queue = queue();
    let n = 64;
    let bodies: Vec<Body> = (0..n)
        .map(|i| Body {
            place: [i as f32, 0.0, 0.0, 1.0],
            steps: i,
            ..Body::default()
        })
        .collect();
    let with = settings::Settings {
        step: 0.5,
        ..Default::default()
    };
    let before = Buffer::from_slice(&queue, &bodies).unwrap();
    let mut after = Buffer::new(queue.context(), n as usize).unwrap();
    leap(&queue, n as u32, with, &before, &mut after).unwrap();
    let found = after.read(&queue).unwrap();
    assert_eq!(found[3].steps, 4);
    assert_eq!(found[3].place[3], 1.0);
    // The first is pulled to the others, and the last back.
    assert!(
        found[0].velocity[0] > 0.1 && found[63].velocity[0] < -0.1,
        "{:?}",
        found[0]
    );
    let params = leap::Params { WG: 32, WRONG: 0 };
    leap::launch_with(&params, &queue, n as u32, with, &before, &mut after).unwrap();
    let again = after.read(&queue).unwrap();
    assert!((again[0].velocity[0] - found[0].velocity[0]).abs() < 1e-5);
}
