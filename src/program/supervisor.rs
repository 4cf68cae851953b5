//! Runs a program under a supervisor, a second placet process, so that its limit holds even if the caller dies.
//!
//! The supervisor kills the program and its children at the limit and writes the outcome to a report file. The file is
//! locked while the supervisor lives. An unlocked, empty file means that the supervisor itself was killed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use futures_util::future::FusedFuture as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use super::Group;

/// First argument of a supervisor (internal).
const WORD: &str = "supervise-run";
/// Arguments that make this binary a supervisor. The test binary runs one of its tests instead.
const WORDS: &[&str] = if cfg!(test) {
    &["program::supervisor::tests::acts_as_a_supervisor", "--exact", "--nocapture"]
} else {
    &[WORD]
};
/// Separates these arguments from those for the supervisor and the program.
const BEGIN: &str = "--";
const GUARD: &str = "guard-server";
/// Interval at which a guard checks that its parent lives.
const LOOK: Duration = Duration::from_millis(500);
pub const OUTPUT_MAX: usize = 1 << 20;
pub const ERRORS_MAX: usize = 4_096;
/// Time to read the rest of the output while another process keeps the pipe open after the program ended.
const REST: Duration = Duration::from_secs(1);
/// Time that killed processes may take to disappear.
const GONE: Duration = Duration::from_secs(2);
/// Pause between attempts to write a report to a full disk.
const FULL: Duration = Duration::from_secs(1);

/// The placet binary, if this process is another program with an embedded gate.
static PLACET: OnceLock<PathBuf> = OnceLock::new();

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    NotStarted(String),
    Succeeded,
    /// The exit status in words.
    Failed(String),
    Signalled(String),
    /// Killed at its limit.
    Late,
    /// It started, but its outcome is not known.
    Lost(String),
}

/// The outcome that a supervisor writes, with the output of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub end: End,
    /// Up to [`OUTPUT_MAX`] bytes; `errors` up to [`ERRORS_MAX`].
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
}

/// The first line of a report. Output and errors follow.
#[derive(Serialize, Deserialize)]
struct Head {
    end: End,
    output: usize,
    errors: usize,
    /// Checksum of output and errors, to detect a torn file.
    sha256: String,
}

/// Returns the command of a supervisor for `argv`. The caller sets the program's environment and locks `report`. The
/// program is killed after `limit`, which counts from this call, and is not started once it has passed.
pub fn command(argv: &[String], stdin: File, report: File, limit: Duration) -> io::Result<Command> {
    let (myself, words) = myself()?;
    let limit = limit.min(Duration::from_hours(24 * 366));
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + limit;
    let mut command = Command::new(myself);
    command.arg0("placet").args(words).arg(BEGIN);
    command.arg(limit.as_millis().to_string()).arg(until.as_millis().to_string()).args(argv);
    command.stdin(stdin).stdout(report).stderr(Stdio::null());
    // Its own group, so that signals to the caller's group do not reach the run.
    command.process_group(0);
    Ok(command)
}

/// Sets the placet binary to use as supervisor, for another program that embeds a gate. Only the first call counts.
pub fn use_placet(program: PathBuf) {
    PLACET.get_or_init(|| program);
}

/// Returns this binary and its supervisor arguments, also if its file was replaced meanwhile.
fn myself() -> io::Result<(OsString, &'static [&'static str])> {
    if let Some(program) = PLACET.get() {
        return Ok((program.into(), &[WORD]));
    }
    let running = Path::new("/proc/self/exe");
    let program = if running.exists() { running.into() } else { std::env::current_exe()?.into_os_string() };
    Ok((program, WORDS))
}

/// Returns a command line that runs `argv` under a guard, which must lead a process group. When this process is gone,
/// even by SIGKILL, the guard kills the group. The guard exits with the status of `argv`.
pub fn guarded(argv: Vec<OsString>) -> io::Result<Vec<OsString>> {
    let own = [myself()?.0, GUARD.into(), std::process::id().to_string().into(), BEGIN.into()];
    Ok(own.into_iter().chain(argv).collect())
}

fn guard() -> io::Result<ExitCode> {
    let mut arguments = std::env::args_os().skip(2);
    let parent = arguments.next().and_then(|id| id.to_str()?.parse::<i32>().ok());
    let is_orphan = || rustix::process::getppid().map(|id| id.as_raw_nonzero().get()) != parent;
    let program = arguments.nth(1).filter(|_| !is_orphan()).ok_or(io::ErrorKind::InvalidInput)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Ignored here: the program receives the same signals, and the guard ends with it.
        let kinds =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
        let _ignored: Vec<_> = kinds.into_iter().map(signal).collect();
        let mut child = Command::new(program).args(arguments).spawn()?;
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                status = child.wait() => {
                    let code = status?.code().and_then(|code| u8::try_from(code).ok());
                    return Ok(code.map_or(ExitCode::FAILURE, ExitCode::from));
                }
                _ = looks.tick() => if is_orphan() {
                    // Kills this guard too, which leads the group.
                    rustix::process::kill_current_process_group(rustix::process::Signal::KILL)?;
                }
            }
        }
    })
}

