//! A sweep as a picture: times over the split factor.

use crate::sweep::Point;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = WIDTH - 20.0;
const BOTTOM: f64 = HEIGHT - 50.0;
const FACTORS: u32 = 10;
const TIMES: u32 = 5;

/// An SVG with the measured times, the calculated ones dashed, and the method's own split as a circle
/// (factor and milliseconds).
pub(crate) fn svg(title: &str, first: &str, points: &[Point], chosen: (f64, f64)) -> String {
    let longest = points
        .iter()
        .map(|point| point.measured.max(point.calculated))
        .fold(chosen.1, f64::max);
    let x = |factor: f64| LEFT + factor * (RIGHT - LEFT);
    let y = |time: f64| BOTTOM - time / longest * (BOTTOM - TOP);
    let mut lines = String::new();
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(
            lines,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#,
            escaped(text)
        );
    };
    text(WIDTH / 2.0, 22.0, "middle", title);
    let below = format!("part of the problem on {first}");
    text(f64::midpoint(LEFT, RIGHT), HEIGHT - 12.0, "middle", &below);
    text(8.0, TOP - 8.0, "start", "ms");
    for step in 0..=FACTORS {
        let factor = f64::from(step) / f64::from(FACTORS);
        text(x(factor), BOTTOM + 18.0, "middle", &format!("{factor:.1}"));
    }
    for step in 0..=TIMES {
        let time = longest * f64::from(step) / f64::from(TIMES);
        text(LEFT - 8.0, y(time) + 4.0, "end", &format!("{time:.1}"));
    }
    let line = |of: fn(&Point) -> f64| {
        let places = points
            .iter()
            .map(|point| format!("{:.1},{:.1}", x(point.factor), y(of(point))));
        places.collect::<Vec<_>>().join(" ")
    };
    let (measured, calculated) = (line(|point| point.measured), line(|point| point.calculated));
    let (at, time) = (x(chosen.0), y(chosen.1));
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>
<path d="M{LEFT},{TOP} V{BOTTOM} H{RIGHT}" fill="none" stroke="black"/>
<polyline points="{calculated}" fill="none" stroke="#1f5fbf" stroke-width="2" stroke-dasharray="6 4"/>
<polyline points="{measured}" fill="none" stroke="#2a8a3e" stroke-width="2"/>
<circle cx="{at:.1}" cy="{time:.1}" r="6" fill="none" stroke="#c0392b" stroke-width="2"/>
{lines}</svg>
"##
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
