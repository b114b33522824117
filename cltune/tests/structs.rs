//! Structs as elements of buffers, by value, in scratch and local memory, on a real device.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult};
use cltune::{
    Buffer, Context, Device, DeviceSet, Error, Event, KernelStruct, Queue, Result, StructLayout,
    Tunable, tunable,
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
    use cltune::KernelStruct;

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
    tune(n = [64, 128]),
)]
fn leap(
    queue: &Queue,
    n: u32,
    with: settings::Settings,
    #[arg(len = n)] before: &Buffer<Body>,
    #[arg(out, len = n)] after: &mut Buffer<Body>,
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

/// The outcome of a configuration, also on inputs of other kinds.
fn outcome(measurer: &mut Measurer, codes: &[i64]) -> Outcome {
    match measurer.measure(codes, None, None) {
        Outcome::Ok(measured) => measurer
            .verify(codes)
            .map_or_else(|failed| failed, |_| Outcome::Ok(measured)),
        failed => failed,
    }
}

#[test]
fn structs_are_tuned_and_a_wrong_field_is_named() {
    for on_device in [false, true] {
        let mut measurer = measurer(&leap::TUNABLE, on_device).unwrap();
        for wg in [8, 32] {
            let right = outcome(&mut measurer, &[wg, 0]);
            assert!(matches!(right, Outcome::Ok(_)), "{wg}: {right:?}");
        }
        let mut wrong = |codes: &[i64]| match outcome(&mut measurer, codes) {
            Outcome::WrongResult(wrong) => wrong,
            other => panic!("{codes:?}: {other:?}"),
        };
        let said = wrong(&[8, 1]).to_string();
        assert!(said.starts_with("after[5].velocity[1] is "), "{said}");
        assert!(
            said.contains("1 of 192 values of this field differ"),
            "{said}"
        );
        let integer = wrong(&[8, 2]);
        let said = integer.to_string();
        assert!(said.starts_with("after[6].steps is "), "{said}");
        let json = serde_json::to_string(&integer).unwrap();
        assert_eq!(serde_json::from_str::<WrongResult>(&json).unwrap(), integer);
        let missing = wrong(&[32, 3]);
        let said = missing.to_string();
        assert!(
            matches!(missing.kind, WrongKind::NeverWritten { count: 4, .. }),
            "{said}"
        );
        assert!(
            said.starts_with("after[63].place[0] is never written"),
            "{said}"
        );
        let beside = wrong(&[32, 4]);
        assert!(beside.kind.is_out_of_bounds(), "{beside}");
        let said = wrong(&[8, 5]).to_string();
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

#[test]
fn a_call_with_structs_is_divided() {
    let n = 64;
    let before: Vec<Body> = (0..n)
        .map(|i| Body {
            place: [i as f32, 1.0, 0.0, 1.0],
            steps: i,
            ..Body::default()
        })
        .collect();
    let mut devices = DeviceSet::new(&[device(), device()]).unwrap();
    let mut after = vec![Body::default(); n as usize];
    let with = settings::Settings::default();
    halves::split_n(&mut devices, n as u32, with, &before, &mut after).unwrap();
    assert!(after.iter().zip(0..).all(|(body, i)| body.steps == i + 1));
    assert_eq!(after[60].place[0], 30.0);
}

/// Two launches, with structs in scratch and in local memory.
#[tunable(
    params(WG = [8]),
    constraints(n % WG == 0),
    scratch(between: [Body; n]),
    local_args(tile: [Body; WG]),
    stages(
        stage(halve(before, between, tile), global(n), local(WG)),
        stage(count(between, after, with), global(n), local(WG)),
    ),
    tune(n = 64),
)]
fn staged(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    with: settings::Settings,
    #[arg(len = n)] before: &Buffer<Body>,
    #[arg(out, len = n)] after: &mut Buffer<Body>,
) -> Result<Event> {
    "typedef struct { float4 place; float velocity[3]; int steps; } Body;
    struct settings { float step; float soft; uint first; uint count; };
    __kernel void halve(__global const Body* before, __global Body* between, __local Body* tile) {
        tile[get_local_id(0)] = before[get_global_id(0)];
        tile[get_local_id(0)].place.x /= 2;
        between[get_global_id(0)] = tile[get_local_id(0)];
    }
    __kernel void count(__global const Body* between, __global Body* after, struct settings with) {
        const uint i = get_global_id(0);
        after[i] = between[i];
        after[i].steps += 1 + with.first;
    }"
}

/// Bodies that do not see each other, so that devices can share them.
#[tunable(
    params(WG = [8]),
    constraints(n % WG == 0),
    global(n), local(WG),
    split(n = WG),
    tune(n = 64),
)]
fn halves(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    with: settings::Settings,
    #[arg(len = n, split(n))] before: &Buffer<Body>,
    #[arg(out, len = n, split(n))] after: &mut Buffer<Body>,
) -> Result<Event> {
    "typedef struct { float4 place; float velocity[3]; int steps; } Body;
    struct settings { float step; float soft; uint first; uint count; };
    __kernel void halves(struct settings with, __global const Body* before, __global Body* after) {
        const uint i = get_global_id(0);
        after[i] = before[i];
        after[i].place.x /= 2;
        after[i].steps += 1 + with.first;
    }"
}

