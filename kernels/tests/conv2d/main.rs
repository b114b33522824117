//! 2D convolution against its definition.
//!
//! | file | tests |
//! |---|---|
//! | `results` | all sizes, borders and filters through `convolve`; values that are no numbers |
//! | `configurations` | a sample of the space on one picture |
//! | `space` | how many configurations there are, and why |
//! | `refusals` | what is refused, and how |
//! | `definition` | the convolution in double precision on the host, which all compare with |

mod configurations;
mod definition;
mod refusals;
mod results;
mod space;
