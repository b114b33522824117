//! Draws of other kinds than random ones, which are added when they are needed and may be removed
//! again.

use super::super::buffers::{BufferArgument, Round};
use super::super::draws::Making;
use super::{Arguments, Setting, sequence};
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::tuning::expected::ExpectedBuffer;
use crate::tuning::fill::elements;
use crate::tuning::kinds::{InputKind, Values};
use crate::tuning::options::{MeasureOptions, Step};
use crate::tuning::place::Place;
use crate::tuning::prepare_error::PrepareError;
use crate::tuning::verify::Unfit;
use cltune_core::model::Access;
use cltune_formats::declaration::{Declaration, Fill, Tolerance};

/// The random sequences of further draws are beyond those of all others.
const SEQUENCE: usize = 1 << 20;

/// Draws of other kinds than random ones.
#[derive(Debug)]
pub(in crate::tuning) struct FurtherDraws {
    /// The kinds that are wanted, without those that are left out.
    pub(in crate::tuning) kinds: Vec<InputKind>,
    /// Those that exist.
    pub(in crate::tuning) made: Vec<(InputKind, FurtherDraw)>,
    /// Those that are left out, with the reason.
    pub(in crate::tuning) left_out: Vec<String>,
}

/// A further draw, by its number among all draws.
#[derive(Clone, Debug)]
pub(in crate::tuning) struct FurtherDraw {
    pub(in crate::tuning) draw: usize,
    /// The reason why results cannot be compared, where the reference itself accesses memory that
    /// it must not: then only the accesses of configurations are checked.
    pub(in crate::tuning) unfit: Option<String>,
}

impl FurtherDraws {
    /// Those that a declaration allows, where they are wanted.
    pub(in crate::tuning) fn of(declaration: &Declaration, options: &MeasureOptions) -> Self {
        let kinds = options.kinds.then(|| InputKind::of(declaration));
        Self {
            kinds: kinds.unwrap_or_default(),
            made: Vec::new(),
            left_out: Vec::new(),
        }
    }

    pub(in crate::tuning) fn leave_out(&mut self, kind: InputKind, reason: &str) {
        let left_out = format!("{kind}: {reason}");
        // A draw that is made again and again is unfit each time.
        if !self.left_out.contains(&left_out) {
            self.left_out.push(left_out);
        }
    }

    pub(in crate::tuning) fn made(&self, kind: InputKind) -> Option<FurtherDraw> {
        let mut made = self.made.iter();
        made.find(|(of, _)| *of == kind)
            .map(|(_, made)| made.clone())
    }
}

/// The reference's results for a draw: one for each buffer that is written.
pub(in crate::tuning) type Results = Vec<Option<ExpectedBuffer>>;