#[test]
fn scratch_and_local_memory_hold_structs() {
    let mut measurer = measurer(&staged::TUNABLE, false).unwrap();
    let right = outcome(&mut measurer, &[8]);
    assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
}

/// What a device makes of three floats: a vector that takes the memory of four.
#[derive(Clone, Copy, Debug, Default, KernelStruct)]
#[repr(C)]
struct Spark {
    heat: f32,
    place: [f32; 3],
    age: u32,
}

#[tunable(params(WG = [8, 16]), global(n), tune(n = 64))]
fn glow(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n)] sparks: &mut Buffer<Spark>,
) -> Result<Event> {
    "typedef struct { float heat; float3 place; uint age; } Spark;
    __kernel void glow(__global Spark* sparks) { sparks[get_global_id(0)].heat *= WG; }"
}

/// Right for one value of its parameter only.
#[tunable(params(WIDE = [false, true]), global(n), tune(n = 64), defaults(WIDE = false))]
fn dim(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n)] sparks: &mut Buffer<Spark>,
) -> Result<Event> {
    "typedef struct { float heat;
    #if WIDE
        float3 place;
    #else
        float place[3];
    #endif
        uint age; } Spark;
    __kernel void dim(__global Spark* sparks) { sparks[get_global_id(0)].heat /= 2; }"
}

#[tunable(params(WG = [8]), global(n), tune(n = 64))]
fn unknown(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n)] sparks: &mut Buffer<Spark>,
) -> Result<Event> {
    "__kernel void unknown(__global float* sparks) { sparks[get_global_id(0)] = WG; }"
}

/// The places where a mismatch shows both layouts.
fn check_both_layouts(layout: &StructLayout, text: &str) {
    assert_eq!((layout.name, layout.size), ("Spark", [20, 48]), "{text}");
    let place = &layout.fields[1];
    assert_eq!(
        (place.name, place.offset, place.size),
        ("place", [4, 16], [12, 16])
    );
    let row = |first: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(first));
        let words = line
            .unwrap_or_default()
            .split_whitespace()
            .map(String::from);
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("  heat"), "heat 0 4 0 4", "{text}");
    assert_eq!(row("! place"), "! place 4 12 16 16", "{text}");
    assert_eq!(row("! age"), "! age 16 4 32 4", "{text}");
    assert_eq!(row("! (all)"), "! (all) 20 48", "{text}");
}

#[test]
fn another_layout_on_the_device_is_told_at_the_first_launch() {
    let queue = queue();
    let mut sparks = Buffer::new(queue.context(), 64).unwrap();
    for _ in 0..2 {
        let error = glow(&queue, 64, &mut sparks).unwrap_err();
        let text = error.to_string();
        let Error::StructLayout(layout) = error else {
            panic!("{text}")
        };
        check_both_layouts(&layout, &text);
    }
    // Where only a parameter's value makes it differ, the other values run.
    dim(&queue, 64, &mut sparks).unwrap();
    let params = dim::Params { WIDE: true };
    let error = dim::launch_with(&params, &queue, 64, &mut sparks).unwrap_err();
    assert!(matches!(error, Error::StructLayout(_)), "{error}");
    let error = unknown(&queue, 64, &mut sparks).unwrap_err();
    assert!(matches!(error, Error::UnknownStruct { .. }), "{error}");
    assert!(error.to_string().contains("no type `Spark`"), "{error}");
}

