//! The `#[tunable]` attribute of cltune. Use it through `cltune_runtime::tunable`.
//!
//! | folder | owns |
//! |---|---|
//! | `parse/` | the attribute's grammar: tokens to a syntax tree with spans |
//! | `check/` | the rules: syntax tree to a [`cltune_core`] declaration, every mistake at its token |
//! | `environment` | what is read from disk: kernel files, the lockfile |
//! | `generate/` | the declaration as Rust: function, module, baked table, link-section record |

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod check;
mod environment;
mod errors;
mod expand;
mod generate;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares an OpenCL kernel with tunable parameters.
///
/// The item is a function without a body, or with one string literal as its body: the OpenCL C
/// source. It becomes a function of the same name and signature that launches the kernel with the
/// best known values for the queue's device and the problem at hand, and a module of the same
/// name with the typed parameters and the ways to ask what a call would get.
///
/// ```
/// use cltune_runtime::{Buffer, Event, Queue, Result, tunable};
///
/// /// y <- a*x + y
/// #[tunable(
///     params(WG = [32, 64, 128, 256], WPT = [1, 2, 4, 8]),
///     constraints(n % (WG * WPT) == 0),
///     global(n / WPT), local(WG),
///     tune(n = [1 << 20, 1 << 24]),
///     bytes(12 * n), flops(2 * n),
/// )]
/// pub fn saxpy(
///     queue: &Queue, n: u32, a: f32,
///     #[arg(len = n)] x: &Buffer<f32>,
///     #[arg(len = n)] y: &mut Buffer<f32>,
/// ) -> Result<Event> {
///     r#"
///     __kernel void saxpy(const uint n, const float a, __global const float* x,
///                         __global float* y) {
///         for (uint w = 0; w < WPT; w++) {
///             const uint i = w * get_global_size(0) + get_global_id(0);
///             y[i] += a * x[i];
///         }
///     }
///     "#
/// }
/// # fn main() {}
/// ```
///
/// # Clauses
///
/// | clause | meaning | default |
/// |---|---|---|
/// | `source = "kernels/k.cl"` | the OpenCL C file, relative to the package; `#include "…"` is resolved against the including file | the function's body |
/// | `kernel = "name"` | the `__kernel` function | the Rust function's name |
/// | `name = "name"` | the last part of the key in the lockfile | the Rust function's name |
/// | `crate = path` | where `cltune_runtime` is, for a renamed dependency | `::cltune_runtime` |
/// | `params(P = VALUES, …)` | the parameters, each a macro `-DP=value` of the kernel | none |
/// | `constraints(CONDITION, …)` | what every configuration satisfies | none |
/// | `global(x[, y[, z]])` | global size in work-items | required |
/// | `local(x[, y[, z]])` | local size in work-items | the driver's choice |
/// | `offset(x[, y[, z]])` | global offset | zero |
/// | `local_memory(BYTES)` | local memory the kernel declares itself, for the device's limit | 0 |
/// | `local_args(t: [f32; LEN], …)` | `__local` pointer arguments, after the others, or `before ARGUMENT` | none |
/// | `tune(n = SIZES, …)` | problem sizes to tune for: the product of its lists; repeat it for a union. Names the problem dimensions | one problem |
/// | `defaults(P = value, …)` | the configuration where nothing is known | the first valid one |
/// | `options("…")` | compile options | none |
/// | `defines(M = FORMULA, …)` | further macros | none |
/// | `reference = default` or `reference(kernel = "k", source = "…", global(…), local(…))` | what results are compared with | `default` |
/// | `tolerance(rel = 1e-4, abs = 1e-6)` | how far results may be from it | by element type |
/// | `bytes(FORMULA)`, `flops(FORMULA)` | what one launch moves and computes, for GB/s and GFLOPS | not shown |
///
/// VALUES are `[1, 2, 4]`, `1..=8`, `(0..=64).step_by(16)`, `powers_of_two(8..=128)`,
/// `[false, true]` or `["float", "half"]` (pasted into the kernel as they are, with a macro
/// `P_float` beside for `#ifdef`).
///
/// # Arguments
///
/// The first is `queue: &Queue`. The others are the kernel's, in its order: scalars (`i8` to
/// `u64`, `f16`, `f32`, `f64`), `&Buffer<T>` for what it reads, `&mut Buffer<T>` for what it
/// reads and writes. `#[arg(…)]` on an argument says more:
///
/// | word | meaning |
/// |---|---|
/// | `len = FORMULA` | the least number of elements, checked before a launch and allocated while tuning |
/// | `out` | the kernel writes the buffer and never reads it before: the tuner poisons it |
/// | `fill = uniform(low, high)`, `zeros`, `iota`, `constant(v)`, `file("path")` | contents while tuning; default `uniform(-1, 1)`, for integers `uniform(0, 100)` |
/// | `value = 2.0` | a scalar's value while tuning |
/// | `host_only` | a problem dimension that formulas use and the kernel does not take |
///
/// # Formulas
///
/// Rust's expressions over parameters, problem dimensions and `device.LIMIT`: integers (`i64`,
/// overflow and division by zero make a configuration invalid), booleans, comparisons, `&& || !`,
/// `+ - * / % << >> & | ^`, `if/else`, and `min`, `max`, `abs`, `pow`, `is_power_of_two`,
/// `div_ceil`, `next_multiple_of`, each as method or as function. A parameter with named values
/// compares with a string literal.
///
/// # The generated module
///
/// `saxpy::Params` and `saxpy::Problem` are the typed parameters and dimensions;
/// `saxpy::select(&device, problem)` says which values a call would get and why,
/// `saxpy::default_params(&device, problem)` those without tuning,
/// `saxpy::launch_with(&params, queue, …)` launches a given configuration, `saxpy::BAKED` lists
/// what the lockfile holds, and `saxpy::TUNABLE` is the whole declaration.
#[proc_macro_attribute]
pub fn tunable(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let environment = environment::Environment::current();
    expand::expand(attribute.into(), &item.into(), environment).into()
}
