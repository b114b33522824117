//! Configurations that access memory outside of their buffers, near and far: who does it fails, and
//! nobody else.

use cltune::tuning::{
    KeptFor, MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult,
};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use cltune_core::device::DeviceType;
use cltune_core::parameter::Domain;
use cltune_formats::declaration::{Declaration, Fill};
use cltune_tests::is_full;

/// Results are right whatever the parameters are, unless memory is hit that they come from. `HOW` 1
/// to 6 writes to `x`, `y` and `z`, and reads them, `AT` bytes from their begin; 7 writes to the
/// address `AT`. `READS` uses what lies behind the end of `x`.
#[tunable(
    params(HOW = 0..=7, AT = 0..=1, READS = 0..=1),
    global(n),
    tune(n = 1024),
)]
fn copy(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = constant(1234.5))] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] z: &mut Buffer<i32>,
) -> Result<Event> {
    r"
        __kernel void copy(
            const uint n, __global const float* x, __global float* y, __global int* z
        ) {
            const uint i = get_global_id(0);
            y[i] = x[i];
            z[i] += 1;
            if (READS && i == 3) y[i] = x[n] < 0.0f || x[n] >= 0.0f ? x[i] : 7.0f;
            if (HOW == 0 || i != 5) return;
            volatile __global char* const buffers[3] =
                {(__global char*)x, (__global char*)y, (__global char*)z};
            if (HOW == 7) {
                *(volatile __global uchar*)AT = 1;
            } else if (HOW <= 3) {
                *(volatile __global int*)(buffers[HOW - 1] + AT) = 1;
            } else if (*(volatile __global int*)(buffers[HOW - 4] + AT) == 0x13579BDF) {
                y[i] = 7;
            }
        }
    "
}

/// With all addresses as values of `AT`.
fn declaration() -> Declaration {
    let mut declaration = copy::TUNABLE.declaration().unwrap();
    let mut parameters = declaration.model.parameters.to_vec();
    parameters[1].domain = Domain::Range {
        first: -(1 << 50),
        last: 1 << 50,
        step: 1,
    };
    declaration.model.parameters = parameters.into();
    declaration.model.default = Some(vec![0, 0, 0].into());
    declaration
}

/// With other contents of `x`, so that tests that hit them hit no other test's.
#[cfg(target_os = "linux")]
fn filled_with(value: f32) -> Declaration {
    let mut declaration = declaration();
    declaration.fills[1] = Fill::Constant(f64::from(value));
    declaration
}

const GOOD: [i64; 3] = [0, 0, 0];

/// Between pages that nobody may touch.
fn between_pages() -> MeasureOptions {
    quick().with(|options| {
        options.protect = true;
    })
}

/// As on a GPU: the device keeps and looks at everything.
fn on_device() -> MeasureOptions {
    quick().with(|options| {
        options.compare_on_device = Some(true);
    })
}

fn quick() -> MeasureOptions {
    MeasureOptions::default().with(|options| {
        options.least_repeats = 1;
        options.most_repeats = 1;
    })
}

fn prepare(
    declaration: &Declaration,
    n: i64,
    options: &MeasureOptions,
) -> std::result::Result<Measurer, PrepareError> {
    let device = Device::select().expect("these tests need an OpenCL device");
    Measurer::new(&device, declaration, &[n], options)
}

/// Whether buffers of this machine's device can lie between pages that nobody may touch.
fn has_pages() -> bool {
    let device = Device::select().unwrap();
    let is_cpu = device.info().device_type == DeviceType::Cpu;
    let has = cfg!(unix) && is_cpu;
    if !has {
        cltune_tests::skip("the device does not compute in this process's memory");
    }
    has
}

