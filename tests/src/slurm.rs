//! Slurm on this machine: a controller and two nodes, with Debian's packages, without systemd.

use crate::process::Output;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// The nodes.
pub const NODES: [&str; 2] = ["n1", "n2"];

/// A cluster. It ends when dropped.
pub struct Slurm {
    folder: TempDir,
    /// Its processes, the controller first, then the nodes, then munge.
    processes: Vec<Child>,
}

impl Slurm {
    /// Starts a cluster.
    ///
    /// # Panics
    /// When it does not start: its programs are those of the packages `slurmctld`, `slurmd`,
    /// `slurm-client` and `munge`.
    #[expect(clippy::new_without_default, reason = "it starts processes")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cltune-slurm-").tempdir();
        let folder = folder.expect("there is a folder for temporary files");
        let mut slurm = Self {
            folder,
            processes: Vec::new(),
        };
        slurm.configure();
        let path = |name: &str| slurm.path(name).display().to_string();
        let munge = [
            format!("--key-file={}", path("key")),
            format!("--socket={}", path("socket")),
            format!("--pid-file={}", path("munge.pid")),
            format!("--log-file={}", path("munge.log")),
            format!("--seed-file={}", path("seed")),
        ];
        let mut munged = daemon("munged");
        munged.args(["--foreground", "--force"]).args(munge);
        let munged = munged.spawn().expect("munge is installed");
        slurm.until("munge listens", |slurm| slurm.path("socket").exists());
        slurm.start("slurmctld", &["-D"]);
        for node in NODES {
            slurm.start("slurmd", &["-D", "-N", node]);
        }
        slurm.processes.push(munged);
        slurm.until("the nodes are idle", |slurm| {
            let nodes = slurm.run("sinfo", &["--noheader", "--format=%D %t"]);
            nodes.stdout.trim() == "2 idle"
        });
        slurm
    }

    fn configure(&self) {
        let host = Output::of(Command::new("uname").arg("-n")).stdout;
        let (host, user) = (host.trim(), user());
        let folder = self.folder.path().display();
        // Free now; nobody else is in such a hurry.
        let [controller, first, second] = [free_port(), free_port(), free_port()];
        let configuration = format!(
            "ClusterName=cltune\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmUser={user}\n\
             SlurmdUser={user}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={folder}/socket\n\
             CredType=cred/munge\n\
             SlurmctldPort={controller}\n\
             SlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmdSpoolDir={folder}/spool-%n\n\
             StateSaveLocation={folder}/state\n\
             SlurmctldLogFile={folder}/slurmctld.log\n\
             SlurmdLogFile={folder}/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\n\
             MpiDefault=none\n\
             ReturnToService=2\n\
             KillWait=5\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1 Feature=cpu\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1 Feature=cpu\n\
             PartitionName=all Nodes=n[1-2] Default=YES State=UP\n"
        );
        fs::write(self.path("slurm.conf"), configuration).expect("a file can be written");
        fs::create_dir(self.path("state")).expect("a folder can be made");
        // As random as this test needs it.
        let key = format!("{folder} {controller} {first} {second}").repeat(8);
        fs::write(self.path("key"), key).expect("a file can be written");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.path("key"), private).expect("a file can be made private");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&mut self, program: &str, arguments: &[&str]) {
        let mut command = daemon(program);
        command.args(arguments);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        let child = command.spawn();
        let child = child.unwrap_or_else(|error| panic!("{program}: {error}"));
        self.processes.push(child);
    }

    /// Runs one of Slurm's commands.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"));
        Output::of(&mut command)
    }

    /// Submits a job whose commands find this folder's programs; its number.
    ///
    /// # Panics
    /// When Slurm does not take it.
    pub fn submit(&self, folder: &Path, programs: &Path, arguments: &[&str]) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sbatch");
        command
            .arg("--parsable")
            .args(arguments)
            .current_dir(folder)
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("PATH", format!("{}:{path}", programs.display()));
        let submitted = Output::of(&mut command).expect_code(0);
        submitted.stdout.trim().to_owned()
    }

    /// Waits until no job is left.
    ///
    /// # Panics
    /// When one is left after some minutes.
    pub fn wait(&self) {
        self.until("the jobs have ended", |slurm| {
            let jobs = slurm.run("squeue", &["--noheader"]);
            jobs.code == Some(0) && jobs.stdout.trim().is_empty()
        });
    }

    /// The second node goes down: its daemon is killed.
    ///
    /// # Panics
    /// When it does not run.
    pub fn lose_second_node(&mut self) {
        let node = &mut self.processes[2];
        node.kill().expect("the node runs");
        let _ = node.wait();
    }

    /// Waits for a condition.
    ///
    /// # Panics
    /// When it does not come true within some minutes.
    pub fn until(&self, what: &str, is_true: impl Fn(&Self) -> bool) {
        let waited = (0..3000).any(|_| {
            sleep(Duration::from_millis(100));
            is_true(self)
        });
        let log = fs::read_to_string(self.path("slurmctld.log")).unwrap_or_default();
        assert!(waited, "not so: {what}\n{log}");
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // A test that failed leaves jobs, which are the nodes' children.
        let _ = self.run("scancel", &["--user", &user()]);
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A program that Debian may have where only root looks.
fn daemon(program: &str) -> Command {
    let mut command = Command::new(Path::new("/usr/sbin").join(program));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Whoever runs the tests; nobody else can submit jobs.
fn user() -> String {
    let name = Output::of(Command::new("id").arg("-un")).stdout;
    name.trim().to_owned()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it has an address").port()
}
