//! Structs in buffers and by value, from their declaration to a tuned program: every command, stale
//! values, and a layout that differs.

use cltune_tests::Project;

/// A step of particles; `HOW == "wrong"` leaves a field out, and the default wastes its time.
const TUNABLE: &str = r#"
#![forbid(unsafe_code)]
use cltune::{Buffer, Event, KernelStruct, Queue, Result, tunable};

#[derive(Clone, Copy, Debug, Default, PartialEq, KernelStruct)]
#[repr(C)]
pub struct Particle {
    #[kernel_struct(vector)]
    pub place: [f32; 4],
    pub speed: [f32; 3],
    pub age: u32,
}

#[derive(Clone, Copy, Debug, Default, KernelStruct)]
#[repr(C)]
pub struct Step {
    pub time: f32,
    pub drag: f32,
}

#[tunable(
    source = "kernels/drift.cl",
    params(HOW = ["waste", "plain", "wrong"], WG = [16, 32]),
    global(n), local(WG),
    defaults(HOW = "waste", WG = 16),
    reference(kernel = "reference", global(n)),
    tune(n = [256, 1024]),
)]
pub fn drift(
    queue: &Queue,
    n: u32,
    step: Step,
    #[arg(len = n)] particles: &mut Buffer<Particle>,
) -> Result<Event>;
"#;

const KERNEL: &str = r"
typedef struct { float4 place; float speed[3]; uint age; } Particle;
typedef struct { float time; float drag; } Step;

void move(__global Particle* p, const Step step) {
    p->place.x += step.time * p->speed[0];
    p->place.y += step.time * p->speed[1];
    p->place.z += step.time * p->speed[2];
#ifndef HOW_wrong
    p->age += 1;
#endif
}

__kernel void drift(const uint n, const Step step, __global Particle* particles) {
    const uint i = get_global_id(0);
#ifdef HOW_waste
    float waste = i;
    for (int k = 0; k < 4000; k++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
    if (waste > 1e30f) return;
#endif
    move(particles + i, step);
}

__kernel void reference(const uint n, const Step step, __global Particle* particles) {
    const uint i = get_global_id(0);
    particles[i].place.xyz += step.time *
        (float3)(particles[i].speed[0], particles[i].speed[1], particles[i].speed[2]);
    particles[i].age++;
}
";

const PROGRAM: &str = r#"
use cltune::{Buffer, Queue, Result};
use cltune_e2e_structs::{Particle, Step, drift};

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let n = 1024;
    let particle = Particle { speed: [1.0, 2.0, 3.0], age: 7, ..Particle::default() };
    let mut particles = Buffer::from_slice(&queue, &vec![particle; n as usize])?;
    drift(&queue, n, Step { time: 2.0, drag: 0.0 }, &mut particles)?.wait()?;
    let moved = Particle { place: [2.0, 4.0, 6.0, 0.0], age: 8, ..particle };
    assert_eq!(particles.read(&queue)?, vec![moved; n as usize]);
    println!("{}", drift::explain(&queue, drift::Problem { n: n.into() })?);
    Ok(())
}
"#;

fn project(name: &str) -> Project {
    Project::new(name)
        .file("src/lib.rs", TUNABLE)
        .file(
            "src/main.rs",
            PROGRAM.replace("cltune_e2e_structs", &name.replace('-', "_")),
        )
        .file("kernels/drift.cl", KERNEL)
}

