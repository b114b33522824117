//! Oclgrind's log, read: what it found, and where in the user's files.

use std::fmt;

/// Something that Oclgrind objects to, however often it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// In Oclgrind's words, less the address: `Invalid read of size 4 at global memory`.
    pub(super) what: String,
    /// The kernel.
    pub(super) kernel: String,
    /// The places that take part: two of a race, one of most others, none where it does not say.
    pub(super) places: Vec<Place>,
    /// How often it was found.
    pub(super) count: usize,
    /// Whether it is the reference's and not the configuration's.
    pub(super) in_reference: bool,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// As the kernel's source names it: relative to the package.
    pub(super) file: String,
    /// From 1.
    pub(super) line: usize,
}

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
pub(super) fn findings(log: &str, in_reference: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut current: Option<Finding> = None;
    for line in log.lines() {
        let text = line.trim();
        if !line.starts_with([' ', '\t']) && !text.is_empty() {
            add(&mut findings, current.take());
            current = Some(Finding {
                what: without_address(text),
                kernel: String::new(),
                places: Vec::new(),
                count: 1,
                in_reference,
            });
        } else if let Some(finding) = &mut current {
            if let Some(kernel) = text.strip_prefix("Kernel: ") {
                kernel.clone_into(&mut finding.kernel);
            }
            finding.places.extend(place(text));
        }
    }
    add(&mut findings, current);
    findings
}

/// Adds what was not found before.
fn add(findings: &mut Vec<Finding>, found: Option<Finding>) {
    let Some(mut found) = found else { return };
    // The two sides of a race come in any order.
    found.places.sort();
    found.places.dedup();
    let is_same = |other: &&mut Finding| {
        other.what == found.what && other.kernel == found.kernel && other.places == found.places
    };
    match findings.iter_mut().find(is_same) {
        Some(known) => known.count += 1,
        None => findings.push(found),
    }
}

fn without_address(text: &str) -> String {
    let (what, _) = text.split_once(" address 0x").unwrap_or((text, ""));
    what.to_owned()
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

Work-group divergence detected (barrier):
\tKernel: run
";

    #[test]
    fn findings_are_told_apart_counted_and_placed() {
        let found = findings(LOG, false);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "kernels/of two.cl:10: Invalid read of size 4 at global memory in `run` (2 times)",
            "kernels/of two.cl:4 and kernels/of two.cl:5: Read-write data race at local memory in \
             `run`",
            "Work-group divergence detected (barrier): in `run`",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_empty_log_has_no_findings_and_a_reference_is_named() {
        assert!(findings("\n\n", true).is_empty());
        assert!(
            findings(LOG, true)[0]
                .to_string()
                .contains("in the reference `run`")
        );
    }
}
