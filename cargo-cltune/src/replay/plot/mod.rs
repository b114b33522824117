//! Runs as a picture, as in CLTune's figures 4, 5 and 7 (Nugteren & Codreanu, 2015): how single
//! runs progress, and how what they reach is distributed over many runs.
//!
//! The SVG is written here and not by a plotting library: those that were looked at (plotters,
//! poloto) draw neither violins nor bands between percentiles, or write colours that cannot follow
//! the viewer's light or dark theme, so that little more than the axes would be theirs.
//!
//! | file | owns |
//! |---|---|
//! | `page` | what is where: panels, their headings, the legend, the caption |
//! | `progress` | the fraction of the optimum over the number of evaluations |
//! | `violin` | the distribution of the fraction over runs |
//! | `style` | colours, for light and for dark backgrounds |

mod page;
mod progress;
mod style;
mod violin;

#[cfg(test)]
#[path = "../../../tests/unit/plot.rs"]
mod tests;

use cltune_search::recorded::BestSoFar;
use std::fmt;

/// What a picture shows. Displayed, it is an SVG document; equal plots are equal bytes.
#[derive(Debug)]
pub(crate) struct Plot {
    /// The numbers of evaluations that have violins.
    pub(crate) points: Vec<usize>,
    /// One for each space, with the same strategies in the same order.
    pub(crate) panels: Vec<Panel>,
}

/// The runs on one space.
#[derive(Debug)]
pub(crate) struct Panel {
    /// The name of the space.
    pub(crate) space: String,
    /// The best time of the space, milliseconds.
    pub(crate) best: f64,
    /// The fraction of the optimum of every configuration of the space, the lowest first.
    pub(crate) configurations: Vec<f64>,
    /// The runs of each strategy.
    pub(crate) series: Vec<Series>,
}

/// The runs of one strategy on one space.
#[derive(Debug)]
pub(crate) struct Series {
    /// The name of the strategy.
    pub(crate) strategy: String,
    /// The best-so-far curve of each run.
    pub(crate) curves: Vec<BestSoFar>,
}

impl fmt::Display for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", page::document(self))
    }
}
