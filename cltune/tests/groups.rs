//! Groups of launches on a real device: each configuration is measured and verified against a
//! reference on the device, and calls against one on the host.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind};
use cltune::{Buffer, Context, Device, Error, Event, Queue, Result, Tunable, tunable};

/// One stage with atomics, or two.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(WG = [8, 32], GROUPS = [2, 16], HOW = ["stages", "atomic"]),
    local_args(tile: [u32; WG]),
    scratch(parts: [u32; GROUPS]),
    stages(
        clear(total, when(HOW == "atomic")),
        stage(sum_atomic(n, x, total, tile), global(WG * GROUPS), local(WG), when(HOW == "atomic")),
        stage(sum_parts(n, x, parts, tile), global(WG * GROUPS), local(WG), when(HOW == "stages")),
        stage(sum_rest(GROUPS as u32, parts, total), global(1), when(HOW == "stages")),
    ),
    reference(kernel = "sum_reference", global(1)),
    tune(n = [1000, 4096]),
)]
fn sum(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = 1)] total: &mut Buffer<u32>,
) -> Result<Event>;

/// Three kernels.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(WG = [1, 4], BLOCK = [8, 32]),
    constraints(n % BLOCK == 0),
    scratch(sums: [u32; n / BLOCK]),
    stages(
        stage(scan_blocks(BLOCK as u32, x, y, sums), global(n / BLOCK), local(WG)),
        stage(scan_sums((n / BLOCK) as u32, sums), global(1)),
        stage(scan_add(BLOCK as u32, y, sums), global(n)),
    ),
    reference(kernel = "scan_reference", global(1)),
    tune(n = [256, 4096]),
)]
fn scan(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event>;

/// Rounds with two buffers that change places; after an odd number of them the sorted keys are in
/// the scratch buffer.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(BITS = [2, 4, 8], CHUNK = [32, 64]),
    constraints(n % CHUNK == 0, bits % BITS == 0),
    scratch(moved: [u32; n], counts: [u32; (n / CHUNK) << BITS]),
    stages(
        repeat(round in 0..bits / BITS,
            stage(sort_count((round * BITS) as u32, keys, counts), global(n / CHUNK)),
            stage(scan_sums(((n / CHUNK) << BITS) as u32, counts), global(1)),
            stage(sort_move((round * BITS) as u32, keys, moved, counts), global(n / CHUNK)),
            swap(keys, moved),
        ),
        copy(keys, moved, when(bits / BITS % 2 == 1)),
    ),
    reference(kernel = "sort_reference", global(1)),
    tune(n = 512, bits = [8, 24]),
)]
fn sort(
    queue: &Queue,
    n: u32,
    #[arg(host_only)] bits: u32,
    #[arg(len = n, fill = uniform(0, 255))] keys: &mut Buffer<u32>,
) -> Result<Event>;

/// The number of time steps of a launch is a parameter.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(FUSED = [1, 2, 3, 4], WG = [8, 32]),
    constraints(steps % FUSED == 0),
    scratch(next: [f32; n]),
    stages(
        repeat(round in 0..steps / FUSED,
            stage(heat(n, x, next), global(n), local(WG)),
            swap(x, next),
        ),
        copy(x, next, when(steps / FUSED % 2 == 1)),
    ),
    reference(kernel = "heat_reference", global(1)),
    tune(n = 256, steps = [12, 4]),
)]
fn heat(queue: &Queue, n: u32, steps: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event>;

/// The same kernel writes the result, or parts of it that another adds up.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(PARTS = [1, 2, 4], WG = [4, 8]),
    constraints(k % PARTS == 0),
    scratch(parts: [f32; PARTS * m * n]),
    stages(
        stage(product(n, k, 1 as u32, a, b, c), global(n, m, 1), local(WG, 1, 1), when(PARTS == 1)),
        stage(product(n, k, PARTS as u32, a, b, parts), global(n, m, PARTS), local(WG, 1, 1), when(PARTS > 1)),
        stage(add_parts((m * n) as u32, PARTS as u32, parts, c), global(m * n), when(PARTS > 1)),
    ),
    reference(kernel = "product_reference", global(n, m)),
    tune(m = 16, n = 32, k = 64),
)]
fn product(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    #[arg(len = m * k)] a: &Buffer<f32>,
    #[arg(len = k * n)] b: &Buffer<f32>,
    #[arg(out, len = m * n)] c: &mut Buffer<f32>,
) -> Result<Event>;

