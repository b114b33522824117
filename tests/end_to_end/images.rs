//! Memory spaces that a parameter chooses, and images, from their declaration to a tuned program.

use cltune_tests::Project;
use serde_json::Value;

/// A filter whose picture is a buffer, in constant memory or an image; of an image `WRONG` misses
/// the last column. And the picture turned upside down, between images.
const TUNABLES: &str = r#"
use cltune::{Buffer, Event, Image2d, Queue, Result, tunable};

#[tunable(
    source = "kernels/blur.cl",
    params(MEM = ["buffer", "constant", "image"], WRONG = [0, 1]),
    global(w, h),
    defaults(MEM = "buffer", WRONG = 0),
    reference(kernel = "reference", global(w, h)),
    tune(w = 64, h = 32),
)]
pub fn blur(
    queue: &Queue,
    w: i32,
    h: i32,
    #[arg(len = w * h, memory = MEM, image = [w, h])] picture: &Buffer<f32>,
    #[arg(out, len = w * h)] result: &mut Buffer<f32>,
) -> Result<Event>;

#[tunable(
    source = "kernels/flip.cl",
    params(WRONG = [0, 1]),
    global(w, h),
    defaults(WRONG = 0),
    tune(w = 16, h = 32),
)]
pub fn flip(
    queue: &Queue,
    #[arg(host_only)] w: i32,
    h: i32,
    #[arg(size = [w, h], fill = iota)] from: &Image2d<[f32; 4]>,
    #[arg(out, size = [w, h])] to: &mut Image2d<[f32; 4]>,
) -> Result<Event>;
"#;

const BLUR: &str = r"
#ifdef MEM_image
__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define PICTURE read_only image2d_t picture
#define AT(x, y) read_imagef(picture, NEAREST, (int2)(x, y)).x
#else
#ifdef MEM_constant
#define PICTURE __constant float* picture
#else
#define PICTURE __global const float* picture
#endif
#define AT(x, y) picture[(y) * w + clamp(x, 0, w - 1)]
#endif

__kernel void blur(const int w, const int h, PICTURE, __global float* result) {
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = AT(x - 1, y) + AT(x, y) + AT(x + 1, y);
#ifdef MEM_image
    if (WRONG && x == w - 1) sum = 0;
#endif
    result[y * w + x] = sum / 3;
}

__kernel void reference(const int w, const int h, __global const float* picture, __global float* result) {
    const int x = get_global_id(0), y = get_global_id(1);
    const float sum = picture[y * w + max(x - 1, 0)] + picture[y * w + x] + picture[y * w + min(x + 1, w - 1)];
    result[y * w + x] = sum / 3;
}
";

const FLIP: &str = r"
__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void flip(const int h, read_only image2d_t from, write_only image2d_t to) {
    const int x = get_global_id(0), y = get_global_id(1);
    write_imagef(to, (int2)(x, y), read_imagef(from, NEAREST, (int2)(x, h - 1 - y + WRONG)));
}
";

const PROGRAM: &str = r#"
use cltune::{Buffer, Image2d, Queue, Result};
use cltune_e2e_images::{blur, flip};

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let (w, h) = (64, 32);
    let picture: Vec<f32> = (0..w * h).map(|i| (i % 7) as f32).collect();
    let buffer = Buffer::from_slice(&queue, &picture)?;
    let mut result = Buffer::new(queue.context(), picture.len())?;
    blur(&queue, w, h, &buffer, &mut result)?.wait()?;
    let result = result.read(&queue)?;
    assert!((result[9] - (1.0 + 2.0 + 3.0) / 3.0).abs() < 1e-5, "{}", result[9]);

    let pixels: Vec<[f32; 4]> = (0..16 * 32).map(|i| [i as f32, 0.0, 1.0, 2.0]).collect();
    let from = Image2d::from_slice(&queue, [16, 32], &pixels)?;
    let mut to = Image2d::new(queue.context(), [16, 32])?;
    flip(&queue, 16, 32, &from, &mut to)?;
    assert_eq!(to.read(&queue)?[3], [31.0 * 16.0 + 3.0, 0.0, 1.0, 2.0]);
    let problem = blur::Problem { w: w.into(), h: h.into() };
    println!("selected: {}", blur::select(queue.device(), problem)?);
    Ok(())
}
"#;

fn project(name: &str) -> Project {
    Project::new(name)
        .file("src/lib.rs", TUNABLES)
        .file(
            "src/main.rs",
            PROGRAM.replace("cltune_e2e_images", &name.replace('-', "_")),
        )
        .file("kernels/blur.cl", BLUR)
        .file("kernels/flip.cl", FLIP)
}

