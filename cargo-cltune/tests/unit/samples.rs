//! Declarations and devices for tests, made by hand, with neither cargo nor a driver.

use cltune_core::List;
use cltune_core::device::{DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::measure::Measure;
use cltune_core::model::{Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::declaration::{Declaration, Reference, Tolerance};

/// A tunable with the parameter `WG` (32 to 256 in powers of two) and the dimension `n`.
pub(crate) fn declaration(
    name: &'static str,
    fingerprint: &'static str,
    problems: &[i64],
) -> Declaration {
    let domain = Domain::PowersOfTwo {
        first: 32,
        last: 256,
    };
    Declaration {
        model: Model {
            name: name.into(),
            fingerprint: fingerprint.into(),
            source: "".into(),
            options: List::Borrowed(&[]),
            parameters: vec![Parameter {
                name: "WG".into(),
                domain,
            }]
            .into(),
            dimensions: vec!["n".into()].into(),
            constraints: List::Borrowed(&[]),
            defines: List::Borrowed(&[]),
            arguments: List::Borrowed(&[]),
            scratch: vec![].into(),
            steps: vec![Step::Launch(Stage::new("kernel".into()))].into(),
            default: None,
            template: None,
        },
        package: "app".to_owned(),
        version: "0.1.0".to_owned(),
        source_file: "src/lib.rs".to_owned(),
        lockfile_seen: "absent".to_owned(),
        files: Vec::new(),
        problems: problems.iter().map(|n| vec![*n]).collect(),
        tune_if: None,
        prepare: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: Vec::new(),
        compared: Vec::new(),
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}

/// A GPU.
pub(crate) fn device(name: &str) -> DeviceInfo {
    DeviceInfo {
        platform: "platform".to_owned(),
        name: name.to_owned(),
        vendor: "vendor".to_owned(),
        device_type: DeviceType::Gpu,
        driver: "1".to_owned(),
        version: "OpenCL 3.0".to_owned(),
        limits: DeviceLimits::default(),
    }
}
