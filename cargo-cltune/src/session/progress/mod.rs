//! Progress of a session, for people, on standard error: a block for each device on a terminal,
//! plain lines elsewhere, nothing but warnings with `--quiet`.
//!
//! | file | owns |
//! |---|---|
//! | `state` | progress of a search |
//! | `text` | its text |

mod state;
mod text;

use super::journal::Interrupted;
use crate::plan::Job;
use crate::terminal::{printable, say};
use crate::threads::lock;
use cltune_search::Status;
use console::{Style, Term};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use state::State;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The interval between lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Standard error, shared by all searches.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    kind: Kind,
    blocks: MultiProgress,
    /// The warnings that all searches have in common, as far as they were given.
    warned: Arc<Mutex<BTreeSet<String>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Terminal,
    Plain,
    Quiet,
}

impl Screen {
    pub(crate) fn new(quiet: bool) -> Self {
        let kind = match Term::stderr().is_term() {
            _ if quiet => Kind::Quiet,
            true => Kind::Terminal,
            false => Kind::Plain,
        };
        Self {
            kind,
            blocks: MultiProgress::new(),
            warned: Arc::default(),
        }
    }

    /// A line that stays, above all blocks.
    pub(crate) fn say(&self, line: &str) {
        match self.kind {
            // An error is a closed terminal.
            Kind::Terminal => drop(self.blocks.println(printable(line))),
            Kind::Plain | Kind::Quiet => say(line),
        }
    }

    /// The block of a device with so many searches. `alone` where no other is tuned at the same
    /// time.
    pub(crate) fn block(&self, device: &str, searches: usize, alone: bool) -> Block {
        let bar = if self.kind == Kind::Terminal {
            self.blocks.add(ProgressBar::no_length())
        } else {
            ProgressBar::hidden()
        };
        bar.set_style(
            ProgressStyle::with_template("{msg}").unwrap_or(ProgressStyle::default_bar()),
        );
        Block {
            screen: self.clone(),
            bar,
            device: device.to_owned(),
            alone,
            searches,
            begun: 0,
        }
    }
}

/// A device's part of the screen.
#[derive(Debug)]
pub(crate) struct Block {
    screen: Screen,
    bar: ProgressBar,
    device: String,
    alone: bool,
    searches: usize,
    begun: usize,
}

impl Block {
    /// The next search begins: of at most `total` configurations, where that is known, and until
    /// `deadline`, where there is one.
    pub(crate) fn search(
        &mut self,
        job: &Job,
        total: Option<u64>,
        deadline: Option<Instant>,
    ) -> Progress {
        self.begun += 1;
        let model = &job.declaration.model;
        let (kernel, problem) = (&model.name, model.describe_problem(&job.dims));
        let mut state = State::new(total, deadline);
        state.device.clone_from(&self.device);
        state.title = format!("{kernel} for {problem}");
        state.search = (self.begun, self.searches);
        state.objective = job.declaration.measure.objective;
        if self.screen.kind == Kind::Plain {
            say(format_args!("{kernel} on {} for {problem}", self.device));
        }
        let progress = Progress {
            screen: self.screen.clone(),
            bar: self.bar.clone(),
            alone: self.alone,
            last_line: Instant::now(),
            state,
        };
        progress.draw();
        progress
    }

    /// What a search found, in a line that stays, where it is one of several: the table of all of
    /// them comes at the end.
    pub(crate) fn found(&self, line: &str) {
        if self.searches > 1 && self.screen.kind != Kind::Quiet {
            self.screen.say(line);
        }
    }

    /// A search of this device is left out.
    pub(crate) fn skip(&mut self) {
        self.begun += 1;
    }

    /// The device has no more searches.
    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// The progress of one search.
#[derive(Debug)]
pub(crate) struct Progress {
    screen: Screen,
    bar: ProgressBar,
    alone: bool,
    last_line: Instant,
    state: State,
}

impl Progress {
    /// Says where the search starts from.
    pub(crate) fn known(&mut self, places: &[String]) {
        let [nearest, others @ ..] = places else {
            return;
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            count => format!(" and {count} others"),
        };
        self.note(format!("starting from {nearest}{others}"));
    }

    /// Says that an earlier search can be resumed, where it did not end by itself.
    pub(crate) fn resumable(&mut self, left: &Interrupted) {
        if !left.ended && !left.results.is_empty() {
            let results = text::results(left.results.len());
            self.note(format!(
                "an earlier search ended early; `--resume` would go on from its {results}"
            ));
        }
    }

    /// Reports the results of a resumed search.
    pub(crate) fn resumed(&mut self, left: &Interrupted) {
        if !left.results.is_empty() {
            self.state.resume(left.results.len() as u64);
            let results = text::results(left.results.len());
            self.note(format!("going on from {results}"));
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        self.screen.say(&format!("warning: {text}"));
    }

    /// Prints a warning, unless another search of the session did.
    pub(crate) fn warn_once(&self, text: &str) {
        if lock(&self.screen.warned).insert(text.to_owned()) {
            self.warn(text);
        }
    }

    /// The default's figure, by the objective, for the speed-up.
    pub(crate) fn default(&mut self, figure: Option<f64>) {
        self.state.default = figure;
    }

    /// A configuration is done: its status and its figure, by the objective, where it works.
    pub(crate) fn step(
        &mut self,
        status: &Status,
        figure: Option<f64>,
        configuration: impl FnOnce() -> String,
    ) {
        self.state.step(status, figure, configuration);
        self.draw();
        if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            self.line(&text::line(&self.state, Instant::now()));
        }
    }

    /// The search is done, and the best are compared.
    pub(crate) fn comparing(&mut self) {
        self.state.comparing = true;
        self.draw();
    }

    /// A remark on the search's beginning: in the block as long as it lasts, or on a line.
    fn note(&mut self, text: String) {
        self.line(&text);
        self.state.notes.push(text);
        self.draw();
    }

    /// A line about this search, where there is no block.
    fn line(&self, line: &str) {
        if self.screen.kind == Kind::Plain {
            // The lines of several searches are mixed.
            let indent = if self.alone { "  " } else { "" };
            let of = (!self.alone).then(|| format!("{}: ", self.state.device));
            self.screen
                .say(&format!("{indent}{}{line}", of.unwrap_or_default()));
        }
    }

    fn draw(&self) {
        if self.screen.kind != Kind::Terminal {
            return;
        }
        let width = usize::from(Term::stderr().size().1);
        let mut lines = text::block(&self.state, Instant::now(), width).into_iter();
        let title = lines.next().unwrap_or_default();
        let title = Style::new().for_stderr().bold().apply_to(title);
        let rest: Vec<String> = lines.collect();
        self.bar
            .set_message(format!("{title}\n{}", rest.join("\n")));
        self.bar.tick();
    }
}

#[cfg(test)]
impl Progress {
    /// Progress that is not shown.
    pub(crate) fn silent() -> Self {
        Self {
            screen: Screen::new(true),
            bar: ProgressBar::hidden(),
            alone: true,
            last_line: Instant::now(),
            state: State::new(None, None),
        }
    }
}
