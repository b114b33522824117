//! Values that the report takes together: hardly any two measurements have the same number of a
//! range of real numbers in common.

use cltune_core::model::Model;
use cltune_core::parameter::{Domain, Parameter, RealRange};

/// The parts of equal length on its scale that a range of real numbers is divided into.
const PARTS: usize = 8;

/// Configurations with times, each code replaced by that of its group: in a range of real numbers
/// the part that it lies in, of other values itself.
pub(super) fn grouped(working: &[(&[i64], f64)], model: &Model) -> Vec<(Vec<i64>, f64)> {
    let of = |codes: &[i64]| {
        let parameters = model.parameters.iter().zip(codes);
        parameters
            .map(|(parameter, code)| group(&parameter.domain, *code))
            .collect()
    };
    working
        .iter()
        .map(|(codes, time)| (of(codes), *time))
        .collect()
}

fn group(domain: &Domain, code: i64) -> i64 {
    match domain {
        Domain::Reals(range) => part(range, code) as i64,
        _ => code,
    }
}

fn part(range: &RealRange, code: i64) -> usize {
    let borders = (1..PARTS).map(|part| border(range, part).0);
    borders.take_while(|border| *border <= code).count()
}

/// The code and the text of the number with which a part begins, or at which the last one ends.
fn border(range: &RealRange, part: usize) -> (i64, String) {
    let number = range
        .at((range.len() - 1) * part / PARTS)
        .unwrap_or(range.last);
    (number.code(), number.to_string())
}

/// `WG = 64`, or `SHARE = 0.25 to 0.5` for a part of a range.
pub(super) fn describe(parameter: &Parameter, group: i64) -> String {
    let values = match (&parameter.domain, usize::try_from(group)) {
        (Domain::Reals(range), Ok(part)) => {
            format!("{} to {}", border(range, part).1, border(range, part + 1).1)
        }
        (domain, _) => domain.show(group),
    };
    format!("{} = {values}", parameter.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::parameter::{Fraction, Scale};

    #[test]
    fn numbers_of_a_range_are_taken_together_by_its_scale() {
        let range = RealRange::new(1.0, 256.0, Scale::Logarithmic).unwrap();
        let parameter = Parameter {
            name: "A".into(),
            domain: Domain::Reals(range),
        };
        let mut described = [1.0, 1.9, 2.0, 3.0, 200.0, 256.0].map(|number| {
            let group = group(&parameter.domain, Fraction::of(number).code());
            describe(&parameter, group)
        });
        described.as_mut_slice().sort_by_key(String::len);
        let expected = [
            "A = 1.0 to 2.0",
            "A = 1.0 to 2.0",
            "A = 2.0 to 4.0",
            "A = 2.0 to 4.0",
            "A = 128.0 to 256.0",
            "A = 128.0 to 256.0",
        ];
        assert_eq!(described, expected);
    }

    #[test]
    fn other_values_stand_for_themselves() {
        let domain = Domain::Integers(vec![32, 64].into());
        assert_eq!(group(&domain, 64), 64);
        let parameter = Parameter {
            name: "WG".into(),
            domain,
        };
        assert_eq!(describe(&parameter, 64), "WG = 64");
    }
}