/// The name of a kernel depends on a parameter; there is none for 2.
#[tunable(
    source = "tests/kernels/groups.cl",
    params(WIDE = [1, 2, 4]),
    constraints(w % WIDE == 0),
    scratch(between: [f32; w * h]),
    stages(
        stage("blur_rows_{WIDE}"(w, input, between), global(w / WIDE, h)),
        stage(blur_columns(w, h, between, output), global(w, h)),
    ),
    reference(kernel = "blur_reference", global(w, h)),
    tune(w = 32, h = 24),
)]
fn blurred(
    queue: &Queue,
    w: u32,
    h: u32,
    #[arg(len = w * h)] input: &Buffer<f32>,
    #[arg(out, len = w * h)] output: &mut Buffer<f32>,
) -> Result<Event>;

fn device() -> Device {
    Device::select().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// The outcome of each valid configuration for each problem.
fn outcomes(tunable: &'static Tunable) -> Vec<(String, Outcome)> {
    let device = device();
    let declaration = tunable.declaration().unwrap();
    let model = &declaration.model;
    let mut outcomes = Vec::new();
    for dims in &declaration.problems {
        let options = MeasureOptions::default();
        let mut measurer = Measurer::new(&device, &declaration, dims, &options).unwrap();
        for codes in configurations(tunable, dims) {
            let outcome = match measurer.measure(&codes, None, None) {
                Outcome::Ok(_) => measurer
                    .verify(&codes)
                    .map_or_else(|failed| failed, |_| measurer.measure(&codes, None, None)),
                failed => failed,
            };
            let name = format!(
                "{} ({})",
                model.describe(&codes),
                model.describe_sizes(dims)
            );
            outcomes.push((name, outcome));
        }
    }
    outcomes
}

/// The valid configurations, by trying all.
fn configurations(tunable: &Tunable, dims: &[i64]) -> Vec<Vec<i64>> {
    let model = tunable.model();
    let mut all = vec![Vec::new()];
    for parameter in model.parameters.iter() {
        let with = |codes: &Vec<i64>| {
            let codes = codes.clone();
            parameter
                .domain
                .codes()
                .map(move |code| [codes.clone(), vec![code]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let limits = device().info().limits.clone();
    all.retain(|codes| model.check(codes, dims, &limits).is_ok());
    assert!(!all.is_empty(), "{}", model.name);
    all
}

fn all_are_right(tunable: &'static Tunable) {
    for (configuration, outcome) in outcomes(tunable) {
        assert!(
            matches!(outcome, Outcome::Ok(_)),
            "{configuration}: {outcome:?}"
        );
    }
}

#[test]
fn every_configuration_of_a_sum_is_right() {
    all_are_right(&sum::TUNABLE);
}

#[test]
fn every_configuration_of_a_scan_is_right() {
    all_are_right(&scan::TUNABLE);
}

#[test]
fn every_configuration_of_a_sort_is_right() {
    all_are_right(&sort::TUNABLE);
}

#[test]
fn every_configuration_of_time_steps_is_right() {
    all_are_right(&heat::TUNABLE);
}

#[test]
fn every_configuration_of_a_split_product_is_right() {
    all_are_right(&product::TUNABLE);
}

#[test]
fn a_kernel_that_is_there_for_some_values_only_costs_the_others() {
    for (configuration, outcome) in outcomes(&blurred::TUNABLE) {
        match outcome {
            Outcome::Ok(_) => assert!(!configuration.starts_with("WIDE = 2"), "{configuration}"),
            Outcome::LaunchFailed { error } => {
                assert!(
                    configuration.starts_with("WIDE = 2"),
                    "{configuration}: {error}"
                );
                assert!(error.contains("blur_rows_2"), "{error}");
            }
            other => panic!("{configuration}: {other:?}"),
        }
    }
}

/// `HOW` is what goes wrong in a scratch buffer; 0 is right.
#[tunable(
    params(HOW = 0..=4),
    scratch(own: [i32; n], next: [i32; n]),
    stages(
        stage(first(n, x, own, next), global(n)),
        stage(second(n, own, y), global(n)),
    ),
    defaults(HOW = 0),
    tune(n = 64),
)]
fn faulty(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<i32>,
    #[arg(out, len = n)] y: &mut Buffer<i32>,
) -> Result<Event> {
    r"
        __kernel void first(const uint n, __global const int* x, __global int* own, __global int* next) {
            const uint i = get_global_id(0);
            next[i] = i;
            if (HOW == 1 && i == 3) return;
            own[i] = x[i];
            if (HOW == 2 && i == 3) own[n] = 1;
            if (HOW == 3 && i == 3) own[-1] = 1;
            if (HOW == 4 && i == 3) own[i] = 1;
        }
        __kernel void second(const uint n, __global const int* own, __global int* y) {
            y[get_global_id(0)] = own[get_global_id(0)];
        }
    "
}

#[test]
fn what_goes_wrong_in_scratch_memory_is_found() {
    let declaration = faulty::TUNABLE.declaration().unwrap();
    let options = MeasureOptions::default();
    let mut measurer = Measurer::new(&device(), &declaration, &[64], &options).unwrap();
    for how in [0, 1, 2, 3, 4, 0] {
        match (how, measurer.measure(&[how], None, None)) {
            (0, Outcome::Ok(measurement)) => {
                let stages = measurement.stages.iter().map(|stage| stage.stage.as_str());
                assert_eq!(stages.collect::<Vec<_>>(), ["first", "second"]);
            }
            // Only another configuration has written there.
            (1, Outcome::WrongResult(wrong)) => {
                assert_eq!(wrong.argument, "y", "{wrong}");
                assert!(
                    matches!(wrong.kind, WrongKind::NeverWritten { index: 3, .. }),
                    "{wrong}"
                );
            }
            (4, Outcome::WrongResult(wrong)) => {
                assert!(
                    matches!(wrong.kind, WrongKind::Mismatch { index: 3, .. }),
                    "{wrong}"
                );
            }
            (2 | 3, Outcome::WrongResult(wrong)) => {
                assert_eq!(wrong.argument, "own", "{wrong}");
                assert!(
                    matches!(wrong.kind, WrongKind::OutOfBounds { .. }),
                    "{wrong}"
                );
            }
            (how, outcome) => panic!("HOW = {how}: {outcome:?}"),
        }
    }
}

#[test]
fn a_stage_that_disagrees_with_its_kernel_shows_both_sides() {
    let mut declaration = faulty::TUNABLE.declaration().unwrap();
    declaration.model.scratch.to_mut()[0].element = cltune_core::model::ScalarType::F32.into();
    let options = MeasureOptions::default();
    let prepared = Measurer::new(&device(), &declaration, &[64], &options);
    match prepared.map(drop) {
        Err(PrepareError::Signature(mismatch)) => {
            assert_eq!(mismatch.kernel, "first");
            let text = mismatch.to_string();
            assert!(text.contains("own: &mut Buffer<f32>"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// Its second stage takes work-groups of 8 only, and the default has 4: that shows when the first
/// one has begun.
#[tunable(
    source = "tests/kernels/refused_late.cl",
    params(L = [8, 4]),
    defines(READS = 1),
    scratch(own: [i32; n]),
    stages(stage(first(y, own), global(n)), stage(second(own, y), global(n), local(L))),
    defaults(L = 4),
    tune(n = 64),
)]
fn changes(queue: &Queue, n: u32, #[arg(len = n)] y: &mut Buffer<i32>) -> Result<Event>;

/// The same, but that it reads nothing.
#[tunable(
    source = "tests/kernels/refused_late.cl",
    params(L = [8, 4]),
    defines(READS = 0),
    scratch(own: [i32; n]),
    stages(stage(first(y, own), global(n)), stage(second(own, y), global(n), local(L))),
    defaults(L = 4),
    tune(n = 64),
)]
fn writes(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event>;

#[test]
fn a_call_that_fails_when_it_has_begun_is_not_done_again_where_that_matters() -> Result<()> {
    let queue = Queue::for_device(&device())?;
    let mut y = Buffer::from_slice(&queue, &[0; 64])?;
    // What was written is written again by the next configuration.
    writes(&queue, 64, &mut y)?;
    assert_eq!(y.read(&queue)?, [1; 64]);
    let error = changes(&queue, 64, &mut y).map(drop).unwrap_err();
    assert!(
        matches!(error, Error::PartlyLaunched { begun: 1, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("second"), "{error}");
    // The call after it knows better.
    y.write(&queue, &[4; 64])?;
    changes(&queue, 64, &mut y)?;
    assert_eq!(y.read(&queue)?, [5; 64]);
    Ok(())
}

fn random(len: usize) -> Vec<u32> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..len).map(next).collect()
}

#[test]
fn calls_compute_what_the_host_does() -> Result<()> {
    let queue = Queue::for_device(&device())?;
    // The scratch buffers of each call have other sizes than those before.
    for n in [512_u32, 64, 1024] {
        let numbers = random(n as usize);
        let x = Buffer::from_slice(&queue, &numbers)?;
        let mut total = Buffer::new(queue.context(), 1)?;
        let right = numbers.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        for how in [sum::HOW::stages, sum::HOW::atomic] {
            let params = sum::Params {
                WG: 8,
                GROUPS: 16,
                HOW: how,
            };
            sum::launch_with(&params, &queue, n, &x, &mut total)?;
            assert_eq!(total.read(&queue)?, [right], "{how:?}");
        }

        let mut y = Buffer::new(queue.context(), n as usize)?;
        scan(&queue, n, &x, &mut y)?;
        let mut sum = 0_u32;
        let right = numbers.iter().map(|x| {
            let before = sum;
            sum = sum.wrapping_add(*x);
            before
        });
        assert_eq!(y.read(&queue)?, right.collect::<Vec<_>>());

        for bits in [2, 8] {
            let mut keys = Buffer::from_slice(&queue, &numbers)?;
            let params = sort::Params {
                BITS: bits,
                CHUNK: 32,
            };
            sort::launch_with(&params, &queue, n, 24, &mut keys)?;
            let mut right = numbers.clone();
            right.sort_unstable();
            assert_eq!(keys.read(&queue)?, right, "{bits} bits");
        }
    }
    Ok(())
}

#[test]
fn calls_of_several_threads_and_queues_keep_their_scratch_memory_apart() -> Result<()> {
    let context = Context::new(&device())?;
    let (shared, others) = (
        Queue::new(&context)?,
        [Queue::new(&context)?, Queue::new(&context)?],
    );
    let numbers = random(2048);
    let mut right = numbers.clone();
    right.sort_unstable();
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let queue = others.get(thread).unwrap_or(&shared);
            let (numbers, right) = (&numbers, &right);
            scope.spawn(move || {
                for round in 0..5 {
                    let bits = [2, 4, 8][(thread + round) % 3];
                    let params = sort::Params {
                        BITS: bits,
                        CHUNK: 64,
                    };
                    let mut keys = Buffer::from_slice(queue, numbers).unwrap();
                    sort::launch_with(&params, queue, 2048, 24, &mut keys).unwrap();
                    assert_eq!(&keys.read(queue).unwrap(), right);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn a_call_takes_from_its_first_start_to_its_last_end() -> Result<()> {
    let context = Context::new(&device())?;
    let queue = Queue::with_profiling(&context)?;
    let mut keys = Buffer::from_slice(&queue, &random(2048))?;
    let params = sort::Params { BITS: 2, CHUNK: 64 };
    let mut time = |bits| {
        let mut call = || sort::launch_with(&params, &queue, 2048, bits, &mut keys)?.duration();
        call()?;
        // The least, which other load on the machine disturbs least.
        let times = (0..20).map(|_| call()).collect::<Result<Vec<_>>>()?;
        Ok::<_, Error>(times.into_iter().min().unwrap_or_default())
    };
    // Twelve rounds of the same launches, and one.
    let (many, few) = (time(24)?, time(2)?);
    if few < std::time::Duration::from_nanos(100) {
        // rusticl (Mesa 22.3) on llvmpipe says that every command takes 1 ns.
        println!("SKIPPED: the driver measures nothing");
        return Ok(());
    }
    assert!(many > 2 * few, "{many:?} {few:?}");
    Ok(())
}

#[test]
fn a_selected_configuration_whose_kernel_is_missing_is_followed_by_the_next() -> Result<()> {
    let queue = Queue::for_device(&device())?;
    let input = Buffer::from_slice(&queue, &[1.0_f32; 32 * 24])?;
    let mut output = Buffer::new(queue.context(), 32 * 24)?;
    let error = blurred::launch_with(
        &blurred::Params { WIDE: 2 },
        &queue,
        32,
        24,
        &input,
        &mut output,
    );
    let error = error.map(drop).unwrap_err().to_string();
    assert!(error.contains("blur_rows_2"), "{error}");
    blurred(&queue, 32, 24, &input, &mut output)?;
    assert_eq!(output.read(&queue)?, [1.0; 32 * 24]);
    Ok(())
}
