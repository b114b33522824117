//! From a declaration to a tuned program, as a user goes: on packages outside this workspace.
//!
//! They need an OpenCL device; PoCL on a CPU is enough.
//!
//! | file | tests |
//! |---|---|
//! | `tuned_program` | the whole way, and what makes values stale |
//! | `rebuilds` | what cargo builds again, and what not |
//! | `places` | where tunables may be: targets, modules, features, workspaces |
//! | `dependencies` | programs that use a library with tunables |
//! | `device_limits` | limits of the device in every clause that may use them |
//! | `double_precision` | statements in double precision on a device without it |
//! | `images` | memory spaces that a parameter chooses, and images |
//! | `documentation` | the programs and the links of README.md, the book and the other pages |
//! | `artifact` | tuning a program where there is neither cargo nor source |
//! | `bad_kernels` | kernels and spaces that cannot be tuned |
//! | `bad_lockfiles` | lockfiles that cannot be read or written |
//! | `bad_environment` | missing libraries, drivers, devices; wrong usage |
//! | `computations` | what the tuner computes for itself: prepared inputs, references, compared ranges |
//! | `crates` | what the crates compile, and what not |
//! | `examples` | examples that compare with the host |
//! | `fleet` | several machines that tune parts of one artifact |
//! | `fleet_engines` | Slurm and HyperQueue that run these, by `scripts/test --full` |
//! | `fused`, `fused_matrices`, `fused_library` | statements that become kernels, or calls of the library |
//! | `captured` | tuning what a running program launches |
//! | `faults` | drivers, devices, disks and processes that fail, on command |
//! | `finalists` | configurations that are wrong on another draw than the one they were measured on |
//! | `limits` | time limits and Ctrl-C, whatever is under way |
//! | `energy` | energy as an objective, with made-up counters |
//! | `measuring` | times with cold and with warm caches, which are kept apart |
//! | `pruning` | what devices' limits leave of a space |
//! | `verification` | results that are wrong on other inputs and problems than tuning's |
//! | `wrong_kernels` | kernels that are right, or fast, only where somebody looks |
//! | `oclgrind` | defects that only a simulator shows |
//! | `report` | the page about sessions |
//! | `browser` | that page in Chromium: light and dark, on a desk and on a phone, with a keyboard |
//! | `run_time` | programs that tune themselves, on drivers that fail |
//! | `structs` | structs in buffers and by value |
//! | `terminal` | tables on narrow terminals; what lines name |
//! | `sessions` | messages for tools, interruption, two sessions at once |

// All in one module, so that `cargo test --workspace -- --skip end_to_end::` runs all other tests.
#[path = "."]
mod end_to_end {
    mod artifact;
    mod bad_environment;
    mod bad_kernels;
    mod bad_lockfiles;
    #[cfg(unix)]
    mod browser;
    mod captured;
    mod computations;
    mod crates;
    mod dependencies;
    mod device_limits;
    mod documentation;
    #[cfg(target_os = "linux")]
    mod double_precision;
    mod energy;
    mod examples;
    #[cfg(target_os = "linux")]
    mod faults;
    mod finalists;
    #[cfg(unix)]
    mod fleet;
    #[cfg(target_os = "linux")]
    mod fleet_engines;
    mod fused;
    mod fused_library;
    mod fused_matrices;
    mod groups;
    mod images;
    mod limits;
    mod measuring;
    mod oclgrind;
    mod parameter_values;
    mod places;
    mod pruning;
    mod rebuilds;
    mod report;
    #[cfg(target_os = "linux")]
    mod run_time;
    mod sessions;
    mod structs;
    mod terminal;
    mod tuned_program;
    mod verification;
    mod wrong_kernels;
}
