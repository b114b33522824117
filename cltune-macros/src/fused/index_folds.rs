//! The index of the largest value in the generated source: the value and its position are folded
//! together. Of equal values the first one counts, and NaN is larger than nothing.

use super::folded::{Folded, LocalLanes};
use super::value::{Lanes, type_text};

/// The position of no value.
const NOWHERE: &str = "ULONG_MAX";

pub(super) fn declared(fold: &Folded<'_>, lanes: Lanes) -> Vec<String> {
    let (name, neutral) = (fold.name, fold.neutral());
    match lanes {
        Lanes::Many | Lanes::Cells => {
            let ty = type_text(fold.scalar, Lanes::Many);
            vec![
                format!("{ty} many_{name} = ({ty})({neutral});"),
                format!("VEC(ulong) many_{name}_at = (VEC(ulong))({NOWHERE});"),
            ]
        }
        Lanes::One | Lanes::Wide => {
            let ty = type_text(fold.scalar, Lanes::One);
            vec![
                format!("{ty} one_{name} = {neutral};"),
                format!("ulong one_{name}_at = {NOWHERE};"),
            ]
        }
    }
}

/// The lanes one after the other, each with the position of its own.
pub(super) fn declared_from_many(fold: &Folded<'_>) -> Vec<String> {
    let (name, ty) = (fold.name, type_text(fold.scalar, Lanes::One));
    let mut lines = declared(fold, Lanes::One);
    let folded = folded(
        "",
        [&format!("one_{name}"), &format!("one_{name}_at")],
        ["values[lane]", "place"],
    );
    lines.extend([
        "{".to_owned(),
        format!("    {ty} values[VW];"),
        "    ulong places[VW];".to_owned(),
        format!("    JOIN(vstore, VW)(many_{name}, 0, values);"),
        format!("    JOIN(vstore, VW)(many_{name}_at, 0, places);"),
        "    for (uint lane = 0; lane < VW; lane++) {".to_owned(),
        format!(
            "        const ulong place = places[lane] == {NOWHERE} ? {NOWHERE} : places[lane] + lane;"
        ),
        format!("        {folded}"),
        "    }".to_owned(),
        "}".to_owned(),
    ]);
    lines
}

/// A work-item sees rising positions, so that the first of equal values stays.
pub(super) fn accumulated(fold: &Folded<'_>, value: &str, lanes: Lanes) -> Vec<String> {
    let name = fold.name;
    match lanes {
        Lanes::Many | Lanes::Cells => vec![
            format!(
                "const {} new_{name} = {value};",
                type_text(fold.scalar, lanes)
            ),
            format!(
                "many_{name}_at = JOIN(convert_, VEC(long))(new_{name} > many_{name}) ? \
                 (VEC(ulong))(at * VW) : many_{name}_at;"
            ),
            format!("many_{name} = new_{name} > many_{name} ? new_{name} : many_{name};"),
        ],
        Lanes::One | Lanes::Wide => {
            let ty = type_text(fold.scalar, Lanes::One);
            vec![
                format!("const {ty} new_{name} = {value};"),
                format!(
                    "if (new_{name} > one_{name}) {{ one_{name} = new_{name}; one_{name}_at = at; }}"
                ),
            ]
        }
    }
}

/// The part of a work-group is in registers.
pub(super) fn part_folded(fold: &Folded<'_>) -> String {
    let name = fold.name;
    folded(
        "",
        [&format!("one_{name}"), &format!("one_{name}_at")],
        [&format!("part_{name}"), &format!("part_{name}_at")],
    )
}

pub(super) fn lanes_folded(fold: &Folded<'_>) -> String {
    let names: Vec<String> = fold.lanes().into_iter().map(LocalLanes::name).collect();
    let at = |place: &str| -> Vec<String> {
        let names = names.iter();
        names.map(|name| format!("{name}[{place}]")).collect()
    };
    let (to, from) = (at("get_local_id(0)"), at("get_local_id(0) + width"));
    let folded = folded(
        "get_local_id(0) < width && ",
        [&to[0], &to[1]],
        [&from[0], &from[1]],
    );
    format!("    {folded}")
}

pub(super) fn result(fold: &Folded<'_>) -> String {
    let place = fold.lanes()[1].name();
    format!("{place}[0] == {NOWHERE} ? 0 : {place}[0]")
}

/// Takes over a value with its position, where it is larger or the first of equal ones.
fn folded(condition: &str, to: [&str; 2], from: [&str; 2]) -> String {
    let ([value, place], [new_value, new_place]) = (to, from);
    format!(
        "if ({condition}({new_value} > {value} || ({new_value} == {value} && {new_place} < {place}))) \
         {{ {value} = {new_value}; {place} = {new_place}; }}"
    )
}
