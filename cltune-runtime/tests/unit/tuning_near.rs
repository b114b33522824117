//! Tests of `tuning/near`.

use super::super::guarded::Surroundings;
use super::*;
use crate::device::Device;
use crate::tuning::outcome::WrongKind;
use cltune_formats::declaration::{ElementTolerance, NormTolerance, Tolerance};
use half::{bf16, f16};

/// A reference's elements and a configuration's, as bytes.
type Case<const N: usize> = (Vec<[u8; N]>, Vec<[u8; N]>);

/// The verdict of host and device on each of these results, which must be the same.
fn passes<const N: usize>(
    element: ScalarType,
    declared: &Tolerance,
    cases: &[Case<N>],
) -> Vec<bool> {
    let device = Device::select().unwrap();
    let context = Context::new(&device).unwrap();
    let queue = Queue::new(&context).unwrap();
    let near = Near::new(&context, element).unwrap();
    let said = cases.iter().map(|(expected, found)| {
        let (expected, found) = (expected.as_flattened(), found.as_flattened());
        let all = 0..expected.len() / element.size();
        let reference = Expected::new(element, expected.to_vec(), all, declared, None).unwrap();
        let on_host = reference.compare(element, found, false).is_none();
        let zones = Surroundings::Zones;
        let region = Guarded::places(&context, &queue, found.len(), element, zones).unwrap();
        let region = &region[0];
        let buffers = [expected, found].map(|contents| {
            let buffer = RawBuffer::new(context.raw(), contents.len()).unwrap();
            queue.raw().write(&buffer, 0, contents).unwrap();
            buffer
        });
        region.copy_from(&queue, &buffers[1]).unwrap();
        let on_device = near
            .is_right(&queue, region, &buffers[0], &reference)
            .unwrap();
        assert_eq!(on_host, on_device, "{expected:?} {found:?}");
        on_host
    });
    said.collect()
}

#[test]
fn the_device_says_what_the_host_says() {
    let declared = Tolerance {
        elements: Some(ElementTolerance {
            rel: 1e-3,
            abs: 1e-6,
        }),
        ..Tolerance::default()
    };
    // More elements than work-items, and a rest.
    let many: Vec<f32> = (0..ITEMS * GROUPS * EACH + 3).map(|i| i as f32).collect();
    let with = |at: usize, value: f32| {
        let mut changed = many.clone();
        changed[at] = value;
        (many.clone(), changed)
    };
    let infinite = f32::INFINITY;
    let cases = [
        (vec![1.0, -2.0], vec![1.000_9, -1.998_1]),
        (vec![1.0, -2.0], vec![1.001_1, -2.0]),
        (vec![0.0], vec![-0.0]),
        (vec![0.0], vec![1.1e-6]),
        (vec![infinite, -infinite], vec![infinite, -infinite]),
        (vec![infinite], vec![-infinite]),
        (vec![infinite], vec![f32::MAX]),
        (vec![1.0], vec![infinite]),
        (vec![1.0], vec![f32::NAN]),
        with(0, 0.0),
        with(many.len() - 1, 0.0),
        with(many.len() / 2, 0.0),
    ];
    let said = passes(
        ScalarType::F32,
        &declared,
        &cases.map(|(a, b)| {
            let bytes = |of: Vec<f32>| of.into_iter().map(f32::to_le_bytes).collect();
            (bytes(a), bytes(b))
        }),
    );
    let right = [0, 2, 4, 9];
    let expected: Vec<bool> = (0..said.len()).map(|case| right.contains(&case)).collect();
    assert_eq!(said, expected);
}

#[test]
fn doubles_and_halves_are_compared_as_such() {
    let tiny = 1.0 + 1e-11_f64;
    let said = passes(
        ScalarType::F64,
        &Tolerance::default(),
        &[tiny, 1.0 + 1e-9].map(|found| (vec![1_f64.to_le_bytes()], vec![found.to_le_bytes()])),
    );
    assert_eq!(said, [true, false]);
    let bytes = |value: f32| vec![f16::from_f32(value).to_le_bytes(); 3];
    let said = passes(
        ScalarType::F16,
        &Tolerance::default(),
        &[100.5, 110.0].map(|found| (bytes(100.0), bytes(found))),
    );
    assert_eq!(said, [true, false]);
    let bytes = |value: f32| vec![bf16::from_f32(value).to_le_bytes(); 3];
    let said = passes(
        ScalarType::BF16,
        &Tolerance::default(),
        &[104.0, 120.0].map(|found| (bytes(100.0), bytes(found))),
    );
    assert_eq!(said, [true, false]);
}

#[test]
fn a_norm_is_judged_over_all_elements() {
    let declared = Tolerance {
        norm: Some(NormTolerance::Declared(0.1)),
        ..Tolerance::default()
    };
    let ones = vec![1_f32.to_le_bytes(); 100];
    let with = |value: f32| {
        let mut found = ones.clone();
        found[7] = value.to_le_bytes();
        (ones.clone(), found)
    };
    let said = passes(ScalarType::F32, &declared, &[with(1.9), with(2.1)]);
    assert_eq!(said, [true, false], "0.9 and 1.1 of 10");
}

#[test]
fn only_the_compared_range_counts() {
    let element = ScalarType::F32;
    let context = Context::new(&Device::select().unwrap()).unwrap();
    let queue = Queue::new(&context).unwrap();
    let near = Near::new(&context, element).unwrap();
    let bytes =
        |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|of| of.to_le_bytes()).collect() };
    let count = 2 * ITEMS * EACH + 3;
    let mut expected = vec![1.0_f32; count];
    // What is not compared may be anything.
    expected[0] = f32::NAN;
    let compared = 1..count - 1;
    let declared = Tolerance::default();
    let reference =
        Expected::new(element, bytes(&expected), compared.clone(), &declared, None).unwrap();
    let kept = RawBuffer::new(context.raw(), 4 * count).unwrap();
    queue.raw().write(&kept, 0, &bytes(&expected)).unwrap();
    let place = Guarded::places(&context, &queue, 4 * count, element, Surroundings::Zones).unwrap();
    for at in [0, 1, count / 2, count - 2, count - 1] {
        let mut found = expected.clone();
        found[at] = 2.0;
        place[0].write(&queue, &bytes(&found)).unwrap();
        let on_device = near.is_right(&queue, &place[0], &kept, &reference);
        assert_eq!(on_device.unwrap(), !compared.contains(&at), "{at}");
        let wrong = reference.compare(element, &bytes(&found), true);
        let index = wrong.map(|wrong| match wrong {
            WrongKind::Mismatch { index, len, .. } => (index, len),
            other => panic!("{other:?}"),
        });
        let is_found = compared.contains(&at).then_some((at, compared.len()));
        assert_eq!(index, is_found, "{at}");
    }
}
