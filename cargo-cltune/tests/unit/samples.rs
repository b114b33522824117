//! Declarations and devices for tests, made by hand, with neither cargo nor a driver.

use cltune_core::device::{DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::measure::Measure;
use cltune_core::model::{Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::{List, Text};
use cltune_formats::declaration::{Declaration, Reference, Tolerance};
use cltune_formats::formula::{Scope, Type, parse};

/// A tunable with the parameter `WG` (32 to 256 in powers of two), the dimension `n` and as many
/// work-items.
pub(crate) fn declaration(
    name: &'static str,
    fingerprint: &'static str,
    problems: &[i64],
) -> Declaration {
    let parameters = vec![Parameter {
        name: "WG".into(),
        domain: Domain::PowersOfTwo {
            first: 32,
            last: 256,
        },
    }];
    let dimensions: Vec<Text> = vec!["n".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let stage = Stage {
        global: vec![parse("n", &scope, Type::Int).unwrap()].into(),
        ..Stage::new("kernel".into())
    };
    Declaration {
        model: Model {
            name: name.into(),
            fingerprint: fingerprint.into(),
            source: "".into(),
            options: List::Borrowed(&[]),
            parameters: parameters.into(),
            dimensions: dimensions.into(),
            constraints: List::Borrowed(&[]),
            defines: List::Borrowed(&[]),
            arguments: List::Borrowed(&[]),
            scratch: vec![].into(),
            steps: vec![Step::Launch(stage)].into(),
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
