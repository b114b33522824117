//! The results that the selection rule chooses from: compiled in, of a lockfile, of the user's
//! cache, and of the database of template defaults.

use crate::cache::{CachedResults, Store};
use crate::database;
use crate::device::Device;
use crate::kernel::Tunable;
use crate::policy::Policy;
use cltune_core::select::{Candidates, Table, candidates};
use std::path::Path;
use std::sync::Arc;

/// Results of a tunable on a device.
#[derive(Clone, Debug)]
pub(crate) struct TunedResults {
    tunable: &'static Tunable,
    /// Where the policy names a lockfile, its results and those compiled in.
    baked: Option<Arc<Table>>,
    /// The user's cache.
    cached: Arc<CachedResults>,
    /// The defaults of the tunable's template.
    database: Table,
}

impl TunedResults {
    /// Those that count on a device under a policy.
    pub(crate) fn of(tunable: &'static Tunable, device: &Device, policy: &Policy) -> Self {
        let baked = match policy {
            Policy::Offline(path) => offline(tunable, path),
            _ => None,
        };
        Self {
            tunable,
            baked,
            cached: Store::of_user().results(tunable.model(), device.info()),
            database: match tunable.model().template {
                Some(_) => database::of_process().table(tunable.model()),
                None => Table::EMPTY,
            },
        }
    }

    /// The candidates for a problem, in the order of the rule.
    pub(crate) fn candidates<'a>(&'a self, device: &'a Device, dims: &'a [i64]) -> Candidates<'a> {
        let baked = self.baked.as_deref().unwrap_or(self.tunable.table());
        candidates(
            self.tunable.model(),
            device.info(),
            dims,
            baked,
            &self.cached.table,
        )
        .with_database(&self.database)
    }

    /// Why a configuration was refused in an earlier run with this driver, if it was.
    pub(super) fn refusal(&self, dims: &[i64], codes: &[i64]) -> Option<&str> {
        self.cached.refusal(dims, codes)
    }
}

#[cfg(feature = "offline")]
fn offline(tunable: &'static Tunable, path: &Path) -> Option<Arc<Table>> {
    super::offline::table(tunable, path)
}

#[cfg(not(feature = "offline"))]
fn offline(tunable: &'static Tunable, path: &Path) -> Option<Arc<Table>> {
    tracing::warn!(
        kernel = %tunable.model().name,
        file = %path.display(),
        "the lockfile is not read: this program was built without cltune's feature `offline`"
    );
    None
}
