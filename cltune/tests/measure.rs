//! Measuring and verifying on a real device: every way in which a configuration can be wrong.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use cltune_core::expr::Formula;
use cltune_core::model::{ArgumentKind, ScalarType};
use cltune_formats::declaration::{Computation, Declaration, Fill, Reference};
use cltune_formats::formula::{Scope, Type};

/// The parameter `V` chooses what goes wrong; 0 is right.
#[tunable(
    params(V = 0..=11),
    global(n), local(8),
    local_args(t: [f32; 8] before z),
    tune(n = 64),
    reference(kernel = "reference", global(n)),
)]
fn scale(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = uniform(1, 2))] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
    #[arg(len = n, fill = uniform(1, 2))] z: &mut Buffer<i32>,
) -> Result<Event> {
    r"
        __kernel void reference(const uint n, __global const float* x, __global float* y,
                                __global int* z) {
            const uint i = get_global_id(0);
            y[i] = 2.0f * x[i];
            z[i] += 1;
        }
#if V == 9
        this does not compile
#endif
        __kernel void scale(const uint n, __global const float* x, __global float* y, __local float* t,
                            __global int* z) {
            const uint i = get_global_id(0);
            t[get_local_id(0)] = 2.0f * x[i];
            if (V == 1 && i == n - 1) return;
            z[i] += 1;
            if (V == 2 && i >= 5) { y[i] = 7.0f; return; }
            if (V == 3 && i == 0) y[-1] = 1.0f;
            if (V == 4 && i == 0) y[n + 2] = 1.0f;
            if (V == 5 && i == 3) ((__global float*)x)[i] = 5.0f;
            if (V == 6 && i == 3) { y[i] = NAN; return; }
            if (V == 7 && i == 3) z[i] += 1;
            if (V >= 10) {
                if (V == 11 && i == 0) y[-1] = 1.0f;
                float sum = x[i];
                for (int step = 0; step < 20000; step++) sum = sum * 0.5f + 1.0f;
                if (sum == 0.0f) z[i] += 1;
            }
            y[i] = t[get_local_id(0)];
        }
    "
}

fn formula(text: &str) -> Formula {
    let scope = Scope {
        parameters: &[],
        dimensions: &["n".into()],
    };
    cltune_formats::formula::parse(text, &scope, Type::Int).unwrap()
}

fn declaration() -> Declaration {
    scale::TUNABLE.declaration().unwrap()
}

fn prepare(declaration: &Declaration) -> std::result::Result<Measurer, PrepareError> {
    let device = Device::select().expect("these tests need an OpenCL device");
    Measurer::new(&device, declaration, &[64], &MeasureOptions::default())
}

fn wrong(value: i64) -> (String, WrongKind) {
    match prepare(&declaration())
        .unwrap()
        .measure(&[value], None, None)
    {
        Outcome::WrongResult(wrong) => (wrong.argument, wrong.kind),
        other => panic!("V = {value}: {other:?}"),
    }
}

#[test]
fn a_right_configuration_is_timed() {
    let mut measurer = prepare(&declaration()).unwrap();
    let Outcome::Ok(measurement) = measurer.measure(&[0], None, None) else {
        panic!()
    };
    assert!(measurement.time_us > 0.0 && measurement.samples_us.len() >= 3);
    assert_eq!(measurer.verify(&[0]), Ok(3), "and near the bounds");
    let times = measurer.compare(&[vec![0], vec![9], vec![8]]);
    assert!(times[0].is_ok() && times[2].is_ok(), "{times:?}");
    assert!(
        matches!(&times[1], Err(Outcome::BuildFailed { log }) if log.contains("error")),
        "{times:?}"
    );
}

#[test]
fn one_that_is_far_behind_is_compared_in_few_rounds() {
    let device = Device::select().unwrap();
    let options = MeasureOptions::default();
    let mut measurer = Measurer::new(&device, &declaration(), &[1 << 12], &options).unwrap();
    let times = measurer.compare(&[vec![10], vec![0]]);
    let rounds: Vec<usize> = times
        .iter()
        .map(|of| of.as_ref().unwrap().samples_us.len())
        .collect();
    assert!(rounds[0] == 3 && rounds[1] >= 11, "{rounds:?}");
}

