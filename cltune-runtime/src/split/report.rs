//! The report of a split call: its shares and their times.

use crate::device::Device;
use crate::error::Error;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// The report of a split call.
#[derive(Clone, Debug)]
pub struct SplitReport {
    /// The shares in the order in which they ended up in the result; a device may have several.
    pub shares: Vec<SplitShare>,
    /// The size of the divided dimension.
    pub total: i64,
    /// The best time possible with these devices, as far as their speeds were known before the call
    /// (algorithm 1 of the paper on splitting, with [equation 4](cltune_core::split::factors)'s
    /// factors). The speeds are those of calls that were sent the same arguments, where there were
    /// such.
    pub theoretical: Option<Duration>,
    /// From the first upload to the last result.
    pub elapsed: Duration,
    /// The devices that had no share because the others are faster without them: they were left out
    /// on trial when the split had settled, and for good when that was faster.
    pub left_out: Vec<Device>,
    /// The devices that dropped out during the call, each with why; their shares were done again by
    /// others.
    pub dropped: Vec<(Device, Error)>,
}

/// A part of the problem that one device computed.
#[derive(Clone, Debug)]
pub struct SplitShare {
    /// The position of the device in the set.
    pub member: usize,
    /// The device.
    pub device: Device,
    /// The positions of the divided dimension that its results were taken for.
    pub owned: Range<i64>,
    /// Those that it computed: whole work-groups, so it may be more.
    pub computed: Range<i64>,
    /// The configuration, as text; `None` where the share got another one than the whole problem.
    pub configuration: Option<String>,
    /// The number of chunks in which it was computed, each launched as soon as it could be.
    pub chunks: usize,
    /// Bytes of the arguments that the device was sent.
    pub sent: usize,
    /// Bytes of the arguments that were on the device already, because they had not changed, see
    /// [`PinnedMemory`](crate::PinnedMemory).
    pub resident: usize,
    /// Upload, launch and reading back.
    pub elapsed: Duration,
}

impl SplitReport {
    /// The part of the problem that each of so many devices got; their sum is 1.
    pub fn factors(&self, members: usize) -> Vec<f64> {
        let mut positions = vec![0; members];
        for share in &self.shares {
            if let Some(positions) = positions.get_mut(share.member) {
                *positions += share.owned.end - share.owned.start;
            }
        }
        let total = self.total.max(1) as f64;
        positions.into_iter().map(|of| of as f64 / total).collect()
    }
}

impl fmt::Display for SplitReport {
    /// A line for each share, those that dropped out, and the time beside the best possible.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for share in &self.shares {
            let part = (share.owned.end - share.owned.start) as f64 / self.total.max(1) as f64;
            write!(
                f,
                "{:>5.1} %  {:>10}  {}  {}..{}",
                100.0 * part,
                milliseconds(share.elapsed),
                share.device,
                share.owned.start,
                share.owned.end
            )?;
            if let Some(configuration) = &share.configuration {
                write!(f, "  {configuration}")?;
            }
            if share.resident > 0 {
                let part = share.resident as f64 / (share.sent + share.resident) as f64;
                write!(f, "  {:.0} % of its data was on the device", 100.0 * part)?;
            }
            writeln!(f)?;
        }
        for device in &self.left_out {
            writeln!(f, "left out: {device}")?;
        }
        for (device, error) in &self.dropped {
            writeln!(f, "dropped out: {device}: {error}")?;
        }
        write!(f, "together {}", milliseconds(self.elapsed))?;
        match self.theoretical {
            Some(best) => write!(f, ", {} possible", milliseconds(best)),
            None => Ok(()),
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
