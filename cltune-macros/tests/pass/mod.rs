//! One module for each way of use.

mod saxpy;
