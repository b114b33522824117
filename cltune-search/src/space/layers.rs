//! The first half of building a graph: from the first level to the last.

use super::graph::{Draft, Edge};
use super::interned::{FastMap, Interned};
use super::residual::{Allowed, Residual, Residuals};
use super::work::Work;
use std::ops::Range;

/// Larger domains have no table of what their values leave of a residual.
const MOST_TABLED: usize = 1 << 12;
/// Domains up to this size are small.
const SMALL: usize = 1 << 8;
/// How many residuals of a state are gone through in the time of a step.
const RESIDUALS_A_STEP: usize = 8;
/// From so many on, sorting and storing them takes longer.
const MANY_RESIDUALS: usize = 64;

/// Level by level, every state that is reached: the set of residuals still to be satisfied.
/// Empty when no configuration is valid, `None` when the work is used up.
///
/// `first` are the residuals before any value is put in, `places` for each level the positions of
/// its values in the parameter's domain.
pub(super) fn layers(
    mut residuals: Residuals<'_>,
    first: &[u32],
    places: Vec<Vec<u32>>,
    work: &mut Work,
) -> Option<Vec<Draft>> {
    let mut states = States::default();
    states.candidate.extend_from_slice(first);
    if states.enter(&mut residuals).is_none() {
        return Some(Vec::new());
    }
    let mut drafts = Vec::with_capacity(places.len());
    for (number, places) in places.into_iter().enumerate() {
        let mut level = Level {
            number,
            size: places.len(),
            draft: Draft {
                places,
                starts: vec![0],
                edges: Vec::new(),
            },
            next: States::default(),
            outcomes: Outcomes::default(),
            deciding: Vec::new(),
        };
        for state in 0..states.known.len() as u32 {
            level.visit(states.known.get(state), &mut residuals, work)?;
        }
        drafts.push(level.draft);
        states = level.next;
        if states.known.len() == 0 {
            return Some(Vec::new());
        }
    }
    Some(drafts)
}

/// A level while its states are gone through.
struct Level {
    number: usize,
    /// How many values it has.
    size: usize,
    draft: Draft,
    /// The states of the next level.
    next: States,
    outcomes: Outcomes,
    /// Of the current state, the residuals that name this level, and their rows of outcomes.
    deciding: Vec<(u32, Option<usize>)>,
}

/// The values that are tried.
struct Tried {
    range: Range<usize>,
    mask: Option<u64>,
    listed: Option<Vec<usize>>,
}

impl Level {
    /// Adds the edges of a state; `None` when the work is used up.
    fn visit(
        &mut self,
        state: &[u32],
        residuals: &mut Residuals<'_>,
        work: &mut Work,
    ) -> Option<()> {
        let mut tried = Tried {
            range: 0..self.size,
            mask: None,
            listed: None,
        };
        work.take(state.len() / RESIDUALS_A_STEP)?;
        let waiting = &mut self.next.waiting;
        waiting.clear();
        self.deciding.clear();
        for &residual in state {
            if residuals.first(residual) != self.number {
                waiting.push(residual);
                continue;
            }
            match residuals.allowed(residual) {
                Allowed::Mask(mask) => tried.mask = Some(tried.mask.unwrap_or(u64::MAX) & mask),
                Allowed::Range(range) => {
                    tried.range.start = tried.range.start.max(range.start);
                    tried.range.end = tried.range.end.min(range.end);
                }
                Allowed::Candidates(listed) => {
                    let shorter = |before: &Vec<usize>| before.len() <= listed.len();
                    if !tried.listed.as_ref().is_some_and(shorter) {
                        tried.listed = Some(listed);
                    }
                    self.deciding.push((residual, None));
                }
                Allowed::Unknown => self.deciding.push((residual, None)),
            }
        }
        // What is decided now spares working out what others leave.
        self.deciding
            .sort_by_key(|(residual, _)| !residuals.is_single(*residual));
        for (residual, row) in &mut self.deciding {
            // A residual on this parameter alone is worked out as fast as it is looked up.
            if self.size <= MOST_TABLED && !residuals.is_single(*residual) {
                let (at, is_new) = self.outcomes.row(*residual, self.size);
                // Of a small domain it takes no more memory than the steps that fill it.
                if is_new && self.size > SMALL {
                    work.take(self.size / 4)?;
                }
                *row = Some(at);
            }
        }
        if self.deciding.is_empty() && tried.mask.is_none() && tried.listed.is_none() {
            // All values leave the same.
            work.take(1)?;
            if !tried.range.is_empty() {
                self.next.candidate.clone_from(&self.next.waiting);
                self.enter(tried.range, residuals, work)?;
            }
        } else {
            self.each(tried, residuals, work)?;
        }
        self.draft.starts.push(self.draft.edges.len());
        Some(())
    }