#[test]
fn another_layout_on_the_device_is_told_when_tuning() {
    let error = measurer(&glow::TUNABLE, false).unwrap_err();
    let text = error.to_string();
    let PrepareError::OpenCl(Error::StructLayout(layout)) = error else {
        panic!("{text}")
    };
    check_both_layouts(&layout, &text);
    let mut measurer = measurer(&dim::TUNABLE, false).unwrap();
    let right = outcome(&mut measurer, &[0]);
    assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
    match outcome(&mut measurer, &[1]) {
        Outcome::LaunchFailed { error } => assert!(error.contains("! place "), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, KernelStruct)]
#[repr(C)]
struct Spin {
    axis: [f32; 3],
    speed: f32,
}

type Number = i16;

/// Structs in structs, arrays of arrays, names of C that Rust does not allow, and a type behind
/// another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, KernelStruct)]
#[repr(C)]
struct Cell {
    #[kernel_struct(vector)]
    corners: [[f32; 4]; 2],
    spins: [Spin; 2],
    grid: [[Number; 2]; 2],
    #[kernel_struct(name = "self")]
    own: u32,
    r#type: u8,
    padding: [u8; 19],
}

#[tunable(params(WRONG = [false, true]), global(n), tune(n = 20), defaults(WRONG = false))]
fn turn(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    first: Spin,
    #[arg(len = n)] cells: &Buffer<Cell>,
    #[arg(out, len = n)] turned: &mut Buffer<Cell>,
) -> Result<Event> {
    "typedef struct { float axis[3]; float speed; } Spin;
    typedef struct {
        float4 corners[2];
        Spin spins[2];
        short grid[2][2];
        uint self;
        uchar type, padding[19];
    } Cell;
    __kernel void turn(const Spin first, __global const Cell* cells, __global Cell* turned) {
        const uint i = get_global_id(0);
        Cell cell = cells[i];
        cell.corners[1] = cell.corners[0].wzyx;
        cell.spins[1].axis[2] += first.speed;
        cell.grid[1][0] = cell.grid[0][1];
        cell.self = i;
    #if WRONG
        if (i == 3) cell.spins[1].axis[2] += 1;
    #endif
        turned[i] = cell;
    }"
}

#[test]
fn structs_hold_arrays_and_other_structs() {
    let queue = queue();
    let cell = Cell {
        corners: [[1.0, 2.0, 3.0, 4.0], [0.0; 4]],
        grid: [[5, 6], [7, 8]],
        r#type: 9,
        ..Cell::default()
    };
    let first = Spin {
        speed: 0.5,
        ..Spin::default()
    };
    let cells = Buffer::from_slice(&queue, &[cell; 20]).unwrap();
    let mut turned = Buffer::new(queue.context(), 20).unwrap();
    turn(&queue, 20, first, &cells, &mut turned).unwrap();
    let found = turned.read(&queue).unwrap()[7];
    let mut expected = cell;
    expected.corners[1] = [4.0, 3.0, 2.0, 1.0];
    expected.spins[1].axis[2] = 0.5;
    expected.grid[1][0] = 6;
    expected.own = 7;
    assert_eq!(found, expected);

    let mut measurer = measurer(&turn::TUNABLE, false).unwrap();
    let right = outcome(&mut measurer, &[0]);
    assert!(matches!(right, Outcome::Ok(_)), "{right:?}");
    match outcome(&mut measurer, &[1]) {
        Outcome::WrongResult(wrong) => {
            let said = wrong.to_string();
            assert!(said.starts_with("turned[3].spins[1].axis[2] is "), "{said}");
        }
        other => panic!("{other:?}"),
    }
}
