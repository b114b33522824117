//! Objects that another part of the program made with OpenCL itself or with another package.
//!
//! | file | owns |
//! |---|---|
//! | `raw` | OpenCL's own handles, from and to |
//! | `checks` | what an object has to be, for both of the others |
//! | `error` | the reasons why one cannot be used |
//! | `opencl3_types` | the types of the package opencl3, from and to |

mod checks;
mod error;
#[cfg(feature = "opencl3")]
mod opencl3_types;
mod raw;

pub use error::ForeignError;
