//! `placet gate serve` as a process, and the note that every serving gate writes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use placet::for_tests::Fields;

use super::eventually;
use super::home::Home;

#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) owner_token: String,
    pub(crate) agent_token: String,
}

pub(crate) struct Gate {
    child: Child,
    pub(crate) address: Address,
    log: PathBuf,
}

/// Returns the end of a log, because the home is deleted with the test.
fn last_of(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(20).collect();
    format!("its log {}:\n{}", log.display(), lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

impl Gate {
    /// Starts a gate and reads the line that reports it ready.
    pub(crate) fn serve(home: &Home, args: &[&str]) -> Self {
        Self::serve_with(home, args, &[])
    }

    pub(crate) fn serve_with(home: &Home, args: &[&str], env: &[(String, String)]) -> Self {
        let mut command = home.command(&["gate", "serve"]);
        command.envs(env.iter().cloned());
        let mut child = command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let log = home.state().join("placet.log");
        let ready = || panic!("the gate is not ready: {line:?}; {}", last_of(&log));
        let address = Address::read(&line).unwrap_or_else(ready);
        Self { child, address, log }
    }

    /// Starts a gate that dies at `point`; no address if it dies before it is ready.
    pub(crate) fn serve_until(home: &Home, point: &str) -> (Child, Option<Address>) {
        let mut command = home.command(&["gate", "serve"]);
        command.env("PLACET_KILL_AT", point);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = Address::read(&line);
        (child, address)
    }

    /// Returns address and port, for another gate to reuse.
    pub(crate) fn listen(&self) -> String {
        self.address.url.strip_prefix("http://").unwrap().to_owned()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the gate to end and returns its exit code.
    pub(crate) fn wait_end(&mut self) -> Option<i32> {
        eventually("the gate ends", || self.child.try_wait().unwrap()).code()
    }

    pub(crate) fn kill_9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Gate {
    #[expect(clippy::print_stderr, reason = "the test that fails says why")]
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            eprintln!(
                "the gate at {} ended before its test ({status}); {}",
                self.address.url,
                last_of(&self.log)
            );
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Address {
    /// Reads the address from the line on standard output, or from `gate.json`.
    pub(crate) fn read(json: &str) -> Option<Self> {
        let fields = Fields::of(json)?;
        let read = |name: &str| {
            std::fs::read_to_string(fields.text(name)?.as_raw()).ok().map(|it| it.trim().to_owned())
        };
        Some(Self {
            url: fields.text("url")?.as_raw().to_owned(),
            owner_token: read("tokenFile")?,
            agent_token: read("agentTokenFile")?,
        })
    }

    /// Waits for the address of an inbox's embedded gate.
    pub(crate) fn of_embedded(home: &Home) -> Self {
        let note = home.state().join("gate.json");
        eventually("the embedded gate says where it is", || Self::read(&std::fs::read_to_string(&note).ok()?))
    }
}
