//! Operations on several devices against sums in double precision on the host.
//!
//! | file | tests |
//! |---|---|
//! | `chains.rs` | random chains of operations on random shapes |
//! | `products.rs` | products of all layouts, matrix-vector products, sums |
//! | `host.rs` | none: matrices on the host |

mod chains;
mod host;
mod products;