/// Why results cannot be used.
struct Reason(String);

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl Arguments {
    /// Bytes that a draw takes, on the host and, at most, on the device.
    pub(in crate::tuning) fn bytes_of_draw(&self) -> u64 {
        let bytes = self.buffers.iter().map(|buffer| {
            // What is read and written is kept twice.
            let copies = if buffer.access == Access::ReadWrite {
                2
            } else {
                1
            };
            copies * buffer.bytes() as u64
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Adds a draw with such values, where the arguments' fills allow them, and random ones
    /// elsewhere. Its number. The setting is that of [`Arguments::new`].
    pub(in crate::tuning) fn add_draw(
        &mut self,
        setting: &Setting<'_>,
        values: Values,
    ) -> Result<usize, PrepareError> {
        let draw = self.all_draws();
        // Where it fails, some arguments have one draw more than others.
        self.add(setting, values)
            .inspect_err(|_| self.remove_draws(draw))?;
        Ok(draw)
    }

    fn add(&mut self, setting: &Setting<'_>, values: Values) -> Result<(), PrepareError> {
        let fills = &setting.declaration.fills;
        let draw = SEQUENCE
            + match values {
                Values::Negative => 0,
                Values::Large => 1,
                Values::With(_) => 2,
            };
        for scalar in &mut self.scalars {
            let (position, element) = (scalar.position, scalar.element);
            let fill = fills.get(position).unwrap_or(&Fill::None);
            let random = sequence(setting.seed, position, draw);
            let contents = values.elements(fill, element, 1, false, &random);
            scalar.draws.push(match contents {
                Some(contents) => contents,
                None if fill.is_random() => {
                    elements(fill, element, 1, "", setting.folder, &random)?
                }
                // As in all others.
                None => scalar.draws[0].clone(),
            });
        }
        let making = Making {
            context: setting.context,
            queue: setting.queue,
            surroundings: self.surroundings,
            keeping: self.keeping,
            on_step: setting.on_step,
            watch: self.watch.as_ref(),
        };
        for buffer in &mut self.buffers {
            let fill = fills.get(buffer.position).unwrap_or(&Fill::None);
            let random = sequence(setting.seed, buffer.position, draw);
            let (element, name) = (buffer.element, &buffer.name);
            let len = buffer.bytes() / element.size();
            (setting.on_step)(Step::Host);
            let contents = values.elements(fill, element, len, true, &random);
            let contents = match contents {
                _ if buffer.access == Access::Write || buffer.is_prepared => Vec::new(),
                Some(contents) => contents,
                None if fill.is_random() => {
                    elements(fill, element, len, name, setting.folder, &random)?
                }
                None => buffer.contents(setting.queue, 0)?,
            };
            buffer.add_draw(&making, contents)?;
        }
        Ok(())
    }

    /// The number of draws, further ones included.
    fn all_draws(&self) -> usize {
        let buffers = self.buffers.iter().map(BufferArgument::draws);
        let scalars = self.scalars.iter().map(|scalar| scalar.draws.len());
        buffers.chain(scalars).max().unwrap_or(0)
    }

    /// Removes all draws from this one on.
    pub(in crate::tuning) fn remove_draws(&mut self, from: usize) {
        for buffer in &mut self.buffers {
            buffer.remove_draws(from);
        }
        for scalar in &mut self.scalars {
            scalar.draws.truncate(from);
        }
    }

    /// Keeps what is in the written buffers as the reference's results of a further draw.
    ///
    /// # Errors
    /// Why nothing can be compared with them.
    pub(in crate::tuning) fn keep_expected_of_kind(
        &mut self,
        queue: &Queue,
        draw: usize,
        tolerance: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<(), String> {
        let watch = self.watch.as_ref();
        let making = Making::of_filled(queue, self.surroundings, self.keeping, watch);
        let buffers = self.buffers.iter_mut();
        for buffer in buffers.filter(|buffer| buffer.access != Access::Read) {
            let (element, name) = (buffer.element, buffer.name.clone());
            let normalized = buffer.normalized;
            let Some(usual) = buffer.expected(0).map(ExpectedBuffer::roots) else {
                continue;
            };
            let Some(compared) = buffer.compared.clone() else {
                continue;
            };
            let kept = buffer.expect(&making, Round::of(draw), |bytes| {
                let declared = (tolerance, accumulates);
                let expected = ExpectedBuffer::of_kind(bytes, compared, declared, &usual);
                let rounded = |expected: ExpectedBuffer| expected.rounded(normalized, tolerance);
                expected.map(rounded).map_err(|unfit| {
                    let (what, index) = match unfit {
                        Unfit::Nan(index) => ("NaN", index),
                        Unfit::Infinite(index) => ("infinity, or nearly,", index),
                    };
                    let place = Place::of(&name, element, index);
                    Reason(format!("the reference computes {what} at {place}"))
                })
            });
            kept.map_err(|Reason(reason)| reason)?;
        }
        Ok(())
    }

    /// Takes the reference's results of a draw away.
    pub(in crate::tuning) fn take_expected(&mut self, draw: usize) -> Results {
        let buffers = self.buffers.iter_mut();
        buffers.map(|buffer| buffer.take_expected(draw)).collect()
    }

    /// Gives a draw the reference's results of another.
    pub(in crate::tuning) fn give_expected(&mut self, draw: usize, results: Results) {
        for (buffer, expected) in self.buffers.iter_mut().zip(results) {
            buffer.give_expected(draw, expected);
        }
    }

    /// Whether the reference's results of a draw are nearer to these than a part of what is
    /// allowed.
    pub(in crate::tuning) fn are_nearer(&self, part: f64, draw: usize, results: &Results) -> bool {
        self.buffers.iter().zip(results).all(|(buffer, other)| {
            let pair = buffer.expected(draw).zip(other.as_ref());
            pair.is_none_or(|(expected, other)| expected.is_nearer(part, other))
        })
    }
}
