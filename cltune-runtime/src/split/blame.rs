//! What a failed share says about its device.

use crate::error::Error;

/// Why a share was not computed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Box<Error>,
    pub(super) blame: Blame,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The call is wrong on every device.
    Caller,
    /// The device cannot compute this problem.
    Problem,
    /// The device is broken.
    Device,
}

impl Failure {
    /// A failure before anything ran.
    pub(super) fn before(error: Error) -> Self {
        let blame = match &error {
            Error::Arguments { .. }
            | Error::ArgumentKind { .. }
            | Error::BufferTooShort { .. }
            | Error::Division { .. }
            | Error::LengthMismatch { .. }
            | Error::OtherContext { .. }
            | Error::ShareBeyondType { .. }
            | Error::Signature { .. }
            | Error::TooLarge { .. }
            | Error::UndividedResult { .. } => Blame::Caller,
            Error::OpenCl { status, .. }
                if !status.is_of_configuration() && !status.is_of_size() =>
            {
                Blame::Device
            }
            _ => Blame::Problem,
        };
        let error = Box::new(error);
        Self { error, blame }
    }

    /// Whether there may have been too little memory.
    pub(super) fn is_of_memory(&self) -> bool {
        self.error.is_of_memory()
    }

    /// A failure while the device was working: whatever its code, what was launched did not end well.
    pub(super) fn during(error: Error) -> Self {
        Self {
            error: Box::new(error),
            blame: Blame::Device,
        }
    }
}