/// Acts as a supervisor or guard if this process was started as one, else returns `None`. Call it before anything else.
pub fn supervised() -> Option<ExitCode> {
    let word = std::env::args_os().nth(1)?;
    if word == GUARD {
        // Shells exit with 127 if a program cannot be started.
        return Some(guard().unwrap_or(ExitCode::from(127)));
    }
    (word == WORD).then(|| supervise().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

/// Runs the program of the arguments and writes the report to standard output.
fn supervise() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip_while(|it| it != BEGIN).skip(1);
    let mut millis = || Some(Duration::from_millis(arguments.next()?.to_str()?.parse().ok()?));
    let (Some(limit), Some(until)) = (millis(), millis()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let report = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // The report is always a regular file, never a terminal.
    if !report.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let limit = limit.min(until.saturating_sub(now));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ended = run(arguments.collect(), limit).await;
        until_room(FULL, || ended.write(&report)).await
    })
}

/// Retries a write while the disk is full, because the outcome must not be lost. The report stays locked meanwhile.
async fn until_room(pause: Duration, write: impl Fn() -> io::Result<()>) -> io::Result<()> {
    loop {
        match write() {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                tokio::time::sleep(pause).await;
            }
            written => return written,
        }
    }
}

async fn run(argv: Vec<OsString>, limit: Duration) -> Report {
    // Only SIGKILL ends a supervisor, because its run would lose its limit.
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()];
    let _ignored: Vec<_> = kinds.into_iter().map(signal).collect();
    let Some((program, rest)) = argv.split_first() else {
        return End::NotStarted("there is no program to run".to_owned()).into();
    };
    if limit.is_zero() {
        return End::NotStarted("its time had passed before it was started".to_owned()).into();
    }
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return End::NotStarted(format!("cannot start {}: {error}", program.display())).into(),
    };
    let group = Group::of(&child);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    match converse(&mut child, limit, &mut output, &mut errors).await {
        Ok(None) => {
            group.kill(&mut child, GONE).await;
            End::Late.into()
        }
        Err(error) => {
            group.kill(&mut child, GONE).await;
            End::Lost(error.to_string()).into()
        }
        Ok(Some(status)) => {
            let end = match status.code() {
                Some(0) => End::Succeeded,
                Some(_) => End::Failed(status.to_string()),
                None => End::Signalled(status.to_string()),
            };
            match end {
                // A program that a signal ended did not choose to leave children running.
                End::Signalled(_) => group.kill(&mut child, GONE).await,
                _ => group.has_ended(),
            }
            Report { end, output, errors }
        }
    }
}

/// Waits until the program ends; `None` at `limit`. Reads both pipes concurrently to avoid a deadlock on a full one.
/// Does not wait for children that keep the pipes open.
async fn converse(
    child: &mut Child,
    limit: Duration,
    output: &mut Vec<u8>,
    errors: &mut Vec<u8>,
) -> io::Result<Option<ExitStatus>> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reading =
        async { tokio::try_join!(drain(stdout, output, OUTPUT_MAX), drain(stderr, errors, ERRORS_MAX)) };
    let mut reading = std::pin::pin!(reading.fuse());
    let ended = tokio::time::timeout(limit, async {
        tokio::select! {
            status = child.wait() => status,
            Err(error) = &mut reading => Err(error),
        }
    });
    let Ok(ended) = ended.await else { return Ok(None) };
    if ended.is_ok() && !reading.is_terminated() {
        // The exit status already decides the outcome.
        tokio::time::timeout(REST, reading).await.ok();
    }
    ended.map(Some)
}

/// Reads to the end and keeps the first `cap` bytes, so that the program never blocks on a full pipe.
async fn drain<R: AsyncRead + Unpin>(pipe: Option<R>, kept: &mut Vec<u8>, cap: usize) -> io::Result<()> {
    if let Some(mut pipe) = pipe {
        (&mut pipe).take(cap as u64).read_to_end(kept).await?;
        tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    }
    Ok(())
}

impl From<End> for Report {
    fn from(end: End) -> Self {
        Self { end, output: Vec::new(), errors: Vec::new() }
    }
}

