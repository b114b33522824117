//! What pictures are made of: in the plots of `simulate`, and in reports.
//!
//! | file | owns |
//! |---|---|
//! | `element` | XML and HTML: elements that are closed, and text that is escaped |
//! | `scale` | from values to coordinates; round numbers for the labels |
//! | `axes` | the frame of a plot, its grid and its labels |
//! | `density` | kernel density estimates |
//! | `violin` | a distribution as a shape |
//!
//! Nothing here has a colour: classes say what a shape is, and style sheets what that looks like.

pub(crate) mod axes;
mod density;
mod element;
mod scale;
mod violin;

pub(crate) use element::{Element, pixels, through};
pub(crate) use scale::{Scale, step};
pub(crate) use violin::violin;
