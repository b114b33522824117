//! The search of a tunable's space, ready to begin.

use crate::cache::{CacheError, Store};
use crate::device::Device;
use crate::kernel::Tunable;
use crate::tuning::{NoDeclaration, PrepareError};
use cltune_formats::declaration::Declaration;
use cltune_search::space::{Space, TooComplex};
use cltune_search::{STRATEGIES, Score, Search, Setting};
use std::sync::Arc;

/// The steps that building a space may take: a second or so.
const MOST_STEPS: u64 = 1 << 22;

/// Why nothing was tuned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Untuned {
    /// The tunable was not made by the macro.
    #[error("its declaration cannot be read: {0}")]
    Declaration(#[from] NoDeclaration),
    /// The space cannot be built quickly.
    #[error("its space of valid configurations cannot be built at run time: {0}")]
    Space(#[from] TooComplex),
    /// No configuration is valid.
    #[error("no configuration is valid")]
    Empty,
    /// Nothing can be measured.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Another program was tuning the same all the time.
    #[error("another program tunes it")]
    OtherProgram,
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Every configuration failed.
    #[error("no configuration works: {0}")]
    AllFailed(String),
}

/// A search that has not begun.
#[derive(Debug)]
pub(super) struct PreparedSearch {
    pub(super) search: Search,
    pub(super) declaration: Declaration,
    /// The number of valid configurations.
    pub(super) valid: u128,
}

impl PreparedSearch {
    /// With the strategy of `cargo cltune`, starting with a configuration. Configurations that the
    /// driver refused are not tried.
    ///
    /// # Errors
    /// [`Untuned`].
    pub(super) fn new(
        tunable: &Tunable,
        device: &Device,
        dims: &[i64],
        evaluations: Option<u64>,
        first: &[i64],
        store: &Store,
    ) -> Result<Self, Untuned> {
        let (model, info) = (tunable.model(), device.info());
        let declaration = tunable.declaration()?;
        let space = Space::build_within(model.space_spec(dims, &info.limits), MOST_STEPS)?;
        let valid = space.count();
        if valid == 0 {
            return Err(Untuned::Empty);
        }
        let setting = Setting::new(Arc::new(space))
            .budget(evaluations)
            .first(first);
        let mut search = Search::new(&STRATEGIES[0], &setting);
        for (problem, codes, _) in &store.results(model, info).refused {
            if problem == dims {
                search.know(codes, Score::Failed);
            }
        }
        Ok(Self {
            search,
            declaration,
            valid,
        })
    }
}