/// Each work-group reads a table that the caches of a core hold, or `LARGE`, one that they do not.
#[tunable(
    params(LARGE = [0, 1]),
    global(device.compute_units), local(1),
    tune(n = 65536, large = 8388608),
    reference(kernel = "reference", global(device.compute_units)),
)]
fn walk(
    queue: &Queue,
    n: u32,
    large: u32,
    #[arg(len = n, fill = uniform(0, 9))] table: &Buffer<u32>,
    #[arg(len = large, fill = uniform(0, 9))] others: &Buffer<u32>,
    #[arg(out, len = device.compute_units)] y: &mut Buffer<u32>,
) -> Result<Event> {
    r"
        __kernel void reference(const uint n, const uint large, __global const uint* table,
                                __global const uint* others, __global uint* y) {
            y[get_global_id(0)] = 1;
        }
        __kernel void walk(const uint n, const uint large, __global const uint* table,
                           __global const uint* others, __global uint* y) {
            uint found = 0;
            if (LARGE) {
                for (uint at = 0; at < large; at += 16) found |= others[at];
            } else {
                // Every line once, and none before the last one has come.
                const uint lines = n / 16;
                for (uint step = 0, line = 0; step < lines; step++) {
                    found |= table[line * 16];
                    line = (line * 5 + 1 + (found >> 31)) % lines;
                }
            }
            y[get_global_id(0)] = 1 + (found >> 31);
        }
    "
}

#[test]
fn what_is_compared_finds_its_own_data_in_the_caches() {
    let declaration = walk::TUNABLE.declaration().unwrap();
    let device = Device::select().unwrap();
    let options = MeasureOptions::default();
    let dims = [65536, 8_388_608];
    let mut measurer = Measurer::new(&device, &declaration, &dims, &options).unwrap();
    let times = measurer.compare(&[vec![1], vec![0]]);
    // The other one is far behind, and is only there in the first three rounds.
    let [other, small] = [&times[0], &times[1]].map(|of| &of.as_ref().unwrap().samples_us);
    assert!(other.len() == 3 && small.len() >= 11, "{other:?} {small:?}");
    let beside = small[1].min(small[2]);
    let mut alone = small[3..].to_vec();
    alone.sort_by(f64::total_cmp);
    assert!(beside < 2.0 * alone[alone.len() / 2], "{small:?}");
}

#[test]
fn a_clearly_slower_configuration_is_not_repeated() {
    let mut measurer = prepare(&declaration()).unwrap();
    let Outcome::Ok(measurement) = measurer.measure(&[0], Some(1e-6), None) else {
        panic!()
    };
    assert_eq!(measurement.samples_us.len(), 1);
}

/// A device whose cores take one work-group at a time; on others a part may take as long as the
/// whole.
fn is_cpu() -> bool {
    let device = Device::select().unwrap();
    device.info().device_type == cltune_core::device::DeviceType::Cpu
}

#[test]
fn a_part_shows_that_a_configuration_is_far_too_slow() {
    let declaration = Declaration {
        even_work: true,
        ..declaration()
    };
    let device = Device::select().unwrap();
    let options = MeasureOptions::default();
    let mut measurer = Measurer::new(&device, &declaration, &[1 << 16], &options).unwrap();
    let best_us = Some(1000.0);
    let slow = measurer.measure(&[10], best_us, None);
    if is_cpu() {
        let Outcome::TooSlow { at_least_us, .. } = slow else {
            panic!("{slow:?}")
        };
        assert!(at_least_us > 2000.0, "{at_least_us}");
    }
    // With a slower best it may be the next best, and is run.
    let outcome = measurer.measure(&[10], Some(1e12), None);
    assert!(outcome.time_us().is_some(), "{outcome:?}");
}

#[test]
fn what_a_part_writes_out_of_bounds_is_its_own_fault() {
    let declaration = Declaration {
        even_work: true,
        ..declaration()
    };
    let device = Device::select().unwrap();
    // Everything is too slow.
    let options = MeasureOptions::default().with(|options| {
        options.hopeless_factor = 1e-9;
    });
    let mut measurer = Measurer::new(&device, &declaration, &[1 << 16], &options).unwrap();
    for value in [11, 3] {
        let slow = measurer.measure(&[value], Some(1000.0), None);
        assert!(matches!(slow, Outcome::WrongResult(_)), "{slow:?}");
        let next = measurer.measure(&[0], Some(1000.0), None);
        assert!(matches!(next, Outcome::TooSlow { .. }), "{next:?}");
    }
}

#[test]
fn without_a_declaration_all_is_run() {
    let outcome = prepare(&declaration())
        .unwrap()
        .measure(&[10], Some(1000.0), None);
    assert!(outcome.time_us().is_some(), "{outcome:?}");
}

#[test]
fn an_unwritten_element_is_found() {
    let (argument, kind) = wrong(1);
    assert_eq!(
        (argument.as_str(), kind),
        (
            "y",
            WrongKind::NeverWritten {
                index: 63,
                count: 1,
                len: 64
            }
        )
    );
}

#[test]
fn a_wrong_value_shows_the_first_index_and_both_values() {
    let (argument, kind) = wrong(2);
    let WrongKind::Mismatch {
        index: 5,
        found,
        count: 59,
        len: 64,
        ..
    } = kind
    else {
        panic!("{kind:?}")
    };
    assert_eq!((argument.as_str(), &*found), ("y", "7"));
}

