//! Operations in blocks on several devices: the policy of the scheduler, without any device.
//!
//! An operation is computed tile by tile of its results, and a tile panel by panel of what it sums
//! over. The method is that of the paper on ViennaCL's scheduler (Rupp et al., section 2): objects
//! in host memory are divided into blocks, operations become graphs of tasks, and a central
//! scheduler gives tasks to devices.
//!
//! | file | owns |
//! |---|---|
//! | `blocks` | blocks of matrices, and which of them a tile needs |
//! | `rates` | how fast a device is, from what was expected and measured |
//! | `cost` | the memory and the time that an operation takes in blocks of a size |
//! | `sizes` | the choice of the size of blocks |
//! | `graph` | which task waits for which, and what becomes of them |
//! | `turns` | which device a task is for: the one that ends it first |
//! | `residence` | which block makes room on a device |
//! | `simulate` | the same with devices that are made up |

mod blocks;
mod cost;
mod graph;
mod rates;
mod residence;
mod simulate;
mod sizes;
mod turns;

pub use blocks::{Axis, Cut, Grain, Operand, Output, Reach, Rect, Shape, Tile, padded};
pub use cost::{Cost, DeviceFacts, Need};
pub use graph::{Access, Graph, OperationEnd, TaskId};
pub use rates::{LinkRates, Speed};
pub use residence::{Candidate, victim};
pub use simulate::{Event, Machine, SimulatedDevice, SimulatedRun, simulate};
pub use sizes::{Plan, PlanError, choose};
pub use turns::{Turn, is_worth_repeating, makespan, takes};
