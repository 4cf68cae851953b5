//! `placet hook`: installs and removes the hook of an agent's client, and resumes its deferred sessions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand};

use crate::agent::clients::HookClient;
use crate::agent::hook::settings::{self, Block, Scope, Settings, judge};
use crate::agent::hook::{Deferred, HookWait};
use crate::agent::lasting;
use crate::domain::{Check, Status, Untrusted, Verdict};
use crate::program;
use crate::sources::{AgentClient, Until};
use crate::text;

use super::args::one_of;
use super::exit::{Exit, Usage};
use super::{input, output};

/// Ask the gate before a tool of Claude Code, Codex or Gemini CLI runs
///
/// Without a command this is the hook itself: it reads one event of the client from standard input, waits for the decision, and
/// answers. Every fault ends with exit code 2, which blocks the call.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HookArgs {
    #[command(subcommand)]
    pub command: Option<HookCommand>,
    #[command(flatten)]
    pub run: HookRunArgs,
}

#[derive(Debug, ClapArgs)]
pub struct HookRunArgs {
    /// The client that calls [default: as its event tells]
    #[arg(long, value_parser = client())]
    pub client: Option<&'static HookClient>,
    #[command(flatten)]
    pub wait: HookWaitArgs,
    /// Do not ask: refuse calls that reach for placet's state folder, and let all others pass
    #[arg(long)]
    pub fence: bool,
}

#[derive(Debug, ClapArgs)]
pub struct HookWaitArgs {
    /// Time a call waits for a decision; then it is withdrawn and denied
    #[arg(long, value_name = "TIME", default_value = "50m")]
    pub wait: String,
    /// Claude Code without a terminal: do not wait, end the session; `placet hook resume` continues
    #[arg(long)]
    pub defer: bool,
}

#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// Write the hook into a client's settings, after showing it
    Install(HookInstallArgs),
    /// Take the hook out of a client's settings
    Uninstall(HookUninstallArgs),
    /// List deferred sessions of Claude Code; with --run resume those that were decided
    Resume(HookResumeArgs),
}

#[derive(Debug, ClapArgs)]
pub struct HookInstallArgs {
    #[arg(value_parser = client())]
    pub client: &'static HookClient,
    /// Which tools are asked about: a regular expression [default: those that change something]
    #[arg(long, value_name = "PATTERN")]
    pub tools: Option<String>,
    #[command(flatten)]
    pub wait: HookWaitArgs,
    #[command(flatten)]
    pub place: HookPlaceArgs,
}

#[derive(Debug, ClapArgs)]
pub struct HookUninstallArgs {
    #[arg(value_parser = client())]
    pub client: &'static HookClient,
    #[command(flatten)]
    pub place: HookPlaceArgs,
}

#[derive(Debug, ClapArgs)]
pub struct HookPlaceArgs {
    /// For every project of yours; the default
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// For the project in this folder
    #[arg(long)]
    pub project: bool,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, ClapArgs)]
pub struct HookResumeArgs {
    /// Resume them here, one after the other
    #[arg(long)]
    pub run: bool,
    /// More arguments for `claude`, behind `--`
    #[arg(last = true, requires = "run")]
    pub more: Vec<OsString>,
}

fn client() -> impl TypedValueParser<Value = &'static HookClient> {
    one_of(HookClient::all().map(|client| (client.word(), client, "")))
}

/// Longer than any client waits.
const WAIT_MAX: Duration = Duration::from_hours(24);

/// Returns the wait of a hook. `client` is known on installation, or from the event.
pub fn wait(args: &HookWaitArgs, client: Option<&HookClient>) -> Result<HookWait, Usage> {
    let limit = input::duration(&args.wait)?;
    if limit > WAIT_MAX {
        return Err(Usage("--wait is at most 24h".to_owned()));
    }
    match client.filter(|client| args.defer && !client.can_defer) {
        Some(client) => {
            Err(Usage(format!("{} runs a tool that a hook defers; leave --defer out", client.title())))
        }
        None => Ok(HookWait { limit, defer: args.defer }),
    }
}

fn place(client: &HookClient, args: &HookPlaceArgs) -> anyhow::Result<PathBuf> {
    let scope = if args.project { Scope::Project } else { Scope::User };
    let folder = std::env::current_dir()?;
    Ok(settings::path(client, scope, &folder, &input::variable)?)
}