#[test]
fn memory_spaces_and_images_are_tuned_verified_and_baked() {
    let project = project("cltune-e2e-images");
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["MEM = buffer, WRONG = 0 (the declared default)"]);

    let full = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&full).expect_code(0);
    let found = tuned.messages("configuration");
    assert_eq!(found.len(), 8, "{tuned}");
    for message in &found {
        let status = message["status"].as_str().unwrap_or_default();
        let values = message["values"].to_string();
        let is_of_blur = message["kernel"]
            .as_str()
            .unwrap_or_default()
            .contains("blur");
        let wrong: &[&str] = if is_of_blur {
            &["[\"image\",1]"]
        } else {
            &["[1]"]
        };
        assert_eq!(status == "ok", !wrong.contains(&&*values), "{message}");
        let converts = is_of_blur && values.contains("image") && status == "ok";
        assert_eq!(
            message["conversion_us"] != Value::Null,
            converts,
            "{message}"
        );
    }
    let lockfile = project.read("cltune.lock");
    assert_eq!(lockfile.matches("[[kernel]]").count(), 2, "{lockfile}");

    // Nothing is measured again, and nothing is stale.
    let resumed = project.cltune(&["tune", "--resume", "--message-format", "json"]);
    assert_eq!(
        resumed.expect_code(0).messages("configuration"),
        [Value::Null; 0]
    );
    let _ = project.cltune(&["check"]).expect_code(0);
    let verified = project
        .cltune(&["verify", "--message-format", "json"])
        .expect_code(0);
    assert!(verified.messages("verified").len() >= 2, "{verified}");
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["for this problem"]);
    let _ = project
        .cltune(&["report", "--output", "report.html"])
        .expect_code(0);
    let page = project.read("report.html");
    assert!(page.contains("Conversion") && page.contains("image"));

    // Another size of the image makes the values stale.
    project.edit("src/lib.rs", "image = [w, h]", "image = [w, h / 1]");
    let _ = project.cltune(&["check"]).expect_code(1);
}

#[test]
fn what_a_device_lacks_makes_values_invalid_before_anything_is_built() {
    let project = project("cltune-e2e-images-limits");
    let valid = |tunable: &str, image_support: i64, constant: i64| {
        let device = format!(
            "--limits=Some:compute_units=4,max_work_group_size=64,max_constant_args=8,\
             max_read_image_args=8,max_write_image_args=8,image2d_max_width=64,\
             image2d_max_height=64,local_mem_size=0,image_support={image_support},\
             max_constant_buffer_size={constant}"
        );
        let arguments = [
            "list",
            "--kernel",
            tunable,
            "--explain",
            "--format",
            "json",
            &device,
        ];
        let listed = project.cltune(&arguments).expect_code(0).json();
        let space = &listed["tunables"][0]["spaces"][0];
        if tunable == "blur" {
            let rules = space["rules"].as_array().expect("a list");
            let mut of_memory = rules.iter().filter(|of| of["rule"] == "memory spaces");
            assert!(of_memory.next().is_some(), "{space}");
        }
        space["valid"].as_u64().expect("a number")
    };
    assert_eq!(valid("blur", 1, 8192), 6);
    assert_eq!(valid("blur", 1, 8191), 4);
    assert_eq!(valid("blur", 0, 8191), 2);
    assert_eq!(valid("flip", 1, 8192), 2);
    assert_eq!(valid("flip", 0, 8192), 0);
}

#[test]
fn launches_with_images_are_captured_and_simulated() {
    if cltune_tests::is_left_to_full() {
        return;
    }
    let project = project("cltune-e2e-images-live");
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");
    let data = [("CLTUNE_CAPTURE", launches), ("CLTUNE_CAPTURE_DATA", "1")];
    let _ = project.run_with(&data).expect_code(0);
    let arguments = ["tune", "--captured", "launches", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    assert_eq!(tuned.messages("finished").len(), 2, "{tuned}");

    // What is chosen is said with what it costs besides.
    let only_images = [
        "tune",
        "--fresh",
        "--kernel",
        "blur",
        "--strategy",
        "full",
        "--constraint",
        "MEM == \"image\"",
    ];
    let tuned = project.cltune(&only_images).expect_code(0);
    let _ = tuned.expect_stdout(&["MEM = image, WRONG = 0", "the buffers become images in"]);

    if super::oclgrind::is_installed() {
        let verified = project.cltune(&["verify", "--oclgrind"]);
        let _ = verified.expect_code(0);
    }
}
