//! The report in Chromium: light and dark, on a desk and on a phone, with a keyboard and without
//! network.
//!
//! `scripts/test --full` installs Chromium and wants this tested; elsewhere it is tested where
//! there is one.

use cltune_tests::{Browser, Project, View, samples};
use serde_json::{Map, Value, json};
use std::path::Path;

const VIEWS: [View; 4] = [
    View {
        width: 1280,
        height: 800,
        dark: false,
        phone: false,
    },
    View {
        width: 1280,
        height: 800,
        dark: true,
        phone: false,
    },
    View {
        width: 360,
        height: 740,
        dark: false,
        phone: true,
    },
    View {
        width: 360,
        height: 740,
        dark: true,
        phone: true,
    },
];

/// What sticks out of the page to the right, apart from what can be scrolled within it.
const STICKING_OUT: &str = r"
(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (of) => of && of !== document.body
        && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(of).overflowX) || scrolls(of.parentElement));
    const out = [...document.body.querySelectorAll('*')].filter((of) =>
        of.getBoundingClientRect().right > width + 1 && !scrolls(of.parentElement));
    const page = document.scrollingElement.scrollWidth > width ? ['the page'] : [];
    return page.concat(out.map((of) => `${of.tagName}.${of.getAttribute('class')}`));
})()";

/// Texts that are hard to read: less contrast than the 4.5 of WCAG 2.2, success criterion 1.4.3.
const FAINT: &str = r"
(() => {
    const channels = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
    const light = (rgb) => {
        const [r, g, b] = rgb.map((of) => of / 255)
            .map((of) => of <= 0.04045 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (of) => {
        for (; of; of = of.parentElement) {
            const colour = channels(getComputedStyle(of).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
        }
        return [255, 255, 255];
    };
    const faint = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const of = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !of.checkVisibility() || of.closest('title, desc')) continue;
        const style = getComputedStyle(of);
        const ink = channels(of instanceof SVGElement ? style.fill : style.color).slice(0, 3);
        const [a, b] = [light(ink), light(behind(of))].sort((a, b) => b - a);
        const contrast = (a + 0.05) / (b + 0.05);
        if (contrast < 4.5) faint.push(`${contrast.toFixed(1)}: ${texts.currentNode.data.trim()}`);
    }
    return faint;
})()";

/// Marks what can be used and what can be scrolled, and says how many there are.
const MARK: &str = r"
(() => {
    const used = [...document.querySelectorAll('a[href], summary, button, input, [tabindex]')]
        .filter((of) => of.checkVisibility());
    const scrolled = [...document.querySelectorAll('*')].filter((of) =>
        of.scrollWidth > of.clientWidth + 1 && getComputedStyle(of).overflowX === 'auto');
    for (const of of [...used, ...scrolled]) of.dataset.wanted = '';
    return document.querySelectorAll('[data-wanted]').length;
})()";

/// Notes what has the focus, and whether that shows.
const FOCUSED: &str = r"
(() => {
    const of = document.activeElement;
    if (of === document.body) return null;
    const style = getComputedStyle(of);
    const box = of.getBoundingClientRect();
    delete of.dataset.wanted;
    return {
        name: `${of.tagName} ${of.textContent.trim().slice(0, 40)}`,
        shown: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
        seen: box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight,
    };
})()";

/// What the keyboard did not reach.
const NOT_REACHED: &str = r"
[...document.querySelectorAll('[data-wanted]')].map((of) => of.outerHTML.slice(0, 120))";

#[test]
fn the_report_is_readable_everywhere_and_asks_nobody_for_anything() {
    if !Browser::is_installed() {
        cltune_tests::skip("Chromium is not installed");
        return;
    }
    let project = samples::program("cltune-e2e-browser");
    let _ = project.cltune(&["tune", "--budget", "6"]).expect_code(0);
    let _ = project
        .cltune(&["report", "--output", "session.html"])
        .expect_code(0);
    imported(&project);
    let mut browser = Browser::start();
    for page in ["session.html", "imported.html"] {
        for view in VIEWS {
            shown(&mut browser, &project.path(page), view);
        }
    }
}

/// A page with more than a short session has: many values, long names, two devices, failures.
fn imported(project: &Project) {
    let mut arguments = vec!["report", "--output", "imported.html"];
    for (device, factor, file) in [("first", 3, "first.json"), ("second", 5, "second.json")] {
        let entries = (0..60_u32).map(|at| {
            let kind = ["float", "half", "a_rather_long_name_of_a_type"][at as usize % 3];
            let (long, group) = (1 << (at % 5), 32 << (at % 4));
            let mut entry =
                json!({ "A_PARAMETER_WITH_A_LONG_NAME": long, "WG": group, "KIND": kind });
            match (at * factor) % 7 {
                3 => entry["__error__"] = "RuntimeFailedConfig".into(),
                5 => entry["__error__"] = "CompilationFailedConfig".into(),
                _ => entry["time"] = (at * factor % 11 + 1).into(),
            }
            (format!("{long},{group},{kind}"), entry)
        });
        let cache = json!({
            "device_name": format!("{device} device with a name as long as drivers make them"),
            "kernel_name": "some_package::kernels::convolution_with_a_long_name",
            "problem_size": [4096, 4096],
            "tune_params_keys": ["A_PARAMETER_WITH_A_LONG_NAME", "WG", "KIND"],
            "cache": entries.collect::<Map<String, Value>>(),
        });
        project.write(file, cache.to_string());
        arguments.extend(["--import", file]);
    }
    let _ = project.cltune(&arguments).expect_code(0);
}

/// Looks at a page, and goes through it with the keyboard.
fn shown(browser: &mut Browser, page: &Path, view: View) {
    let events = browser.open(page, view);
    let of = format!("{} as {view:?}", page.display());
    let own = format!("file://{}", page.display()).replace(' ', "%20");
    for event in &events {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                assert!(
                    url == own || url.starts_with("data:"),
                    "{of} asks for {url}"
                );
            }
            Some("Log.entryAdded" | "Runtime.consoleAPICalled" | "Runtime.exceptionThrown") => {
                panic!("{of} complains: {parameters}");
            }
            _ => {}
        }
    }
    browser.evaluate("document.querySelectorAll('details').forEach((of) => { of.open = true; })");
    let none = json!([]);
    assert_eq!(browser.evaluate(STICKING_OUT), none, "sticks out of {of}");
    assert_eq!(browser.evaluate(FAINT), none, "is hard to read in {of}");
    let dark = browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
    assert_eq!(dark, view.dark, "{of}");
    let background = browser.evaluate("getComputedStyle(document.body).backgroundColor");
    assert_eq!(
        background == "rgb(255, 255, 255)",
        !view.dark,
        "{of}: {background}"
    );

    let wanted = browser.evaluate(MARK).as_u64().unwrap_or_default();
    assert!(wanted > 4, "{of} has {wanted} elements to use");
    for _ in 0..wanted {
        browser.press_tab();
        let focused = browser.evaluate(FOCUSED);
        if focused.is_null() {
            break;
        }
        assert!(
            focused["shown"] == true && focused["seen"] == true,
            "the focus does not show in {of}: {focused}"
        );
    }
    assert_eq!(
        browser.evaluate(NOT_REACHED),
        none,
        "no key reaches in {of}"
    );
}