#[test]
fn writes_out_of_bounds_are_found_on_both_sides() {
    assert_eq!(
        wrong(3),
        ("y".into(), WrongKind::OutOfBounds { offset: -1 })
    );
    assert_eq!(wrong(4), ("y".into(), WrongKind::OutOfBounds { offset: 8 }));
}

#[test]
fn writing_a_read_only_buffer_is_found() {
    assert_eq!(
        wrong(5),
        ("x".into(), WrongKind::ReadOnlyWritten { index: 3 })
    );
}

#[test]
fn nan_is_wrong() {
    assert!(
        matches!(wrong(6), (argument, WrongKind::Mismatch { index: 3, .. }) if argument == "y")
    );
}

#[test]
fn integers_are_compared_exactly() {
    assert!(
        matches!(wrong(7), (argument, WrongKind::Mismatch { index: 3, .. }) if argument == "z")
    );
}

#[test]
fn failures_do_not_spoil_what_is_measured_after_them() {
    let mut measurer = prepare(&declaration()).unwrap();
    for value in [3, 1, 5, 4, 2, 9, 7] {
        assert!(
            measurer.measure(&[value], None, None).time_us().is_none(),
            "V = {value}"
        );
        assert!(
            measurer.measure(&[0], None, None).time_us().is_some(),
            "after V = {value}"
        );
    }
}

#[test]
fn what_was_loaded_is_measured_like_the_rest() {
    let mut measurer = prepare(&declaration()).unwrap();
    // Right, wrong, not to be built, and no configuration at all; in another order than they are
    // measured.
    let values = [0, 1, 9, 77];
    for value in values.iter().rev() {
        measurer.load(&[*value], None);
    }
    let kind = |outcome: Outcome| std::mem::discriminant(&outcome);
    for value in values {
        let loaded = kind(measurer.measure(&[value], None, None));
        let other = kind(measurer.measure(&[value], None, None));
        assert_eq!(loaded, other, "V = {value}");
    }
}

#[test]
fn a_build_failure_keeps_the_log() {
    let Outcome::BuildFailed { log } = prepare(&declaration()).unwrap().measure(&[9], None, None)
    else {
        panic!()
    };
    assert!(
        log.contains("CL_BUILD_PROGRAM_FAILURE") && log.contains("error"),
        "{log}"
    );
}

#[test]
fn a_signature_that_disagrees_shows_both_sides() {
    let mut declaration = declaration();
    let mut arguments = declaration.model.arguments.to_vec();
    arguments[0].kind = ArgumentKind::Scalar {
        scalar: ScalarType::F32.into(),
        dimension: None,
    };
    declaration.fills[0] = Fill::Constant(1.0);
    declaration.model.arguments = arguments.into();
    let error = prepare(&declaration).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, PrepareError::Signature(_)), "{text}");
    assert!(text.contains("n: f32") && text.contains("uint"), "{text}");
}

#[test]
fn a_missing_kernel_lists_those_that_exist() {
    let mut declaration = declaration();
    declaration.model.single_stage_mut().unwrap().kernel = "scael".into();
    let error = prepare(&declaration).unwrap_err().to_string();
    assert!(
        error.contains("scael") && error.contains("reference"),
        "{error}"
    );
}

#[test]
fn a_reference_that_computes_nan_is_an_error() {
    let mut declaration = declaration();
    declaration.fills[1] = Fill::Constant(f64::NAN);
    let error = prepare(&declaration).unwrap_err();
    assert!(
        matches!(&error, PrepareError::ReferenceNan { place, .. } if place == "y[0]"),
        "{error}"
    );
}

#[test]
fn too_much_local_memory_is_refused_before_the_launch() {
    let mut declaration = declaration();
    let source = declaration.model.source.replace(
        "t[get_local_id(0)] = 2.0f",
        "
         #if V == 8
         __local float huge[1 << 28];
         huge[i] = x[i];
         barrier(CLK_LOCAL_MEM_FENCE);
         if (huge[i] < 0) return;
         #endif
         t[get_local_id(0)] = 2.0f",
    );
    declaration.model.source = source.into();
    let mut measurer = prepare(&declaration).unwrap();
    let outcome = measurer.measure(&[8], None, None);
    // Compilers may refuse it, NVIDIA's as shared data. A driver that refuses the launch names its
    // call.
    let refused = match &outcome {
        Outcome::BuildFailed { log } => log.contains("local") || log.contains("shared data"),
        Outcome::LaunchFailed { error } => error.contains("bytes of local memory"),
        _ => false,
    };
    assert!(refused, "{outcome:?}");
    // Nothing has run that could have broken the device's context.
    let next = measurer.measure(&[0], None, None);
    assert!(matches!(next, Outcome::Ok(_)), "{next:?}");
}