fn wrong(outcome: Outcome) -> WrongResult {
    match outcome {
        Outcome::WrongResult(wrong) => wrong,
        other => panic!("{other:?}"),
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

#[test]
fn pages_show_every_access_beyond_both_ends() {
    const N: i64 = 2048;
    if !has_pages() {
        return;
    }
    let mut measurer = prepare(&declaration(), N, &between_pages()).unwrap();
    let far = [17_i64 << 10, 64 << 10, 1 << 20, 17 << 30];
    let after = [0, 124].into_iter().chain(far);
    let before = [4, 128].into_iter().chain(far).map(|distance| -distance);
    for distance in after.chain(before) {
        for how in if distance.abs() < 4096 { 1..=6 } else { 2..=4 } {
            let at = if distance < 0 {
                distance
            } else {
                4 * N + distance
            };
            let wrong = wrong(measurer.measure(&[how, at, 0], None, None));
            let name = NAMES[(how as usize - 1) % 3];
            assert_eq!(wrong.argument, name, "{wrong}");
            let expected = WrongKind::AccessOutOfBounds { offset: distance };
            assert_eq!(wrong.kind, expected, "HOW = {how}");
            let good = measurer.measure(&GOOD, None, None);
            assert!(good.time_us().is_some(), "after {wrong}: {good:?}");
            assert!(measurer.is_usable());
        }
    }
}

#[test]
fn a_buffer_of_no_whole_pages_is_at_both_ends_in_turn() {
    // 2800 bytes of 4096.
    const N: i64 = 700;
    if !has_pages() {
        return;
    }
    let device = Device::select().unwrap();
    let limits = &device.info().limits;
    let rest = (4096 - 4 * N) % limits.mem_base_addr_align.max(128);
    let mut measurer = prepare(&declaration(), N, &between_pages()).unwrap();
    let found = |measurer: &mut Measurer, how: i64, at: i64| measurer.verify(&[how, at, 0]);
    for how in 4..=6 {
        for at in [-4, -400, 4 * N + rest, 4 * N + rest + 400] {
            let wrong = wrong(found(&mut measurer, how, at).unwrap_err());
            assert!(
                matches!(wrong.kind, WrongKind::AccessOutOfBounds { .. }),
                "{how} {at}: {wrong}"
            );
        }
    }
    // Writes beside the buffer show in what lies there.
    for how in 1..=3 {
        for (at, offset) in [(-4, -4), (4 * N, 0), (4 * N + rest - 4, rest - 4)] {
            let wrong = wrong(found(&mut measurer, how, at).unwrap_err());
            let WrongKind::OutOfBounds { offset: found } = wrong.kind else {
                panic!("{how} {at}: {wrong}")
            };
            assert!((offset..offset + 4).contains(&found), "{how} {at}: {wrong}");
        }
    }
    assert!(measurer.verify(&GOOD).is_ok());
    // As well with a single draw.
    let options = between_pages().with(|options| {
        options.draws = Some(1);
    });
    let mut measurer = prepare(&declaration(), N, &options).unwrap();
    for at in [-4, 4 * N + rest] {
        assert!(found(&mut measurer, 4, at).is_err(), "{at}");
    }
    assert!(measurer.verify(&GOOD).is_ok());
    let compared = measurer.compare(&[GOOD.to_vec(), vec![4, 0, 0]]);
    assert!(compared.iter().all(Result::is_ok), "{compared:?}");
    let far = vec![4, 4 * N + rest, 0];
    let compared = measurer.compare(&[GOOD.to_vec(), far, vec![4, 0, 0]]);
    let is_right: Vec<bool> = compared.iter().map(Result::is_ok).collect();
    assert_eq!(is_right, [true, false, true]);
    assert!(measurer.is_usable());
}

#[test]
fn what_lies_around_buffers_is_no_number() {
    for (n, options) in [
        (700, between_pages()),
        (700, quick()),
        (1 << 19, on_device()),
    ] {
        let mut measurer = prepare(&declaration(), n, &options).unwrap();
        let outcome = measurer.measure(&[0, 0, 1], None, None);
        // Right behind the end there may be a page that nobody may touch.
        let wrong = wrong(outcome);
        assert!(
            wrong.to_string().starts_with("y[3] is 7,") || wrong.kind.is_out_of_bounds(),
            "{wrong}"
        );
        assert!(measurer.measure(&GOOD, None, None).time_us().is_some());
    }
}

#[test]
fn a_reference_that_reads_beyond_the_end_is_an_error_of_the_reference() {
    if !has_pages() {
        return;
    }
    let mut declaration = declaration();
    declaration.model.default = Some(vec![4, 4096 + (1 << 20), 0].into());
    let error = prepare(&declaration, 1024, &between_pages()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, PrepareError::ReferenceWrong(_)), "{text}");
    assert!(
        text.contains("x: read or written 1048576 bytes after its end"),
        "{text}"
    );
}

#[test]
fn pages_are_not_used_unless_asked_for() {
    // A program that tunes in its own process is not to get a signal handler.
    let mut measurer = prepare(&declaration(), 1024, &quick()).unwrap();
    let outcome = measurer.measure(&[4, 4096, 0], None, None);
    assert!(outcome.time_us().is_some(), "{outcome:?}");
}

#[test]
fn zones_that_the_device_looks_at_are_large_also_around_small_buffers() {
    const N: i64 = (1 << 10) + 5;
    let mut measurer = prepare(&declaration(), N, &on_device()).unwrap();
    let all = [0, 17 << 10, 2000 << 10, 4, 16 << 10, 64 << 10];
    let distances = &all[..if is_full() { all.len() } else { 3 }];
    let after = distances
        .iter()
        .map(|distance| (4 * N + distance, *distance));
    let before = distances
        .iter()
        .map(|distance| (-4 - distance, -4 - distance));
    for (at, offset) in after.chain(before) {
        for how in 1..=3 {
            let wrong = wrong(measurer.measure(&[how, at, 0], None, None));
            assert_eq!(wrong.argument, NAMES[how as usize - 1], "{wrong}");
            // Of the four bytes that are written, the one that differs and is nearest.
            let WrongKind::OutOfBounds { offset: found } = wrong.kind else {
                panic!("{wrong}")
            };
            assert!((offset..offset + 4).contains(&found), "{at}: {wrong}");
            let good = measurer.measure(&GOOD, None, None);
            assert!(good.time_us().is_some(), "after {wrong}: {good:?}");
            assert!(measurer.is_usable());
        }
    }
}

/// What this process has in its memory.
#[cfg(target_os = "linux")]
mod memory {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// A value, repeated: single comparisons take tests, which are not optimised, most of their
    /// time.
    fn block(value: f32) -> Vec<u8> {
        value.to_le_bytes().repeat(1024)
    }

    /// How many bytes from the beginning are words with the value of a block.
    fn leading(bytes: &[u8], block: &[u8]) -> usize {
        let mut count = 0;
        for part in [block, &block[..4]] {
            while bytes[count..].starts_with(part) {
                count += part.len();
            }
        }
        count
    }

    /// How many bytes up to the end are words with the value of a block.
    fn trailing(bytes: &[u8], block: &[u8]) -> usize {
        let mut rest = bytes;
        for part in [block, &block[..4]] {
            while let Some(before) = rest.strip_suffix(part) {
                rest = before;
            }
        }
        bytes.len() - rest.len()
    }

    fn read(memory: &File, begin: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        memory.read_exact_at(&mut bytes, begin).ok()?;
        Some(bytes)
    }

    /// Where a value is repeated so many times at least in memory that can be written: addresses in
    /// the middle.
    pub(crate) fn places_of(value: f32, times: usize) -> Vec<u64> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let memory = File::open("/proc/self/mem").unwrap();
        let block = block(value);
        let ranges = maps.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (begin, end) = words.next()?.split_once('-')?;
            let end = u64::from_str_radix(end, 16).ok()?;
            let begin = u64::from_str_radix(begin, 16).ok()?;
            words.next()?.starts_with("rw").then_some((begin, end))
        });
        let mut places = Vec::new();
        for (begin, end) in ranges {
            let Some(bytes) = read(&memory, begin, (end - begin) as usize) else {
                continue;
            };
            let mut next = 4 * (times - 1);
            // Each run that is long enough has one of these words.
            while next < bytes.len() {
                let after = leading(&bytes[next..], &block);
                if after > 0 {
                    let before = trailing(&bytes[..next], &block);
                    if before + after >= 4 * times {
                        let middle = usize::midpoint(next - before, next + after) / 4 * 4;
                        places.push(begin + middle as u64);
                    }
                    next += after;
                }
                next += 4 * times;
            }
        }
        places
    }

    /// Whether a value is still repeated so many times from there on.
    pub(crate) fn is_still(at: u64, value: f32, times: usize) -> bool {
        let memory = File::open("/proc/self/mem").unwrap();
        read(&memory, at, 4 * times)
            .is_some_and(|bytes| leading(&bytes, &block(value)) == bytes.len())
    }
}

