//! The figures at the top, and a table of all searches.

use crate::chart::Element;
use crate::history::{Kernel, OnDevice};
use crate::report::devices::Devices;
use crate::report::html::{self, cell, counted, grouped, number, row_name, times};
use crate::units::time;
use cltune_core::model::Model;

/// The totals of all searches.
pub(in crate::report) fn tiles(kernels: &[Kernel], devices: &Devices) -> Element {
    let searches: Vec<(&Model, &OnDevice)> = searches(kernels).collect();
    let tried: Vec<(usize, usize)> = searches.iter().map(|(_, on)| on.tried()).collect();
    let configurations: usize = tried.iter().map(|(tried, _)| tried).sum();
    let failed: usize = tried.iter().map(|(_, failed)| failed).sum();
    let problems: usize = kernels.iter().map(|kernel| kernel.problems.len()).sum();
    let gains = searches.iter().filter_map(|(model, on)| gain(on, model));
    let greatest = gains.fold(None, |greatest: Option<f64>, gain| {
        Some(greatest.map_or(gain, |greatest| greatest.max(gain)))
    });
    let plural = |count: usize, one: &'static str, several: &'static str| {
        if count == 1 { one } else { several }
    };
    let mut tiles = vec![
        (
            kernels.len().to_string(),
            plural(kernels.len(), "kernel", "kernels"),
        ),
        (
            problems.to_string(),
            plural(problems, "problem", "problems"),
        ),
        (
            devices.count().to_string(),
            plural(devices.count(), "device", "devices"),
        ),
        (grouped(configurations as u128), "configurations tried"),
        (grouped(failed as u128), "of them failed"),
    ];
    tiles.extend(greatest.map(|gain| (times(gain), "greatest gain over a default")));
    let tiles = tiles.into_iter().map(|(figure, label)| {
        // In the order in which they are read out; the style turns them round.
        Element::new("div")
            .child(Element::new("dt").text(label))
            .child(Element::new("dd").text(figure))
    });
    Element::new("dl").with("class", "tiles").children(tiles)
}

/// A row for each search.
pub(in crate::report) fn table(kernels: &[Kernel], devices: &Devices) -> Element {
    let rows = kernels.iter().flat_map(|kernel| {
        let model = &kernel.declaration.model;
        kernel.problems.iter().flat_map(move |problem| {
            let devices = problem.devices.iter().map(move |on| {
                let (tried, failed) = on.tried();
                let valid = on.entry.as_ref();
                let tried = match valid.map(|entry| grouped(entry.valid)) {
                    Some(valid) => format!("{} of {valid}", grouped(tried as u128)),
                    None => grouped(tried as u128),
                };
                let dot = Element::new("span").with("class", format!("dot {}", devices.class(on)));
                let device = cell("").child(dot.with("aria-hidden", "true"));
                let best = on.best().map(|(_, time_us)| time(time_us));
                let default = on.default_us(model).map(time);
                let gain = gain(on, model).map(times);
                vec![
                    row_name(&*model.name),
                    cell(model.describe_sizes(&problem.dims)),
                    device.text(devices.name(on)),
                    number(best.unwrap_or_else(|| "none works".to_owned())),
                    number(default.unwrap_or_else(|| "–".to_owned())),
                    number(gain.unwrap_or_else(|| "–".to_owned())),
                    number(tried),
                    number(grouped(failed as u128)),
                ]
            });
            devices.collect::<Vec<_>>()
        })
    });
    let rows: Vec<Vec<Element>> = rows.collect();
    let caption = counted(rows.len(), "search", "searches");
    let columns = [
        "Kernel", "Problem", "Device", "Best", "Default", "Gain", "Tried", "Failed",
    ];
    html::section("h2", "overview", "Overview").child(html::table(&caption, columns, rows))
}

/// The speed-up of the best values over the default.
pub(in crate::report) fn gain(on: &OnDevice, model: &Model) -> Option<f64> {
    Some(on.default_us(model)? / on.best()?.1)
}

fn searches(kernels: &[Kernel]) -> impl Iterator<Item = (&Model, &OnDevice)> {
    kernels.iter().flat_map(|kernel| {
        let devices = kernel.problems.iter().flat_map(|problem| &problem.devices);
        devices.map(|on| (&kernel.declaration.model, on))
    })
}
