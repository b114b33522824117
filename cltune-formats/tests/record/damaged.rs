//! Records that are cut off, damaged, or of a newer release.

use crate::declarations::declaration;
use cltune_formats::record::{RecordProblem, VERSION, decode_all, encode, from_text, to_text};

#[test]
fn a_record_that_is_cut_off_is_an_error() {
    let record = encode(&declaration());
    for end in [16, 17, 20, 27, 28, 40, record.len() - 1] {
        let error = decode_all(&record[..end]).expect_err("cut off");
        assert_eq!(error.problem, RecordProblem::CutOff, "at {end}");
    }
    // Bytes that are not even a magic number are padding.
    assert_eq!(decode_all(&record[..15]), Ok(vec![]));
}

#[test]
fn a_record_of_a_newer_version_says_to_update() {
    let mut record = encode(&declaration());
    let found = VERSION + 1;
    record[16] = found as u8;
    let error = decode_all(&record).expect_err("a newer version");
    assert_eq!(error.problem, RecordProblem::NewerVersion { found });
    assert!(error.to_string().contains("update cargo-cltune"), "{error}");
}

#[test]
fn what_a_newer_release_wrote_and_this_one_does_not_know_says_to_update() {
    let own = concat!(
        "cltune = \"",
        env!("CARGO_PKG_VERSION"),
        "\"\nWG % WPT == 0"
    );
    let (release, constraint) = own.split_once('\n').expect("two lines");
    let text = to_text(&declaration());
    assert_eq!(
        (
            text.matches(release).count(),
            text.matches(constraint).count()
        ),
        (1, 1)
    );
    let error = |release_in_it: &str| {
        let text = text.replace(release, release_in_it);
        let text = text.replace(constraint, "WG % device.warp_size == 0");
        from_text(&text).expect_err("an unknown limit").to_string()
    };
    for newer in [
        "cltune = \"0.1.1\"",
        "cltune = \"0.10.0-alpha\"",
        "cltune = \"1.0.0\"",
    ] {
        let error = error(newer);
        assert!(
            error.contains("`warp_size`") && error.contains("update cargo-cltune"),
            "{error}"
        );
    }
    for not_newer in [release, "cltune = \"0.0.9\"", ""] {
        let error = error(not_newer);
        assert!(error.contains("build the artifact again"), "{error}");
    }
}

/// The error of a record whose text was changed.
fn damaged(from: &str, to: &str) -> String {
    let record = encode(&declaration());
    let text = std::str::from_utf8(&record[28..]).expect("UTF-8");
    assert_eq!(
        text.matches(from).count(),
        1,
        "`{from}` is not once in the record:\n{text}"
    );
    let text = text.replace(from, to);
    let header = [&record[..20], &(text.len() as u64).to_le_bytes()].concat();
    let changed = [header, text.into_bytes()].concat();
    decode_all(&changed).expect_err(to).to_string()
}

