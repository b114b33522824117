//! Groups of launches on a real device: each configuration is measured and verified against a
//! reference on the device, and calls against one on the host.

use cltune_runtime::tuning::{MeasureOptions, Measurer, Outcome};
use cltune_runtime::{Buffer, Device, Event, Queue, Result, Tunable, tunable};

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
