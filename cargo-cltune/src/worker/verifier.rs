//! A worker that verifies: made ready once, then configurations on all draws, without timing them.

use super::{Prepare, Request, Response, Verified, Worker, WorkerFailure};
use std::time::Duration;

/// A worker that has the reference's results.
#[derive(Debug)]
pub(crate) struct Verifier {
    worker: Worker,
}

/// Why it is not known whether a configuration is right.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unverified {
    /// The worker says why.
    #[error("{0}")]
    Refused(String),
    /// The worker failed.
    #[error(transparent)]
    Worker(#[from] WorkerFailure),
}

impl Verifier {
    /// Lets a worker compute the reference.
    pub(crate) fn prepare(
        mut worker: Worker,
        prepare: Prepare,
        limit: Duration,
    ) -> Result<Self, Unverified> {
        let request = Request::Prepare(Box::new(prepare));
        match worker.ask(&request, limit)? {
            Response::Prepared { .. } => Ok(Self { worker }),
            Response::Failed(reason) => Err(Unverified::Refused(reason)),
            other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
        }
    }

    /// Runs a configuration on all draws.
    pub(crate) fn verify(
        &mut self,
        codes: &[i64],
        limit: Duration,
    ) -> Result<Verified, Unverified> {
        let request = Request::Verify {
            codes: codes.to_vec(),
        };
        match self.worker.ask(&request, limit)? {
            Response::Verified { verified, .. } => Ok(verified),
            Response::Failed(reason) => Err(Unverified::Refused(reason)),
            other => Err(WorkerFailure::Garbage(format!("{other:?}")).into()),
        }
    }
}
