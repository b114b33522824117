//! The declaration of a division among devices.

use super::{Layout, LayoutError};
use crate::List;
use crate::device::DeviceLimits;
use crate::expr::{Env, EvalError, Formula};
use crate::model::{ArgumentKind, Model};

/// The combinations of values that are looked at for the granules that there are.
const MOST_COMBINATIONS: usize = 1 << 16;

/// How a tunable is divided among devices along one of its problem dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Division {
    /// The position of the dimension in [`Model::dimensions`].
    pub dimension: u16,
    /// How many positions of it one work-group covers, over parameters, problem dimensions and
    /// device limits.
    pub granule: Formula,
    /// What becomes of each argument of the call: one for each of
    /// [`Model::arguments`], in the same order.
    pub arguments: List<Partition>,
}

/// What becomes of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Partition {
    /// Every device gets all of it. The scalar that is the divided dimension becomes that of the
    /// share.
    Whole,
    /// A buffer of which a device gets what belongs to its share.
    Parts {
        /// How many times all positions are in the buffer, one after the other, over problem
        /// dimensions; once if none.
        rows: Option<Formula>,
        /// How many elements beyond its positions a share needs in each row, over problem
        /// dimensions; none if none.
        halo: Option<Formula>,
    },
    /// A scalar to which the first position of the share is added.
    Shifted,
}

impl Division {
    /// How many positions one work-group of a configuration covers.
    ///
    /// # Errors
    /// A formula without a value, for example because of a division by zero.
    pub fn granule(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<i64, EvalError> {
        let env = Env {
            params: codes,
            dims,
            device,
        };
        Ok(self.granule.eval(&env)?.max(1))
    }

    /// The values of the [`granule`](Self::granule) that the parameters' values give, smallest
    /// first, each once. Of so many combinations of values that they would take long, the first
    /// 65,536.
    pub fn granules(&self, model: &Model, dims: &[i64], device: &DeviceLimits) -> Vec<i64> {
        let mut combinations = vec![vec![0; model.parameters.len()]];
        for parameter in self.granule.program.parameters() {
            let position = usize::from(parameter);
            let Some(parameter) = model.parameters.get(position) else {
                return Vec::new();
            };
            let values = parameter.domain.codes_on(&|field| Some(device.get(field)));
            let with = |codes: &Vec<i64>| {
                let codes = codes.clone();
                values.clone().into_iter().map(move |code| {
                    let mut codes = codes.clone();
                    codes[position] = code;
                    codes
                })
            };
            combinations = combinations
                .iter()
                .flat_map(with)
                .take(MOST_COMBINATIONS)
                .collect();
        }
        let values = combinations.iter();
        let mut granules: Vec<i64> = values
            .filter_map(|codes| self.granule(codes, dims, device).ok())
            .collect();
        granules.sort_unstable();
        granules.dedup();
        granules
    }

    /// The size of the divided dimension; 0 where there is no such dimension.
    pub fn total(&self, dims: &[i64]) -> i64 {
        dims.get(usize::from(self.dimension)).copied().unwrap_or(0)
    }

    /// The problem of a share of `len` positions.
    pub fn share_dims(&self, dims: &[i64], len: i64) -> Vec<i64> {
        let mut dims = dims.to_vec();
        if let Some(size) = dims.get_mut(usize::from(self.dimension)) {
            *size = len;
        }
        dims
    }

    /// Where the elements of a buffer argument are; `None` for one that every device gets whole.
    ///
    /// # Errors
    /// A length that does not fit what is declared about the parts.
    pub fn layout(
        &self,
        partition: &Partition,
        kind: &ArgumentKind,
        dims: &[i64],
    ) -> Result<Option<Layout>, LayoutError> {
        let (Partition::Parts { rows, halo }, ArgumentKind::Buffer { len: Some(len), .. }) =
            (partition, kind)
        else {
            return Ok(None);
        };
        // These formulas use no parameters and no device limits that differ between devices.
        let nothing = DeviceLimits::default();
        let env = Env {
            params: &[],
            dims,
            device: &nothing,
        };
        let value = |formula: &Formula| {
            formula.eval(&env).map_err(|reason| LayoutError::NoValue {
                formula: formula.text.clone(),
                reason,
            })
        };
        let or = |formula: &Option<Formula>, none| formula.as_ref().map_or(Ok(none), value);
        Layout::new(value(len)?, or(rows, 1)?, or(halo, 0)?, self.total(dims)).map(Some)
    }
}