/// Writes to everything in this process that looks like inputs or results, until `is_enough` of
/// what became of it.
#[cfg(target_os = "linux")]
fn hit_everything(
    n: i64,
    options: &MeasureOptions,
    value: f32,
    hit: fn(&mut Measurer, [i64; 3]) -> Outcome,
    is_enough: impl Fn(&[Outcome]) -> bool,
) {
    let declaration = filled_with(value);
    let ready = || {
        let measurer = prepare(&declaration, n, options).unwrap();
        (measurer, memory::places_of(value, n as usize / 2))
    };
    let (mut measurer, mut places) = ready();
    let mut outcomes = Vec::new();
    for next in 0..100 {
        places.retain(|at| memory::is_still(*at, value, n as usize / 4));
        let at = places[next % places.len()];
        outcomes.push(hit(&mut measurer, [7, at as i64, 0]));
        for _ in 0..2 {
            match measurer.measure(&GOOD, None, None) {
                Outcome::Ok(_) => {}
                Outcome::Unjudged { .. } => assert!(!measurer.is_usable()),
                other => panic!("blamed for {at:#x}, {outcomes:?}: {other:?}"),
            }
        }
        if is_enough(&outcomes) {
            return;
        }
        if !measurer.is_usable() {
            // The old one is still there, so that the new one is elsewhere.
            (measurer, places) = ready();
        }
    }
    panic!("{outcomes:?}");
}