#[test]
fn structs_are_tuned_verified_and_baked() {
    let project = project("cltune-e2e-structs");
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&["HOW = waste, WG = 16: the declared default"]);
    let full = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&full).expect_code(0);
    let configurations = tuned.messages("configuration");
    assert_eq!(configurations.len(), 12, "{tuned}");
    for message in configurations {
        let is_wrong = message["values"][0] == "wrong";
        assert_eq!(message["status"] == "ok", !is_wrong, "{message}");
        let detail = message["detail"].as_str().unwrap_or_default();
        assert_eq!(detail.contains("].age is"), is_wrong, "{message}");
    }
    for finished in tuned.messages("finished") {
        assert_eq!(finished["values"][0], "plain", "{finished}");
    }
    let _ = project.cltune(&["check"]).expect_code(0);
    let verified = project.cltune(&["verify"]).expect_code(0);
    if super::oclgrind::is_installed() {
        let _ = project.cltune(&["verify", "--oclgrind"]).expect_code(0);
    }
    drop(verified);
    let built = project.run().expect_code(0).expect_stdout(&["HOW = plain"]);
    assert!(!built.stderr.contains("deprecated"), "{built}");

    // Of the same size, so that the kernel does what it did with other numbers.
    project.edit("src/lib.rs", "pub age: u32", "pub age: i32");
    let stale = project
        .run()
        .expect_code(0)
        .expect_stdout(&["HOW = waste, WG = 16: the declared default"]);
    let _ = project.cltune(&["check"]).expect_code(1);
    drop(stale);
    let warned = project.cargo(&["check"]);
    let _ = warned
        .expect_code(0)
        .expect_stderr(&["tuned for another version of the kernel"]);
    let again = ["tune", "--strategy", "full"];
    let again = project.cltune(&again).expect_code(0);
    assert!(!again.stderr.contains("deprecated"), "{again}");
    let _ = project.run().expect_code(0).expect_stdout(&["HOW = plain"]);
}

#[test]
fn structs_are_captured_and_replayed() {
    if cltune_tests::is_left_to_full() {
        return;
    }
    let project = project("cltune-e2e-structs-captured");
    let folder = project.path("launches");
    let launches = folder.to_str().expect("it is text");
    let data = [("CLTUNE_CAPTURE", launches), ("CLTUNE_CAPTURE_DATA", "1")];
    let _ = project.run_with(&data).expect_code(0);
    let arguments = ["tune", "--captured", "launches", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let finished = tuned.messages("finished");
    assert_eq!(finished.len(), 1, "{tuned}");
    assert_eq!(finished[0]["problem"]["n"], 1024, "{tuned}");
    assert_eq!(finished[0]["values"][0], "plain", "{tuned}");
    std::fs::remove_file(project.path("cltune.lock")).expect("it was written");

    // The program tunes itself before its first call.
    let manifest = project.read("Cargo.toml");
    project.write(
        "Cargo.toml",
        manifest.replace("features = [", "features = [\"tuning\", "),
    );
    let cache = project.path("cache");
    let cache = cache.to_str().expect("it is text");
    let once = [("CLTUNE_CACHE", cache), ("CLTUNE_POLICY", "tune-once:20")];
    let _ = project
        .run_with(&once)
        .expect_code(0)
        .expect_stdout(&["HOW = plain"]);
}

#[test]
fn a_layout_that_differs_stops_tuning_and_shows_both() {
    let project = project("cltune-e2e-structs-layout");
    project.edit(
        "kernels/drift.cl",
        "float speed[3]; uint age;",
        "float3 speed; uint age;",
    );
    project.edit("kernels/drift.cl", "p->speed[0]", "p->speed.x");
    project.edit("kernels/drift.cl", "p->speed[1]", "p->speed.y");
    project.edit("kernels/drift.cl", "p->speed[2]", "p->speed.z");
    let reference = "(float3)(particles[i].speed[0], particles[i].speed[1], particles[i].speed[2])";
    project.edit("kernels/drift.cl", reference, "particles[i].speed");
    let tuned = project.cltune(&["tune"]);
    let _ = tuned.expect_stderr(&[
        "the struct `Particle` of the host and `Particle` of the device differ",
        "! speed           16     12             16     16",
        "! age             28      4             32      4",
    ]);
    let _ = project.run().expect_code(1).expect_stderr(&["! speed "]);
}
