//! What README.md shows first, copied into a package.

use cltune_tests::{Project, tools};
use std::fs;

#[test]
fn the_first_program_of_the_readme_works_at_once_and_tuned() {
    let readme = fs::read_to_string(tools::repository().join("README.md")).expect("it is there");
    let program = readme
        .split("```rust\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("it shows a program");
    let project = Project::new("cltune-e2e-readme").file("src/main.rs", program);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["(the first valid configuration)", "y[0] = 5"]);
    let _ = project
        .cltune(&["--device", "0", "--budget", "2", "--problem", "n=1048576"])
        .expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["(tuned on this device for this problem)", "y[0] = 5"]);
}
