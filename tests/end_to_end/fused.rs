//! Statements that become kernels: listed, shown, tuned, checked and verified like any tunable.

use cltune_tests::{Output, Project, tools};

/// Where nothing is known of a tunable but its template.
const TEMPLATE_DEFAULTS: &str = "from the database of template defaults";

const PROGRAM: &str = r#"
use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 4096), crate = cltune)]
pub fn step(
    queue: &Queue,
    n: u32,
    alpha: f32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    x = alpha * x + y;
    s = dot(x, y);
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut x = Buffer::from_slice(&queue, &[1.0; 4096])?;
    let y = Buffer::from_slice(&queue, &[2.0; 4096])?;
    let mut s = Buffer::new(queue.context(), 1)?;
    step(&queue, 4096, 3.0, &mut x, &y, &mut s)?;
    println!("{:?} {:?}", x.read(&queue)?[4095], s.read(&queue)?);
    println!("{}", step::select(queue.device(), step::Problem { n: 4096 })?);
    Ok(())
}
"#;

#[test]
fn fused_statements_are_tuned_like_any_kernel() {
    let project = Project::new("cltune-e2e-fused").file("src/main.rs", PROGRAM);
    let right = "5.0 [40960.0]";
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&[right, TEMPLATE_DEFAULTS]);
    let listed = project.cltune(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["cltune_e2e_fused::step", "FUSE", "VW", "GROUPS", "FETCH"]);

    // What was written is a comment where it is computed.
    let shown = project.cltune(&["show", "step"]).expect_code(0);
    let _ = shown.expect_stdout(&[
        "// cltune_e2e_fused::step\n",
        "// problem: n = 4096\n",
        TEMPLATE_DEFAULTS,
        "//   pass_0(4096, alpha, x, y, s, parts_dot_",
        "        // s = dot(x, y);\n",
    ]);
    let scalar = ["show", "step", "--config", "FUSE=all,VW=1,ACCUMULATORS=1"];
    let shown = project.cltune(&scalar).expect_code(0);
    let shown = shown.expect_stdout(&["#define VW 1\n", "        // x = alpha * x + y;\n"]);
    is_the_source_of_the_book(&shown.stdout);
    let problem = ["show", "step", "--problem", "n=1003", "--device", "0"];
    let of_problem = project.cltune(&problem).expect_code(0);
    let device = shown
        .stdout
        .lines()
        .find(|line| line.starts_with("// device: "));
    let _ = of_problem.expect_stdout(&[
        device.expect("it says for which device"),
        "// problem: n = 1003\n",
        "//   pass_0(1003, alpha, x, y, s, ",
    ]);
    let single = ["show", "step", "--config", "FUSE=none,VW=4,WG=32,GROUPS=16"];
    let shown = project.cltune(&single).expect_code(0);
    let _ = shown.expect_stdout(&[
        "VW = 4, WG = 32",
        "//   single_0(4096, alpha, x, y), 512 work-items in groups of 32",
        "#define VW 4\n",
    ]);
    for (arguments, message) in [
        (
            &["show", "stap"][..],
            "no tunable has `stap` in its name; there are: cltune_e2e_fused::step",
        ),
        (
            &["show", "step", "--config", "VW=3"],
            "`VW` has no value `3`",
        ),
        (
            &["show", "step", "--config", "WH=3"],
            "has no parameter `WH`; it has: FUSE, VW",
        ),
        (
            &["show", "step", "--config", "VW"],
            "`VW` is not of the form `WG=64`",
        ),
        (
            &["show", "step", "--config", "VW=1,VW=4"],
            "`VW` is given twice",
        ),
        (&["show", "step", "--problem", "m=3"], "no dimension `m`"),
        (
            &["show", "step", "--device", "no such device"],
            "no such device",
        ),
    ] {
        let _ = project
            .cltune(arguments)
            .expect_code(2)
            .expect_stderr(&[message]);
    }

    let tuned = project
        .cltune(&["tune", "--budget", "6", "--seed", "3"])
        .expect_code(0);
    let _ = tuned.expect_stdout(&["step"]);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .run()
        .expect_code(0)
        .expect_stdout(&[right, "tuned on this device for this problem"]);
    let _ = project.cltune(&["verify", "--draws", "2"]).expect_code(0);
    let report = project.cltune(&["report", "--output", "page.html"]);
    let _ = report.expect_code(0).expect_stdout(&["page.html"]);
    let page = project.read("page.html");
    for text in ["cltune_e2e_fused::step", "<svg", "FUSE", "GROUPS"] {
        assert!(page.contains(text), "no `{text}` in {page}");
    }

    values_become_template_defaults(&project);

    // Another statement is another kernel, which takes what the template was found to like.
    project.edit("src/main.rs", "alpha * x + y;", "alpha * x - y;");
    let _ = project
        .cltune(&["check"])
        .expect_code(1)
        .expect_stdout(&["stale"]);
    let own = ("CLTUNE_DATABASE", "mine.toml");
    let ran = project.run_with(&[own]).expect_code(0);
    let _ = ran.expect_stdout(&["1.0 [8192.0]", &format!("({TEMPLATE_DEFAULTS})")]);
}

