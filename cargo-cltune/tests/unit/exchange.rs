//! Each format is read back as it was written.

use super::{Export, Layout};
use crate::history::OnDevice;
use crate::samples;
use crate::session::{Recorded, Session};
use cltune_core::measure::Measure;
use cltune_core::model::Model;
use cltune_core::parameter::{Domain, Parameter};
use cltune_search::Status;
use cltune_search::recorded::parse;
use proptest::prelude::*;
use std::path::Path;

/// The statuses of configurations that fail.
const FAILURES: [Status; 8] = [
    Status::BuildFailed,
    Status::LaunchFailed,
    Status::WrongResult,
    Status::SkipsWork,
    Status::TooSlow,
    Status::TimedOut,
    Status::Crashed,
    Status::Interrupted,
];

/// A model with a parameter of each kind.
fn model() -> Model {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let mut model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
    model.parameters = vec![
        parameter("WG", Domain::PowersOfTwo { first: 1, last: 8 }),
        parameter("UNROLL", Domain::Booleans(vec![false, true].into())),
        parameter(
            "T",
            Domain::Names(vec!["float".into(), "half".into()].into()),
        ),
        // Too many to list.
        parameter(
            "SHIFT",
            Domain::Range {
                first: -5,
                last: i64::MAX - 5,
                step: 2,
            },
        ),
    ]
    .into();
    model
}

fn codes() -> impl Strategy<Value = Vec<i64>> {
    let parameters = (0..=3_u32, 0..=1_i64, 0..=1_i64, -1..=3_i64);
    parameters.prop_map(|(wg, unroll, t, shift)| vec![1 << wg, unroll, t, 2 * shift - 3])
}

fn recorded() -> impl Strategy<Value = Recorded> {
    let time = 1e-3..1e9_f64;
    let works = (codes(), time.clone(), prop::collection::vec(time, 0..4));
    let works = works.prop_map(|(codes, time_us, samples_us)| Recorded {
        codes,
        time_us: Some(time_us),
        status: Status::Ok,
        samples_us,
        build_seconds: Some(0.25),
        ..Recorded::default()
    });
    let fails = (
        codes(),
        prop::sample::select(FAILURES.to_vec()),
        "[ -~\n]{0,20}",
    );
    let fails = fails.prop_map(|(codes, status, detail)| Recorded {
        codes,
        status,
        detail: Some(detail),
        ..Recorded::default()
    });
    prop_oneof![3 => works, 1 => fails]
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        // The last digit may get lost between microseconds and milliseconds.
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b,
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn results_come_back(results in prop::collection::vec(recorded(), 1..30)) {
        let model = model();
        let on = OnDevice {
            platform: "Portable \"CL\"".to_owned(),
            device: "cpu, 2 cores".to_owned(),
            sessions: vec![Session { driver: "5.0".to_owned(), ..Session::default() }],
            results,
            repeatability: None,
            entry: None,
        };
        let export = Export { model: &model, measure: Measure::WARM, dims: &[8], on: &on };
        let expected = export.results();
        for layout in [Layout::KernelTuner, Layout::T4, Layout::Csv] {
            let file = parse(Path::new("a"), &layout.write(&export)).unwrap();
            let names: Vec<&str> = model.parameters.iter().map(|of| &*of.name).collect();
            if layout != Layout::T4 {
                prop_assert_eq!(&file.parameters, &names);
            }
            if layout != Layout::Csv {
                prop_assert_eq!(file.about.kernel.as_deref(), Some("app::saxpy"));
                prop_assert_eq!(file.about.platform.as_deref(), Some(&*on.platform));
                prop_assert_eq!(file.about.device.as_deref(), Some(&*on.device));
                prop_assert_eq!(file.about.driver.as_deref(), Some("5.0"));
                prop_assert_eq!(&file.about.problem, &[("n".to_owned(), 8)]);
            }
            prop_assert_eq!(file.results.len(), expected.len());
            for (read, written) in file.results.iter().zip(&expected) {
                for (name, value) in file.parameters.iter().zip(&read.values) {
                    let position = names.iter().position(|of| of == name).unwrap();
                    let code = written.codes[position];
                    prop_assert_eq!(value, &model.describe_value(position, code));
                }
                let ms = |us: Option<f64>| us.map(|us| us / 1e3);
                prop_assert!(near(read.time_ms, ms(written.time_us)));
                prop_assert_eq!(&read.status, &written.status);
                if layout != Layout::Csv {
                    prop_assert_eq!(&read.detail, &written.detail);
                    prop_assert_eq!(read.samples_ms.len(), written.samples_us.len());
                    for (read, written) in read.samples_ms.iter().zip(&written.samples_us) {
                        prop_assert!(near(Some(*read), ms(Some(*written))));
                    }
                }
                prop_assert!(near(read.build_ms, written.build_seconds.map(|s| s * 1e3)));
            }
        }
    }
}

#[test]
fn of_several_results_of_a_configuration_the_last_one_counts() {
    let model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
    let result = |code: i64, time_us: Option<f64>| Recorded {
        codes: vec![code],
        time_us,
        status: if time_us.is_some() {
            Status::Ok
        } else {
            Status::Crashed
        },
        ..Recorded::default()
    };
    let on = OnDevice {
        results: vec![
            result(32, None),
            result(64, Some(2000.0)),
            result(32, Some(1000.0)),
        ],
        ..OnDevice::default()
    };
    let export = Export {
        measure: Measure::COLD,
        model: &model,
        dims: &[8],
        on: &on,
    };
    let csv = "WG,time_ms,compile_ms,error\n64,2,,\n32,1,,\n";
    assert_eq!(Layout::Csv.write(&export), csv);
}