impl Report {
    fn write(&self, mut file: &File) -> io::Result<()> {
        let bytes = [self.output.as_slice(), &self.errors].concat();
        let sha256 = format!("{:x}", Sha256::digest(&bytes));
        let head =
            Head { end: self.end.clone(), output: self.output.len(), errors: self.errors.len(), sha256 };
        let head = serde_json::to_string(&head).map_err(io::Error::other)? + "\n";
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&[head.as_bytes(), &bytes].concat())?;
        file.sync_all()
    }

    /// Reads the report of a supervisor that has ended; `None` if it was killed before writing one.
    pub fn read(file: &mut File) -> io::Result<Option<Self>> {
        let mut all = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut all)?;
        Ok(Self::parse(&all))
    }

    fn parse(all: &[u8]) -> Option<Self> {
        let end_of_head = all.iter().position(|&byte| byte == b'\n')?;
        let (head, bytes) = all.split_at_checked(end_of_head + 1)?;
        let head: Head = serde_json::from_slice(head).ok()?;
        let bytes = bytes.get(..head.output.checked_add(head.errors)?)?;
        let (output, errors) = bytes.split_at_checked(head.output)?;
        let whole = format!("{:x}", Sha256::digest(bytes)) == head.sha256;
        whole.then(|| Self { end: head.end, output: output.to_vec(), errors: errors.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The supervisor of these tests. Does nothing in an ordinary run.
    #[test]
    fn acts_as_a_supervisor() {
        if std::env::args_os().any(|it| it == BEGIN) {
            supervise().unwrap();
        }
    }

    async fn ran(script: &str, limit: Duration) -> Option<Report> {
        let mut report = tempfile::tempfile().unwrap();
        let argv = ["/bin/sh", "-c", script].map(str::to_owned);
        let stdin = crate::program::whole(b"input").unwrap();
        let mut command = command(&argv, stdin, report.try_clone().unwrap(), limit).unwrap();
        command.status().await.unwrap();
        Report::read(&mut report).unwrap()
    }

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_report_has_outcome_and_output() {
        let done = ran("cat; echo oh >&2", LONG).await.unwrap();
        assert_eq!((done.end, &*done.output, &*done.errors), (End::Succeeded, &b"input"[..], &b"oh\n"[..]));

        let failed = ran("exit 3", LONG).await.unwrap();
        assert_eq!(failed.end, End::Failed("exit status: 3".to_owned()));

        let signalled = ran("kill -9 $$", LONG).await.unwrap();
        assert!(matches!(signalled.end, End::Signalled(what) if what.contains('9')));
    }

    #[tokio::test]
    async fn a_program_is_killed_at_its_limit() {
        assert_eq!(ran("exec sleep 600", Duration::from_millis(300)).await.unwrap().end, End::Late);
        let late = ran("echo ran", Duration::ZERO).await.unwrap();
        assert!(matches!(late.end, End::NotStarted(_)) && late.output.is_empty());
    }

    #[tokio::test]
    async fn a_run_ends_without_waiting_for_children() {
        use std::os::unix::fs::OpenOptionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        // The child keeps the output open until the pipe is written to.
        let script = format!("mkfifo {0}; cat {0} & echo started; exit ", pipe.display());

        for (code, end) in [("0", End::Succeeded), ("3", End::Failed("exit status: 3".to_owned()))] {
            let done = ran(&format!("{script}{code}"), LONG).await.unwrap();

            assert_eq!((done.end, &*done.output), (end, &b"started\n"[..]));
            // Opening fails at once if the pipe has no reader.
            let write = || {
                let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
                std::fs::OpenOptions::new().write(true).custom_flags(flags).open(&pipe)
            };
            let lives = async {
                while write().is_err() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(20), lives).await.unwrap();
            std::fs::remove_file(&pipe).unwrap();
        }
    }

    #[tokio::test]
    async fn report_is_kept_until_a_full_disk_has_room() {
        let tries = std::cell::Cell::new(0);
        let write = async |last: io::ErrorKind| {
            tries.set(0);
            until_room(Duration::ZERO, || {
                tries.set(tries.get() + 1);
                match tries.get() {
                    1 => Err(io::ErrorKind::StorageFull.into()),
                    2 => Err(io::ErrorKind::QuotaExceeded.into()),
                    3 => Err(last.into()),
                    _ => Ok(()),
                }
            })
            .await
        };

        assert!(write(io::ErrorKind::StorageFull).await.is_ok());
        assert_eq!(tries.get(), 4);
        assert_eq!(write(io::ErrorKind::NotFound).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_torn_report_is_ignored() {
        let report = Report { end: End::Succeeded, output: b"out".to_vec(), errors: b"err".to_vec() };
        let mut file = tempfile::tempfile().unwrap();
        report.write(&file).unwrap();
        let mut whole = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut whole).unwrap();

        assert_eq!(Report::parse(&whole), Some(report));
        for length in 0..whole.len() {
            assert_eq!(Report::parse(&whole[..length]), None, "{length}");
        }
        let changed = [&whole[..whole.len() - 1], b"R"].concat();
        assert_eq!(Report::parse(&changed), None);
    }
}
