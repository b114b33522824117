//! The document: head, navigation, a section for each kernel and problem.

use super::devices::Devices;
use super::html::section;
use super::sections::{device, failures, overview, parameters, transfer};
use crate::chart::Element;
use crate::history::{Kernel, Problem};
use cltune_core::measure::Measure;
use cltune_core::model::Model;

const STYLE: &str = include_str!("page.css");

/// The whole page. Equal results are equal bytes.
pub(crate) fn page(kernels: &[Kernel]) -> String {
    let devices = Devices::of(kernels);
    let names: Vec<&str> = kernels
        .iter()
        .map(|kernel| &*kernel.declaration.model.name)
        .collect();
    let title = Element::new("title").text(format!("Tuning report: {}", names.join(", ")));
    let skip = Element::new("a")
        .with("class", "skip")
        .with("href", "#results");
    let header = Element::new("header")
        .child(Element::new("h1").text("Tuning report"))
        .child(overview::tiles(kernels, &devices));
    let mut pictures = 0;
    let sections = kernels.iter().enumerate();
    let sections: Vec<Element> = sections
        .map(|(number, of)| kernel(number, of, &devices, &mut pictures))
        .collect();
    let main = Element::new("main")
        .with("id", "results")
        .child(overview::table(kernels, &devices))
        .children(sections);
    let body = Element::new("body")
        .child(skip.text("Skip to the results"))
        .child(header)
        .child(navigation(kernels))
        .child(main)
        .child(footer());
    // No script can run and nothing can be fetched, whatever a name contains.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n{title}\n<style>\n{STYLE}</style>\n</head>\n{body}\n\
         </html>\n"
    )
}

/// The ids of a kernel's and of a problem's section.
fn kernel_id(kernel: usize) -> String {
    format!("kernel-{kernel}")
}

fn problem_id(kernel: usize, problem: usize) -> String {
    format!("kernel-{kernel}-problem-{problem}")
}

/// A problem as a heading.
fn problem_name(model: &Model, problem: &Problem) -> String {
    let sizes = model.describe_sizes(&problem.dims);
    if sizes.is_empty() {
        "The only problem".to_owned()
    } else {
        sizes
    }
}

fn navigation(kernels: &[Kernel]) -> Element {
    let link = |to: &str, text: &str| {
        let link = Element::new("a").with("href", format!("#{to}"));
        link.text(text)
    };
    let entries = kernels.iter().enumerate().map(|(number, kernel)| {
        let model = &kernel.declaration.model;
        let problems = kernel.problems.iter().enumerate().map(|(position, of)| {
            let id = problem_id(number, position);
            Element::new("li").child(link(&id, &problem_name(model, of)))
        });
        Element::new("li")
            .child(link(&kernel_id(number), &model.name))
            .child(Element::new("ul").children(problems))
    });
    Element::new("nav")
        .with("aria-label", "Contents")
        .child(Element::new("ul").children(entries))
}

fn kernel(number: usize, kernel: &Kernel, devices: &Devices, pictures: &mut usize) -> Element {
    let declaration = &kernel.declaration;
    let mut about = declaration.source_file.clone();
    // What was imported is of none.
    if !declaration.package.is_empty() {
        about = format!("{about}, package {}", declaration.package);
    }
    if declaration.measure != Measure::WARM {
        about = format!("{about}; {}", declaration.measure);
    }
    let problems = kernel.problems.iter().enumerate().map(|(position, of)| {
        let name = problem_name(&declaration.model, of);
        let id = problem_id(number, position);
        let section = section("h3", &id, &name);
        let cards = of.devices.iter().map(|on| {
            *pictures += 1;
            device::card(on, &declaration.model, &name, devices, *pictures)
        });
        let cards = Element::new("div").with("class", "cards").children(cards);
        section
            .child(cards)
            .children(transfer::section(&of.devices, devices, &id))
            .child(parameters::section(
                &of.devices,
                &declaration.model,
                devices,
                &id,
            ))
            .child(failures::section(
                &of.devices,
                &declaration.model,
                devices,
                &id,
            ))
    });
    let problems: Vec<Element> = problems.collect();
    section("h2", &kernel_id(number), &declaration.model.name)
        .child(super::html::note(about))
        .children(problems)
}

fn footer() -> Element {
    let version = env!("CARGO_PKG_VERSION");
    let written = format!("Written by cargo cltune report {version}.");
    Element::new("footer").child(super::html::paragraph(written))
}
