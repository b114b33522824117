//! What a person sees while tuning: a bar on a terminal, plain lines elsewhere.

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
    failed: u64,
    total: Option<u64>,
}

/// How often a line is printed where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    /// For a search of `total` configurations, where that is known.
    pub(crate) fn new(title: &str, total: Option<u64>, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal && !quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(total, target);
        let template = if total.is_some() {
            "{msg}\n  [{bar:30}] {pos}/{len} {prefix} {eta} left"
        } else {
            "{msg}\n  {spinner} {pos} {prefix} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(title.to_string());
        if !terminal && !quiet {
            anstream::eprintln!("{title}");
        }
        let now = Instant::now();
        Self {
            bar,
            terminal,
            quiet,
            begin: now,
            last_line: now,
            best: None,
            default_us: None,
            done: 0,
            failed: 0,
            total,
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
        self.bar.set_position(self.done);
        self.bar.set_prefix(self.status());
        if !self.terminal && !self.quiet && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let of = self
                .total
                .map(|total| format!("/{total}"))
                .unwrap_or_default();
            anstream::eprintln!("  {}{of} {}", self.done, self.status());
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(self) {
        self.bar.finish_and_clear();
    }

    fn status(&self) -> String {
        let rate = self.done as f64 / self.begin.elapsed().as_secs_f64().max(1e-3);
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        let Some((best, configuration)) = &self.best else {
            return format!("{rate:.1}/s{failed}");
        };
        let speed_up = self.default_us.map_or_else(String::new, |default| {
            format!(" ({:.2}x default)", default / best)
        });
        let best = time(*best);
        format!("{rate:.1}/s{failed}, best {best}{speed_up} with {configuration}")
    }
}

/// A time for people: `7.42 us`, `12.3 ms`.
pub(crate) fn time(microseconds: f64) -> String {
    match microseconds {
        us if us < 1e3 => format!("{us:.2} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}
