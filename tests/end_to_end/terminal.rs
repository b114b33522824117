//! Output for people: tables on narrow terminals, and lines that say which search they are about.

use cltune_tests::{Output, Project, samples, tools};

/// A tunable with a long formula, and configurations that fail.
fn project(name: &str) -> Project {
    samples::inline(
        name,
        "params(WIDTH_OF_A_TILE = [16, 32], ROWS_FOR_EACH_WORK_ITEM = [1, 2]), local(WIDTH_OF_A_TILE), \
         constraints(WIDTH_OF_A_TILE * ROWS_FOR_EACH_WORK_ITEM <= device.max_work_group_size), tune(n = 512), \
         defaults(WIDTH_OF_A_TILE = 16, ROWS_FOR_EACH_WORK_ITEM = 1)",
        "__kernel void run(const uint n, __global int* y) {
         #if WIDTH_OF_A_TILE == 32
            #error no such tile
         #endif
            y[get_global_id(0)] = (int)n * ROWS_FOR_EACH_WORK_ITEM / ROWS_FOR_EACH_WORK_ITEM;
        }",
    )
}

#[test]
fn lines_about_a_search_name_its_problem_and_its_device() {
    let project = project("cltune-e2e-lines");
    let devices = project.cltune(&["devices", "--format", "json"]).json();
    let device = devices["devices"][0]["name"].as_str().expect("a name");
    let tuned = project.cltune(&["tune", "--device", "0", "--strategy", "full"]);
    let tuned = tuned.expect_code(0);
    for n in [256, 512] {
        let search = format!("cltune_e2e_lines::run on {device} for n = {n}: ");
        let line = format!("{search}2 build-failed, the first: ");
        let _ = tuned.clone().expect_stdout(&[&line]);
        // As soon as the search is done.
        let mut lines = tuned.stderr.lines();
        let is_found = |line: &str| line.starts_with(&search) && line.ends_with("x default");
        assert!(lines.any(is_found), "{tuned}");
    }
    // The columns are as wide as the times that were measured.
    let words = [
        "time", "default", "speed-up", "measured", "failed", "kernel",
    ];
    let has_header = |line: &str| {
        line.split_whitespace()
            .collect::<Vec<_>>()
            .starts_with(&words)
    };
    assert!(tuned.stdout.lines().any(has_header), "{tuned}");
}

/// Runs the command on a terminal of so many columns; `None` without the program that makes one.
#[cfg(target_os = "linux")]
fn on_a_terminal(project: &Project, columns: usize, arguments: &str) -> Option<Output> {
    let cltune = tools::cargo_cltune().display().to_string();
    let inside = format!("stty rows 50 cols {columns}; '{cltune}' cltune {arguments}");
    let found = std::process::Command::new("script")
        .arg("--version")
        .output();
    if !found.is_ok_and(|found| found.status.success()) {
        cltune_tests::skip("there is no `script`, which makes a terminal");
        return None;
    }
    let mut command = project.command("script".as_ref());
    command.args(["-qec", &inside, "/dev/null"]);
    Some(Output::of(&mut command))
}

#[cfg(target_os = "linux")]
#[test]
fn no_table_is_wider_than_the_terminal() {
    let project = project("cltune-e2e-narrow");
    let constraint = "WIDTH_OF_A_TILE * ROWS_FOR_EACH_WORK_ITEM <= device.max_work_group_size";
    // Without a terminal a row is a line.
    let _ = project
        .cltune(&["list", "--explain"])
        .expect_code(0)
        .expect_stdout(&[constraint]);
    // The rows of a table, without what is printed around it.
    let table = |arguments: &str, begin: &str, end: &str| {
        let printed = on_a_terminal(&project, 60, arguments)?.expect_code(0);
        let lines = printed
            .stdout
            .lines()
            .map(|line| line.trim_end().to_owned());
        let lines = lines.skip_while(|line| !line.contains(begin));
        let table: Vec<String> = lines.take_while(|line| !line.contains(end)).collect();
        assert!(table.len() > 3, "{printed}");
        for line in &table {
            assert!(line.chars().count() <= 60, "{line:?} in {printed}");
        }
        Some(table.join("\n"))
    };
    let Some(explained) = table("list --explain", "removes alone", "n = 512") else {
        return;
    };
    assert!(!explained.contains(constraint), "{explained}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&explained).contains(constraint), "{explained}");
    let tune = "tune --quiet --device 0 --problem n=256 --budget 2";
    table(tune, "speed-up", "starting,").expect("there is a terminal");
    table("verify --device 0 --problem n=256", "draws", "reference").expect("there is a terminal");
    table(
        "rules --device 0 --problem n=256",
        "of the fastest",
        "\u{0}",
    )
    .expect("there is a terminal");
}
