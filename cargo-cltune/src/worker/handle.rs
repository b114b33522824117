//! The supervisor's side: start a worker, ask with a time limit, kill.

use super::environment;
use super::patience::{Unreceived, Waiting};
use super::protocol::{Request, Response, SECRET, least_limit, mark};
use crate::interrupt::interrupted;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::Duration;

/// A running worker; killed when dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    stdin: ChildStdin,
    /// The worker's answers; ends when the worker does.
    answers: Receiver<String>,
    took: Duration,
}

/// Why a worker did not answer. It is of no further use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerFailure {
    /// It could not be started.
    #[error("cannot start a worker process: {0}")]
    Start(std::io::Error),
    /// It ended: the driver crashed.
    #[error("the worker process ended: {0}")]
    Ended(String),
    /// Another process ended it: the system for want of memory, or an administrator.
    #[error(
        "the worker process ended: {0}; somebody killed it, perhaps the system for want of memory"
    )]
    Killed(String),
    /// It did not answer in time.
    #[error("no answer within {} s", limit.as_secs())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// Ctrl-C was pressed, and it did not answer soon.
    #[error("interrupted")]
    Interrupted,
    /// Its answer made no sense.
    #[error("the worker answered nonsense: {0}")]
    Garbage(String),
}

impl Worker {
    /// Starts this executable as a worker, in a process group of its own, so that a terminal's
    /// Ctrl-C reaches only the supervisor.
    pub(crate) fn start() -> Result<Self, WorkerFailure> {
        Self::start_with(&[])
    }

    /// The same with these environment variables, where the user has not set them.
    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Result<Self, WorkerFailure> {
        let program = std::env::current_exe().map_err(WorkerFailure::Start)?;
        let mut command = Command::new(program);
        let unset = |(name, _): &&(&str, &str)| std::env::var_os(name).is_none();
        let of_every_worker = environment::of_every_worker();
        command.envs(
            variables
                .iter()
                .chain(of_every_worker)
                .filter(unset)
                .copied(),
        );
        Self::launch(command)
    }

    /// The same with a command that runs this executable, such as a tool that watches it.
    pub(crate) fn launch(mut command: Command) -> Result<Self, WorkerFailure> {
        let secret = RandomState::new().hash_one(std::process::id());
        let secret = format!("{secret:016x}");
        command
            .args(["cltune", "worker"])
            .env(SECRET, &secret)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Drivers print compile errors there, which the answers carry too.
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(WorkerFailure::Start)?;
        let missing = || WorkerFailure::Start(std::io::Error::other("no pipe"));
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let mark = mark(&secret);
        let (sender, answers) = channel();
        let thread = Builder::new().spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                if let Some(answer) = line.strip_prefix(&mark)
                    && sender.send(answer.to_string()).is_err()
                {
                    break;
                }
            }
        });
        if let Err(error) = thread {
            // Without anybody who hears it, it is of no use. It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
            return Err(WorkerFailure::Start(error));
        }
        Ok(Self {
            child,
            stdin,
            answers,
            took: Duration::ZERO,
        })
    }

    /// Asks and waits for the answer. The limit is that of each step that the worker reports, and
    /// of the whole where it reports none.
    pub(crate) fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
    ) -> Result<Response, WorkerFailure> {
        let line = serde_json::to_string(request)
            .map_err(|error| WorkerFailure::Garbage(error.to_string()))?;
        // A failing write means that the worker has ended, which reading says with the reason.
        let _ = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
        let mut waiting = Waiting::new(request.after_interrupt());
        let mut of_step = limit.max(request.least_limit());
        let all = request.limit_of_all_steps(limit);
        loop {
            let left = all.map(|all| all.saturating_sub(waiting.awake()));
            of_step = of_step.min(left.unwrap_or(of_step));
            let answer = waiting.receive(&self.answers, of_step, interrupted);
            self.took = waiting.awake();
            let answer = match answer {
                Ok(answer) => serde_json::from_str(&answer)
                    .map_err(|error| WorkerFailure::Garbage(error.to_string())),
                Err(Unreceived::TimedOut) => Err(WorkerFailure::TimedOut {
                    limit: all.filter(|_| left == Some(of_step)).unwrap_or(of_step),
                }),
                Err(Unreceived::Interrupted) => Err(WorkerFailure::Interrupted),
                Err(Unreceived::Ended) => Err(self.end()),
            }?;
            match answer {
                Response::Step(step) => of_step = limit.max(least_limit(step)),
                answer => return Ok(answer),
            }
        }
    }

    /// The time of the last answer, without the time in which this process was stopped or slept.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// The end of a worker that answers no more.
    fn end(&mut self) -> WorkerFailure {
        // It may have closed its output and live on.
        for _ in 0..GRACE.1 {
            match self.child.try_wait() {
                Ok(Some(status)) if is_killed(status) => {
                    return WorkerFailure::Killed(status.to_string());
                }
                Ok(Some(status)) => return WorkerFailure::Ended(status.to_string()),
                Ok(None) => std::thread::sleep(GRACE.0),
                Err(error) => return WorkerFailure::Ended(error.to_string()),
            }
        }
        let _ = self.child.kill();
        WorkerFailure::Ended("it closed its output and went on".to_owned())
    }
}

/// How long and how often an ended worker's status is waited for.
const GRACE: (Duration, u32) = (Duration::from_millis(20), 100);

/// Whether a signal ended the process that only others send: a crash of its own has another one.
fn is_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        // SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM.
        const OF_OTHERS: [i32; 5] = [1, 2, 3, 9, 15];
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        signal.is_some_and(|signal| OF_OTHERS.contains(&signal))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already; there is nothing to do about other failures.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
