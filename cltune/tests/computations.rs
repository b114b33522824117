//! Tests of what the tuner computes for itself, on a real device: inputs that belong together and a
//! reference of several launches; and of results of which a part is compared.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use cltune_core::expr::Formula;
use cltune_core::model::{BufferRef, ScalarType, Stage, StageArgument, Step};
use cltune_formats::declaration::{Compared, Computation, Declaration, Fill, Reference};
use cltune_formats::formula::{Scope, Type};

#[tunable(
    source = "tests/kernels/computations.cl",
    params(WG = [8, 32], V = 0..=6),
    global(n), local(WG),
    tune(n = [256, 1024], values = 16),
    prepare(
        scratch(counts: [u32; values]),
        clear(counts),
        stage(count(keys, counts), global(n)),
        stage(scan(values as u32, counts, below), global(1)),
        stage(split(pairs, lefts, rights), global(n)),
    ),
    reference(
        scratch(firsts: [u32; n]),
        local_args(of_group: [u32; 16]),
        stage(first_of_equals(keys, below, firsts, of_group), global(n), local(16)),
        stage(doubled(2 as u32, firsts, lefts, rights, y), global(n)),
    ),
    defaults(WG = 8, V = 0),
    draws = 3,
)]
fn ranks(
    queue: &Queue,
    n: u32,
    #[arg(host_only)] values: u32,
    #[arg(len = n, fill = uniform(0, 15))] keys: &Buffer<u32>,
    #[arg(len = values, fill = prepared)] below: &Buffer<u32>,
    #[arg(len = n)] pairs: &Buffer<[f32; 2]>,
    #[arg(len = n, fill = prepared)] lefts: &Buffer<f32>,
    #[arg(len = n, fill = prepared)] rights: &mut Buffer<f32>,
    #[arg(out, len = n + 8, compare = 4..n + 4)] y: &mut Buffer<u32>,
    #[arg(out, len = n, compare = none)] work: &mut Buffer<f32>,
) -> Result<Event>;

fn device() -> Device {
    Device::select().expect("this machine has an OpenCL device")
}

fn declaration() -> Declaration {
    ranks::TUNABLE
        .declaration()
        .expect("the program holds its declaration")
}

fn prepared(
    declaration: &Declaration,
    dims: &[i64],
    options: &MeasureOptions,
) -> std::result::Result<Measurer, PrepareError> {
    Measurer::new(&device(), declaration, dims, options)
}

/// The error for a declaration with which nothing can be measured.
fn refused(change: impl FnOnce(&mut Declaration)) -> PrepareError {
    let mut declaration = declaration();
    change(&mut declaration);
    match prepared(&declaration, &[256, 16], &MeasureOptions::default()) {
        Err(error) => error,
        Ok(_) => panic!("everything could be prepared"),
    }
}

fn wrong(outcome: Outcome) -> WrongResult {
    match outcome {
        Outcome::WrongResult(wrong) => wrong,
        other => panic!("{other:?}"),
    }
}

/// With host and device as the one that keeps and compares, and with all kinds of surroundings.
fn options() -> impl Iterator<Item = MeasureOptions> {
    let compared_by = [Some(false), Some(true)].into_iter();
    compared_by.flat_map(|compare_on_device| {
        [true, false].map(|protect| {
            MeasureOptions::default().with(|options| {
                options.compare_on_device = compare_on_device;
                options.protect = protect;
            })
        })
    })
}

#[test]
fn wrong_results_lose_and_what_is_not_compared_does_not_count() {
    for options in options() {
        // Large results are compared on the device.
        let large = options.compare_on_device == Some(true) && options.protect;
        for n in if large { [256, 1 << 18] } else { [256, 512] } {
            let mut measurer = prepared(&declaration(), &[n, 16], &options).unwrap();
            for value in [0, 2, 3] {
                let outcome = measurer.measure(&[32, value], None, None);
                assert!(outcome.time_us().is_some(), "V = {value}: {outcome:?}");
                // Three random draws, and those of other kinds.
                let right = measurer.verify(&[32, value]);
                assert!(right.clone().is_ok_and(|draws| draws > 3), "{right:?}");
            }
            assert_eq!(measurer.left_out(), [""; 0]);

            let at = wrong(measurer.measure(&[32, 1], None, None));
            assert_eq!(at.argument, "rights", "{at}");
            assert!(
                matches!(at.kind, WrongKind::Mismatch { index, .. } if index as i64 == n / 2),
                "{at}"
            );
            let beyond = wrong(measurer.measure(&[32, 4], None, None));
            assert_eq!(beyond.argument, "work", "{beyond}");
            assert!(beyond.kind.is_out_of_bounds(), "{beyond}");
            let input = wrong(measurer.measure(&[32, 5], None, None));
            assert_eq!(input.argument, "below", "{input}");
            let unwritten = wrong(measurer.measure(&[32, 6], None, None));
            // Places and numbers are those of the whole buffer.
            assert!(
                matches!(
                    unwritten.kind,
                    WrongKind::NeverWritten { index: 11, count: 1, len } if len as i64 == n
                ),
                "{unwritten}"
            );
            assert!(measurer.measure(&[8, 0], None, None).time_us().is_some());
        }
    }
}

