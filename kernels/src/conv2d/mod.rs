//! 2D convolution of one-channel pictures.
//!
//! | file | owns |
//! |---|---|
//! | `convolve` | the function that programs call, and what it refuses |
//! | `filter` | weights on a device |
//! | `factors` | weights as the products of a column and a row |
//! | `border` | what lies outside of a picture |
//! | `direct` | the tunable, from Nugteren & Codreanu 2015, section V |
//! | `separable` | the tunable for the products of a column and a row |
//!
//! ```no_run
//! use cltune_kernels::conv2d::{Border, Filter, convolve};
//! use cltune::{Buffer, Queue};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::default_device()?;
//! let blur = Filter::new(&queue, 3, &[1.0 / 9.0; 9])?;
//! let (width, height) = (640, 480);
//! let input = Buffer::from_slice(&queue, &vec![1.0; 640 * 480])?;
//! let mut output = Buffer::new(queue.context(), 640 * 480)?;
//! convolve(&queue, width, height, &blur, Border::Nearest, &input, &mut output)?;
//! assert!((output.read(&queue)?[0] - 1.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

mod border;
mod convolve;
mod direct;
mod factors;
mod filter;
mod separable;

pub use border::Border;
pub use convolve::{Conv2dError, convolve};
pub use direct::conv2d_direct;
pub use filter::{Filter, FilterError};
pub use separable::conv2d_separable;
