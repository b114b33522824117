//! Every clause and every kind of argument.

use cltune::{Buffer, Configuration, Device, DeviceSet, Event, Queue, Result, bf16, f16, tunable};
use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::measure::{Measure, Objective};
use cltune_core::model::{Access, ArgumentKind, ScalarType, StageArgument, Step};
use cltune_core::parameter::Domain;
use cltune_formats::declaration::{Compared, ElementTolerance, Fill, NormTolerance, Reference};

#[tunable(
    source = "tests/kernels/stencil.cl",
    kernel = "stencil_3",
    name = "filters::stencil",
    params(
        WX = powers_of_two(1..=64),
        WY = 1..=8,
        STRIDE = (0..=70).step_by(16),
        UNROLL = [false, true],
        T = ["float", "half", "int"],
        GREY = [-1, 1 << 4, 2 * 21],
        type = 0..3,
    ),
    constraints(WX * WY <= 256, T == "float" || !UNROLL, w.is_power_of_two() && h % 2 == 0),
    global(w, h),
    local(WX, WY),
    offset(0, 0),
    local_memory(if UNROLL { WX * 4 } else { 0 }),
    local_args(tile: [f32; WX * WY] before input, halo: [i32; filter]),
    tune(w = [64, 128], h = 2 * 32, filter = 3),
    tune(w = 64, h = 64, filter = 3..=5),
    tune_if(device.is_gpu == 1 || w < 128),
    defaults(WX = 8, WY = 2, STRIDE = 64, UNROLL = false, T = "float", GREY = 42, type = 2),
    options("-cl-mad-enable", "-w" if UNROLL && w > 64),
    defines(RADIUS = filter / 2, FILTER = filter),
    reference(kernel = "plain", source = "tests/kernels/stencil.cl", global(w, h), local(1, 1)),
    tolerance(rel = 1e-5, abs = 0, l2, accumulates = filter * 3),
    draws = 5,
    measure(cold),
    objective(time),
    bytes(8 * w * h),
    flops(2 * w * h),
    split(h = WY, w = WX)
)]
/// Scales and shifts.
#[must_use = "the event says when it is done"]
pub(super) fn stencil(
    queue: &Queue,
    w: u32,
    h: u64,
    scale: f32,
    #[arg(value = -3)] bias: i8,
    /// Read.
    #[arg(len = w * h, fill = uniform(-2, 2.5), split(h), split(w, rows = h, halo = 0))]
    input: &Buffer<f32>,
    #[arg(out, len = w * h, split(w, rows = h), split(h))] output: &mut Buffer<f32>,
    #[arg(host_only)] filter: u8,
) -> Result<Event>;

/// Inputs that belong together, a reference of several launches, results that are not compared.
#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 128),
    prepare(
        scratch(sums: [u32; n / 32]),
        local_args(tile: [u32; 32]),
        clear(ends),
        stage(first(n, keys, sums, tile), global(n), local(32)),
        repeat(round in 0..2, stage(second(sums, ends, x, round as u32), global(n / 32))),
    ),
    reference(
        scratch(all: [f32; n]),
        stage(third(x, ends, all), global(n)),
        stage(fourth(all, y, z), global(1), when(n > 32)),
    ),
)]
fn prepared(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] keys: &Buffer<u32>,
    #[arg(len = n + 1, fill = prepared)] ends: &Buffer<u32>,
    #[arg(len = n, fill = prepared)] x: &mut Buffer<[f32; 2]>,
    #[arg(out, len = n, compare = 1..n - 1)] y: &mut Buffer<f32>,
    #[arg(out, len = n, compare = none)] unused: &mut Buffer<f32>,
    #[arg(len = n, compare = ..n / 2)] z: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void prepared() { first; second; third; fourth; }"
}

/// Nothing runs it: only its declaration is looked at.
#[tunable(global(64), tune(), crate = ::cltune)]
#[cfg(any())]
fn never(queue: &Queue) -> Result<Event>;

/// All types of arguments; without parameters and problem dimensions.
#[tunable(global(64), objective(energy_delay))]
fn types(
    queue: &Queue,
    #[arg(value = 1)] a: i8,
    #[arg(value = 255)] b: u8,
    #[arg(value = -32768)] c: i16,
    #[arg(value = 1)] d: u16,
    #[arg(value = 1)] e: i32,
    #[arg(value = 1)] f: u32,
    #[arg(value = 1)] g: i64,
    #[arg(value = 1)] h: u64,
    i: f16,
    #[arg(value = 0.5)] j: f32,
    k: f64,
    #[arg(len = 64)] params: &mut Buffer<u8>,
    #[arg(len = 64, fill = zeros)] l: &Buffer<i64>,
    #[arg(len = 64, fill = iota)] m: &mut Buffer<f16>,
    #[arg(len = 64, fill = constant(7))] n: &Buffer<u16>,
    #[arg(len = 64, fill = file("tests/kernels/stencil.cl"))] o: &Buffer<u8>,
    p: [bf16; 2],
    #[arg(len = 64, fill = iota)] q: &mut Buffer<bf16>,
) -> Result<Event, cltune::Error> {
    "__kernel void types(char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h,
         half i, float j, double k, __global uchar* params, __global long* l, __global half* m,
         __global ushort* n, __global uchar* o, ushort2 p, __global ushort* q) {}"
}