/// `placet hook install`. `program` is the command line of this placet, with its configuration.
pub fn install(args: &HookInstallArgs, program: Vec<String>) -> anyhow::Result<Exit> {
    let client = args.client;
    let wait = wait(&args.wait, Some(client))?;
    let tools = args.tools.clone().unwrap_or_else(|| settings::default_matcher(client));
    let block = Block { client, tools, program, wait: wait.limit, defer: wait.defer };
    let path = place(client, &args.place)?;
    let settings = Settings::read(&path, client)?;
    let text = settings.with(&block)?;
    let shown = path.display();
    let to_know = judged(client, &path, &text)?;
    if settings.is(&text) {
        output::line(&format!("{} has this hook already: {shown}", client.title()))?;
        return Ok(Exit::Done);
    }
    output::line(&format!("For {shown}:"))?;
    output::line(&block.shown())?;
    for check in to_know {
        // A project's settings may contain anything.
        output::line(&output::shown(&Untrusted::from(format!("{}: {}.", check.found, check.advice))))?;
    }
    if !input::agreed(args.place.yes)? {
        return Ok(Exit::Failed);
    }
    settings.write(&text)?;
    output::line(&format!("Installed. New sessions of {} ask the gate.", client.title()))?;
    if client.needs_trust {
        output::line("Codex skips a hook until you trust it: start `codex`, type /hooks, and trust both.")?;
    }
    output::line("`placet doctor` checks it.")?;
    Ok(Exit::Done)
}

/// Checks the settings with this text at `path`. Returns warnings. Fails if the hook cannot work.
fn judged(client: &'static HookClient, path: &Path, text: &str) -> anyhow::Result<Vec<Check>> {
    let mut layers = judge::layers(client, &std::env::current_dir()?, &input::variable);
    for layer in layers.iter_mut().filter(|layer| layer.path == path) {
        text.clone_into(&mut layer.text);
    }
    let (mut checks, _) = judge::judge(client, &layers);
    checks.retain(|check| check.verdict != Verdict::Good);
    match checks.iter().find(|check| check.verdict == Verdict::Bad) {
        Some(bad) => Err(Usage(format!(
            "this hook would not work; {}: {}; nothing was written",
            output::shown(&Untrusted::from(bad.found.as_str())),
            bad.advice
        ))
        .into()),
        None => Ok(checks),
    }
}

pub fn uninstall(args: &HookUninstallArgs) -> anyhow::Result<Exit> {
    let client = args.client;
    let path = place(client, &args.place)?;
    let settings = Settings::read(&path, client)?;
    let text = settings.without()?;
    let shown = path.display();
    if settings.is(&text) {
        output::line(&format!("{} has no hook of placet: {shown}", client.title()))?;
        return Ok(Exit::Done);
    }
    output::line(&format!("The hook is taken out of {shown}. Tools then run without the gate."))?;
    if !input::agreed(args.place.yes)? {
        return Ok(Exit::Failed);
    }
    settings.write(&text)?;
    output::line("Taken out.")?;
    Ok(Exit::Done)
}

pub async fn resume(
    args: &HookResumeArgs,
    deferred: Vec<Deferred>,
    client: &AgentClient,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for one in deferred {
        let found = client.wait_until(&one.action, Until::Decided, Duration::ZERO).await;
        let tool = output::identifier(&Untrusted::from(one.tool.as_str()));
        let session = output::identifier(&Untrusted::from(one.session.as_str()));
        let (said, decided) = match found {
            Ok(action) if action.row.status == Status::Pending => ("waits for a decision".to_owned(), false),
            Ok(action) => (text::status_word(&action.row.status).plain(), true),
            Err(error) => {
                exit = Exit::Failed;
                (format!("cannot be read: the gate {error}"), false)
            }
        };
        output::line(&format!("{session}  {tool}  {said}"))?;
        if !decided {
            continue;
        }
        if !args.run {
            output::line(&format!("  {}", command_line(&one)))?;
        } else if !resumed(&one, args)? {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

fn command_line(one: &Deferred) -> String {
    let words = ["claude", "-p", "--resume", &one.session];
    let folder = one.folder.to_string_lossy();
    let line = format!("cd {} && {}", shell_words::quote(&folder), shell_words::join(words));
    output::shown(&Untrusted::from(line))
}

fn resumed(one: &Deferred, args: &HookResumeArgs) -> anyhow::Result<bool> {
    // An option in place of a session would be obeyed.
    if one.session.starts_with('-') {
        return Err(Usage("this session has no id that can be resumed".to_owned()).into());
    }
    let mut command = Command::new("claude");
    command.args(["-p", "--resume", &one.session]).args(&args.more).current_dir(&one.folder);
    program::without_configured_secrets(&mut command);
    let status = command.status().map_err(|error| anyhow::anyhow!("cannot run claude: {error}"))?;
    Ok(status.success())
}

/// Returns the command line of this placet with the given configuration. It stays valid after an upgrade.
pub fn lasting_program(config: Option<&Path>) -> anyhow::Result<Vec<String>> {
    let program = std::env::current_exe().context("cannot tell where placet is")?;
    let program = lasting(&program, &std::env::var_os("PATH").unwrap_or_default()).map_err(Usage)?;
    let text = |path: &Path| {
        let path = std::path::absolute(path)?;
        let text = path.to_str().map(str::to_owned);
        text.ok_or_else(|| anyhow::anyhow!("{} cannot be written into settings", path.display()))
    };
    let mut words = vec![text(&program)?];
    if let Some(config) = config {
        words.extend(["--config".to_owned(), text(config)?]);
    }
    Ok(words)
}
