//! Oclgrind's log, read: what it found, and where in the user's files.

use std::fmt;

/// Oclgrind writes this before it gives a kernel up for a reason of its own.
const FATAL: &str = "OCLGRIND FATAL ERROR";

/// Oclgrind writes this before messages about itself.
const OWN_WORDS: &str = "Oclgrind: ";

/// A log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) findings: Vec<Finding>,
    /// Why the simulator gave a kernel up, which is not the kernel's doing: an instruction that it
    /// does not know.
    pub(super) fatal: Option<String>,
    /// Whether it has said so much that it says no more.
    pub(super) is_full: bool,
}

/// Something that Oclgrind objects to, however often it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// In Oclgrind's words, less the address: `Invalid read of size 4 at global memory`.
    pub(crate) what: String,
    /// The kernel.
    pub(crate) kernel: String,
    /// The places that take part: two of a race, one of most others, none where it does not say.
    pub(crate) places: Vec<Place>,
    /// The number of times that it was found.
    pub(crate) count: usize,
    /// Whether it is the reference's and not the configuration's.
    pub(crate) in_reference: bool,
}

impl Finding {
    /// Whether it is believed of a kernel that gets images: Oclgrind (21.10) takes some of the
    /// values that are read from these for uninitialised ones.
    pub(super) fn holds_with_images(&self) -> bool {
        !self.what.to_lowercase().contains("uninitialized")
    }
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// As the kernel's source names it: relative to the package.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Memory outside of buffers and arrays is read or written.
    OutOfBounds,
    /// One work-item reads what another one writes, with no barrier between.
    ReadWriteRace,
    /// Several work-items write different values to one place, with no barrier between.
    WriteWriteRace,
    /// Not all work-items of a work-group come to the same barrier.
    Divergence,
    /// Anything else: values that were never written, indices beyond a row of an array, unaligned
    /// vectors.
    Other,
}

impl Finding {
    pub(super) fn kind(&self) -> Kind {
        let kinds = [
            ("Invalid read of size", Kind::OutOfBounds),
            ("Invalid write of size", Kind::OutOfBounds),
            ("Read-write data race", Kind::ReadWriteRace),
            ("Write-write data race", Kind::WriteWriteRace),
            ("Work-group divergence", Kind::Divergence),
        ];
        let kind = kinds.iter().find(|(begin, _)| self.what.starts_with(begin));
        kind.map_or(Kind::Other, |(_, kind)| *kind)
    }

    /// Whether another run shows the same defect: the same kind of finding in the same kernel, at
    /// one of the places. Sizes may differ, as those of vectors do.
    pub(super) fn is_also(&self, other: &Self) -> bool {
        let at_a_place = self.places.iter().any(|place| other.places.contains(place));
        self.kind() == other.kind()
            && self.kernel == other.kernel
            && (at_a_place || (self.places.is_empty() && other.places.is_empty()))
    }
}

impl Log {
    /// Reads a log, whose objections are blocks of lines:
    ///
    /// ```text
    /// Invalid read of size 4 at global memory address 0x1000000000024
    ///     Kernel: run
    ///     Entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
    ///       %2 = load i32, i32 addrspace(1)* %arrayidx21, align 4
    ///     At line 10 (column 12) of kernels/run.cl:
    ///       (a line of the source)
    /// ```
    pub(super) fn read(text: &str, in_reference: bool) -> Self {
        let mut log = Self::default();
        let mut current: Option<Finding> = None;
        let mut is_fatal = false;
        for line in text.lines() {
            let words = line.trim();
            if line.starts_with([' ', '\t']) || words.is_empty() {
                if let Some(finding) = &mut current {
                    if let Some(kernel) = words.strip_prefix("Kernel: ") {
                        kernel.clone_into(&mut finding.kernel);
                    }
                    finding.places.extend(place(words));
                }
                continue;
            }
            log.add(current.take());
            if words.starts_with(FATAL) {
                is_fatal = true;
            } else if is_fatal {
                is_fatal = false;
                log.fatal.get_or_insert_with(|| words.to_owned());
            } else if words.starts_with(OWN_WORDS) {
                log.is_full |= words.contains("suppressing further");
            } else {
                current = Some(Finding {
                    what: what(words),
                    kernel: String::new(),
                    places: Vec::new(),
                    count: 1,
                    in_reference,
                });
            }
        }
        log.add(current);
        log
    }

    /// Adds what was not found before.
    fn add(&mut self, found: Option<Finding>) {
        let Some(mut found) = found else { return };
        // The two sides of a race come in any order.
        found.places.sort();
        found.places.dedup();
        let is_same = |other: &&mut Finding| {
            other.what == found.what && other.kernel == found.kernel && other.places == found.places
        };
        match self.findings.iter_mut().find(is_same) {
            Some(known) => known.count += 1,
            None => self.findings.push(found),
        }
    }
}

/// The first line of a block less what differs from one access to the next: the address, the index.
fn what(text: &str) -> String {
    let (what, _) = text.split_once(" address 0x").unwrap_or((text, ""));
    match what
        .strip_prefix("Index (")
        .and_then(|rest| rest.split_once(") "))
    {
        Some((_, rest)) => format!("Index {rest}"),
        None => what.to_owned(),
    }
}

/// `At line 10 (column 12) of kernels/run.cl:`.
fn place(text: &str) -> Option<Place> {
    let (line, rest) = text.strip_prefix("At line ")?.split_once(' ')?;
    let (_, file) = rest.split_once("of ")?;
    Some(Place {
        file: file.trim_end_matches(':').to_owned(),
        line: line.parse().ok()?,
    })
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, place) in self.places.iter().enumerate() {
            let before = if position == 0 { "" } else { " and " };
            write!(f, "{before}{}:{}", place.file, place.line)?;
        }
        if !self.places.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.what)?;
        if !self.kernel.is_empty() {
            let role = if self.in_reference {
                "the reference "
            } else {
                ""
            };
            write!(f, " in {role}`{}`", self.kernel)?;
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/oclgrind_findings.rs"]
mod tests;
