//! Matrix multiplication.
//!
//! | kernel | from |
//! |---|---|
//! | [`gemm_classic()`] | Nugteren & Codreanu 2015, section VI: tiles in local memory and registers, 14 parameters |

mod classic;

pub use classic::gemm_classic;
