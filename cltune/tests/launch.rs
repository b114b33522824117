//! Launches on a real device, through a tunable written as generated code is.

use cltune::__private::core::expr::{Formula, Op, Program};
use cltune::__private::core::model::{
    Access, Argument, ArgumentKind, ElementType, Memory, Model, ScalarType, Stage, StageArgument,
    Step,
};
use cltune::__private::core::parameter::{Domain, Parameter};
use cltune::__private::core::select::Table;
use cltune::__private::{Arg, launch, launch_with};
use cltune::{Buffer, Context, Error, Queue, Tunable};
use std::borrow::Cow;

const fn formula(text: &'static str, ops: &'static [Op]) -> Formula {
    Formula {
        text: Cow::Borrowed(text),
        program: Program {
            ops: Cow::Borrowed(ops),
        },
    }
}

const fn buffer(name: &'static str, access: Access) -> Argument {
    Argument {
        name: Cow::Borrowed(name),
        kind: ArgumentKind::Buffer {
            element: ElementType::scalar(ScalarType::F32),
            access,
            len: Some(formula("n", &[Op::Dim(0)])),
            memory: Memory::Buffer,
        },
    }
}

const fn model(source: &'static str) -> Model {
    Model {
        name: Cow::Borrowed("test::saxpy"),
        fingerprint: Cow::Borrowed("b3:0"),
        source: Cow::Borrowed(source),
        options: Cow::Borrowed(&[]),
        parameters: Cow::Borrowed(
            const {
                &[Parameter {
                    name: Cow::Borrowed("WG"),
                    domain: Domain::Integers(Cow::Borrowed(&[4, 8, 1 << 30])),
                }]
            },
        ),
        dimensions: Cow::Borrowed(&[Cow::Borrowed("n")]),
        constraints: Cow::Borrowed(&[]),
        defines: Cow::Borrowed(&[]),
        arguments: Cow::Borrowed(
            const {
                &[
                    Argument {
                        name: Cow::Borrowed("a"),
                        kind: ArgumentKind::Scalar {
                            scalar: ElementType::scalar(ScalarType::F32),
                            dimension: None,
                        },
                    },
                    buffer("x", Access::Read),
                    buffer("y", Access::ReadWrite),
                ]
            },
        ),
        scratch: Cow::Borrowed(&[]),
        steps: Cow::Borrowed(
            const {
                &[Step::Launch(Stage {
                    kernel: Cow::Borrowed("saxpy"),
                    when: None,
                    global: Cow::Borrowed(const { &[formula("n", &[Op::Dim(0)])] }),
                    local: Cow::Borrowed(const { &[formula("WG", &[Op::Param(0)])] }),
                    offset: Cow::Borrowed(&[]),
                    local_memory: None,
                    arguments: Cow::Borrowed(
                        const {
                            &[
                                StageArgument::Passed(0),
                                StageArgument::Passed(1),
                                StageArgument::Local {
                                    name: Cow::Borrowed("scratch"),
                                    element: ElementType::scalar(ScalarType::F32),
                                    len: formula("WG", &[Op::Param(0)]),
                                },
                                StageArgument::Passed(2),
                            ]
                        },
                    ),
                })]
            },
        ),
        default: None,
        template: None,
    }
}

static SAXPY: Tunable = Tunable::new(
    model(
        "__kernel void saxpy(const float a, __global const float* x, __local float* s,
                             __global float* y) {
            const size_t i = get_global_id(0);
            s[get_local_id(0)] = a * x[i];
            y[i] += s[get_local_id(0)];
        }",
    ),
    Table::EMPTY,
);

static BROKEN: Tunable = Tunable::new(
    model("__kernel void saxpy(not_a_type x) { int wg = WG; }"),
    Table::EMPTY,
);

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

#[test]
fn computes_with_the_selected_configuration_again_and_again() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    for _ in 0..3 {
        let args = [
            Arg::scalar(&2.0_f32),
            Arg::buffer(&x),
            Arg::buffer_mut(&mut y),
        ];
        launch(&SAXPY, &queue, &[8], &args).unwrap().wait().unwrap();
    }
    assert_eq!(
        y.read(&queue).unwrap(),
        [7.0, 13.0, 19.0, 25.0, 31.0, 37.0, 43.0, 49.0]
    );
}

#[test]
fn a_given_configuration_is_checked_against_the_device() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let mut args = |codes: &[i64]| {
        let args = [
            Arg::scalar(&1.0_f32),
            Arg::buffer(&x),
            Arg::buffer_mut(&mut y),
        ];
        launch_with(&SAXPY, codes, &queue, &[8], &args)
    };
    args(&[8]).unwrap().wait().unwrap();
    let error = args(&[1 << 30]).unwrap_err();
    assert!(
        matches!(error, Error::InvalidConfiguration { .. }),
        "{error}"
    );
    assert!(args(&[5]).unwrap_err().to_string().contains("WG"));
}

#[test]
fn a_short_buffer_is_an_error_before_the_launch() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 7]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&SAXPY, &queue, &[8], &args).unwrap_err();
    assert!(
        matches!(&error, Error::BufferTooShort { argument, needed: 8, found: 7, .. }
            if argument == "x"),
        "{error}"
    );
}

