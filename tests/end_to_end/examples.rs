//! Examples that compare what they compute with the host, or with what is right, and those that
//! write pictures.

use cltune_tests::process::Output;
use cltune_tests::tools;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

fn example(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(tools::example(name));
    Output::of(command.args(arguments))
}

/// The width and the height of a PNG, and its bytes.
fn picture(path: &Path) -> ([u32; 2], Vec<u8>) {
    let file = BufReader::new(File::open(path).expect("the example wrote it"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut bytes = vec![
        0;
        reader
            .output_buffer_size()
            .expect("a picture fits into memory")
    ];
    let frame = reader.next_frame(&mut bytes).expect("a whole picture");
    bytes.truncate(frame.buffer_size());
    ([frame.width, frame.height], bytes)
}

#[test]
fn the_depth_of_the_made_scene_is_found() {
    const FOUND: &str = " % of the disparities are within a pixel of the known ones";
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().to_string_lossy().into_owned();
    let found = example("depth", &["--size", "144", "--output", &path]).expect_code(0);
    let part = found
        .stdout
        .lines()
        .find_map(|line| line.strip_suffix(FOUND));
    let part: f64 = part
        .and_then(|part| part.parse().ok())
        .unwrap_or_else(|| panic!("{found}"));
    // What only one camera sees, and what is near an edge, is not found.
    assert!((70.0..100.0).contains(&part), "{found}");
    let [known, depth] = ["known.png", "depth.png"].map(|name| picture(&folder.path().join(name)));
    assert_eq!((known.0, depth.0), ([144; 2], [144; 2]));
    assert_ne!(known.1, depth.1);

    let refused = example(
        "depth",
        &["--size", "16", "--window", "8", "--output", &path],
    );
    let _ = refused
        .expect_code(1)
        .expect_stderr(&["depth: a window of 8 x 8 pixels: the size must be odd"]);
}

#[test]
fn a_volume_becomes_a_picture_with_the_head_in_the_middle() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("volume.png");
    let name = path.to_string_lossy().into_owned();
    let sizes = ["--voxels", "32", "--pixels", "48", "--output", &name];
    let _ = example("volume", &sizes).expect_code(0);
    let (size, bytes) = picture(&path);
    assert_eq!((size, bytes.len()), ([48; 2], 48 * 48 * 3));
    let pixel = |x: usize, y: usize| &bytes[(y * 48 + x) * 3..][..3];
    assert_eq!(pixel(0, 0), [0; 3]);
    assert!(
        pixel(24, 24).iter().all(|part| *part > 30),
        "{:?}",
        pixel(24, 24)
    );

    let refused = example(
        "volume",
        &["--step", "0", "--voxels", "8", "--output", &name],
    );
    let _ = refused
        .expect_code(1)
        .expect_stderr(&["volume: a step of 0 voxels"]);
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
