//! Unit tests of `replay::plot`: whole pictures.

use super::{Panel, Plot, Series};
use cltune_search::recorded::{BestSoFar, Run};
use roxmltree::{Document, Node};

/// Runs that find a little more with every evaluation, each at its own pace.
fn curves(runs: u32, evaluations: u32) -> Vec<BestSoFar> {
    let run = |run: u32| {
        let time = move |count: u32| f64::from(evaluations + run + 1) / f64::from(count + 1);
        let times = (0..evaluations).map(move |count| (Vec::new(), Some(time(count))));
        Run {
            held_out_error: None,
            strategy_ms: Vec::new(),
            seed: run.into(),
            evaluations: times.collect(),
        }
    };
    (0..runs).map(|of| BestSoFar::of(&run(of), 1.0)).collect()
}

fn plot(spaces: &[&str], strategies: &[&'static str], runs: u32) -> Plot {
    let panel = |space: &&str| Panel {
        space: (*space).to_owned(),
        best: 0.0125,
        configurations: (0..500).map(|i| f64::from(i) / 499.0).collect(),
        series: strategies
            .iter()
            .map(|strategy| Series {
                strategy: (*strategy).to_owned(),
                curves: curves(runs, 60),
            })
            .collect(),
    };
    Plot {
        points: vec![20, 50, 60],
        panels: spaces.iter().map(panel).collect(),
    }
}

fn count(document: &Document, class: &str) -> usize {
    let is = |node: &Node| node.attribute("class") == Some(class);
    document.descendants().filter(is).count()
}

fn texts<'a>(document: &'a Document) -> Vec<&'a str> {
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text()).collect()
}

#[test]
fn one_strategy_has_its_runs_their_mean_and_their_band() {
    let svg = plot(&["gemm"], &["random"], 7).to_string();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(count(&document, "run"), 7);
    assert_eq!(count(&document, "line"), 1);
    assert_eq!(count(&document, "band"), 1);
    // One for each point, and one for the space.
    assert_eq!(count(&document, "violin"), 4);
    let texts = texts(&document);
    for text in [
        "gemm",
        "7 runs of random; 500 configurations, the best takes 0.01250 ms",
        "evaluations (configurations tried)",
        "fraction of the optimum",
        "50",
        "space",
    ] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

#[test]
fn several_strategies_have_a_legend_and_violins_side_by_side() {
    let svg = plot(&["one", "two"], &["auto", "random", "pso"], 4).to_string();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(count(&document, "run") + count(&document, "band"), 0);
    // Three of each in the legend.
    assert_eq!(count(&document, "line"), 2 * 3 + 3);
    assert_eq!(count(&document, "violin"), 2 * (3 * 3 + 1) + 3);
    let texts = texts(&document);
    for text in ["auto", "random", "pso", "one", "two"] {
        let found = texts.iter().filter(|found| **found == text).count();
        assert_eq!(found, 1, "{text}");
    }
}

#[test]
fn there_may_be_more_strategies_than_the_tool_has() {
    let names: Vec<&'static str> = (0..30)
        .map(|of| &*format!("strategy-{of}").leak())
        .collect();
    let svg = plot(&["one"], &names, 2).to_string();
    let document = Document::parse(&svg).unwrap();
    let sheet = document
        .descendants()
        .find(|node| node.has_tag_name("style"));
    let sheet = sheet.and_then(|node| node.text()).unwrap();
    let entries = document.descendants().filter(|node| {
        node.children()
            .any(|of| of.attribute("class") == Some("line"))
    });
    let classes: Vec<&str> = entries.filter_map(|node| node.attribute("class")).collect();
    for class in classes.iter().flat_map(|classes| classes.split(' ')) {
        assert!(sheet.contains(&format!(".{class}")), "no rule for {class}");
    }
    let different: std::collections::HashSet<&&str> = classes.iter().collect();
    assert_eq!(different.len(), names.len(), "{classes:?}");
    assert!(names.iter().all(|name| texts(&document).contains(name)));
}

#[test]
fn the_same_runs_are_the_same_bytes() {
    let svg = || plot(&["one", "two"], &["auto", "random"], 5).to_string();
    assert_eq!(svg(), svg());
}

#[test]
fn names_may_be_anything() {
    let name = "<a&b>\"\u{7}".to_owned() + &"long".repeat(60);
    let svg = plot(&[&name], &["auto"], 2).to_string();
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document);
    let heading = texts.iter().find(|text| text.starts_with("<a&b>\"\\u{7}"));
    assert!(heading.unwrap().chars().count() < 80, "{texts:?}");
}

/// Every coordinate of every shape is a number, and within the page.
#[test]
fn degenerate_runs_are_drawn_all_the_same() {
    let never = Run {
        held_out_error: None,
        strategy_ms: Vec::new(),
        seed: 0,
        evaluations: vec![(Vec::new(), None)],
    };
    let at_once = Run {
        held_out_error: None,
        strategy_ms: Vec::new(),
        seed: 0,
        evaluations: vec![(Vec::new(), Some(2.0))],
    };
    for (run, configurations) in [(&never, vec![0.0, 1.0]), (&at_once, vec![1.0])] {
        let plot = Plot {
            points: vec![1],
            panels: vec![Panel {
                space: "tiny".into(),
                best: 2.0,
                configurations,
                series: vec![Series {
                    strategy: "auto".to_owned(),
                    curves: vec![BestSoFar::of(run, 2.0)],
                }],
            }],
        };
        let svg = plot.to_string();
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        let document = Document::parse(&svg).unwrap();
        let width: f64 = document
            .root_element()
            .attribute("width")
            .unwrap()
            .parse()
            .unwrap();
        let paths = document
            .descendants()
            .filter_map(|node| node.attribute("d"));
        for number in paths.flat_map(|data| data.split(['M', 'H', 'V', 'Z', 'h', ',', ' '])) {
            if number.is_empty() {
                continue;
            }
            let number: f64 = number.parse().unwrap();
            assert!((0.0..=width).contains(&number), "{number} in {svg}");
        }
    }
}
