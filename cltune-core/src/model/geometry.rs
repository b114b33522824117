//! The index space of a launch.

use super::{Quantity, Rejection, Stage};
use crate::device::DeviceField;
use crate::expr::{Env, EvalError, Formula};
use std::fmt;

/// The device's limits on the local size of one dimension.
pub(super) const MAX_WORK_ITEM_SIZES: [DeviceField; 3] = [
    DeviceField::MaxWorkItemSizeX,
    DeviceField::MaxWorkItemSizeY,
    DeviceField::MaxWorkItemSizeZ,
];

/// The index space of a launch, in work-items. Dimensions that are not used have size 1 and
/// offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The number of dimensions, 1 to 3.
    pub work_dim: u32,
    /// The global size.
    pub global: [usize; 3],
    /// The local size (the work-group); `None`: the driver chooses.
    pub local: Option<[usize; 3]>,
    /// The global offset; `None`: zero.
    pub offset: Option<[usize; 3]>,
}

impl Geometry {
    /// The number of work-groups; `None` where the driver chooses their size.
    pub fn work_groups(&self) -> Option<usize> {
        let local = self.local?;
        let sizes = self.global.iter().zip(local).take(self.work_dim as usize);
        Some(sizes.map(|(global, local)| global / local.max(1)).product())
    }
}

impl fmt::Display for Geometry {
    /// `global 64x4, local 8x4, offset 0x0`, less what is left to the driver.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = |sizes: &[usize; 3]| {
            let sizes = sizes.iter().take(self.work_dim as usize);
            sizes.map(usize::to_string).collect::<Vec<_>>().join("x")
        };
        write!(f, "global {}", used(&self.global))?;
        if let Some(local) = &self.local {
            write!(f, ", local {}", used(local))?;
        }
        if let Some(offset) = &self.offset {
            write!(f, ", offset {}", used(offset))?;
        }
        Ok(())
    }
}

impl Stage {
    /// The index space of its launch, checked against the device's limits.
    ///
    /// # Errors
    /// Sizes that have no value, are not positive, exceed a limit of the device or do not divide.
    pub fn geometry(&self, env: &Env<'_>) -> Result<Geometry, Rejection> {
        let rank = self.global.len();
        let fits = |len: usize| len == 0 || len == rank;
        if !(1..=3).contains(&rank) || !fits(self.local.len()) || !fits(self.offset.len()) {
            return Err(Rejection::WorkDimension {
                global: rank,
                local: self.local.len(),
                offset: self.offset.len(),
            });
        }
        let local = sizes(&self.local, 1, Quantity::LocalSize, env)?;
        self.check_work_group(&local[..self.local.len()], env)?;
        let global = sizes(&self.global, 1, Quantity::GlobalSize, env)?;
        for (dimension, (&global, &local)) in
            global.iter().zip(&local).take(self.local.len()).enumerate()
        {
            if global % local != 0 {
                return Err(Rejection::NotDivisible {
                    dimension,
                    global,
                    local,
                });
            }
        }
        let offset = sizes(&self.offset, 0, Quantity::Offset, env)?;
        let in_use = |sizes: [i64; 3], formulas: &[Formula]| {
            (!formulas.is_empty()).then(|| sizes.map(|size| size as usize))
        };
        Ok(Geometry {
            work_dim: rank as u32,
            global: global.map(|size| size as usize),
            local: in_use(local, &self.local),
            offset: in_use(offset, &self.offset),
        })
    }

    fn check_work_group(&self, local: &[i64], env: &Env<'_>) -> Result<(), Rejection> {
        let within = |quantity, value, limit| {
            let maximum = env.device.get(limit);
            if value <= maximum {
                Ok(())
            } else {
                Err(Rejection::BeyondLimit {
                    quantity,
                    value,
                    limit,
                    maximum,
                })
            }
        };
        let mut work_items: i64 = 1;
        for (dimension, (&size, limit)) in local.iter().zip(MAX_WORK_ITEM_SIZES).enumerate() {
            within(Quantity::LocalSize(dimension), size, limit)?;
            work_items = work_items
                .checked_mul(size)
                .ok_or_else(|| Rejection::NoValue {
                    quantity: Quantity::WorkGroupSize,
                    text: self.local[dimension].text.clone(),
                    reason: EvalError::Overflow,
                })?;
        }
        if local.is_empty() {
            return Ok(());
        }
        within(
            Quantity::WorkGroupSize,
            work_items,
            DeviceField::MaxWorkGroupSize,
        )
    }
}

/// The values of up to three formulas; dimensions without one have the least value.
fn sizes(
    formulas: &[Formula],
    least: i64,
    quantity: fn(usize) -> Quantity,
    env: &Env<'_>,
) -> Result<[i64; 3], Rejection> {
    let mut sizes = [least; 3];
    for (dimension, (formula, size)) in formulas.iter().zip(&mut sizes).enumerate() {
        *size = at_least(formula, least, || quantity(dimension), env)?;
    }
    Ok(sizes)
}

/// The value of a formula that has a least value.
pub(super) fn at_least(
    formula: &Formula,
    least: i64,
    quantity: impl Fn() -> Quantity,
    env: &Env<'_>,
) -> Result<i64, Rejection> {
    let value = evaluated(formula, &quantity, env)?;
    if value < least {
        let (quantity, text) = (quantity(), formula.text.clone());
        return Err(Rejection::TooSmall {
            quantity,
            text,
            value,
            least,
        });
    }
    Ok(value)
}

/// The value of a formula.
pub(super) fn evaluated(
    formula: &Formula,
    quantity: impl Fn() -> Quantity,
    env: &Env<'_>,
) -> Result<i64, Rejection> {
    formula.eval(env).map_err(|reason| Rejection::NoValue {
        quantity: quantity(),
        text: formula.text.clone(),
        reason,
    })
}