/// The book shows a kernel of these statements as it is.
fn is_the_source_of_the_book(shown: &str) {
    let page = tools::repository().join("docs/expressions.md");
    let page = std::fs::read_to_string(page).expect("it is text");
    let (_, section) = page
        .split_once("\n## The generated source\n")
        .expect("it has a section");
    assert!(section.contains("`x = alpha * x + y; s = dot(x, y);`"));
    let block = section.split("```text\n").nth(1).expect("it has a block");
    let (kernel, _) = block.split_once("```").expect("the block ends");
    assert!(kernel.contains("__kernel void pass_0("), "{kernel}");
    assert!(
        shown.contains(kernel),
        "docs/expressions.md has\n{kernel}and `cargo cltune show step` prints\n{shown}"
    );
}

/// `export --database` makes a database of what was tuned, `merge` unites two, and a file that is
/// damaged is an error of the tool and none of a program.
fn values_become_template_defaults(project: &Project) {
    let export = |file| project.cltune(&["export", "--database", file]);
    let exported = export("mine.toml").expect_code(0);
    let _ = exported.expect_stdout(&["mine.toml: 1 written, 1 of them new; 1 entries"]);
    let again = export("mine.toml").expect_code(0);
    let _ = again.expect_stdout(&["mine.toml: 1 written, 0 of them new; 1 entries"]);
    let text = project.read("mine.toml");
    assert!(text.contains("template = \"reduce\", scalar_size = 4, vectors = 2, elements = 4096"));
    assert!(text.contains("kernel = \"cltune_e2e_fused::step\""));

    project.write(
        "theirs.toml",
        text.replace("elements = 4096", "elements = 64"),
    );
    let merge = ["merge", "mine.toml", "theirs.toml", "-o", "both.toml"];
    let merged = project.cltune(&merge).expect_code(0);
    let _ = merged.expect_stderr(&["mine.toml: 1 new entry", "theirs.toml: 1 new entry"]);
    let both = project.read("both.toml");
    assert!(both.contains("elements = 4096") && both.contains("elements = 64"));
    let mixed = project.cltune(&["merge", "mine.toml", "cltune.lock"]);
    let _ = mixed
        .expect_code(2)
        .expect_stderr(&["cltune.lock is no database of template defaults"]);

    // The tunable's own entry is left out: it is what a new expression would get.
    let mut rules = project.cltune_command(&["rules", "--message-format", "json"]);
    let measured = Output::of(rules.env("CLTUNE_DATABASE", "mine.toml")).expect_code(0);
    let _ = measured.expect_stdout(&["\"rule\":\"database"]);

    project.write("broken.toml", "version = 2\n");
    let remedy = ["broken.toml, line 1: ", "update cltune"];
    let _ = export("broken.toml").expect_code(2).expect_stderr(&remedy);
    let broken = ("CLTUNE_DATABASE", "broken.toml");
    for arguments in [&["show", "step"][..], &["tune", "--budget", "1"]] {
        let mut command = project.cltune_command(arguments);
        let ended = Output::of(command.env(broken.0, broken.1)).expect_code(2);
        let _ = ended.expect_stderr(&remedy);
    }
    let _ = project.run_with(&[broken]).expect_code(0);
}
