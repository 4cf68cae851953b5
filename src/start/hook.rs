//! `placet hook`: reads one event from standard input and writes one answer to standard output. Every error exits with
//! code 2, which blocks the call in every client; other codes would let it run.

use std::io::{BufReader, Read as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;

use crate::agent::hook::{self, EVENT_MAX, Event, Fence, GRACE, HookCall, HookWait, Notes};
use crate::agent::{Caller, mission};
use crate::cli::hook::{HookArgs, HookCommand, HookRunArgs};
use crate::cli::{self, Exit, Usage};
use crate::config::paths::Paths;

use super::agents::{self, AgentGate};
use super::signals::EndSignals;

/// Time for the client to write its event. Less than the client's own limit, after which the call would run.
const READ_LIMIT: Duration = Duration::from_secs(30);
/// Time for the fence, which reads files that the agent wrote. With [`READ_LIMIT`] below the client's limit.
const FENCE_LIMIT: Duration = Duration::from_secs(10);

pub(super) async fn run(paths: &Paths, args: HookArgs) -> anyhow::Result<Exit> {
    match args.command {
        None => event(paths, &args.run).await,
        Some(HookCommand::Install(args)) => {
            let config = paths.config_named.then_some(paths.config.as_path());
            cli::hook::install(&args, cli::hook::lasting_program(config)?)
        }
        Some(HookCommand::Uninstall(args)) => cli::hook::uninstall(&args),
        Some(HookCommand::Resume(args)) => {
            let deferred = Notes::within(&paths.state).all_deferred();
            if deferred.is_empty() {
                cli::line("No session is deferred.")?;
                return Ok(Exit::Done);
            }
            let gate = agents::gate(paths).await?;
            cli::hook::resume(&args, deferred, &gate.client).await
        }
    }
}

/// Maximum bytes read of an event. Reports are cut to what a gate keeps.
const READ_MAX: u64 = 512 << 20;

async fn event(paths: &Paths, args: &HookRunArgs) -> anyhow::Result<Exit> {
    let mut stop = EndSignals::listen()?;
    let wait = cli::hook::wait(&args.wait, args.client)?;
    let first = || hook::first(BufReader::new(std::io::stdin().lock().take(READ_MAX)));
    let read = tokio::time::timeout(READ_LIMIT, tokio::task::spawn_blocking(first)).await;
    let read = read.context("The event did not end")?.context("The event cannot be read")?;
    let read = read.context("The event cannot be read")?;
    let mut event = hook::read(&read, args.client)?;
    if read.len() > EVENT_MAX && matches!(event, Event::Before(_)) {
        return Err(Usage("The event has more than 16 MiB. The call did not run.".to_owned()).into());
    }
    if let Event::Before(call) = event {
        let fence = fence(paths, args);
        let judging = tokio::task::spawn_blocking(move || (fence.refuses(&call), call));
        let judged = tokio::time::timeout(FENCE_LIMIT, judging).await;
        let too_long = |_| Usage("The call takes too long to judge, and did not run.".to_owned());
        let (why, call) = judged.map_err(too_long)?.context("The call cannot be judged")?;
        if let Some(why) = why {
            cli::answer(&hook::denied(&call, why)?).context("The answer cannot be written")?;
            return Ok(Exit::Done);
        }
        if args.fence {
            return Ok(Exit::Done);
        }
        event = Event::Before(call);
    }
    let limit = wait.limit.saturating_add(GRACE);
    let answered = tokio::time::timeout(limit, answer(paths, args, wait, event, &mut stop)).await;
    let Some(json) =
        answered.map_err(|_| Usage("The gate took too long. The call did not run.".to_owned()))??
    else {
        return Ok(Exit::Done);
    };
    // If the answer cannot be written, the error blocks the call.
    cli::answer(&json).context("The answer cannot be written")?;
    Ok(Exit::Done)
}

/// Returns the fence around state folder and configuration. `--fence` is for tools that only read files; they may read
/// the configuration.
fn fence(paths: &Paths, args: &HookRunArgs) -> Fence {
    let config = if args.fence { &paths.state } else { &paths.config };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Fence::around([&paths.state, config], home, std::env::current_exe().ok())
}

async fn answer(
    paths: &Paths,
    args: &HookRunArgs,
    wait: HookWait,
    event: Event,
    stop: &mut EndSignals,
) -> anyhow::Result<Option<String>> {
    let gate = agents::gate(paths).await?;
    let notes = Notes::within(&paths.state);
    match event {
        Event::Before(call) => {
            notes.sweep(SystemTime::now());
            // The event names the client if the command line does not.
            let wait = cli::hook::wait(&args.wait, Some(call.client)).map(|_| wait)?;
            let entrypoint = std::env::var("CLAUDE_CODE_ENTRYPOINT").ok();
            let wait = HookWait { defer: wait.defer && hook::is_headless(entrypoint.as_deref()), ..wait };
            let caller = caller(gate, &call);
            Ok(Some(hook::before(&call, &caller, &notes, wait, stop.next()).await?))
        }
        Event::After(call, ran) => {
            hook::after(&call, ran, &gate.client, &notes).await?;
            Ok(None)
        }
        Event::Probe => Ok(None),
    }
}

fn caller(gate: AgentGate, call: &HookCall) -> Caller {
    Caller {
        client: gate.client,
        agent: call.client.agent.to_owned(),
        session: call.session.clone(),
        workspace: gate.workspace,
        mission: Some(mission(&call.folder)),
    }
}
