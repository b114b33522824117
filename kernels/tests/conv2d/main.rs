//! 2D convolution against its definition.
//!
//! | file | tests |
//! |---|---|
//! | `results` | all sizes, borders and filters through `convolve`; values that are no numbers |
//! | `separable` | the same for weights that are the products of a column and a row |
//! | `configurations` | a sample of both spaces on one picture |
//! | `space` | how many configurations there are, and why |
//! | `refusals` | what is refused, and how |
//! | `definition` | the convolution in double precision on the host, which all compare with |

mod configurations;
mod definition;
mod refusals;
mod results;
mod separable;
mod space;
