//! Parts of pictures, for the plots of `simulate` and for reports.
//!
//! | file | owns |
//! |---|---|
//! | `element` | XML and HTML: elements that are closed, and text that is escaped |
//! | `axes` | the axes of a plot: scales with round labels, the frame, the grid |
//! | `violin` | a distribution as a shape: its density is estimated and drawn |
//!
//! Shapes have classes and no colours; style sheets give each class its look.

pub(crate) mod axes;
mod element;
mod violin;

pub(crate) use axes::{Scale, step};
pub(crate) use element::{Element, pixels, through};
pub(crate) use violin::violin;
