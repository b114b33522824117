//! Oclgrind's log, read: what it found, and where in the user's files.

use std::fmt;

/// What Oclgrind writes before it gives a kernel up for a reason of its own.
const FATAL: &str = "OCLGRIND FATAL ERROR";

/// What it writes before words that are about itself.
const OWN_WORDS: &str = "Oclgrind: ";

/// A log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    pub(super) findings: Vec<Finding>,
    /// Why the simulator gave a kernel up, which is not the kernel's doing: an instruction that it does not know.
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
    /// How often it was found.
    pub(crate) count: usize,
    /// Whether it is the reference's and not the configuration's.
    pub(crate) in_reference: bool,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// As the kernel's source names it: relative to the package.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
}

/// What kind of finding it is.
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
    /// Anything else: values that were never written, indices beyond a row of an array, unaligned vectors.
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

    /// Whether another run shows the same defect: the same kind of finding in the same kernel, at one of the
    /// places. Sizes may differ, as those of vectors do.
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
mod tests {
    use super::*;

    /// As Oclgrind 21.10 writes it.
    const LOG: &str = "
Invalid read of size 4 at global memory address 0x1000000000024
\tKernel: run
\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %2 = load i32, i32 addrspace(1)* %arrayidx21, align 4, !dbg !63, !tbaa !44
\tAt line 10 (column 12) of kernels/of two.cl:
\t  if (z[get_local_id(0) % 4] > 3) y[i] = 3;
\t

Invalid read of size 4 at global memory address 0x1000000000028
\tKernel: run
\tEntity: Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  %2 = load i32, i32 addrspace(1)* %arrayidx21, align 4, !dbg !63, !tbaa !44
\tAt line 10 (column 12) of kernels/of two.cl:
\t  Invalid read of size 4 at global memory address 0x0
\t

Read-write data race at local memory address 0x1000000000004
\tKernel: run
\t
\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  store i32 %conv, i32 addrspace(3)* %arrayidx, align 4, !dbg !43, !tbaa !44
\tAt line 5 (column 24) of kernels/of two.cl:
\t  int u;
\t
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %0 = load i32, i32 addrspace(3)* %arrayidx4, align 4, !dbg !51, !tbaa !44
\tAt line 4 (column 12) of kernels/of two.cl:
\t  t[get_local_id(0)] = (int)i;
\t

Index (9) exceeds static array size (9)
\tKernel: run
\tEntity: Global(9,0,0) Local(9,0,0) Group(0,0,0)
\t  %arrayidx = getelementptr inbounds [8 x [9 x float]]
\tAt line 7 (column 3) of kernels/of two.cl:
\t  t[0][l] = l;
\t

Index (10) exceeds static array size (9)
\tKernel: run
\tEntity: Global(10,0,0) Local(10,0,0) Group(0,0,0)
\t  %arrayidx = getelementptr inbounds [8 x [9 x float]]
\tAt line 7 (column 3) of kernels/of two.cl:
\t  t[0][l] = l;
\t

Work-group divergence detected (barrier):
\tKernel: run
";

    /// As it writes when it gives up.
    const GIVEN_UP: &str = "
OCLGRIND FATAL ERROR (./src/plugins/Uninitialized.cpp:194)
Work item needed to access private memory!
\tKernel: d
\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %call1 = call spir_func float @_Z5frexpfPi
\tAt line 16 (column 89) of input.cl:
\t  frexp(2.0f, &n);
\t

Oclgrind: 1000 errors generated - suppressing further errors

";

    #[test]
    fn findings_are_told_apart_counted_and_placed() {
        let found = Log::read(LOG, false).findings;
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "kernels/of two.cl:10: Invalid read of size 4 at global memory in `run` (2 times)",
            "kernels/of two.cl:4 and kernels/of two.cl:5: Read-write data race at local memory in \
             `run`",
            "kernels/of two.cl:7: Index exceeds static array size (9) in `run` (2 times)",
            "Work-group divergence detected (barrier): in `run`",
        ];
        assert_eq!(texts, expected);
        let kinds: Vec<Kind> = found.iter().map(Finding::kind).collect();
        let expected = [
            Kind::OutOfBounds,
            Kind::ReadWriteRace,
            Kind::Other,
            Kind::Divergence,
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn the_same_defect_may_differ_in_size_and_not_in_its_place() {
        let read = |text: &str| Log::read(text, false).findings.remove(0);
        let found = read(LOG);
        let wider = LOG.replace("size 4", "size 16");
        assert!(found.is_also(&read(&wider)));
        assert!(!found.is_also(&read(&wider.replace("line 10 ", "line 11 "))));
        assert!(!found.is_also(&read(&wider.replace("Kernel: run", "Kernel: other"))));
        assert!(!found.is_also(&read(&wider.replace("Invalid read", "Uninitialized value"))));
        let nowhere = read("Work-group divergence detected (barrier):\n\tKernel: run\n");
        assert!(nowhere.is_also(&nowhere) && !nowhere.is_also(&found));
    }

    #[test]
    fn what_the_simulator_says_of_itself_is_no_finding() {
        let log = Log::read(GIVEN_UP, false);
        let fatal = log.fatal.as_deref();
        assert_eq!(fatal, Some("Work item needed to access private memory!"));
        assert!(log.is_full && log.findings.is_empty(), "{log:?}");
        assert!(!Log::read(LOG, false).is_full);
    }

    #[test]
    fn an_empty_log_has_no_findings_and_a_reference_is_named() {
        assert_eq!(Log::read("\n\n", true), Log::default());
        assert!(
            Log::read(LOG, true).findings[0]
                .to_string()
                .contains("in the reference `run`")
        );
    }
}
