//! The `command` executor: a fixed program with fixed arguments, the merged input on standard input, no shell.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::{ERROR_MAX, OUTPUT_MAX, Ran};
use crate::gate::store::Work;
use crate::program::{self, Group};

/// Looks for the program where [`run`] will: at its path, else in the folders of the `PATH` that it is given.
pub(super) fn check(argv: &[String], env: &BTreeMap<String, String>) -> Result<(), String> {
    program::check(argv, env.get("PATH").map(OsString::from), "argv")
}

/// Exit code 0 is done, another one is a failure, told by what it wrote to standard error. A program that a signal ended
/// was stopped on the way.
pub(super) async fn run(
    argv: &[String],
    env: &BTreeMap<String, String>,
    work: &Work,
    timeout: Duration,
) -> Ran {
    let Some((program, rest)) = argv.split_first() else {
        return Ran::Failed("the tool's command is empty; fill in its argv".to_owned());
    };
    let input = work.input.as_str().as_bytes();
    let stdin = match program::whole(input) {
        Ok(file) => file,
        Err(error) => return Ran::Failed(format!("not started: cannot keep its input: {error}")),
    };
    let mut command = Command::new(program);
    command.args(rest).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(env);
    command
        .env("PLACET_ACTION_ID", &work.id)
        .env("PLACET_TOOL", &work.tool)
        .env("PLACET_IDEMPOTENCY_KEY", &work.key)
        .env("PLACET_FENCE", work.fence.to_string())
        // It can tell that it read all that was approved.
        .env("PLACET_INPUT_LENGTH", input.len().to_string())
        .env("PLACET_INPUT_SHA256", format!("{:x}", Sha256::digest(input)))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Dropping the future, as the timeout does, ends the program.
        .kill_on_drop(true);
    // A group of its own: a Ctrl-C in the gate's terminal is meant for the gate, which waits for what is running.
    #[cfg(unix)]
    command.process_group(0);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ran::Failed(format!("cannot start {program:?}: {error}")),
    };
    match tokio::time::timeout(timeout, converse(child)).await {
        Err(_) => Ran::Lost(format!("stopped after {timeout:?}; it may have done part of its work")),
        Ok(Err(error)) => Ran::Lost(format!("lost the program: {error}")),
        Ok(Ok((status, output, _))) if status.success() => Ran::Done(output),
        Ok(Ok((status, _, errors))) => {
            let said = String::from_utf8_lossy(&errors);
            let why = match said.trim() {
                "" => format!("{status}, without a word"),
                said => format!("{status}: {said}"),
            };
            if status.code().is_none() { Ran::Lost(why) } else { Ran::Failed(why) }
        }
    }
}

/// Reads both at the same time, so that no side waits for the other's full pipe.
async fn converse(mut child: Child) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let group = Group::of(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (output, errors) = tokio::try_join!(drain(stdout, OUTPUT_MAX), drain(stderr, ERROR_MAX))?;
    let status = child.wait().await?;
    group.has_ended();
    Ok((status, output, errors))
}

/// Reads to the end and keeps the first `cap` bytes: a program that says more is heard out, but not remembered.
async fn drain<R: AsyncRead + Unpin>(pipe: Option<R>, cap: usize) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(mut pipe) = pipe {
        (&mut pipe).take(cap as u64).read_to_end(&mut kept).await?;
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    }
    Ok(kept)
}
