//! Code that another release's attribute generated.

cltune_runtime::__generated_by_version! { "0.0.9" }

fn main() {}
