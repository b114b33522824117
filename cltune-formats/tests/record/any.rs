//! Properties of any text, number and domain in a record, and of any bytes in its place.

use crate::declarations::{declaration, least};
use cltune_core::Text;
use cltune_core::model::{Argument, ArgumentKind, CompileOption, ScalarType};
use cltune_core::parameter::{Domain, Fraction, Parameter, RealRange, Scale};
use cltune_formats::declaration::{Compared, Fill};
use cltune_formats::record::{decode_all, encode};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ -~\\n\\r\\t\"\\\\']{0,40}"]
}

fn domain() -> impl Strategy<Value = Domain> {
    prop_oneof![
        proptest::collection::hash_set(any::<i64>(), 1..9)
            .prop_map(|values| Domain::Integers(values.into_iter().collect::<Vec<_>>().into())),
        (any::<i32>(), 1..9_i64, 0..99_i64).prop_map(|(first, step, count)| {
            let first = i64::from(first);
            Domain::Range {
                first,
                last: first + step * count,
                step,
            }
        }),
        (0..31, 0..31).prop_map(|(low, more)| Domain::PowersOfTwo {
            first: 1_i64 << low,
            last: 1_i64 << (low + more),
        }),
        any::<bool>().prop_map(|first| Domain::Booleans(vec![first, !first].into())),
        proptest::collection::hash_set(
            (proptest::num::f64::NORMAL | proptest::num::f64::ZERO).prop_map(Fraction::of),
            1..9,
        )
        .prop_map(|values| Domain::Fractions(values.into_iter().collect::<Vec<_>>().into())),
        (
            proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
            0.0..1e9,
            any::<bool>()
        )
            .prop_map(|(first, more, linear)| {
                let (first, scale) = if linear {
                    (first, Scale::Linear)
                } else {
                    (first.abs().max(f64::MIN_POSITIVE), Scale::Logarithmic)
                };
                Domain::Reals(RealRange::new(first, first + more, scale).unwrap())
            }),
        proptest::collection::hash_set("[a-zA-Z_][a-zA-Z0-9_]{0,9}", 1..5).prop_map(|names| {
            Domain::Names(
                names
                    .into_iter()
                    .map(Text::Owned)
                    .collect::<Vec<_>>()
                    .into(),
            )
        }),
    ]
}

fn fill() -> impl Strategy<Value = Fill> {
    let number = || proptest::num::f64::ANY.prop_filter("NaN is not itself", |x| !x.is_nan());
    prop_oneof![
        (number(), number()).prop_map(|(low, high)| Fill::Uniform { low, high }),
        number().prop_map(Fill::Constant),
        text().prop_map(Fill::File),
        Just(Fill::Zeros),
    ]
}

proptest! {
    #[test]
    fn any_text_number_and_domain_comes_back(
        texts in proptest::array::uniform6(text()),
        options in proptest::collection::vec(text(), 0..4),
        domains in proptest::collection::vec(domain(), 0..5),
        problems in proptest::collection::vec(any::<i64>(), 0..4),
        fill in fill(),
    ) {
        let mut declaration = least();
        let [name, kernel, source, package, file, lockfile] = texts;
        declaration.model.name = name.replace(char::is_control, "").into();
        declaration.model.single_stage_mut().unwrap().kernel = kernel.into();
        declaration.model.source = source.into();
        declaration.model.options = options.into_iter().map(CompileOption::always).collect::<Vec<_>>().into();
        declaration.package = package;
        declaration.source_file = file;
        declaration.lockfile_seen = lockfile;
        declaration.model.dimensions = vec!["n".into()].into();
        declaration.problems = problems.into_iter().map(|size| vec![size]).collect();
        let parameter = |(position, domain)| Parameter { name: format!("P{position}").into(), domain };
        let parameters: Vec<_> = domains.into_iter().enumerate().map(parameter).collect();
        let codes: Option<Vec<i64>> =
            parameters.iter().map(|parameter| parameter.domain.code_at(0)).collect();
        declaration.model.default = codes.map(Into::into);
        declaration.model.parameters = parameters.into();
        let kind = ArgumentKind::Scalar { scalar: ScalarType::F64.into(), dimension: None };
        declaration.model.arguments = vec![Argument { name: "a".into(), kind }].into();
        declaration.fills = vec![fill];
        declaration.compared = vec![Compared::All];
        prop_assert_eq!(decode_all(&encode(&declaration)), Ok(vec![declaration]));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        position in 0..1000_usize,
        replaced in any::<u8>(),
    ) {
        let mut record = encode(&declaration());
        let position = position % record.len();
        record[position] = replaced;
        let _ = decode_all(&record);
        let header = encode(&least())[..20].to_vec();
        let _ = decode_all(&[header, bytes].concat());
    }
}
