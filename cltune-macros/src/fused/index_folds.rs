//! The index of the largest value in the generated source: the value and its position are folded
//! together. Of equal values the first one counts, and NaN is larger than nothing.

use super::folded::{Folded, LocalLanes};
use super::value::{Lanes, type_text};

/// The position of no value.
pub(super) const NOWHERE: &str = "ULONG_MAX";

/// Of a single value: lanes begin with the first accumulator.
pub(super) fn declared(fold: &Folded<'_>) -> Vec<String> {
    let (ty, name) = (type_text(fold.scalar, Lanes::One), fold.name);
    vec![
        format!("{ty} one_{name} = {};", fold.neutral()),
        format!("ulong one_{name}_at = {NOWHERE};"),
    ]
}

/// The lanes one after the other, each with the position of its own.
pub(super) fn declared_from_many(fold: &Folded<'_>) -> Vec<String> {
    let (name, ty) = (fold.name, type_text(fold.scalar, Lanes::One));
    let mut lines = declared(fold);
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
            "        const ulong place = places[lane] == {NOWHERE} ? {NOWHERE} : places[lane] + \
             lane;"
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
            larger_position(name, &format!("new_{name}"), "(VEC(ulong))(at * VW)"),
            larger(name, &format!("new_{name}")),
        ],
        Lanes::One | Lanes::Wide => {
            let ty = type_text(fold.scalar, Lanes::One);
            vec![
                format!("const {ty} new_{name} = {value};"),
                format!(
                    "if (new_{name} > one_{name}) {{ one_{name} = new_{name}; one_{name}_at = at; \
                     }}"
                ),
            ]
        }
    }
}

/// The line that takes over the position of a vector's values, where they are larger.
fn larger_position(name: &str, new: &str, position: &str) -> String {
    format!(
        "many_{name}_at = JOIN(convert_, VEC(long))({new} > many_{name}) ? {position} : \
         many_{name}_at;"
    )
}

/// The line that takes over the values of a vector, where they are larger.
fn larger(name: &str, new: &str) -> String {
    format!("many_{name} = {new} > many_{name} ? {new} : many_{name};")
}

/// The positions of the next accumulator are behind those of earlier ones.
pub(super) fn sums_folded(fold: &Folded<'_>) -> Vec<String> {
    let name = fold.name;
    let new = format!("sums_{name}[c]");
    vec![
        larger_position(name, &new, &format!("sums_{name}_at[c]")),
        larger(name, &new),
    ]
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
        "if ({condition}({new_value} > {value} || ({new_value} == {value} && {new_place} < \
         {place}))) {{ {value} = {new_value}; {place} = {new_place}; }}"
    )
}
