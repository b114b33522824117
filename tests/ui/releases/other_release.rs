//! Code that another release's attribute generated.

cltune::__generated_by_version! { "0.0.9" }

fn main() {}
