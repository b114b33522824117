//! OpenCL C source: one text out of a file and what it includes.
//!
//! The text in an artifact must be complete, since it may be tuned where no file of the package
//! exists. [`flatten`] therefore replaces each `#include "…"` by the file's text, and leaves
//! `#include <…>` to the driver. `#line` directives keep build logs pointing at the user's files.

mod error;
mod flatten;
mod lines;

pub use error::{IncludedFrom, SourceError, SourceProblem};
pub use flatten::{Flattened, MAX_BYTES, flatten, flatten_text};