#[test]
fn a_buffer_of_another_context_is_an_error() {
    let queue = queue();
    let other = Queue::new(&Context::new(queue.device()).unwrap()).unwrap();
    let x = Buffer::from_slice(&other, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&SAXPY, &queue, &[8], &args).unwrap_err();
    assert!(
        matches!(&error, Error::OtherContext { what } if what.contains("`x`")),
        "{error}"
    );
}

#[test]
fn a_kernel_that_does_not_build_shows_the_compilers_log() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&BROKEN, &queue, &[8], &args).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Build { .. }), "{text}");
    assert!(
        text.contains("not_a_type") && text.contains("-DWG=4"),
        "{text}"
    );
}

#[test]
fn ten_threads_share_the_first_build_and_all_get_their_result() {
    let queue = queue();
    std::thread::scope(|scope| {
        for thread in 0..10_u8 {
            let queue = &queue;
            scope.spawn(move || {
                let x = Buffer::from_slice(queue, &[f32::from(thread); 16]).unwrap();
                let mut y = Buffer::from_slice(queue, &[0.0_f32; 16]).unwrap();
                for _ in 0..20 {
                    let args = [
                        Arg::scalar(&1.0_f32),
                        Arg::buffer(&x),
                        Arg::buffer_mut(&mut y),
                    ];
                    launch(&SAXPY, queue, &[16], &args).unwrap();
                }
                let expected = 20.0 * f32::from(thread);
                assert!(
                    y.read(queue)
                        .unwrap()
                        .iter()
                        .all(|value| *value == expected)
                );
            });
        }
    });
}

#[test]
fn a_problem_of_no_elements_is_an_error_that_says_why() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&SAXPY, &queue, &[0], &args).unwrap_err();
    assert!(matches!(error, Error::NoConfiguration { .. }), "{error}");
    assert!(error.to_string().contains("n = 0"), "{error}");
    // Of which rule a configuration breaks.
    assert!(error.to_string().contains("WG = 4: "), "{error}");
}

#[test]
fn a_problem_beyond_every_buffer_is_an_error_before_the_launch() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    for n in [1_i64 << 33, i64::MAX - 3] {
        let args = [
            Arg::scalar(&1.0_f32),
            Arg::buffer(&x),
            Arg::buffer_mut(&mut y),
        ];
        let error = launch(&SAXPY, &queue, &[n], &args).unwrap_err();
        assert!(
            matches!(
                error,
                Error::BufferTooShort { found: 8, .. } | Error::NoConfiguration { .. }
            ),
            "{error}"
        );
    }
}

#[test]
fn arguments_of_another_number_or_kind_are_errors() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let few = [Arg::scalar(&1.0_f32), Arg::buffer(&x)];
    let error = launch(&SAXPY, &queue, &[8], &few).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Arguments {
                expected: 3,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
    for wrong in [Arg::scalar(&1.0_f64), Arg::buffer(&x)] {
        let args = [wrong, Arg::buffer(&x), Arg::buffer(&x)];
        let error = launch(&SAXPY, &queue, &[8], &args).unwrap_err();
        assert!(
            matches!(&error, Error::ArgumentKind { argument, .. } if argument == "a"),
            "{error}"
        );
    }
}

#[test]
fn a_kernel_with_other_arguments_than_declared_shows_both_numbers() {
    static OTHER: Tunable = Tunable::new(
        model("__kernel void saxpy(const float a, __global float* y) {}"),
        Table::EMPTY,
    );
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&OTHER, &queue, &[8], &args).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Signature {
                expected: 4,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_missing_kernel_function_is_named() {
    static MISNAMED: Tunable = Tunable::new(model("__kernel void other() {}"), Table::EMPTY);
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    let error = launch(&MISNAMED, &queue, &[8], &args).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`saxpy`") && text.contains("CL_INVALID_KERNEL_NAME"),
        "{text}"
    );
}

#[test]
fn more_problems_than_a_context_remembers_still_compute() {
    let queue = queue();
    let x = Buffer::from_slice(&queue, &[1.0_f32; 8]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 8]).unwrap();
    // The dimension is only a size here: every launch is a problem of its own.
    for n in 1..=4200_i64 {
        let args = [
            Arg::scalar(&1.0_f32),
            Arg::buffer(&x),
            Arg::buffer_mut(&mut y),
        ];
        let result = launch(&SAXPY, &queue, &[4 * n], &args);
        assert_eq!(result.is_ok(), 4 * n <= 8, "{n}");
    }
    let args = [
        Arg::scalar(&1.0_f32),
        Arg::buffer(&x),
        Arg::buffer_mut(&mut y),
    ];
    launch(&SAXPY, &queue, &[8], &args).unwrap();
    assert_eq!(
        y.read(&queue).unwrap(),
        [3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0]
    );
}

#[test]
fn ten_threads_each_with_their_own_context_work_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..10_u8 {
            scope.spawn(move || {
                let queue = queue();
                let x = Buffer::from_slice(&queue, &[f32::from(thread); 16]).unwrap();
                let mut y = Buffer::from_slice(&queue, &[1.0_f32; 16]).unwrap();
                let args = [
                    Arg::scalar(&2.0_f32),
                    Arg::buffer(&x),
                    Arg::buffer_mut(&mut y),
                ];
                launch(&SAXPY, &queue, &[16], &args).unwrap();
                let expected = 2.0_f32.mul_add(f32::from(thread), 1.0);
                assert_eq!(y.read(&queue).unwrap(), [expected; 16]);
            });
        }
    });
}