#[test]
fn the_kernel_runs_with_local_memory_and_macros() -> Result<()> {
    let queue = Queue::default_device()?;
    let input = Buffer::from_slice(&queue, &vec![2.0_f32; 64 * 64])?;
    let mut output = Buffer::from_slice(&queue, &vec![0.0_f32; 64 * 64])?;
    stencil(&queue, 64, 64, 1.5, -1, &input, &mut output, 3)?.wait()?;
    assert_eq!(output.read(&queue)?, vec![2.0; 64 * 64]);
    let params = stencil::Params {
        WX: 4,
        WY: 8,
        STRIDE: 16,
        UNROLL: true,
        T: stencil::T::float,
        GREY: -1,
        r#type: 0,
    };
    stencil::launch_with(&params, &queue, 64, 64, 0.5, 3, &input, &mut output, 5)?.wait()?;
    assert_eq!(output.read(&queue)?, vec![4.0; 64 * 64]);
    Ok(())
}

#[test]
fn several_devices_compute_it_along_each_divided_dimension() -> Result<()> {
    let device = Device::select()?;
    let mut devices = DeviceSet::new(&[device.clone(), device])?;
    let input = vec![2.0_f32; 64 * 64];
    let mut output = vec![0.0_f32; 64 * 64];
    let rows = stencil::split_h(&mut devices, 64, 64, 1.5, -1, &input, &mut output, 3)?;
    assert_eq!((rows.total, &output), (64, &vec![2.0; 64 * 64]));
    let columns = stencil::split_w(&mut devices, 64, 64, 0.5, 3, &input, &mut output, 5)?;
    assert_eq!((columns.total, &output), (64, &vec![4.0; 64 * 64]));
    Ok(())
}

#[test]
fn the_model_is_what_was_declared() {
    let model = stencil::TUNABLE.model();
    assert_eq!(model.name, "cltune::filters::stencil");
    let stage = model.single_stage().expect("one launch");
    assert_eq!(stage.kernel, "stencil_3");
    let options = model.options.iter();
    let options = options.map(|of| (&*of.text, of.condition.as_ref().map(|of| &*of.text)));
    let expected = [("-cl-mad-enable", None), ("-w", Some("UNROLL && w > 64"))];
    assert_eq!(options.collect::<Vec<_>>(), expected);
    assert_eq!(*model.dimensions, ["w", "h", "filter"]);
    assert!(
        model.source.contains("#define PLUS"),
        "includes are replaced"
    );
    let domains: Vec<&Domain> = model.parameters.iter().map(|p| &p.domain).collect();
    assert_eq!(domains[0], &Domain::PowersOfTwo { first: 1, last: 64 });
    assert_eq!(
        domains[1],
        &Domain::Range {
            first: 1,
            last: 8,
            step: 1
        }
    );
    assert_eq!(
        domains[2],
        &Domain::Range {
            first: 0,
            last: 64,
            step: 16
        }
    );
    assert_eq!(domains[3], &Domain::Booleans(vec![false, true].into()));
    let names = ["float", "half", "int"].map(Into::into).to_vec();
    assert_eq!(domains[4], &Domain::Names(names.into()));
    assert_eq!(domains[5], &Domain::Integers(vec![-1, 16, 42].into()));
    assert_eq!(
        domains[6],
        &Domain::Range {
            first: 0,
            last: 2,
            step: 1
        }
    );
    assert_eq!(model.default.as_deref(), Some(&[8, 2, 64, 0, 0, 42, 2][..]));
    let arguments: Vec<&str> = model.arguments.iter().map(|a| &*a.name).collect();
    assert_eq!(arguments, ["w", "h", "scale", "bias", "input", "output"]);
    let local = stage.arguments.iter().map(|argument| match argument {
        StageArgument::Local { name, .. } => Some(&**name),
        _ => None,
    });
    let (tile, halo) = (Some("tile"), Some("halo"));
    assert_eq!(
        local.collect::<Vec<_>>(),
        [None, None, None, None, tile, None, None, halo]
    );
    assert!(matches!(
        model.arguments[5].kind,
        ArgumentKind::Buffer {
            access: Access::Write,
            element,
            ..
        } if element == ScalarType::F32.into()
    ));
    assert_eq!(model.fingerprint, cltune_formats::fingerprint::of(model));
}

