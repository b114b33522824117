//! Vectors as elements of buffers, by value, in local memory and in scratch buffers, on a real
//! device.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, WrongKind};
use cltune::{
    Buffer, Context, Device, DeviceSet, Event, PinnedMemory, Queue, Result, Tunable, tunable,
};

#[tunable(
    source = "tests/kernels/elements.cl",
    params(WG = [8, 32], FLAT = [false, true]),
    constraints(n % WG == 0),
    global(n), local(WG),
    local_args(tile: [[f32; 2]; WG]),
    reference(kernel = "drift_reference", global(n)),
    split(n = WG),
    tune(n = [64, 1024]),
)]
fn drift(
    queue: &Queue,
    n: u32,
    step: [f32; 4],
    #[arg(len = n, split(n))] at: &mut Buffer<[f32; 4]>,
    #[arg(len = n, split(n))] velocity: &Buffer<[f32; 2]>,
) -> Result<Event>;

#[tunable(
    source = "tests/kernels/elements.cl",
    params(WRONG = [false, true]),
    global(n),
    reference(kernel = "swizzle_reference", global(n)),
    tune(n = 24),
)]
fn swizzle(
    queue: &Queue,
    n: u32,
    #[arg(value = 7)] add: [i16; 2],
    #[arg(len = n)] x: &Buffer<[i16; 8]>,
    #[arg(out, len = n)] y: &mut Buffer<[i16; 8]>,
    #[arg(out, len = n)] bytes: &mut Buffer<[u8; 16]>,
) -> Result<Event>;

/// A type of a generic declaration: the macro sees it in an invisible group.
#[rustfmt::skip] // It indents the attribute further each time.
macro_rules! narrow {
    ($wide:ty) => {
        #[tunable(
            source = "tests/kernels/elements.cl",
            scratch(wide: [$wide; n]),
            stages(
                stage(widen(x, wide), global(n)),
                stage(narrow(wide, y), global(n)),
            ),
            reference(kernel = "narrow_reference", global(n)),
            tune(n = 100),
        )]
        fn narrow(
            queue: &Queue,
            #[arg(host_only)] n: u32,
            #[arg(len = n)] x: &Buffer<f32>,
            #[arg(out, len = n)] y: &mut Buffer<f32>,
        ) -> Result<Event>;
    };
}

narrow!([f32; 4]);

fn device() -> Device {
    Device::select().expect("these tests need an OpenCL device; scripts/setup installs one")
}

fn queue() -> Queue {
    Queue::new(&Context::new(&device()).unwrap()).unwrap()
}

/// The outcome of a configuration for the first problem, also on inputs of other kinds.
fn outcome(tunable: &'static Tunable, codes: &[i64], compare_on_device: bool) -> Outcome {
    let declaration = tunable.declaration().unwrap();
    let mut options = MeasureOptions::default();
    options.compare_on_device = Some(compare_on_device);
    let dims = &declaration.problems[0];
    let mut measurer = Measurer::new(&device(), &declaration, dims, &options).unwrap();
    match measurer.measure(codes, None, None) {
        Outcome::Ok(measured) => measurer
            .verify(codes)
            .map_or_else(|failed| failed, |_| Outcome::Ok(measured)),
        failed => failed,
    }
}

#[test]
fn vectors_are_verified_on_the_host_and_on_the_device() {
    for on_device in [false, true] {
        for codes in [[8, 0], [32, 1]] {
            let outcome = outcome(&drift::TUNABLE, &codes, on_device);
            assert!(matches!(outcome, Outcome::Ok(_)), "{codes:?}: {outcome:?}");
        }
        let right = outcome(&swizzle::TUNABLE, &[0], on_device);
        assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
    }
}

#[test]
fn a_wrong_component_is_shown_with_its_element() {
    for on_device in [false, true] {
        let Outcome::WrongResult(wrong) = outcome(&swizzle::TUNABLE, &[1], on_device) else {
            panic!("it is wrong");
        };
        let WrongKind::Mismatch { index, count, .. } = wrong.kind else {
            panic!("{wrong}");
        };
        assert_eq!((index, count, wrong.lanes), (23 * 8 + 1, 1, 8));
        let said = wrong.to_string();
        assert!(said.starts_with("y[23][1] is "), "{said}");
        assert!(said.contains("1 of 192 components differ"), "{said}");
        let json = serde_json::to_string(&wrong).unwrap();
        assert_eq!(
            serde_json::from_str::<cltune::tuning::WrongResult>(&json).unwrap(),
            wrong
        );
    }
}

#[test]
fn scratch_buffers_have_vectors() {
    let outcome = outcome(&narrow::TUNABLE, &[], false);
    assert!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0, 2.0, 3.0]).unwrap();
    let mut y = Buffer::new(queue.context(), 3).unwrap();
    narrow(&queue, 3, &x, &mut y).unwrap();
    assert_eq!(y.read(&queue).unwrap(), [10.0, 20.0, 30.0]);
}

#[test]
fn a_call_passes_vectors() {
    let queue = queue();
    let add = [1, -2];
    let numbers = |i: i16| [i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7];
    let x: Vec<[i16; 8]> = (0..10).map(numbers).collect();
    let x = Buffer::from_slice(&queue, &x).unwrap();
    let mut y = Buffer::new(queue.context(), 10).unwrap();
    let mut bytes = Buffer::<[u8; 16]>::new(queue.context(), 10).unwrap();
    swizzle(&queue, 10, add, &x, &mut y, &mut bytes).unwrap();
    let expected: Vec<[i16; 8]> = (0..10)
        .map(|i| {
            let mut y = numbers(i);
            y.reverse();
            for (lane, y) in y.iter_mut().enumerate() {
                *y += add[lane % 2];
            }
            y
        })
        .collect();
    assert_eq!(y.read(&queue).unwrap(), expected);
    assert_eq!(bytes.read(&queue).unwrap()[9], [9; 16]);
    // The length counts vectors.
    let mut short = Buffer::<[u8; 16]>::new(queue.context(), 9).unwrap();
    let error = swizzle(&queue, 10, add, &x, &mut y, &mut short).unwrap_err();
    assert!(error.to_string().contains("`bytes`"), "{error}");
}

#[test]
fn vectors_are_divided_among_devices() {
    let device = device();
    let mut devices = DeviceSet::new(&[device.clone(), device]).unwrap();
    let n = 1024;
    let mut at: PinnedMemory<[f32; 4]> = devices.pinned(n).unwrap();
    let mut velocity = vec![[0.0; 2]; n];
    for (i, (at, velocity)) in at.iter_mut().zip(&mut velocity).enumerate() {
        *at = [i as f32, 1.0, 2.0, 3.0];
        *velocity = [1.0, i as f32];
    }
    drift::split_n(
        &mut devices,
        n as u32,
        [0.5, 0.25, 9.0, 9.0],
        &mut at,
        &velocity,
    )
    .unwrap();
    for (i, at) in at.iter().enumerate() {
        assert_eq!(*at, [i as f32 + 0.5, 1.0 + 0.25 * i as f32, 2.0, 3.0]);
    }
}