#[test]
fn without_a_reference_prepared_inputs_go_to_the_default() {
    let mut declaration = declaration();
    declaration.reference = Reference::Default;
    let mut measurer = prepared(&declaration, &[256, 16], &MeasureOptions::default()).unwrap();
    assert!(measurer.verify(&[32, 2]).is_ok());
    assert_eq!(
        wrong(measurer.verify(&[32, 1]).unwrap_err()).argument,
        "rights"
    );
}

fn source(declaration: &mut Declaration, line: &str) {
    let source = format!(
        "__kernel void count(__global uint* keys, __global uint* counts) {{
            {line}
        }}
        __kernel void scan(const uint values, __global const uint* counts, __global uint* below) {{
            for (uint i = 0; i < values; i++) below[i] = 0;
        }}
        __kernel void split(__global const float2* pairs, __global float* lefts,
                            __global float* rights) {{
            lefts[get_global_id(0)] = pairs[get_global_id(0)].x;
            rights[get_global_id(0)] = 1;
        }}"
    );
    let prepare = declaration.prepare.as_mut().expect("it is declared");
    prepare.source = Some(source);
}

#[test]
fn a_source_of_its_own_makes_inputs() {
    let mut declaration = declaration();
    source(&mut declaration, "");
    let mut measurer = prepared(&declaration, &[256, 16], &MeasureOptions::default()).unwrap();
    assert!(measurer.verify(&[8, 0]).is_ok());
}

