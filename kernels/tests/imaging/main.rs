//! Box filter, ray casting and stereo matching against their definitions.
//!
//! | file | tests |
//! |---|---|
//! | `boxes`, `rays`, `matches` | each function on all kinds of inputs |
//! | `configurations` | random configurations of each kernel; 200 with `CLTUNE_TEST_FULL=1` |
//! | `space` | how many configurations there are |
//! | `scenes` | the made volume and pictures |
//! | `refusals` | what is refused, and how |
//! | `definitions` | the results in double precision on the host, which all compare with |

mod boxes;
mod configurations;
mod definitions;
mod matches;
mod rays;
mod refusals;
mod scenes;
mod space;