/// The declaration with another reference: its source and the number of work-items.
fn with_reference(body: &str, global: &str) -> Declaration {
    let mut declaration = declaration();
    declaration.reference = Reference::Own(Computation {
        source: Some(format!(
            "__kernel void other(const uint n, __global const float* x, __global float* y,
                                 __global int* z) {{
                 const uint i = get_global_id(0);
                 {body}
             }}"
        )),
        ..Computation::of_kernel("other", 4, vec![formula(global)], vec![])
    });
    declaration
}

#[test]
fn a_reference_of_a_source_of_its_own_is_compared_with() {
    let declaration = with_reference("y[i] = x[i] + x[i]; z[i]++;", "n");
    let outcome = prepare(&declaration).unwrap().measure(&[0], None, None);
    assert!(outcome.time_us().is_some(), "{outcome:?}");
}

#[test]
fn a_reference_that_writes_out_of_bounds_is_an_error_of_the_reference() {
    let error = prepare(&with_reference("y[i + 1] = 0;", "n")).unwrap_err();
    assert!(matches!(error, PrepareError::ReferenceWrong(_)), "{error}");
    assert!(error.to_string().contains("y: written"), "{error}");
}

#[test]
fn a_reference_that_writes_an_input_is_an_error_of_the_reference() {
    let body = "((__global float*)x)[i] = -1; y[i] = 0;";
    let error = prepare(&with_reference(body, "n")).unwrap_err();
    let PrepareError::ReferenceWrong(wrong) = &error else {
        panic!("{error}")
    };
    assert_eq!(wrong.kind, WrongKind::ReadOnlyWritten { index: 0 });
}

#[test]
fn a_reference_that_writes_nothing_is_an_error() {
    let error = prepare(&with_reference("z[i]++;", "n")).unwrap_err();
    assert!(
        matches!(&error, PrepareError::ReferenceWritesNothing { argument } if argument == "y"),
        "{error}"
    );
}

#[test]
fn what_the_reference_leaves_unwritten_may_stay_unwritten() {
    let half = with_reference(
        "if (i < n - 1) y[i] = x[i] * 2; if (i < n - 1) z[i]++;",
        "n",
    );
    let mut measurer = prepare(&half).unwrap();
    let outcome = measurer.measure(&[1], None, None);
    assert!(
        outcome.time_us().is_some(),
        "V = 1 stops one short too: {outcome:?}"
    );
    let Outcome::WrongResult(wrong) = measurer.measure(&[0], None, None) else {
        panic!()
    };
    assert!(wrong.to_string().contains("y[63]") && wrong.to_string().contains("never written"));
}

#[test]
fn a_reference_without_work_items_says_which_size() {
    let error = prepare(&with_reference("y[i] = 0;", "n - 64"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("n - 64") && error.contains("other"),
        "{error}"
    );
}

#[test]
fn a_kernel_that_does_not_build_by_default_shows_values_and_log() {
    let mut declaration = declaration();
    declaration.model.default = Some(vec![9].into());
    let error = prepare(&declaration).unwrap_err();
    let PrepareError::Build {
        configuration, log, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(configuration, "V = 9");
    assert!(log.contains("error"), "{log}");
}

#[test]
fn a_negative_length_is_an_error() {
    let mut declaration = declaration();
    let mut arguments = declaration.model.arguments.to_vec();
    if let ArgumentKind::Buffer { len, .. } = &mut arguments[1].kind {
        *len = Some(formula("n - 65"));
    }
    declaration.model.arguments = arguments.into();
    let error = prepare(&declaration).unwrap_err();
    assert!(
        matches!(error, PrepareError::NegativeLength { value: -1, .. }),
        "{error}"
    );
}

#[test]
fn a_missing_file_of_inputs_is_an_error_that_names_it() {
    let mut declaration = declaration();
    declaration.fills[1] = Fill::File("weights.bin".into());
    let error = prepare(&declaration).unwrap_err().to_string();
    assert!(
        error.contains("weights.bin") && error.contains("`x`"),
        "{error}"
    );
}

#[test]
fn a_device_that_did_all_this_is_still_usable() {
    let mut measurer = prepare(&declaration()).unwrap();
    for value in 0..=9 {
        measurer.measure(&[value], None, None);
        assert!(measurer.is_usable(), "V = {value}");
    }
}

#[test]
fn the_seed_decides_the_inputs() {
    let found = |seed| {
        let device = Device::select().unwrap();
        let options = MeasureOptions::default().with(|options| {
            options.seed = seed;
        });
        let mut measurer = Measurer::new(&device, &declaration(), &[64], &options).unwrap();
        match measurer.measure(&[2], None, None) {
            Outcome::WrongResult(WrongResult {
                kind: WrongKind::Mismatch { expected, .. },
                ..
            }) => expected,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(found(1), found(1));
    assert_ne!(found(1), found(2));
}
