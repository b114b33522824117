//! What the tuner must know of a tunable: its declaration, as the link section holds it.

use crate::launch::Tunable;
use cltune_core::declaration::Declaration;
use cltune_core::record;

/// The declaration of a tunable.
///
/// # Errors
/// Why it cannot be had, for people.
pub(super) fn declaration(tunable: &Tunable) -> Result<Declaration, String> {
    let declarations = record::decode_all(tunable.record()).map_err(|error| error.to_string())?;
    let fingerprint = &tunable.model().fingerprint;
    declarations
        .into_iter()
        .find(|declaration| declaration.model.fingerprint == *fingerprint)
        .ok_or_else(|| "the program does not hold its declaration".to_owned())
}
