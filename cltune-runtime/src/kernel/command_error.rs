//! Reasons why the commands of a call cannot be prepared.

use super::fit::Misfit;
use crate::error::Error;
use crate::opencl::Status;
use cltune_core::Text;
use cltune_core::model::Model;
use std::fmt;

/// Why commands cannot be prepared.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The program has no such kernel.
    NoKernel { name: Text, status: Status },
    /// A kernel has another number of arguments than its stage.
    Signature {
        name: Text,
        expected: usize,
        found: usize,
    },
    /// The device lacks something.
    Misfit(Misfit),
    /// A call failed.
    Failed(Error),
}

impl CommandError {
    /// The error of a launch of this configuration.
    pub(crate) fn of_launch(self, model: &Model, codes: &[i64]) -> Error {
        let kernel = model.name.to_string();
        let misfit = match self {
            Self::NoKernel { name, status } => {
                return Error::call(format!("clCreateKernel `{name}`"))(status);
            }
            Self::Signature {
                name,
                expected,
                found,
            } => {
                return Error::Signature {
                    kernel,
                    function: name.to_string(),
                    expected,
                    found,
                };
            }
            Self::Failed(error) => return error,
            Self::Misfit(misfit) => misfit,
        };
        let configuration = model.describe(codes);
        match misfit {
            Misfit::LocalMemory { needed, available } => Error::LocalMemoryTooLarge {
                kernel,
                configuration,
                needed,
                available,
            },
            Misfit::WorkGroup { work_items, limit } => Error::WorkGroupTooLarge {
                kernel,
                configuration,
                work_items,
                limit,
            },
            Misfit::PrivateMemory { needed, available } => Error::PrivateMemoryTooLarge {
                kernel,
                configuration,
                needed,
                available,
            },
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKernel { name, status } => {
                write!(f, "clCreateKernel `{name}` failed: {status}")
            }
            Self::Signature {
                name,
                expected,
                found,
            } => write!(
                f,
                "the stage of `{name}` passes {expected} arguments, and the kernel in the source \
                 has {found}"
            ),
            Self::Misfit(misfit) => misfit.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}
