//! The order of the rules.

use super::distance::{DeviceDistance, device_distance};
use super::first_valid::first_valid;
use super::nearest::{Rank, Row, find_exact, nearest, nearest_after};
use super::{Candidate, Rule, Table, TunedDevice};
use crate::device::DeviceInfo;
use crate::expr::Env;
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
        database: &NO_DATABASE,
        stage: Stage::BakedExact,
        after: [None; 4],
    }
}

/// What is asked where a caller gives no database.
static NO_DATABASE: Table = Table::EMPTY;

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
    candidates(model, device, dims, baked, cached).selected()
}

/// The iterator of [`candidates`].
#[derive(Clone, Debug)]
pub struct Candidates<'a> {
    model: &'a Model,
    device: &'a DeviceInfo,
    dims: &'a [i64],
    baked: &'a Table,
    cached: &'a Table,
    database: &'a Table,
    stage: Stage,
    /// The last row given of what is compiled in, of the cache, of similar devices, and of the
    /// database.
    after: [Option<Rank>; 4],
}

/// Positions in [`Candidates::after`].
const BAKED: usize = 0;
const CACHED: usize = 1;
const SIMILAR: usize = 2;
const DATABASE: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    BakedExact,
    CachedExact,
    Baked,
    Cached,
    Similar,
    Database,
    Default,
    FirstValid,
    End,
}

impl Stage {
    const fn next(self) -> Self {
        match self {
            Self::BakedExact => Self::CachedExact,
            Self::CachedExact => Self::Baked,
            Self::Baked => Self::Cached,
            Self::Cached => Self::Similar,
            Self::Similar => Self::Database,
            Self::Database => Self::Default,
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
                Stage::BakedExact => self.exact_once(self.baked, BAKED),
                Stage::CachedExact => self.exact_once(self.cached, CACHED),
                Stage::Baked => self.next_tuned(self.baked, BAKED),
                Stage::Cached => self.next_tuned(self.cached, CACHED),
                Stage::Similar => self.next_tuned(self.baked, SIMILAR),
                Stage::Database => self.next_of_database(),
                Stage::Default => self.default_once(),
                Stage::FirstValid => self.first_valid_once(),
                Stage::End => None,
            };
            if found.is_some() {
                return found;
            }
            self.stage = self.stage.next();
        }
        None
    }
}

impl<'a> Candidates<'a> {
    /// The same with the defaults of the model's template,
    /// [`Database::table`](crate::database::Database::table).
    #[must_use]
    pub const fn with_database(mut self, database: &'a Table) -> Self {
        self.database = database;
        self
    }

    /// The first valid one.
    pub fn selected(mut self) -> Option<Candidate<'a>> {
        self.find(|candidate| candidate.verdict.is_ok())
    }

    /// The row for this very device and problem, and the next time nothing.
    fn exact_once(&mut self, table: &'a Table, kind: usize) -> Option<Candidate<'a>> {
        let row = find_exact(table, self.dims, self.device)?;
        self.stage = self.stage.next();
        Some(self.tuned(row, kind))
    }

    /// The next nearest row; those already given are passed over.
    fn next_tuned(&mut self, table: &'a Table, kind: usize) -> Option<Candidate<'a>> {
        let device = self.device;
        let distance = |known: &TunedDevice| {
            let is_same = known.key().is(device.key());
            if kind == SIMILAR {
                device_distance(known, device).filter(|_| !is_same)
            } else {
                is_same.then_some(DeviceDistance::SAME)
            }
        };
        let row = nearest_row(table, self.dims, self.after[kind].as_ref(), distance)?;
        Some(self.tuned(row, kind))
    }

    /// The next nearest entry of the database.
    fn next_of_database(&mut self) -> Option<Candidate<'a>> {
        let template = self.model.template.as_ref()?;
        let env = Env {
            params: &[],
            dims: self.dims,
            device: &self.device.limits,
        };
        // An expression that is like this one has its parameters and no others.
        let shape = [template.elements.eval(&env).ok()?, template.vectors, 0];
        let device = self.device;
        let distance = |known: &TunedDevice| device_distance(known, device);
        let row = nearest_row(
            self.database,
            &shape,
            self.after[DATABASE].as_ref(),
            distance,
        )?;
        Some(self.tuned(row, DATABASE))
    }

    fn tuned(&mut self, row: Row<'a>, kind: usize) -> Candidate<'a> {
        self.after[kind] = Some(row.rank);
        let exact = row.is_for_problem();
        let rule = match kind {
            CACHED => Rule::Cache { exact },
            SIMILAR => Rule::SimilarDevice {
                same_vendor: !row.is_of_other_vendor(),
            },
            DATABASE => Rule::Database {
                this_device: row.device.key().is(self.device.key()),
            },
            _ => Rule::ExactDevice { exact },
        };
        Candidate {
            known: Some((row.device, row.result)),
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

/// The nearest row after one, or of all.
fn nearest_row<'a>(
    table: &'a Table,
    dims: &[i64],
    after: Option<&Rank>,
    distance: impl Fn(&TunedDevice) -> Option<DeviceDistance>,
) -> Option<Row<'a>> {
    match after {
        None => nearest(table, dims, distance),
        Some(_) => nearest_after(table, dims, after, distance),
    }
}