#[test]
fn the_record_holds_what_the_tuner_needs() {
    let declaration = super::records::declaration("cltune::filters::stencil");
    assert_eq!(declaration.model, *stencil::TUNABLE.model());
    assert_eq!(declaration.package, "cltune");
    assert_eq!(declaration.source_file, "tests/generated/every_clause.rs");
    assert_eq!(
        declaration.problems,
        [[64, 64, 3], [128, 64, 3], [64, 64, 4], [64, 64, 5]].map(Vec::from)
    );
    let problems = |is_gpu| {
        let device = DeviceLimits::NONE.with(DeviceField::IsGpu, is_gpu);
        declaration.problems_on(&device).count()
    };
    assert_eq!((problems(1), problems(0)), (4, 3));
    let Reference::Own(reference) = &declaration.reference else {
        panic!("{:?}", declaration.reference);
    };
    let [Step::Launch(stage)] = &reference.steps[..] else {
        panic!("{:?}", reference.steps);
    };
    assert_eq!(stage.kernel, "plain");
    assert_eq!(
        *stage.arguments,
        [0, 1, 2, 3, 4, 5].map(StageArgument::Passed)
    );
    assert!(
        reference
            .source
            .as_ref()
            .is_some_and(|source| source.contains("void plain"))
    );
    assert_eq!((stage.global.len(), stage.local.len()), (2, 2));
    let tolerance = &declaration.tolerance;
    let elements = ElementTolerance {
        rel: 1e-5,
        abs: 0.0,
    };
    assert_eq!(tolerance.elements, Some(elements));
    assert_eq!(tolerance.norm, Some(NormTolerance::Default));
    let accumulates = tolerance.accumulates.as_ref();
    assert_eq!(accumulates.map(|terms| &*terms.text), Some("filter * 3"));
    assert_eq!(declaration.draws, Some(5));
    assert_eq!(declaration.measure, Measure::COLD);
    let none = Fill::None;
    let expected = [
        none.clone(),
        none.clone(),
        Fill::Uniform {
            low: -1.0,
            high: 1.0,
        },
        Fill::Constant(-3.0),
        Fill::Uniform {
            low: -2.0,
            high: 2.5,
        },
        none,
    ];
    assert_eq!(declaration.fills, expected);
    assert_eq!(
        declaration
            .flops
            .map(|flops| flops.text.into_owned())
            .as_deref(),
        Some("2 * w * h")
    );
}

#[test]
fn what_the_tuner_computes_is_in_the_record() {
    let declaration = super::records::declaration("cltune::prepared");
    let text = |declaration| cltune_formats::record::to_text(declaration);
    let prepare = declaration.prepare.as_ref().expect("it is declared");
    assert_eq!(prepare.source, None);
    assert_eq!(prepare.scratch.len(), 1);
    assert!(
        matches!(
            &prepare.steps[..],
            [Step::Clear { .. }, Step::Launch(_), Step::Repeat { .. }]
        ),
        "{}",
        text(&declaration)
    );
    let Reference::Own(reference) = &declaration.reference else {
        panic!("{}", text(&declaration));
    };
    assert_eq!((reference.scratch.len(), reference.steps.len()), (1, 2));
    assert_eq!(declaration.fills[2..4], [Fill::Prepared, Fill::Prepared]);
    let compared: Vec<String> = declaration.compared[4..]
        .iter()
        .map(Compared::to_string)
        .collect();
    assert_eq!(compared, ["1..n - 1", "none", "0..n / 2"]);
    let _ = prepared;
}

#[test]
fn every_type_of_argument_has_its_fill() {
    let declaration = super::records::declaration("cltune::types");
    let measure = Measure {
        objective: Objective::EnergyDelay,
        ..Measure::WARM
    };
    assert_eq!(declaration.measure, measure);
    assert_eq!(declaration.problems, [[]; 1].map(Vec::<i64>::from));
    assert_eq!(declaration.fills.len(), 18);
    assert_eq!(declaration.fills[17], Fill::Iota);
    assert_eq!(declaration.fills[1], Fill::Constant(255.0));
    assert_eq!(
        declaration.fills[11],
        Fill::Uniform {
            low: 0.0,
            high: 100.0
        }
    );
    assert_eq!(declaration.fills[13], Fill::Iota);
    assert_eq!(declaration.fills[14], Fill::Constant(7.0));
    assert_eq!(
        declaration.fills[15],
        Fill::File("tests/kernels/stencil.cl".into())
    );
    let problem = types::Problem {};
    assert_eq!(problem.to_dims(), [0_i64; 0]);
    let _ = types;
}

#[test]
fn parameters_convert_to_codes_and_back() {
    let codes = [8, 2, 64, 1, 2, 42, 0];
    let params = stencil::Params::from_codes(&codes).expect("they are values");
    assert!(params.UNROLL);
    assert_eq!(params.T, stencil::T::int);
    assert_eq!(params.to_codes(), codes);
    assert_eq!(stencil::Params::from_codes(&codes[1..]), None);
    assert_eq!(stencil::Params::from_codes(&[8, 2, 64, 2, 0, 42, 0]), None);
    assert_eq!(stencil::Params::from_codes(&[8, 2, 64, 1, 3, 42, 0]), None);
    let names = <stencil::Params as Configuration>::NAMES;
    assert_eq!(names, ["WX", "WY", "STRIDE", "UNROLL", "T", "GREY", "type"]);
}
