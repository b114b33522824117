//! The `#[tunable]` attribute of cltune. Use it through `cltune_runtime::tunable`.
