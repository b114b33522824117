//! The declaration of a tunable of this program, as the link section holds it.

use crate::kernel::Tunable;
use cltune_formats::declaration::Declaration;
use cltune_formats::record::{self, RecordError};

/// Why a program cannot tune one of its tunables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoDeclaration {
    /// The record is there and cannot be read.
    #[error(transparent)]
    Damaged(#[from] RecordError),
    /// The macro did not make this tunable, or the record is that of another version.
    #[error("the program does not hold its declaration")]
    Missing,
}

impl Tunable {
    /// The declaration: what [`Measurer`](super::Measurer) and searches work on.
    ///
    /// # Errors
    /// [`NoDeclaration`].
    #[doc(hidden)]
    pub fn declaration(&self) -> Result<Declaration, NoDeclaration> {
        let fingerprint = &self.model().fingerprint;
        record::decode_all(self.record())?
            .into_iter()
            .find(|declaration| declaration.model.fingerprint == *fingerprint)
            .ok_or(NoDeclaration::Missing)
    }
}