#[test]
fn damage_is_located() {
    for (from, to, parts) in [
        (
            "package = \"test\"\n",
            "",
            &["`test::kernel`", "`package`", "missing"][..],
        ),
        (
            "WG % WPT == 0",
            "WG % WPX == 0",
            &["`constraints`", "`WPX`", "column"],
        ),
        (
            "integers = [32, 64,",
            "integers = [32, 32,",
            &["parameter[0].integers", "each once"],
        ),
        (
            "fractions = [0.5,",
            "fractions = [nan,",
            &["parameter[6].fractions", "not finite"],
        ),
        (
            "fractions = [0.5,",
            "fractions = [-1.0,",
            &["parameter[6].fractions", "each once"],
        ),
        (
            "\nreals = [-0.5, 2.0]",
            "\nreals = [-0.5, inf]",
            &["parameter[7].reals", "finite"],
        ),
        (
            "\nreals = [-0.5, 2.0]",
            "\nreals = [2.5, 2.0]",
            &["parameter[7].reals", "empty"],
        ),
        (
            "\nreals = [-0.5, 2.0]",
            "\nreals = [2.0]",
            &["parameter[7].reals", "first and the last"],
        ),
        (
            "\nreals = [-0.5, 2.0]",
            "\nreals = [0.5, 2.0]",
            &["default", "one value of each parameter"],
        ),
        (
            "logarithmic_reals = [0.01, 100.0]",
            "logarithmic_reals = [0.0, 100.0]",
            &["parameter[8].logarithmic_reals", "positive"],
        ),
        (
            "\"16 * device.compute_units\"",
            "\"16 * device.units\"",
            &["parameter[5].per_device", "units"],
        ),
        (
            "per_device = [\"32\",",
            "per_device = [\"WG\",",
            &["parameter[5].per_device", "`WG`"],
        ),
        (
            "if = \"U && n > 1\"",
            "if = \"U && k > 1\"",
            &["options[1].if", "`k`"],
        ),
        (", if = \"U && n > 1\"", "", &["options[1].if", "missing"]),
        (
            "range = [1, 9, 2]",
            "range = [1, 9, 0]",
            &["parameter[1].range"],
        ),
        (
            "range = [1, 9, 2]",
            "range = [1, 8, 2]",
            &["parameter[1].range"],
        ),
        (
            "range = [1, 9, 2]",
            "range = [1, 4294967297, 2]",
            &["range", "too many values"],
        ),
        (
            "powers_of_two = [8, 128]",
            "powers_of_two = [8, 100]",
            &["parameter[2].powers_of_two"],
        ),
        (
            "booleans = [true, false]",
            "booleans = []",
            &["parameter[3].booleans"],
        ),
        (
            "names = [\"float\", \"half\"]",
            "names = [\"a b\", \"half\"]",
            &["names", "identifier"],
        ),
        (
            "names = [\"float\", \"half\"]",
            "",
            &["parameter[4]", "missing"],
        ),
        (
            "name = \"HALF\"",
            "name = \"HA LF\"",
            &["define[0].name", "identifier"],
        ),
        ("name = \"test::kernel\"", "name = 1", &["`name`", "string"]),
        (
            "default = [64, 3, 8, 0, 1, 32, ",
            "default = [64, 3, 8, 0, ",
            &["`default`"],
        ),
        (
            "default = [64, 3, 8, ",
            "default = [64, 4, 8, ",
            &["`default`"],
        ),
        (
            "problems = [[1048576, 3], ",
            "problems = [[1048576], ",
            &["`problems`"],
        ),
        (
            "buffer = \"i8\"",
            "buffer = \"i9\"",
            &["argument[3].buffer", "element's type"],
        ),
        (
            "access = \"read-write\"",
            "access = \"x\"",
            &["argument[3].access"],
        ),
        (
            "dimension = [0]",
            "dimension = [2]",
            &["argument[0].dimension"],
        ),
        (
            "fill = \"iota\"",
            "fill = \"random\"",
            &["argument[3].fill"],
        ),
        (
            "fill_low = -1.0",
            "fill_low = \"a\"",
            &["argument[1].fill_low", "number"],
        ),
        (
            "offset = [\"n\", \"0\", \"0\"]",
            "offset = [\"n\"]",
            &["`offset`", "dimensions"],
        ),
        (
            "global = [\"n / WPT\", \"m\", \"1\"]",
            "global = []",
            &["`global`", "dimensions"],
        ),
        (
            "global = [\"n\", \"m\"]",
            "global = [\"WG\", \"m\"]",
            &["reference.global", "`WG`"],
        ),
        (
            "name = \"test::",
            "name = \"test\\u001b[2J::",
            &["`name`", "control characters"],
        ),
        ("package = ", "package ", &["damaged"]),
    ] {
        let message = damaged(from, to);
        for part in parts {
            assert!(
                message.contains(part),
                "`{part}` is missing from: {message}"
            );
        }
        assert!(message.contains("build the artifact again"), "{message}");
    }
}

#[test]
fn text_that_is_not_utf8_is_damage() {
    let mut record = encode(&declaration());
    record[40] = 0xff;
    assert!(decode_all(&record).is_err());
}
