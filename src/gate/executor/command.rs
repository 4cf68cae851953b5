//! The `command` executor: a fixed program with fixed arguments, the merged input on standard input, no shell.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

use super::{ERROR_MAX, OUTPUT_MAX, Ran};
use crate::gate::store::Work;

/// Looks for the program where [`run`] will: at its path, else in the folders of the `PATH` that it is given.
pub(super) fn check(argv: &[String], env: &BTreeMap<String, String>) -> Result<(), String> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if program.contains('/') {
        return match Path::new(program) {
            path if is_program(path) => Ok(()),
            path if path.exists() => Err(format!("{program:?} is no program that can be run; chmod +x it?")),
            _ => Err(format!("the program {program:?} does not exist; correct argv")),
        };
    }
    let path = env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let found = !program.is_empty() && std::env::split_paths(&path).any(|dir| is_program(&dir.join(program)));
    found.then_some(()).ok_or_else(|| {
        format!(
            "no program {program:?} that can be run is in PATH ({}); give its full path in argv",
            path.display()
        )
    })
}

fn is_program(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let runs = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = true;
    found.is_file() && runs
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
    let mut command = Command::new(program);
    command.args(rest).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(env);
    command
        .env("PLACET_ACTION_ID", &work.id)
        .env("PLACET_TOOL", &work.tool)
        .env("PLACET_IDEMPOTENCY_KEY", &work.key)
        .env("PLACET_FENCE", work.fence.to_string())
        .stdin(Stdio::piped())
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
    match tokio::time::timeout(timeout, converse(child, work.input.as_str())).await {
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

/// Feeds and reads at the same time, so that no side waits for the other's full pipe.
async fn converse(mut child: Child, input: &str) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let group = Group::of(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ((), output, errors) =
        tokio::try_join!(feed(stdin, input), drain(stdout, OUTPUT_MAX), drain(stderr, ERROR_MAX))?;
    let status = child.wait().await?;
    group.has_ended();
    Ok((status, output, errors))
}

/// The program and whatever it started. Dropped before the end, it is killed as a whole: a helper process must not go on
/// writing after its action was called lost.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Self {
        Self {}
    }

    /// Nothing is left to kill, and the number may soon mean somebody else.
    fn has_ended(self) {
        #[cfg(unix)]
        {
            let mut group = self;
            group.leader = None;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader.take() {
            // The leader is not reaped yet, so the number still means this group; it may be empty already.
            rustix::process::kill_process_group(leader, rustix::process::Signal::KILL).ok();
        }
    }
}

/// A program need not read its input.
async fn feed(stdin: Option<ChildStdin>, input: &str) -> std::io::Result<()> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    let written = async {
        stdin.write_all(input.as_bytes()).await?;
        stdin.shutdown().await
    };
    match written.await {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
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
