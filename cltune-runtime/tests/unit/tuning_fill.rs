//! Tests of `tuning/fill`.

use super::super::elements::text;
use super::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

fn filled(fill: &Fill, scalar: ScalarType, len: usize) -> Vec<f64> {
    let random = Pcg64Mcg::seed_from_u64(1);
    let bytes = elements(fill, scalar.into(), len, "x", Path::new("."), &random).unwrap();
    bytes
        .chunks(scalar.size())
        .map(|element| text(scalar, element).parse().unwrap())
        .collect()
}

#[test]
fn a_sequence_is_the_same_however_many_threads_make_it() {
    let random = Pcg64Mcg::seed_from_u64(7);
    let len = 2 * CHUNK + 5;
    let fill = Fill::Uniform {
        low: -1.0,
        high: 1.0,
    };
    let found = elements(
        &fill,
        ScalarType::F64.into(),
        len,
        "x",
        Path::new("."),
        &random,
    )
    .unwrap();
    let mut random = random;
    for (index, element) in found.chunks_exact(8).enumerate() {
        let unit: f64 = random.random();
        let expected = uniform(ScalarType::F64, -1.0, 1.0, unit);
        assert_eq!(element, expected.to_le_bytes(), "{index}");
    }
}

#[test]
fn uniform_stays_in_its_bounds_and_reaches_both_integers() {
    let floats = filled(
        &Fill::Uniform {
            low: -1.0,
            high: 1.0,
        },
        ScalarType::F32,
        1000,
    );
    assert!(floats.iter().all(|x| (-1.0..=1.0).contains(x)));
    assert!(floats.iter().any(|x| *x < -0.5) && floats.iter().any(|x| *x > 0.5));
    let integers = filled(
        &Fill::Uniform {
            low: 3.0,
            high: 5.0,
        },
        ScalarType::U8,
        200,
    );
    for expected in [3.0, 4.0, 5.0] {
        assert!(integers.contains(&expected));
    }
    assert!(integers.iter().all(|x| (3.0..=5.0).contains(x)));
}

#[test]
fn every_fill_has_its_values_in_every_type() {
    for scalar in ScalarType::ALL {
        assert_eq!(filled(&Fill::Iota, *scalar, 4), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(filled(&Fill::Constant(2.0), *scalar, 2), [2.0, 2.0]);
        assert_eq!(filled(&Fill::Zeros, *scalar, 2), [0.0, 0.0]);
    }
}

#[test]
fn a_file_has_as_many_elements_as_the_argument_or_is_an_error_with_both_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let random = Pcg64Mcg::seed_from_u64(1);
    let load = |name: &str, len| {
        let fill = Fill::File(name.into());
        let found = elements(
            &fill,
            ScalarType::U16.into(),
            len,
            "x",
            folder.path(),
            &random,
        );
        found.map_err(|error| error.to_string())
    };
    let of_bytes = |bytes: &[u8], len| {
        std::fs::write(folder.path().join("data.bin"), bytes).unwrap();
        load("data.bin", len)
    };
    let whole = [1, 0, 2, 0, 3, 0];
    assert_eq!(of_bytes(&whole, 3).unwrap(), whole);
    assert!(of_bytes(&[], 0).unwrap().is_empty());
    for (wrong, said) in [
        (&[1, 0, 2, 0, 9][..], "5 bytes (2.5 elements of u16)"),
        (&[1, 0], "2 bytes (1 elements of u16)"),
        (&[], "0 bytes (0 elements of u16)"),
        (&[0; 8], "8 bytes (4 elements of u16)"),
    ] {
        let error = of_bytes(wrong, 3).unwrap_err();
        for part in [said, "data.bin", "`x` has 6 bytes (3 elements)"] {
            assert!(error.contains(part), "{error}");
        }
    }
    assert!(load("none.bin", 3).unwrap_err().contains("none.bin"));
}

/// Reading one would never end.
#[test]
fn every_component_of_a_vector_is_filled() {
    let float4 = ElementType::vector(ScalarType::F32, 4);
    let random = Pcg64Mcg::seed_from_u64(1);
    let of =
        |fill, element, len| elements(&fill, element, len, "x", Path::new("."), &random).unwrap();
    let iota: Vec<u8> = (0..8_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    assert_eq!(of(Fill::Iota, float4, 2), iota);
    assert_eq!(of(Fill::Zeros, float4, 3).len(), 48);
    let uniform = || Fill::Uniform {
        low: -1.0,
        high: 1.0,
    };
    let scalars = of(uniform(), ScalarType::F32.into(), 8);
    assert_eq!(of(uniform(), float4, 2), scalars);
}

#[test]
fn a_file_of_vectors_is_counted_in_vectors() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data.bin"), [0; 24]).unwrap();
    let random = Pcg64Mcg::seed_from_u64(1);
    let fill = Fill::File("data.bin".into());
    let float4 = ElementType::vector(ScalarType::F32, 4);
    let error = elements(&fill, float4, 2, "x", folder.path(), &random).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("24 bytes (1.5 elements of [f32; 4])"),
        "{error}"
    );
    assert!(error.contains("32 bytes (2 elements)"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_an_error() {
    let random = Pcg64Mcg::seed_from_u64(1);
    for name in ["/dev/zero", "/dev/null", "/"] {
        let fill = Fill::File(name.into());
        let found = elements(&fill, ScalarType::U8.into(), 0, "x", Path::new(""), &random);
        assert!(
            matches!(found, Err(FillError::Unreadable { .. })),
            "{found:?}"
        );
    }
}

#[test]
fn wide_integers_keep_every_bit() {
    assert_eq!(
        integer(ScalarType::I64, i64::MAX - 1),
        (i64::MAX - 1).to_le_bytes()
    );
    assert_eq!(integer(ScalarType::U32, 7), 7_u32.to_le_bytes());
}
