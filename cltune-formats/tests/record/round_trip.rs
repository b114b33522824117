//! Declarations that come back as they were, and what fingerprints cover of them.

use crate::declarations::{computed, declaration, least};
use cltune_core::measure::{Measure, Objective};
use cltune_core::model::{ScalarType, StageArgument, Step, Template};
use cltune_formats::declaration::{
    Compared, Declaration, Fill, NormTolerance, Reference, Tolerance,
};
use cltune_formats::fingerprint;
use cltune_formats::formula::{Scope, Type};
use cltune_formats::record::{decode_all, encode, encode_parts, from_text, to_text};

#[test]
fn what_an_older_release_would_take_for_something_else_has_a_form_that_it_refuses() {
    let text = to_text(&computed());
    for form in [
        "fill = \"prepared\"",
        "access = [\"read-write\"]",
        "access = [\"write\", \"1\", \"n - 1\"]",
    ] {
        assert!(text.contains(form), "{text}");
    }
    // It names no kernel, which every record of a reference had.
    let reference = text.split_once("[reference]\n").expect("there is one").1;
    assert!(reference.starts_with("source = "), "{reference}");
    let damaged = text.replace("\"1\", \"n - 1\"]", "\"1\"]");
    let error = from_text(&damaged).expect_err("one end").to_string();
    assert!(error.contains("argument[4].access"), "{error}");
    let damaged = text.replace("clear = \"sums\"", "clear = \"sum\"");
    let error = from_text(&damaged).expect_err("no such buffer").to_string();
    assert!(error.contains("prepare.step[0].clear"), "{error}");
}

/// Where the version is in a record: after the magic number.
const VERSION_AT: usize = 16;

#[test]
fn an_older_release_refuses_what_is_measured_with_cold_caches_and_nothing_else() {
    let warm = declaration();
    let cold = Declaration {
        measure: Measure::COLD,
        ..warm.clone()
    };
    let version = |of: &Declaration| (encode(of)[VERSION_AT], encode_parts(of).0[VERSION_AT]);
    assert_eq!((version(&warm), version(&cold)), ((1, 1), (2, 2)));
    assert!(!to_text(&warm).contains("measure"));
    assert_eq!(decode_all(&encode(&cold)), Ok(vec![cold.clone()]));
    let text = to_text(&cold).replace("\"cold\"", "\"cool\"");
    let error = from_text(&text).expect_err("no such word").to_string();
    assert!(error.contains("`measure`: `cool` is neither"), "{error}");

    // Tuned values apply all the same, and were verified alike; but they are other results.
    assert_eq!(fingerprint::of(&cold.model), fingerprint::of(&warm.model));
    let verification = fingerprint::of_verification(&warm);
    assert_eq!(fingerprint::of_verification(&cold), verification);
    assert_eq!(fingerprint::of_results(&warm), verification);
    let of_cold = fingerprint::of_results(&cold);
    assert_ne!(of_cold, verification);
    assert_eq!(of_cold.len(), verification.len());
}

#[test]
fn an_older_release_refuses_what_is_chosen_by_energy() {
    let by_time = declaration();
    let by = |objective| Declaration {
        measure: Measure {
            objective,
            ..Measure::WARM
        },
        ..by_time.clone()
    };
    assert_eq!(by(Objective::Time), by_time);
    let mut results = vec![fingerprint::of_results(&by_time)];
    for objective in [Objective::Energy, Objective::EnergyDelay] {
        let declared = by(objective);
        assert_eq!(encode(&declared)[VERSION_AT], 3);
        assert_eq!(decode_all(&encode(&declared)), Ok(vec![declared.clone()]));
        results.push(fingerprint::of_results(&declared));
    }
    results.dedup();
    assert_eq!(results.len(), 3, "results are not mixed");
    let text = to_text(&by(Objective::Energy)).replace("\"energy\"", "\"power\"");
    let error = from_text(&text).expect_err("no such word").to_string();
    assert!(
        error.contains("`objective`: `power` is no objective"),
        "{error}"
    );
}

#[test]
fn how_results_are_verified_covers_what_the_tuner_computes() {
    let of = |change: fn(&mut Declaration)| {
        let mut declaration = computed();
        change(&mut declaration);
        (
            fingerprint::of(&declaration.model),
            fingerprint::of_verification(&declaration),
        )
    };
    let (model, usual) = of(|_| {});
    let changes: [fn(&mut Declaration); 6] = [
        |of| of.prepare = None,
        |of| of.prepare.as_mut().unwrap().steps.truncate(1),
        |of| of.prepare.as_mut().unwrap().scratch[0].element = ScalarType::F32.into(),
        |of| of.reference = Reference::Default,
        |of| of.compared[3] = Compared::All,
        |of| of.fills[2] = Fill::Zeros,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (of_model, changed) = of(change);
        assert_eq!(of_model, model, "{at}: tuned values apply all the same");
        assert_ne!(changed, usual, "{at}");
    }
    // The steps of one plain launch are the short form, in records and fingerprints.
    let mut declaration = declaration();
    let text = to_text(&declaration);
    let usual = fingerprint::of_verification(&declaration);
    let Reference::Own(reference) = &mut declaration.reference else {
        panic!("{text}");
    };
    let [Step::Launch(stage)] = &mut reference.steps[..] else {
        panic!("{text}");
    };
    stage.arguments = (0..8).map(StageArgument::Passed).collect();
    assert_eq!(to_text(&declaration), text);
    assert_eq!(fingerprint::of_verification(&declaration), usual);
    // What adds nothing is as it was before there were such clauses.
    declaration.compared.clear();
    assert_eq!(to_text(&declaration), text);
    assert_eq!(fingerprint::of_verification(&declaration), usual);
}

#[test]
fn a_declaration_comes_back_as_it_was() {
    let mut default_norm = declaration();
    let dimensions = default_norm.model.dimensions.clone();
    let scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let terms = cltune_formats::formula::parse("n * m", &scope, Type::Int).expect("a formula");
    default_norm.tolerance = Tolerance {
        elements: None,
        norm: Some(NormTolerance::Default),
        accumulates: Some(terms),
    };
    let mut generated = declaration();
    let elements = cltune_formats::formula::parse("n * m", &scope, Type::Int).expect("a formula");
    generated.model.template = Some(Template {
        name: "map".into(),
        scalar_size: 4,
        vectors: 3,
        elements,
    });
    // It decides nothing about what runs.
    let fingerprint = fingerprint::of(&generated.model);
    assert_eq!(generated.model.fingerprint, fingerprint);
    for declaration in [declaration(), least(), default_norm, computed(), generated] {
        let found = decode_all(&encode(&declaration)).expect("a record");
        assert_eq!(found, [declaration]);
    }
}

#[test]
fn a_section_may_hold_several_records_and_padding() {
    let (a, b) = (declaration(), least());
    let section = [
        &[0; 7][..],
        &encode(&a),
        &[0; 3],
        &encode(&b),
        &[0xcc, 0x90],
        &encode(&a),
        &[0],
    ]
    .concat();
    assert_eq!(
        decode_all(&section).expect("three records"),
        [a.clone(), b, a]
    );
    assert_eq!(decode_all(&[]), Ok(vec![]));
    assert_eq!(decode_all(&[0; 64]), Ok(vec![]));
}
