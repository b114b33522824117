//! Parameters: the influence of each, and of pairs, on the time.

use crate::chart::Element;
use crate::history::OnDevice;
use crate::report::devices::Devices;
use crate::report::html::{
    self, bar, cell, counted, details, note, paragraph, row_name, table, times,
};
use crate::report::influence::{Influence, Share};
use crate::report::value_groups::{describe, grouped};
use crate::statistics::percentile;
use cltune_core::model::Model;
use cltune_core::parameter::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer configurations than this are called few.
const FEW: usize = 100;

/// Shares of parameters and pairs on each device, and what single values can reach.
pub(in crate::report) fn section(
    on: &[OnDevice],
    model: &Model,
    devices: &Devices,
    problem: &str,
) -> Element {
    let section = html::section(
        "h4",
        &format!("{problem}-parameters"),
        "Influence of parameters",
    );
    let measured = on.iter().filter_map(|of| {
        let working = grouped(&of.working(), model);
        let working: Vec<(&[i64], f64)> = working.iter().map(|(of, at)| (&**of, *at)).collect();
        Some((of, Influence::of(&working)?))
    });
    let measured: Vec<(&OnDevice, Influence)> = measured.collect();
    if measured.is_empty() {
        return section.child(paragraph("Too few configurations work to say anything."));
    }
    let names: Vec<String> = measured.iter().map(|(of, _)| devices.name(of)).collect();
    let columns = |first: &'static str| {
        let names = names.iter().map(String::as_str);
        [first].into_iter().chain(names)
    };
    let class = |of: &OnDevice| devices.class(of);
    let parameters = parameter_rows(&measured, model, class);
    let pairs = pair_rows(&measured, model, class);
    let caption = "Share of the variance of the logarithm of the time";
    let single = table(caption, columns("Parameter"), parameters);
    let pairs = (!pairs.is_empty()).then(|| {
        let caption = "What combinations of two explain beyond that";
        table(caption, columns("Pair"), pairs)
    });
    let values = details(
        "What each value can reach",
        [
            note(
                "The fastest configuration with the value, and the median of those with it, over the \
                 fastest of all.",
            ),
            table(
                "Times by value",
                columns("Value"),
                value_rows(&measured, model, class),
            ),
        ],
    );
    section
        .child(
            Element::new("div")
                .with("class", "pair")
                .child(single)
                .children(pairs),
        )
        .child(samples(&measured, devices))
        .child(values)
        .child(method(&measured, devices))
}

/// The parameters, the most important one first.
fn parameter_rows(
    measured: &[(&OnDevice, Influence)],
    model: &Model,
    class: impl Fn(&OnDevice) -> String,
) -> Vec<Vec<Element>> {
    let greatest = |parameter: usize| {
        let shares = measured
            .iter()
            .filter_map(|(_, of)| of.parameters[parameter]);
        shares.map(|share| share.part).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..model.parameters.len()).collect();
    order.sort_by(|a, b| greatest(*b).total_cmp(&greatest(*a)));
    let row = |parameter: usize| {
        let shares = measured
            .iter()
            .map(|(on, of)| match of.parameters[parameter] {
                Some(share) => share_cell(share, &class(on)),
                None => cell("one value").with("class", "unknown"),
            });
        let name = row_name(&*model.parameters[parameter].name);
        [name].into_iter().chain(shares).collect()
    };
    order.into_iter().map(row).collect()
}

/// The pairs that are more than chance on one device at least, the strongest first.
fn pair_rows(
    measured: &[(&OnDevice, Influence)],
    model: &Model,
    class: impl Fn(&OnDevice) -> String,
) -> Vec<Vec<Element>> {
    let mut strongest: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (first, second, share) in measured.iter().flat_map(|(_, of)| &of.pairs) {
        if share.is_certain {
            let part = strongest.entry((*first, *second)).or_default();
            *part = part.max(share.part);
        }
    }
    let mut order: Vec<((usize, usize), f64)> = strongest.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let row = |(first, second): (usize, usize)| {
        let shares = measured.iter().map(|(on, of)| {
            let pair = of
                .pairs
                .iter()
                .find(|(a, b, _)| (*a, *b) == (first, second));
            match pair {
                Some((_, _, share)) => share_cell(*share, &class(on)),
                None => cell("–").with("class", "unknown"),
            }
        });
        let parameters = &model.parameters;
        let name = format!(
            "{} with {}",
            parameters[first].name, parameters[second].name
        );
        [row_name(name)].into_iter().chain(shares).collect()
    };
    order.into_iter().map(|(pair, _)| row(pair)).collect()
}

fn share_cell(share: Share, class: &str) -> Element {
    if share.is_certain {
        return cell("").child(bar(share.part, class));
    }
    let mark = Element::new("span").with("class", "chance").text("chance?");
    cell("").child(bar(share.part, &format!("{class} weak")).child(mark))
}

