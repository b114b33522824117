//! Unit tests of `commands::columns`.

use super::*;

fn rows() -> Vec<Row<2, 3>> {
    let row =
        |numbers: [&str; 2], text: [&str; 3]| (numbers.map(str::to_owned), text.map(str::to_owned));
    vec![
        row(["time", "speed-up"], ["kernel", "problem", "values"]),
        row(
            ["12.5 us", "1.80x"],
            ["app::saxpy", "n = 1048576", "WG = 64, WPT = 2"],
        ),
        row(
            ["7.1 ms", "10.01x"],
            [
                "app::convolution",
                "width = 2048, height = 2048",
                "A = 1, T = float, B = 16",
            ],
        ),
    ]
}

fn laid_out(width: Option<usize>) -> Vec<String> {
    lines(&rows(), INDENT, width)
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn with_room_there_is_a_line_for_each_row() {
    let expected = [
        "     time  speed-up  kernel            problem                      values",
        "  12.5 us     1.80x  app::saxpy        n = 1048576                  WG = 64, WPT = 2",
        "   7.1 ms    10.01x  app::convolution  width = 2048, height = 2048  A = 1, T = float, B = 16",
    ];
    assert_eq!(laid_out(None), expected);
    assert_eq!(laid_out(Some(92)), expected);
    assert_ne!(laid_out(Some(91)), expected);
}

#[test]
fn text_is_wrapped_beside_the_numbers() {
    let expected = [
        "     time  speed-up  kernel  problem  values",
        "  12.5 us     1.80x  app::saxpy  n = 1048576",
        "                     WG = 64, WPT = 2",
        "   7.1 ms    10.01x  app::convolution",
        "                     width = 2048,",
        "                     height = 2048",
        "                     A = 1, T = float, B = 16",
    ];
    assert_eq!(laid_out(Some(45)), expected);
}

#[test]
fn where_numbers_leave_no_room_text_goes_below() {
    let expected = [
        "     time  speed-up",
        "      kernel  problem  values",
        "  12.5 us     1.80x",
        "      app::saxpy  n = 1048576",
        "      WG = 64, WPT = 2",
        "   7.1 ms    10.01x",
        "      app::convolution",
        "      width = 2048,",
        "      height = 2048",
        "      A = 1, T = float, B = 16",
    ];
    assert_eq!(laid_out(Some(32)), expected);
}

#[test]
fn no_line_is_wider_than_the_terminal_unless_a_word_is() {
    for width in 1..120 {
        for line in laid_out(Some(width)) {
            // The widest numbers, and the widest words with what stands before them.
            let least = 22 + INDENT + BELOW;
            assert!(
                measure_text_width(&line) <= width.max(least),
                "{width}: {line:?}"
            );
        }
    }
    let formula = "(n * device.max_work_group_size) % (WG * WPT) == 0";
    let lines = wrapped(formula, 4, Some(30));
    assert_eq!(
        lines,
        [
            "    (n *",
            "    device.max_work_group_size)",
            "    % (WG * WPT) == 0"
        ]
    );
    assert_eq!(wrapped(formula, 4, None), [format!("    {formula}")]);
    assert_eq!(wrapped("", 4, Some(30)), [""]);
}
