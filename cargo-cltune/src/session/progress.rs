//! What a person sees while tuning: a bar on a terminal, plain lines elsewhere.

use super::journal::Interrupted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The progress of one search, on standard error.
pub(crate) struct Progress {
    bar: ProgressBar,
    terminal: bool,
    quiet: bool,
    begin: Instant,
    last_line: Instant,
    best: Option<(f64, String)>,
    default_us: Option<f64>,
    done: u64,
    /// How many of these an earlier search did.
    resumed: u64,
    failed: u64,
    total: Option<u64>,
    deadline: Option<Instant>,
}

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    /// For a search of at most `total` configurations, where that is known, or until `deadline`,
    /// where there is one.
    pub(crate) fn new(
        title: &str,
        total: Option<u64>,
        deadline: Option<Instant>,
        quiet: bool,
    ) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal && !quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let now = Instant::now();
        let seconds = deadline.map(|deadline| deadline.saturating_duration_since(now).as_secs());
        let bar = ProgressBar::with_draw_target(seconds.or(total), target);
        let template = match (seconds, total) {
            (Some(_), _) => "{msg}\n  [{bar:30}] {prefix}",
            (None, Some(_)) => "{msg}\n  [{bar:30}] {prefix}, {eta} left",
            (None, None) => "{msg}\n  {spinner} {prefix}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(title.to_string());
        if !terminal && !quiet {
            anstream::eprintln!("{title}");
        }
        Self {
            bar,
            terminal,
            quiet,
            begin: now,
            last_line: now,
            best: None,
            default_us: None,
            done: 0,
            resumed: 0,
            failed: 0,
            total,
            deadline,
        }
    }

    /// Says where the search starts from.
    pub(crate) fn known(&self, places: &[String]) {
        let [nearest, others @ ..] = places else {
            return;
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            count => format!(" and {count} others"),
        };
        self.line(&format!("  starting from {nearest}{others}"));
    }

    /// Says that an earlier search can be gone on with, where it did not end by itself.
    pub(crate) fn resumable(&self, left: &Interrupted) {
        if !left.ended && !left.results.is_empty() {
            let results = results(left.results.len());
            self.line(&format!(
                "  an earlier search ended early; `--resume` would go on from its {results}"
            ));
        }
    }

    /// Says what an earlier search has left.
    pub(crate) fn resumed(&mut self, left: &Interrupted) {
        if !left.results.is_empty() {
            self.done = left.results.len() as u64;
            self.resumed = self.done;
            self.line(&format!("  going on from {}", results(left.results.len())));
        }
    }

    /// The search is done, and the best are compared.
    pub(crate) fn comparing(&self) {
        self.bar.set_prefix("timing the best again, in turns");
    }

    /// Says that something is not as it should be.
    pub(crate) fn warn(&self, text: &str) {
        let line = format!("warning: {text}");
        if self.terminal {
            self.bar.println(line);
        } else {
            anstream::eprintln!("{line}");
        }
    }

    fn line(&self, line: &str) {
        if self.terminal {
            self.bar.println(line);
        } else if !self.quiet {
            anstream::eprintln!("{line}");
        }
    }

    /// The default's time, for the speed-up.
    pub(crate) fn default(&mut self, time_us: Option<f64>) {
        self.default_us = time_us;
    }

    /// A configuration is done.
    pub(crate) fn step(&mut self, time_us: Option<f64>, configuration: impl FnOnce() -> String) {
        self.done += 1;
        match time_us {
            None => self.failed += 1,
            Some(time) if self.best.as_ref().is_none_or(|(best, _)| time < *best) => {
                self.best = Some((time, configuration()));
            }
            Some(_) => {}
        }
        self.bar.set_position(match self.deadline {
            Some(_) => self.begin.elapsed().as_secs(),
            None => self.done,
        });
        self.bar.set_prefix(self.status());
        if !self.terminal && !self.quiet && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            anstream::eprintln!("  {}", self.status());
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }

    /// `120/300, 4.2/s, 3 failed, best 1.23 ms (2.00x default) with WG = 64`; with a deadline, how
    /// many seconds are left.
    fn status(&self) -> String {
        let mut parts = vec![match self.total {
            Some(total) => format!("{}/{total}", self.done),
            None => self.done.to_string(),
        }];
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            parts.push(format!("{} s left", left.as_secs()));
        }
        let rate = (self.done - self.resumed) as f64 / self.begin.elapsed().as_secs_f64().max(1e-3);
        parts.push(format!("{rate:.1}/s"));
        if self.failed > 0 {
            parts.push(format!("{} failed", self.failed));
        }
        if let Some((best, configuration)) = &self.best {
            let speed_up = self.default_us.map_or_else(String::new, |default| {
                format!(" ({:.2}x default)", default / best)
            });
            parts.push(format!(
                "best {}{speed_up} with {configuration}",
                time(*best)
            ));
        }
        parts.join(", ")
    }
}

/// `1 result`, `2 results`.
fn results(count: usize) -> String {
    format!("{count} result{}", if count == 1 { "" } else { "s" })
}

/// A time for people: `7.42 us`, `12.3 ms`.
pub(crate) fn time(microseconds: f64) -> String {
    match microseconds {
        us if us < 1e3 => format!("{us:.2} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}