fn value_rows(
    measured: &[(&OnDevice, Influence)],
    model: &Model,
    class: impl Fn(&OnDevice) -> String,
) -> Vec<Vec<Element>> {
    let count = model.parameters.len();
    let tables = measured.iter();
    let tables = tables.map(|(on, _)| by_value(&grouped(&on.working(), model), count));
    let tables: Vec<_> = tables.collect();
    let mut rows = Vec::new();
    for (position, parameter) in model.parameters.iter().enumerate() {
        // In the order of the declaration, and only what was measured somewhere. Values that depend
        // on the device, and parts of ranges, have the order of numbers.
        let occurring: BTreeSet<i64> = tables
            .iter()
            .flat_map(|of| of[position].keys().copied())
            .collect();
        let codes: Vec<i64> = match &parameter.domain {
            Domain::PerDevice(_) | Domain::Reals(_) => occurring.into_iter().collect(),
            domain => domain
                .codes()
                .filter(|code| occurring.contains(code))
                .collect(),
        };
        for code in codes {
            let cells = measured.iter().zip(&tables).map(|((on, _), of)| {
                let Some(with) = of[position].get(&code) else {
                    return cell("not measured").with("class", "unknown");
                };
                let fastest = Element::new("strong").text(times(with.fastest));
                let rest = format!(", median {} of {}", times(with.median), with.configurations);
                cell("")
                    .with("class", format!("number {}", class(on)))
                    .child(fastest)
                    .text(rest)
            });
            let name = row_name(describe(parameter, code));
            rows.push([name].into_iter().chain(cells).collect());
        }
    }
    rows
}

/// The number of measurements behind the figures.
fn samples(measured: &[(&OnDevice, Influence)], devices: &Devices) -> Element {
    let counts = measured.iter().map(|(on, of)| {
        let few = if of.configurations < FEW {
            ", which is few"
        } else {
            ""
        };
        let count = counted(of.configurations, "configuration", "configurations");
        format!("{count} on {}{few}", devices.name(on))
    });
    let counts: Vec<String> = counts.collect();
    note(format!(
        "From {} that work. Chance?: not told from chance. Shares are of what was measured, which a \
         search chooses, and not of the whole space.",
        counts.join("; ")
    ))
}

fn method(measured: &[(&OnDevice, Influence)], devices: &Devices) -> Element {
    let unknown = measured
        .iter()
        .filter(|(_, of)| of.unknown_pairs > 0)
        .map(|(on, of)| {
            let pairs = counted(of.unknown_pairs, "pair was", "pairs were");
            format!(
                " On {}, {pairs} measured too seldom to say anything.",
                devices.name(on)
            )
        });
    let unknown: String = unknown.collect();
    details(
        "How this is computed",
        [
            paragraph(
                "Functional analysis of variance (Hutter, Hoos & Leyton-Brown, 2014) of the logarithm \
                 of the times of the configurations that work. A parameter\u{2019}s share is the part of \
                 the variance that the means of its values explain. A pair\u{2019}s share is what the \
                 means of its combinations explain beyond the best sum of an effect of the one and an \
                 effect of the other. Both are adjusted for the number of means, so that 0 % is \
                 expected where there is no effect.",
            ),
            paragraph(
                "What may be chance was found by shuffling the times 99 times: \u{201c}chance?\u{201d} \
                 marks what one of the shuffles reaches. A search tries many configurations where it is \
                 fast and few elsewhere, so parameters that it changed together share what they explain, \
                 and shares need not add up to 100 %.",
            ),
            paragraph(format!(
                "A pair needs two configurations for each of its combinations.{unknown}"
            )),
        ],
    )
}

/// Configurations that have a value in common.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WithValue {
    configurations: usize,
    /// The time of the fastest over that of the fastest of all.
    fastest: f64,
    /// The same for the median.
    median: f64,
}

/// For each parameter its measured values, by code, of configurations that work.
fn by_value(working: &[(Vec<i64>, f64)], parameters: usize) -> Vec<BTreeMap<i64, WithValue>> {
    let best_us = working
        .iter()
        .map(|(_, time)| *time)
        .fold(f64::MAX, f64::min);
    let of = |parameter: usize| {
        let mut times: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for (codes, time) in working {
            times
                .entry(codes[parameter])
                .or_default()
                .push(time / best_us);
        }
        let times = times.into_iter();
        times
            .map(|(code, mut factors)| {
                factors.sort_by(f64::total_cmp);
                let with = WithValue {
                    configurations: factors.len(),
                    fastest: factors[0],
                    median: percentile(&factors, 0.5),
                };
                (code, with)
            })
            .collect()
    };
    (0..parameters).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Recorded;

    #[test]
    fn values_are_compared_with_the_fastest_of_all() {
        let results = [
            (vec![1, 7], Some(9.0)),
            (vec![1, 7], Some(6.0)),
            (vec![1, 8], Some(4.0)),
            (vec![2, 8], Some(2.0)),
            (vec![2, 9], None),
        ];
        let results = results.map(|(codes, time_us)| Recorded {
            codes,
            time_us,
            ..Recorded::default()
        });
        let on = OnDevice {
            results: results.into(),
            ..OnDevice::default()
        };
        let working = on.working().into_iter();
        let working: Vec<_> = working.map(|(of, time)| (of.to_vec(), time)).collect();
        let by_value = by_value(&working, 2);
        let with = |parameter: usize, code: i64| {
            let of = by_value[parameter][&code];
            (of.configurations, of.fastest, of.median)
        };
        assert_eq!(with(0, 1), (2, 2.0, 2.5));
        assert_eq!(with(0, 2), (1, 1.0, 1.0));
        assert_eq!(with(1, 8), (2, 1.0, 1.5));
        assert!(!by_value[1].contains_key(&9));
    }
}