    fn each(&mut self, tried: Tried, residuals: &mut Residuals<'_>, work: &mut Work) -> Option<()> {
        let Tried {
            range,
            mask,
            listed,
        } = tried;
        if let Some(listed) = listed {
            work.take(listed.len())?;
            for at in listed {
                if range.contains(&at) && mask.is_none_or(|mask| mask >> at & 1 == 1) {
                    self.try_value(at, residuals, work)?;
                }
            }
        } else if let Some(mask) = mask {
            work.take(mask.count_ones() as usize)?;
            let mut left = mask;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                if range.contains(&at) {
                    self.try_value(at, residuals, work)?;
                }
            }
        } else {
            work.take(range.len())?;
            for at in range {
                self.try_value(at, residuals, work)?;
            }
        }
        Some(())
    }

    fn try_value(
        &mut self,
        at: usize,
        residuals: &mut Residuals<'_>,
        work: &mut Work,
    ) -> Option<()> {
        self.next.candidate.clone_from(&self.next.waiting);
        work.take(self.deciding.len() / RESIDUALS_A_STEP)?;
        for &(residual, row) in &self.deciding {
            let outcome = match row {
                None => residuals.after(residual, at),
                Some(row) => *self.outcomes.known[row + at].get_or_insert_with(|| {
                    work.spend(1);
                    residuals.after(residual, at)
                }),
            };
            match outcome {
                Residual::Holds => {}
                Residual::Fails => return Some(()),
                Residual::Open(number) => self.next.candidate.push(number),
            }
        }
        self.enter(at..at + 1, residuals, work)
    }

    /// Adds edges for these values to the state of the candidate.
    fn enter(
        &mut self,
        values: Range<usize>,
        residuals: &mut Residuals<'_>,
        work: &mut Work,
    ) -> Option<()> {
        // What is compared and stored of a state with many residuals, and what their formulas took.
        let many = self.next.candidate.len();
        let cost = many / RESIDUALS_A_STEP + (many / MANY_RESIDUALS).pow(2);
        work.take(cost + residuals.take_cost())?;
        if let Some(child) = self.next.enter(residuals) {
            self.draft.push(Edge {
                first: values.start as u32,
                last: values.end as u32 - 1,
                child,
            });
        }
        Some(())
    }
}

/// What each value of a level leaves of each residual, worked out once.
#[derive(Default)]
struct Outcomes {
    rows: FastMap<u32, usize>,
    known: Vec<Option<Residual>>,
}

impl Outcomes {
    /// Where the outcomes of a residual start, and whether none is known yet.
    fn row(&mut self, residual: u32, size: usize) -> (usize, bool) {
        let end = self.known.len();
        let row = *self.rows.entry(residual).or_insert(end);
        if row == end {
            self.known.resize(end + size, None);
        }
        (row, row == end)
    }
}

/// The states of a level, each once.
#[derive(Default)]
struct States {
    known: Interned<u32>,
    /// The residuals of the state that is being put together.
    candidate: Vec<u32>,
    /// Those of them that no value of the level concerns.
    waiting: Vec<u32>,
    /// The candidate's residuals by their shapes.
    by_shape: Vec<(u32, u32)>,
}

impl States {
    /// The state of the candidate, unless two of its residuals exclude each other.
    fn enter(&mut self, residuals: &mut Residuals<'_>) -> Option<u32> {
        if self.candidate.len() > 1 {
            self.candidate.sort_unstable();
            self.candidate.dedup();
            self.unite(residuals)?;
        }
        Some(self.known.enter(&self.candidate).0)
    }

    /// Makes one residual of those that can be one, which have one shape; `None` when nothing is
    /// left.
    fn unite(&mut self, residuals: &mut Residuals<'_>) -> Option<()> {
        let candidate = self.candidate.iter();
        self.by_shape.clear();
        self.by_shape
            .extend(candidate.map(|number| (residuals.shape_of(*number), *number)));
        self.by_shape.sort_unstable();
        if self.by_shape.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            return Some(());
        }
        self.candidate.clear();
        for alike in self.by_shape.chunk_by(|a, b| a.0 == b.0) {
            let mut left = alike.iter().map(|(_, number)| *number);
            self.candidate.extend(left.next());
            for number in left {
                let last = self.candidate.last_mut()?;
                match residuals.both(*last, number) {
                    // None of this shape can be one.
                    None => self.candidate.push(number),
                    Some(Residual::Open(number)) => *last = number,
                    // Neither allows everything, so both together do not.
                    Some(Residual::Holds | Residual::Fails) => return None,
                }
            }
        }
        self.candidate.sort_unstable();
        Some(())
    }
}
