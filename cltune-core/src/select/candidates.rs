//! The order of the rules.

use super::distance::{DeviceDistance, device_distance};
use super::first_valid::first_valid;
use super::nearest::{Rank, Row, find_exact, nearest_after};
use super::{Candidate, KnownDevice, Rule, Table};
use crate::device::DeviceInfo;
use crate::model::Model;
use std::borrow::Cow;

/// The configurations that the selection rule considers for a device and a problem, in order and
/// each with its verdict. Nothing is computed before it is asked for.
///
/// `baked` is what is compiled into the program, `cached` what the user's cache holds; `dims` is
/// the problem in the order of [`Model::dimensions`].
pub fn candidates<'a>(
    model: &'a Model,
    device: &'a DeviceInfo,
    dims: &'a [i64],
    baked: &'a Table,
    cached: &'a Table,
) -> Candidates<'a> {
    Candidates {
        model,
        device,
        dims,
        baked,
        cached,
        stage: Stage::Baked,
        after: None,
    }
}

/// The configuration that a device and a problem get: the first valid one of [`candidates`].
/// `None` when no valid configuration is known or found. Does not allocate when a tuned
/// configuration or the default is taken without one being refused before.
pub fn select<'a>(
    model: &'a Model,
    device: &'a DeviceInfo,
    dims: &'a [i64],
    baked: &'a Table,
    cached: &'a Table,
) -> Option<Candidate<'a>> {
    candidates(model, device, dims, baked, cached).find(|candidate| candidate.verdict.is_ok())
}

/// The iterator of [`candidates`].
#[derive(Clone, Debug)]
pub struct Candidates<'a> {
    model: &'a Model,
    device: &'a DeviceInfo,
    dims: &'a [i64],
    baked: &'a Table,
    cached: &'a Table,
    stage: Stage,
    /// The last row given in this stage.
    after: Option<Rank>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Baked,
    Cached,
    Similar,
    Default,
    FirstValid,
    End,
}

impl Stage {
    const fn next(self) -> Self {
        match self {
            Self::Baked => Self::Cached,
            Self::Cached => Self::Similar,
            Self::Similar => Self::Default,
            Self::Default => Self::FirstValid,
            Self::FirstValid | Self::End => Self::End,
        }
    }
}

impl<'a> Iterator for Candidates<'a> {
    type Item = Candidate<'a>;

    fn next(&mut self) -> Option<Candidate<'a>> {
        while self.stage != Stage::End {
            let found = match self.stage {
                Stage::Baked | Stage::Cached | Stage::Similar => self.next_tuned(),
                Stage::Default => self.default_once(),
                Stage::FirstValid => self.first_valid_once(),
                Stage::End => None,
            };
            if found.is_some() {
                return found;
            }
            self.stage = self.stage.next();
            self.after = None;
        }
        None
    }
}

impl<'a> Candidates<'a> {
    fn next_tuned(&mut self) -> Option<Candidate<'a>> {
        let row = if self.stage == Stage::Similar {
            self.nearest(self.baked, |known| device_distance(known, self.device))
        } else {
            let table = if self.stage == Stage::Cached {
                self.cached
            } else {
                self.baked
            };
            let first = if self.after.is_none() {
                find_exact(table, self.dims, self.device)
            } else {
                None
            };
            first.or_else(|| {
                self.nearest(table, |known| {
                    known.is(self.device).then_some(DeviceDistance::SAME)
                })
            })
        }?;
        self.after = Some(row.rank);
        Some(self.tuned(row))
    }

    fn nearest(
        &self,
        table: &'a Table,
        distance: impl Fn(&KnownDevice) -> Option<DeviceDistance>,
    ) -> Option<Row<'a>> {
        nearest_after(table, self.dims, self.after.as_ref(), distance)
    }

    fn tuned(&self, row: Row<'a>) -> Candidate<'a> {
        let rule = match self.stage {
            Stage::Cached => Rule::Cache {
                exact: row.is_for_problem(),
            },
            Stage::Similar => Rule::SimilarDevice {
                same_vendor: !row.is_of_other_vendor(),
            },
            _ => Rule::ExactDevice {
                exact: row.is_for_problem(),
            },
        };
        let known = Some((row.device, row.result));
        Candidate {
            known,
            ..self.candidate(rule, Cow::Borrowed(&row.result.values))
        }
    }

    /// The default, and the next time nothing.
    fn default_once(&mut self) -> Option<Candidate<'a>> {
        let default = self.model.default.as_ref()?;
        self.stage = Stage::FirstValid;
        Some(self.candidate(Rule::Default, Cow::Borrowed(default)))
    }

    /// The first valid configuration, and the next time nothing.
    fn first_valid_once(&mut self) -> Option<Candidate<'a>> {
        self.stage = Stage::End;
        let codes = first_valid(self.model, self.dims, &self.device.limits)?;
        Some(self.candidate(Rule::FirstValid, Cow::Owned(codes)))
    }

    fn candidate(&self, rule: Rule, codes: Cow<'a, [i64]>) -> Candidate<'a> {
        let verdict = self.model.check(&codes, self.dims, &self.device.limits);
        let dimensions = &*self.model.dimensions;
        Candidate {
            rule,
            codes,
            known: None,
            dimensions,
            verdict,
        }
    }
}
