//! Checks that installed hooks work, by sending each a probe event that proposes nothing.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use super::event::PROBE;
use super::settings::judge::{self, WHAT};
use crate::agent::clients::{Env, HookClient};
use crate::agent::lasting;
use crate::domain::{Check, Untrusted};
use crate::program;

/// A hook itself waits ten seconds for its gate.
const PROBE_LIMIT: Duration = Duration::from_secs(20);
const CODEX_LIMIT: Duration = Duration::from_secs(20);

pub async fn check(folder: &Path, env: Env<'_>) -> Vec<Check> {
    let (mut checks, mut asking) = (Vec::new(), Vec::new());
    for client in HookClient::all() {
        let (found, hooks) = judge::judge(client, &judge::layers(client, folder, env));
        checks.extend(found);
        asking.extend(hooks.into_iter().map(|(path, command)| (client, path, command)));
    }
    let looks = asking.iter().map(|(client, path, command)| one(client, path, command, folder));
    checks.extend(join_all(looks).await);
    checks
}

async fn one(client: &HookClient, path: &Path, command: &str, folder: &Path) -> Check {
    let (title, path) = (client.title(), path.display());
    match probed(command).await {
        Err(error) => {
            let advice = "install the hook again";
            return Check::bad(WHAT, format!("{title}: the hook of {path} cannot be run: {error}"), advice);
        }
        Ok(Some(said)) => {
            let found =
                format!("{title}: the hook of {path} does not reach the gate, so every call is blocked");
            return Check::bad(WHAT, found, "start placet, or install the hook again").said(Some(said));
        }
        Ok(None) => {}
    }
    let program = shell_words::split(command).unwrap_or_default().into_iter().next().unwrap_or_default();
    let good = Check::good(WHAT, format!("{title}: the hook of {path} reaches the gate"));
    let good = match lasting::passing(Path::new(&program)) {
        None => good,
        Some(instead) => {
            let found = format!("{}, but the next upgrade or cache cleanup removes {program}", good.found);
            Check::warn(WHAT, found, format!("{instead}, then install the hook again"))
        }
    };
    if client.needs_trust { trusted(command, folder, good).await } else { good }
}

/// Runs an installed command the way its client runs it. `None` if it reached the gate, else its error output.
async fn probed(command: &str) -> io::Result<Option<Untrusted>> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(program::whole(PROBE.as_bytes())?).kill_on_drop(true);
    program::without_configured_secrets(shell.as_std_mut());
    let ended = tokio::time::timeout(PROBE_LIMIT, shell.output()).await.map_err(late)??;
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Ok((!ended.status.success()).then(|| Untrusted::from(said)))
}

fn late(_: tokio::time::error::Elapsed) -> io::Error {
    io::Error::from(io::ErrorKind::TimedOut)
}

/// Adds whether Codex trusts the hook. Codex silently skips untrusted hooks.
async fn trusted(command: &str, folder: &Path, good: Check) -> Check {
    let advice = "start codex, type /hooks and trust the hook; until then its tools run without the gate";
    let mut states = match codex_hooks(folder).await {
        Ok(hooks) => hooks,
        Err(error) => {
            let found = format!("{}; cannot tell whether Codex trusts it: {error}", good.found);
            return Check::warn(WHAT, found, "look at /hooks in codex");
        }
    };
    states.retain(|(hook, _)| hook == command);
    match states.iter().find(|(_, runs)| !runs) {
        _ if states.is_empty() => {
            Check::bad(WHAT, "Codex: the hook is installed, and Codex does not read it", "install it again")
        }
        Some(_) => Check::bad(WHAT, "Codex: the hook is not trusted, so Codex skips it", advice),
        None => Check { found: format!("{}; Codex has trusted it", good.found), ..good },
    }
}

/// Returns the commands in an answer to `hooks/list` (app server of Codex CLI 0.169.0), and whether Codex runs them.
fn listed(result: &Value) -> Option<Vec<(String, bool)>> {
    let mut hooks = Vec::new();
    for folder in result.get("data")?.as_array()? {
        for hook in folder["hooks"].as_array()? {
            // `untrusted`, `modified`, `trusted` or `managed`.
            let trust = hook["trustStatus"].as_str()?;
            let runs = hook["enabled"].as_bool()? && matches!(trust, "trusted" | "managed");
            hooks.push((hook["command"].as_str().unwrap_or_default().to_owned(), runs));
        }
    }
    Some(hooks)
}

async fn codex_hooks(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    let mut server = Command::new("codex");
    server.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    program::without_configured_secrets(server.as_std_mut());
    let mut server = server.kill_on_drop(true).spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("no codex is in PATH"),
        _ => error,
    })?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::Error::other("it has no input or output"));
    };
    let client = json!({"name": "placet", "version": env!("CARGO_PKG_VERSION")});
    let requests = [
        json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}}),
    ];
    let unlisted = || io::Error::other("this version of codex does not list its hooks");
    let asked = async {
        for request in requests {
            input.write_all(format!("{request}\n").as_bytes()).await?;
        }
        // The app server exits when its input closes, so `input` stays open until the answer arrived.
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await? {
            let reply: Value = serde_json::from_str(&line).unwrap_or_default();
            if reply.get("id").and_then(Value::as_u64) == Some(2) {
                return reply.get("result").and_then(listed).ok_or_else(unlisted);
            }
        }
        Err(unlisted())
    };
    tokio::time::timeout(CODEX_LIMIT, asked).await.map_err(late)?
}
