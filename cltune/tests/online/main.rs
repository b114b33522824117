//! A program that tunes itself with its calls: every result is right, and in the end the fastest
//! serves.
//!
//! | file | tests |
//! |---|---|
//! | `calls.rs` | calls of one process: queues, threads, images, views, policies |
//! | `programs.rs` | programs that are ended, and two at the same time |

// All in one module, so that `scripts/test` can run them with nothing beside: configurations are
// built at the lowest priority, which on a busy machine takes minutes.
#[path = "."]
mod online {
    mod calls;
    mod programs;
}
