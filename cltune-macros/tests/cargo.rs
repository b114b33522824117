//! A package outside the workspace: every kind of target, an older edition, a renamed dependency,
//! and what makes cargo expand a declaration again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Package {
    folder: TempDir,
    target: PathBuf,
}

/// What `cargo check` said.
struct Check {
    succeeded: bool,
    rebuilt: bool,
    text: String,
}

const DECLARATION: &str = r#"
#[gpu::tunable(crate = gpu, source = "kernels/k.cl", params(WG = [32, 64]), global(n), local(WG),
    tune(n = 1024))]
VISIBILITY fn k(
    queue: &gpu::Queue,
    n: u32,
    #[arg(len = n)] x: &mut gpu::Buffer<f32>,
) -> gpu::Result<gpu::Event>;
"#;

impl Package {
    /// A package in a folder with a space in its name. `target` keeps the dependencies of earlier
    /// runs.
    fn new(name: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("a package ")
            .tempdir()
            .expect("a folder");
        let package = Self {
            folder,
            target: Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages"),
        };
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("a workspace");
        let runtime = workspace.join("cltune");
        let runtime = runtime.display();
        package.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                 [dependencies]\ngpu = {{ package = \"cltune\", path = {runtime:?} }}\n\n\
                 [[bench]]\nname = \"bench\"\nharness = false\n\n[workspace]\n"
            ),
        );
        // The same versions as here, so that nothing is downloaded.
        fs::copy(workspace.join("Cargo.lock"), package.path("Cargo.lock")).expect("copied");
        package.write(
            "kernels/k.cl",
            "#include \"k.h\"\n__kernel void k(uint n, __global float* x) {}\n",
        );
        package.write("kernels/k.h", "#define A 1\n");
        package.write_source("src/lib.rs", "pub", "");
        package.write("benches/bench.rs", "//! A benchmark.\nfn main() {}\n");
        package
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn write_source(&self, path: &str, visibility: &str, rest: &str) {
        let declaration =
            DECLARATION.replace("VISIBILITY ", &format!("/// Documented.\n{visibility} "));
        self.write(
            path,
            &format!(
                "//! A target.\n#![forbid(unsafe_code)]\n#![deny(missing_docs, unreachable_pub, warnings)]\n\
                 {declaration}\n{rest}\n"
            ),
        );
    }

    fn check(&self, arguments: &[&str], lockfile: Option<&Path>) -> Check {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["check", "--offline", "--target-dir"])
            .arg(&self.target)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("CLTUNE_LOCK")
            .env_remove("RUSTFLAGS")
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_INCREMENTAL", "0");
        if let Some(lockfile) = lockfile {
            cargo.env("CLTUNE_LOCK", lockfile);
        }
        let Output { status, stderr, .. } = cargo.output().expect("cargo runs");
        let text = String::from_utf8_lossy(&stderr).into_owned();
        Check {
            succeeded: status.success(),
            rebuilt: text.contains("Checking tracked "),
            text,
        }
    }
}

fn lockfile(line: &str) -> String {
    format!(
        "version = 1\n{line}\n[[kernel]]\nname = \"tracked::k\"\nfingerprint = \"b3:{}\"\n\
         params = [\"WG\"]\n",
        "0".repeat(64)
    )
}

#[test]
fn every_kind_of_target_in_an_older_edition() {
    let package = Package::new("targets");
    let private = "fn main() { let _ = k; }";
    package.write_source("src/main.rs", "", private);
    package.write_source("examples/example.rs", "pub(crate)", private);
    package.write_source("benches/bench.rs", "", private);
    package.write_source(
        "tests/test.rs",
        "",
        "#[test]\nfn test() { assert_eq!(k::BAKED.len(), 0); }",
    );
    let check = package.check(&["--all-targets"], None);
    assert!(check.succeeded, "{}", check.text);
    assert!(!check.text.contains("warning"), "{}", check.text);
}

#[test]
fn cargo_expands_again_exactly_when_something_changed() {
    let package = Package::new("tracked");
    let lock = package.path("cltune.lock");
    let check = |what: &str, rebuilt: bool| {
        let check = package.check(&[], None);
        assert_eq!(check.rebuilt, rebuilt, "{what}: {}", check.text);
        check
    };
    assert!(check("the first time", true).succeeded);
    check("nothing changed", false);
    package.write("kernels/k.h", "#define A 2\n");
    check("an include changed", true);
    package.write(
        "kernels/k.cl",
        "__kernel void k(uint n, __global float* x) { /* other */ }\n",
    );
    check("the kernel changed", true);
    check("nothing changed again", false);

    // A lockfile that appears: who creates it touches the source, as `cargo cltune` does.
    package.write("cltune.lock", &lockfile(""));
    package.write_source("src/lib.rs", "pub", "");
    let stale = check("a lockfile appeared", true);
    assert!(stale.succeeded, "{}", stale.text);
    assert!(
        stale.text.contains("warning: use of deprecated constant"),
        "{}",
        stale.text
    );
    assert!(stale.text.contains("run `cargo cltune`"), "{}", stale.text);
    assert!(
        stale.text.contains("src/lib.rs:5:1"),
        "at the attribute: {}",
        stale.text
    );
    let again = check("with a lockfile nothing changed", false);
    assert!(
        again.text.contains("run `cargo cltune`"),
        "the warning is repeated: {}",
        again.text
    );

    package.write("cltune.lock", &lockfile("<<<<<<< HEAD"));
    let conflict = check("the lockfile has a conflict", true);
    assert!(!conflict.succeeded, "{}", conflict.text);
    assert_eq!(
        conflict.text.matches("error:").count(),
        2,
        "one and cargo's own: {}",
        conflict.text
    );
    assert!(
        conflict
            .text
            .contains("cltune.lock`, line 2: merge conflict markers"),
        "{}",
        conflict.text
    );

    fs::remove_file(&lock).expect("removed");
    let without = check("the lockfile disappeared", true);
    assert!(
        without.succeeded && !without.text.contains("warning"),
        "{}",
        without.text
    );

    let other = package.path("other.lock");
    fs::write(&other, lockfile("")).expect("written");
    let overridden = package.check(&[], Some(&other));
    assert!(
        overridden.rebuilt,
        "the variable is tracked: {}",
        overridden.text
    );
    assert!(
        overridden.text.contains("other.lock"),
        "{}",
        overridden.text
    );
    check("the variable is unset again", true);
}
