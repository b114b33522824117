//! Both programs compute the same, and differ in few lines.

use std::process::Command;

/// The lines of a program that another one does not have in this order.
fn lines_beside(program: &str, other: &str) -> usize {
    let [program, other] = [program, other].map(|text| {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>()
    });
    // The longest common subsequence, row by row.
    let mut common = vec![0; other.len() + 1];
    for line in &program {
        let mut diagonal = 0;
        for (column, of_other) in other.iter().enumerate() {
            let above = common[column + 1];
            common[column + 1] = if line == of_other {
                diagonal + 1
            } else {
                above.max(common[column])
            };
            diagonal = above;
        }
    }
    program.len() - common[other.len()]
}

#[test]
fn a_tuned_kernel_takes_ten_lines() {
    let (plain, tuned) = (
        include_str!("../src/plain.rs"),
        include_str!("../src/tuned.rs"),
    );
    let (new, gone) = (lines_beside(tuned, plain), lines_beside(plain, tuned));
    assert!(new > 0 && new <= 10, "{new} lines are new");
    assert!(gone > 0 && gone <= 10, "{gone} lines are gone");
    assert_eq!(lines_beside("a\nb\nc", "c\na\nx\nb"), 1);
}

#[test]
fn both_programs_compute_the_same() {
    let programs = [
        env!("CARGO_BIN_EXE_heat-plain"),
        env!("CARGO_BIN_EXE_heat-tuned"),
    ];
    let [plain, tuned] = programs.map(|program| {
        let output = Command::new(program).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}{error}");
        said
    });
    assert_eq!(plain, tuned);
    // The source gives 16 x 16 points 1 degree in each of 100 steps.
    assert!(plain.contains(": 25600.0 in all"), "{plain}");
}
