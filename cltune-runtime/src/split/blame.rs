//! What a failed share says about its device.

use crate::error::Error;

/// Whose fault it is that a share was not computed.
pub(super) enum Blame {
    /// The call is wrong on every device.
    Caller,
    /// The device cannot compute this problem.
    Problem,
    /// The device is broken.
    Device,
}

impl Error {
    pub(super) fn blame(&self) -> Blame {
        match self {
            Self::Arguments { .. }
            | Self::ArgumentKind { .. }
            | Self::BufferTooShort { .. }
            | Self::Division { .. }
            | Self::LengthMismatch { .. }
            | Self::OtherContext { .. }
            | Self::ShareBeyondType { .. }
            | Self::Signature { .. }
            | Self::TooLarge { .. }
            | Self::UndividedResult { .. } => Blame::Caller,
            Self::OpenCl { status, .. }
                if !status.is_of_configuration() && !status.is_of_size() =>
            {
                Blame::Device
            }
            _ => Blame::Problem,
        }
    }
}