#[test]
fn what_makes_inputs_and_is_wrong_is_an_error_that_says_how() {
    match refused(|declaration| source(declaration, "keys[get_global_id(0)] = 1;")) {
        PrepareError::PreparesOther { argument } => assert_eq!(argument, "keys"),
        other => panic!("{other:?}"),
    }
    match refused(|declaration| source(declaration, "counts[16 + get_global_id(0)] = 1;")) {
        PrepareError::InputsWrong(wrong) => assert_eq!(wrong.argument, "counts", "{wrong}"),
        other => panic!("{other:?}"),
    }
    match refused(|declaration| source(declaration, "nonsense")) {
        PrepareError::Inputs { error, .. } => assert!(error.contains("nonsense"), "{error}"),
        other => panic!("{other:?}"),
    }
    // The first step alone: nothing writes what the others do.
    let truncated = refused(|declaration| {
        let prepare = declaration.prepare.as_mut().expect("it is declared");
        prepare.steps.truncate(2);
    });
    match truncated {
        PrepareError::NotPrepared { argument } => assert_eq!(argument, "below"),
        other => panic!("{other:?}"),
    }
    let mismatch = refused(|declaration| {
        let prepare = declaration.prepare.as_mut().expect("it is declared");
        prepare.scratch[0].element = ScalarType::F64.into();
    });
    let PrepareError::Signature(mismatch) = mismatch else {
        panic!("{mismatch:?}");
    };
    assert_eq!(mismatch.kernel, "count");
    match refused(|declaration| stage(declaration).global = vec![formula("n - 256")].into()) {
        PrepareError::Inputs { error, .. } => {
            assert!(error.contains("`n - 256` is 0"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    match refused(|declaration| stage(declaration).kernel = "coumt".into()) {
        PrepareError::Inputs { kernel, error } => {
            assert_eq!(kernel, "coumt");
            assert!(error.contains("the source has: "), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// The first launch of what makes inputs.
fn stage(declaration: &mut Declaration) -> &mut Stage {
    let prepare = declaration.prepare.as_mut().expect("it is declared");
    match &mut prepare.steps[1] {
        Step::Launch(stage) => stage,
        other => panic!("{other:?}"),
    }
}

fn formula(text: &str) -> Formula {
    let scope = Scope {
        parameters: &[],
        dimensions: &["n".into(), "values".into()],
    };
    cltune_formats::formula::parse(text, &scope, Type::Int).expect(text)
}

#[test]
fn a_range_that_there_is_not_for_a_problem_is_an_error_that_says_so() {
    let range = |begin, end| Compared::Range {
        begin: formula(begin),
        end: formula(end),
    };
    for (compared, reason) in [
        (
            range("0", "n + 9"),
            "`0..n + 9` is 0..265 for this problem, and there are 264 elements",
        ),
        (
            range("n", "256"),
            "`n..256` is 256..256 for this problem, which is empty",
        ),
        (
            range("n - 257", "n"),
            "`n - 257..n` is -1..256 for this problem",
        ),
        (range("0", "n / (n - 256)"), "has no value"),
    ] {
        // `y` follows `n`, `keys`, `below`, `pairs`, `lefts` and `rights`.
        let error = refused(|declaration| declaration.compared[6] = compared).to_string();
        assert!(error.contains("`y`: ") && error.contains(reason), "{error}");
    }
}

#[test]
fn a_reference_of_several_launches_is_refused_as_one_kernel_is() {
    let of_reference = |declaration: &mut Declaration| match &mut declaration.reference {
        Reference::Own(reference) => reference.clone(),
        Reference::Default => panic!("it is declared"),
    };
    // Without the second launch nothing writes the results.
    let error = refused(|declaration| {
        let mut reference = of_reference(declaration);
        reference.steps.truncate(1);
        declaration.reference = Reference::Own(reference);
    });
    assert!(
        matches!(&error, PrepareError::ReferenceWritesNothing { argument } if argument == "y"),
        "{error:?}"
    );
    // Its scratch buffers are guarded.
    let error = refused(|declaration| {
        let mut reference = of_reference(declaration);
        reference.scratch[0].len = formula("n - 1");
        declaration.reference = Reference::Own(reference);
    });
    let PrepareError::ReferenceWrong(wrong) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(wrong.argument, "firsts", "{error}");
    assert!(wrong.kind.is_out_of_bounds(), "{error}");
    // What it takes is compared with its kernels' signatures.
    let error = refused(|declaration| {
        let mut reference = of_reference(declaration);
        let Step::Launch(stage) = &mut reference.steps[1] else {
            panic!("it is a launch");
        };
        stage.arguments.to_mut().swap(1, 2);
        declaration.reference = Reference::Own(reference);
    });
    assert!(matches!(&error, PrepareError::Signature(_)), "{error:?}");
}

#[test]
fn steps_besides_launches_make_inputs_too() {
    let mut declaration = declaration();
    // The right ones are a copy of the left ones.
    let copy = Step::Copy {
        from: BufferRef::Passed(4),
        to: BufferRef::Passed(5),
        when: None,
    };
    let Computation { steps, .. } = declaration.prepare.as_mut().expect("it is declared");
    steps.push(copy);
    assert_eq!(declaration.fills[4..6], [Fill::Prepared, Fill::Prepared]);
    let first = StageArgument::Passed(4);
    let Step::Launch(split) = &steps[3] else {
        panic!("it is a launch");
    };
    assert_eq!(split.arguments[1], first);
    let mut measurer = prepared(&declaration, &[256, 16], &MeasureOptions::default()).unwrap();
    assert!(measurer.verify(&[8, 0]).is_ok());
}

#[test]
fn a_call_takes_what_it_is_given() -> Result<()> {
    let queue = Queue::for_device(&device())?;
    let n = 64;
    let keys = Buffer::from_slice(&queue, &vec![1; n])?;
    let below = Buffer::from_slice(&queue, &[5; 16])?;
    let pairs = Buffer::from_slice(&queue, &vec![[1.0, 2.0]; n])?;
    let lefts = Buffer::from_slice(&queue, &vec![1.0; n])?;
    let mut rights = Buffer::from_slice(&queue, &vec![3.0; n])?;
    let mut y = Buffer::new(queue.context(), n + 8)?;
    let mut work = Buffer::new(queue.context(), n)?;
    ranks(
        &queue,
        n as u32,
        16,
        &keys,
        &below,
        &pairs,
        &lefts,
        &mut rights,
        &mut y,
        &mut work,
    )?;
    assert_eq!(rights.read(&queue)?, vec![4.0; n]);
    assert_eq!(y.read(&queue)?[4..n + 4], vec![10; n]);
    Ok(())
}
