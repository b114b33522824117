//! Examples that compare what they compute with the host, or with what is right.

use cltune_tests::process::Output;
use cltune_tests::tools;
use std::process::Command;

fn example(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(tools::example(name));
    Output::of(command.args(arguments))
}

#[test]
fn conjugate_gradients_find_the_solution_that_the_host_finds() {
    let solved = example("conjugate-gradient", &["64"]).expect_code(0);
    let _ = solved.expect_stdout(&["the residual is", "the host's solution, of up to"]);
    let refused = example("conjugate-gradient", &["65"]).expect_code(2);
    let _ = refused.expect_stderr(&["usage: conjugate-gradient [SIDE | bench]"]);
}

#[test]
fn ranks_of_pages_are_those_of_the_host() {
    let ranked = example("power-iteration", &[]).expect_code(0);
    let _ = ranked.expect_stdout(&["the host's ranks differ by"]);
}

#[test]
fn a_network_adds_every_pair_of_numbers() {
    let added = example("adder", &[]).expect_code(0);
    let _ = added.expect_stdout(&["65536 sums of two numbers of 8 bits, 0 of them wrong"]);
}
