//! The report of a run: who did what, how much was transferred, and when; how far it is.

use super::timeline::{Span, SpanKind, chrome_trace};
use std::fmt;
use std::time::Duration;

/// What a device did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub(super) tasks: usize,
    pub(super) given_up: usize,
    pub(super) work: f64,
    pub(super) sent: usize,
    pub(super) fetched: usize,
    pub(super) peak: usize,
}

/// How far a [`Scheduler`](super::Scheduler) is with what was enqueued since the last
/// [`finish`](super::Scheduler::finish).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Arithmetic operations of tasks that have ended.
    pub done: f64,
    /// Of all tasks.
    pub all: f64,
    /// Since the first operation was enqueued.
    pub elapsed: Duration,
}

impl Progress {
    /// The part that is done, from 0 to 1.
    pub fn part(&self) -> f64 {
        if self.all > 0.0 {
            (self.done / self.all).min(1.0)
        } else {
            1.0
        }
    }
}

/// What happened between two calls of [`Scheduler::finish`](super::Scheduler::finish).
#[derive(Clone, Debug)]
pub struct RunReport {
    /// From the first operation that was enqueued to the last result.
    pub elapsed: Duration,
    /// One for each device.
    pub devices: Vec<DeviceReport>,
    spans: Vec<Span>,
}

/// What a device did in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceReport {
    /// The device.
    pub device: String,
    /// The number of tasks that it ended.
    pub tasks: usize,
    /// The number of tasks that it was given and that another device ended first, or that nobody
    /// needed any more.
    pub given_up: usize,
    /// The arithmetic operations of its tasks.
    pub work: f64,
    /// Bytes that it was sent.
    pub sent: usize,
    /// Bytes of results.
    pub fetched: usize,
    /// The most memory that it used since the scheduler was made, bytes.
    pub peak: usize,
    /// Part of the time that kernels ran, where times were recorded, see
    /// [`SchedulerOptions::traced`](super::SchedulerOptions::traced).
    pub busy: Option<f64>,
    /// Part of the time that it was sent blocks, where times were recorded.
    pub sending: Option<f64>,
    /// Part of the time that neither kernels nor transfers ran, where times were recorded.
    pub idle: Option<f64>,
    /// Why it was lost, where it was.
    pub lost: Option<String>,
}

impl RunReport {
    pub(super) fn new(
        elapsed: Duration,
        devices: Vec<((String, Option<String>), Totals)>,
        spans: Vec<Span>,
    ) -> Self {
        let part = |device: usize, is_meant: fn(SpanKind) -> bool| {
            let of = spans
                .iter()
                .filter(|span| span.device == device && is_meant(span.kind));
            let seconds = covered(of.map(|span| [span.begin, span.end]).collect());
            (!spans.is_empty()).then(|| seconds / elapsed.as_secs_f64().max(1e-9))
        };
        let devices =
            devices
                .into_iter()
                .enumerate()
                .map(|(position, ((device, lost), totals))| DeviceReport {
                    device,
                    tasks: totals.tasks,
                    given_up: totals.given_up,
                    work: totals.work,
                    sent: totals.sent,
                    fetched: totals.fetched,
                    peak: totals.peak,
                    busy: part(position, |kind| kind == SpanKind::Kernel),
                    sending: part(position, |kind| kind == SpanKind::Up),
                    idle: part(position, |_| true).map(|busy| 1.0 - busy),
                    lost,
                });
        Self {
            elapsed,
            devices: devices.collect(),
            spans,
        }
    }

    /// The arithmetic operations of all tasks.
    pub fn work(&self) -> f64 {
        self.devices.iter().map(|device| device.work).sum()
    }

    /// When what was transferred and launched, in the Chrome trace format (JSON), which
    /// `chrome://tracing` and <https://ui.perfetto.dev> show: for each device a row of transfers to
    /// it, one of launches and one of transfers back. Without rows where times were not recorded,
    /// see [`SchedulerOptions::traced`](super::SchedulerOptions::traced).
    pub fn timeline(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|of| of.device.as_str()).collect();
        chrome_trace(&names, &self.spans)
    }
}

/// The time that intervals cover, in each of which others may lie.
fn covered(mut intervals: Vec<[f64; 2]>) -> f64 {
    intervals.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let (mut all, mut end) = (0.0, f64::NEG_INFINITY);
    for [begin, last] in intervals {
        all += (last - begin.max(end)).max(0.0);
        end = end.max(last);
    }
    all
}

impl fmt::Display for RunReport {
    /// A line for each device, and the time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.work().max(1.0);
        for of in &self.devices {
            write!(
                f,
                "{:>5.1} %  {} tasks  {:.1} MB to it, {:.1} MB back, at most {:.1} MB there  {}",
                100.0 * of.work / all,
                of.tasks,
                of.sent as f64 / 1e6,
                of.fetched as f64 / 1e6,
                of.peak as f64 / 1e6,
                of.device
            )?;
            if let (Some(busy), Some(sending), Some(idle)) = (of.busy, of.sending, of.idle) {
                let [busy, sending, idle] = [busy, sending, idle].map(|part| 100.0 * part);
                write!(
                    f,
                    "  kernels {busy:.0} %, to it {sending:.0} %, idle {idle:.0} % of the time"
                )?;
            }
            if of.given_up > 0 {
                write!(f, "  {} tasks given up", of.given_up)?;
            }
            if let Some(reason) = &of.lost {
                write!(f, "  lost: {reason}")?;
            }
            writeln!(f)?;
        }
        write!(f, "together {:.3} ms", self.elapsed.as_secs_f64() * 1e3)
    }
}
