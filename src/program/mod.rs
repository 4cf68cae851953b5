//! Runs other programs with fixed arguments, without a shell, and with a time limit that also ends their children.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{Child, Command};

pub mod supervisor;

/// Environment variables that the configuration names for tokens and secrets.
static SECRETS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Withholds this variable from every program started from now on.
pub fn keep_secret(variable: String) {
    SECRETS.lock().unwrap_or_else(PoisonError::into_inner).insert(variable);
}

/// Removes tokens and secrets from the environment of a program: configured variables and `PLACET_TOKEN*`.
pub fn without_secrets(command: &mut std::process::Command) {
    without_configured_secrets(command);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"PLACET_TOKEN") {
            command.env_remove(name);
        }
    }
}

/// Removes only the configured variables. An agent's client needs this, because its hooks use the agent's own token.
pub fn without_configured_secrets(command: &mut std::process::Command) {
    for name in SECRETS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        command.env_remove(name);
    }
}

/// The whole environment of a bare program. Any other variable may hold a token.
const BARE: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_TIME",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CURRENT_DESKTOP",
    "TMUX",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    pub limit: Duration,
    pub late: Late,
    pub bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// Killed with everything it started.
    Killed,
    Left,
}

/// Runs a program with `input` on standard input and discards its output. Fails if it cannot start, fails or exceeds
/// its limit.
pub async fn run(argv: &[String], input: &[u8], how: How) -> io::Result<()> {
    let Some((program, rest)) = argv.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(rest).stdin(whole(input)?).stdout(Stdio::null()).stderr(Stdio::null());
    if how.bare {
        let kept = BARE.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)));
        command.env_clear().envs(kept);
    }
    without_secrets(command.as_std_mut());
    let killed = how.late == Late::Killed;
    command.kill_on_drop(killed);
    #[cfg(unix)]
    if killed {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let group = killed.then(|| Group::of(&child));
    let too_long = || {
        let limit = how.limit.as_secs();
        io::Error::new(io::ErrorKind::TimedOut, format!("{program} took longer than {limit} seconds"))
    };
    let status = tokio::time::timeout(how.limit, child.wait()).await.map_err(|_| too_long())??;
    if let Some(group) = group {
        group.has_ended();
    }
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} ended with {status}"))) }
}

/// Checks that the program can be run: at its path, or from the folders of `path`. `key` is the configuration key that
/// messages name.
pub fn check(argv: &[String], path: Option<OsString>, key: &str) -> Result<(), String> {
    let program = argv.first().map(String::as_str).unwrap_or_default();
    if program.contains('/') {
        return match Path::new(program) {
            path if is_program(path) => Ok(()),
            path if path.exists() => Err(format!("{program:?} is no program that can be run; chmod +x it?")),
            _ => Err(format!("the program {program:?} does not exist; correct {key}")),
        };
    }
    let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let found = !program.is_empty() && std::env::split_paths(&path).any(|dir| is_program(&dir.join(program)));
    found.then_some(()).ok_or_else(|| {
        format!(
            "no program {program:?} that can be run is in PATH ({}); give its full path in {key}",
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

/// Returns a file that holds `input`, for a program's standard input. Unlike a pipe, it is never cut short with a clean
/// end if placet is killed. Sealed against changes where possible.
pub fn whole(input: &[u8]) -> io::Result<File> {
    let mut file = unnamed()?;
    file.write_all(input)?;
    file.rewind()?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{SealFlags, fcntl_add_seals};
        // A file on disk cannot be sealed. It has no name, so no other process can open it.
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL).ok();
    }
    Ok(file)
}

/// Creates an empty file without a name: in memory, or in the folder for temporary files.
pub fn unnamed() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        if let Ok(file) = memfd_create("placet-input", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING) {
            return Ok(file.into());
        }
    }
    tempfile::tempfile()
}

/// A process group led by a program. Dropping it kills the group, so that children cannot write after the run was
/// reported lost.
#[derive(Debug)]
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    pub fn of(_: &Child) -> Self {
        Self {}
    }

    pub fn terminate(&self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            rustix::process::kill_process_group(leader, rustix::process::Signal::TERM).ok();
        }
    }

    /// Whether the leader has ended. It is not reaped, so its number still identifies this group.
    #[cfg(unix)]
    pub fn is_over(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.leader.is_none_or(|leader| !matches!(waitid(WaitId::Pid(leader), options), Ok(None)))
    }

    #[cfg(not(unix))]
    pub fn is_over(&self) -> bool {
        false
    }

    /// Kills the group, and waits for its leader, and up to `limit` for its other members.
    pub async fn kill(self, child: &mut Child, limit: Duration) {
        #[cfg(unix)]
        {
            use rustix::process::{Signal, kill_process_group, test_kill_process_group};
            let mut group = self;
            let Some(leader) = group.leader.take() else { return };
            kill_process_group(leader, Signal::KILL).ok();
            child.wait().await.ok();
            let gone = async {
                while test_kill_process_group(leader).is_ok() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::time::timeout(limit, gone).await.ok();
        }
    }

    /// Disarms the kill on drop: the group's number may be reused now.
    pub fn has_ended(self) {
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
            // The leader is not reaped yet, so the number still identifies this group.
            rustix::process::kill_process_group(leader, rustix::process::Signal::KILL).ok();
        }
    }
}

#[cfg(test)]
mod tests;