/// Whether a configuration was found to have written to what is kept of inputs, and another one of
/// results.
#[cfg(target_os = "linux")]
fn have_hit_both(outcomes: &[Outcome]) -> bool {
    [KeptFor::Inputs, KeptFor::Results].iter().all(|kept| {
        outcomes.iter().any(|outcome| {
            matches!(outcome, Outcome::WrongResult(wrong)
                if matches!(&wrong.kind, WrongKind::FarOutOfBounds { what, .. } if what == kept))
        })
    })
}

/// Runs one of the tests below in a process of its own; how it ended, and what it said.
#[cfg(target_os = "linux")]
fn ends(test: &str) -> (std::process::ExitStatus, String) {
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    // What is freed is gone, and not used for something else.
    command.env("MALLOC_MMAP_THRESHOLD_", "65536");
    let output = command.output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    (output.status, said.concat())
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_hits_what_is_kept_fails_and_nobody_else() {
    for test in [
        "process::who_hits_what_the_device_keeps_is_the_one_who_fails",
        "process::what_is_out_of_sight_is_looked_at_before_anybody_is_blamed",
    ] {
        let (status, said) = ends(test);
        assert!(
            status.success() && said.contains("1 passed"),
            "{test}: {status}\n{said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn everything_else_still_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    if !has_pages() {
        return;
    }
    for test in [
        "process::writes_into_what_is_kept",
        "process::writes_where_nothing_is",
        "process::gets_a_signal",
    ] {
        let (status, said) = ends(test);
        assert_eq!(status.signal(), Some(11), "{test}: {said}");
    }
}

/// Each of them hits what is not its own, so that it needs a process of its own.
#[cfg(target_os = "linux")]
mod process {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    #[ignore = "it needs a process of its own"]
    fn who_hits_what_the_device_keeps_is_the_one_who_fails() {
        let measure =
            |measurer: &mut Measurer, codes: [i64; 3]| measurer.measure(&codes, None, None);
        hit_everything(1 << 18, &on_device(), 2345.5, measure, |outcomes| {
            // One of the buffers of the launch is hit as well.
            let is_own = |outcome: &Outcome| {
                matches!(outcome, Outcome::WrongResult(wrong)
                    if matches!(wrong.kind, WrongKind::ReadOnlyWritten { .. }))
            };
            have_hit_both(outcomes) && outcomes.iter().any(is_own)
        });
    }

    #[test]
    #[ignore = "it needs a process of its own"]
    fn what_is_out_of_sight_is_looked_at_before_anybody_is_blamed() {
        // It is not looked at after a configuration that was right; nobody after it is blamed all
        // the same.
        let measure =
            |measurer: &mut Measurer, codes: [i64; 3]| measurer.measure(&codes, None, None);
        hit_everything(1 << 16, &quick(), 3456.5, measure, |outcomes| {
            outcomes.len() >= if is_full() { 8 } else { 3 }
        });
        // Nor is what is much, on the device. Tests, which are not optimised, take long to fill it.
        if is_full() {
            let options = on_device().with(|options| {
                options.draws = Some(9);
            });
            hit_everything(1 << 21, &options, 5678.5, measure, |outcomes| {
                outcomes.len() >= 3
            });
        }
        // Verifying is certain.
        let verify = |measurer: &mut Measurer, codes: [i64; 3]| match measurer.verify(&codes) {
            Ok(_) => Outcome::Unjudged {
                reason: "right".into(),
            },
            Err(outcome) => outcome,
        };
        hit_everything(1 << 16, &quick(), 4567.5, verify, have_hit_both);
    }

    #[test]
    #[ignore = "it ends the process"]
    fn writes_into_what_is_kept() {
        const N: usize = 1 << 16;
        let mut measurer = prepare(&declaration(), N as i64, &between_pages()).unwrap();
        // The only pages that can be read and nothing else, and have what inputs have.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let memory = std::fs::File::open("/proc/self/mem").unwrap();
        let kept = maps
            .lines()
            .filter(|line| line.contains(" r--p 00000000 00:00 0"));
        // The system makes one range of several.
        let pages = kept.flat_map(|line| {
            let ends = line.split(' ').next().and_then(|ends| ends.split_once('-'));
            let (begin, end) = ends.unwrap();
            let [begin, end] = [begin, end].map(|end| u64::from_str_radix(end, 16).unwrap());
            (begin..end).step_by(4096)
        });
        let kept: Vec<u64> = pages
            .filter(|at| {
                let mut first = [0; 4];
                let read = memory.read_exact_at(&mut first, *at);
                read.is_ok() && first == 1234.5_f32.to_le_bytes()
            })
            .collect();
        assert!(!kept.is_empty(), "{maps}");
        let outcome = measurer.measure(&[7, kept[0] as i64, 0], None, None);
        println!("{outcome:?}");
    }

    #[test]
    #[ignore = "it ends the process"]
    fn writes_where_nothing_is() {
        let mut measurer = prepare(&declaration(), 1024, &between_pages()).unwrap();
        println!("{:?}", measurer.measure(&[7, 8, 0], None, None));
    }

    #[test]
    #[ignore = "it ends the process"]
    fn gets_a_signal() {
        let mut measurer = prepare(&declaration(), 1024, &between_pages()).unwrap();
        assert!(measurer.measure(&GOOD, None, None).time_us().is_some());
        let id = std::process::id().to_string();
        // The first ones are for handlers that take them for accesses; Rust's own is one.
        for _ in 0..3 {
            let mut kill = std::process::Command::new("kill");
            assert!(kill.args(["-SEGV", &id]).status().unwrap().success());
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
