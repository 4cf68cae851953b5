//! The `command` executor: runs a fixed program with fixed arguments and the merged input on standard input, without a
//! shell.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::process::Command;

use super::attempt::Attempt;
use super::runs::{Run, Runs};
use crate::gate::store::Work;
use crate::program;
use crate::program::supervisor::{self, End, Report};

/// Environment variables of the gate that a command inherits.
const KEPT: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "USER"];

/// Runs the program under a supervisor, which survives the gate. Dropping this future does not end it.
pub(super) async fn run(
    runs: &Runs,
    argv: &[String],
    env: &BTreeMap<String, String>,
    work: &Work,
    timeout: Duration,
) -> Attempt {
    let run = Run { id: work.id.clone(), fence: work.fence };
    let begun = runs.begin(&run).and_then(|report| {
        let command = command(argv, env, work, timeout, report.try_clone()?)?;
        Ok((report, command))
    });
    let (mut report, mut command) = match begun {
        Ok(begun) => begun,
        Err(error) => return Attempt::Failed(format!("not started: {error}")),
    };
    let mut supervisor = match command.spawn() {
        Ok(supervisor) => supervisor,
        Err(error) => {
            runs.forget(&run);
            return Attempt::Failed(format!("not started: {error}"));
        }
    };
    // The command holds a handle of the report file, which must be closed when the supervisor exits.
    drop(command);
    let ended = match supervisor.wait().await {
        Ok(_) => Report::read(&mut report),
        Err(error) => Err(error),
    };
    match ended {
        Ok(Some(report)) => came_out(report, timeout),
        Ok(None) => Attempt::Vanished("its supervisor was killed".to_owned()),
        Err(error) => Attempt::Vanished(error.to_string()),
    }
}

/// Builds the supervisor's command. The program inherits the supervisor's environment.
fn command(
    argv: &[String],
    env: &BTreeMap<String, String>,
    work: &Work,
    timeout: Duration,
    report: File,
) -> io::Result<Command> {
    let input = work.input.as_str().as_bytes();
    let mut command = supervisor::command(argv, program::whole(input)?, report, timeout)?;
    command
        .env_clear()
        .envs(KEPT.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))));
    program::without_secrets(command.as_std_mut());
    command.envs(env);
    command
        .env("PLACET_ACTION_ID", &work.id)
        .env("PLACET_TOOL", &work.tool)
        .env("PLACET_IDEMPOTENCY_KEY", &work.key)
        .env("PLACET_FENCE", work.fence.to_string())
        .envs(work.traceparent.as_ref().map(|trace| ("TRACEPARENT", trace)))
        // Lets the program check that it read the whole input.
        .env("PLACET_INPUT_LENGTH", input.len().to_string())
        .env("PLACET_INPUT_SHA256", format!("{:x}", Sha256::digest(input)));
    Ok(command)
}

/// Exit code 0 is success and any other a failure described by standard error. A program ended by a signal may have
/// done part of its work.
pub(super) fn came_out(report: Report, timeout: Duration) -> Attempt {
    let said = String::from_utf8_lossy(&report.errors);
    let with_words = |status: String| match said.trim() {
        "" => format!("{status}, without a word"),
        said => format!("{status}: {said}"),
    };
    match report.end {
        End::NotStarted(why) => Attempt::Failed(why),
        End::Succeeded => Attempt::Done(report.output),
        End::Failed(status) => Attempt::Failed(with_words(status)),
        End::Signalled(status) => Attempt::Lost(with_words(status)),
        End::Late => Attempt::Lost(format!("stopped after {timeout:?}; it may have done part of its work")),
        End::Lost(why) => Attempt::Lost(format!("lost the program: {why}")),
    }
}
