//! `placet gate`. The large commands have files of their own.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use serde_json::json;

use crate::clock;
use crate::config::GateConfig;
use crate::contract::action::wire_status;
use crate::contract::settle::SettleAs;
use crate::contract::time;
use crate::domain::{Status, Untrusted};
use crate::gate::Gate;
use crate::private;
use crate::text;

use super::args::{DatabaseArg, id, one_of};
use super::columns::ShortIds;
use super::exit::{Exit, Usage};
use super::find::with_beginning;
use super::{input, output};

pub mod audit;
pub mod database;
pub mod moving;
pub mod token;

use audit::AuditArgs;
use database::{BackupArgs, bare, exists};
use moving::MoveArgs;
use token::TokenArgs;

/// Run and manage the gate
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    Serve(ServeArgs),
    Backup(BackupArgs),
    /// Bring the gate's database to this version, and make it on a server where it is missing
    Migrate(DatabaseArg),
    Move(MoveArgs),
    #[command(flatten)]
    Owner(OwnerCommand),
}

/// Commands that work on the database itself: they need no running gate, and a running one obeys at once.
#[derive(Debug, Subcommand)]
pub enum OwnerCommand {
    Token(TokenArgs),
    /// Stop running approved actions; proposals and decisions continue
    Pause(PauseArgs),
    /// Resume running approved actions
    Resume(PauseArgs),
    Settle(SettleArgs),
    Prune(PruneArgs),
    Callbacks(CallbacksArgs),
    Audit(AuditArgs),
}

impl OwnerCommand {
    pub fn database(&self) -> Option<&str> {
        let named = match self {
            Self::Token(args) => &args.database,
            Self::Pause(args) | Self::Resume(args) => &args.database,
            Self::Settle(args) => &args.database,
            Self::Prune(args) => &args.database,
            Self::Callbacks(args) => &args.database,
            Self::Audit(args) => &args.database,
        };
        named.database.as_deref()
    }
}

/// Serve the gate for a team, without a screen
#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// Address and port; port 0 picks a free one [default: the one in the configuration]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME [default: the one in the configuration]
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// Speak plain HTTP to other machines: a proxy in front of the gate speaks TLS
    #[arg(long)]
    pub behind_proxy: bool,
    /// Write the log to this file; - is standard error [default: placet.log in the state folder]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line an event, for people
    Text,
    /// One JSON object a line, for programs
    Json,
}

#[derive(Debug, ClapArgs)]
pub struct PauseArgs {
    #[command(flatten)]
    pub database: DatabaseArg,
    /// Only this workspace [default: the whole gate]
    #[arg(long)]
    pub workspace: Option<String>,
}

/// Resolve an action whose outcome is unknown
#[derive(Debug, ClapArgs)]
pub struct SettleArgs {
    /// The action's id, or any unique beginning of it
    #[arg(value_parser = id)]
    pub id: String,
    /// The outcome: it ran, it did not run, or run it again
    #[arg(long = "as", value_parser = settled())]
    pub how: SettleAs,
    /// How you know; kept in the audit
    #[arg(long)]
    pub reason: Option<String>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

/// Delete actions settled long ago; the audit keeps a record of them
#[derive(Debug, ClapArgs)]
pub struct PruneArgs {
    /// Only actions settled before: an age like 90d, or a moment like 2026-11-22T08:00:00Z [default: gate.keep_settled]
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// First export what will be deleted to this new file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub database: DatabaseArg,
}

/// List callback deliveries: waiting, delivered, given up
#[derive(Debug, ClapArgs)]
pub struct CallbacksArgs {
    /// At most so many; those that wait come first, then the newest
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: u32,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub database: DatabaseArg,
}

fn settled() -> impl TypedValueParser<Value = SettleAs> {
    one_of([
        ("executed", SettleAs::Executed, ""),
        ("failed", SettleAs::Failed, ""),
        ("retry", SettleAs::Retry, ""),
    ])
}

/// Opens the database, runs the command and closes the database. `who` is the login name, for the audit.
pub async fn owner(config: GateConfig, command: OwnerCommand, who: Option<String>) -> anyhow::Result<Exit> {
    exists(&config)?;
    let bare = bare(config);
    let gate = match &command {
        OwnerCommand::Audit(_) | OwnerCommand::Callbacks(_) => Gate::open_to_read(&bare).await?,
        _ => Gate::open(&bare).await?,
    };
    let who = who.as_deref();
    let end = match command {
        OwnerCommand::Token(args) => token::run(&gate, args.command, who).await,
        OwnerCommand::Pause(args) => pause(&gate, &args, true, who).await,
        OwnerCommand::Resume(args) => pause(&gate, &args, false, who).await,
        OwnerCommand::Settle(args) => settle(&gate, args, who.unwrap_or("somebody on this machine")).await,
        OwnerCommand::Prune(args) => prune(&gate, &args, bare.keep_settled, who).await,
        OwnerCommand::Callbacks(args) => callbacks(&gate, &args).await,
        OwnerCommand::Audit(args) => audit::run(&gate, args.command).await,
    };
    gate.close().await;
    end
}

async fn pause(gate: &Gate, args: &PauseArgs, paused: bool, who: Option<&str>) -> anyhow::Result<Exit> {
    let workspace = args.workspace.as_deref();
    let changed =
        if paused { gate.pause(workspace, who).await? } else { gate.resume(workspace, who).await? };
    let what = workspace.map_or_else(|| "the whole gate".to_owned(), |it| output::identifier(&it.into()));
    output::line(&match (paused, changed) {
        (true, true) => format!("paused: {what}. Nothing new runs there; running actions will finish"),
        (true, false) => format!("it was paused already: {what}"),
        (false, true) => format!("resumed: {what}"),
        (false, false) => format!("it was not paused: {what}"),
    })?;
    Ok(Exit::Done)
}

async fn settle(gate: &Gate, args: SettleArgs, who: &str) -> anyhow::Result<Exit> {
    let found = gate.ids_beginning(&args.id, 20).await?;
    let id = with_beginning(&args.id, &found)?.unwrap_or(&args.id);
    let action = gate.settle(id, args.how, args.reason, who).await?;
    output::line(&format!("it is {} now", text::status_word(&action.row.status).cut(20).plain()))?;
    Ok(Exit::Done)
}

async fn prune(
    gate: &Gate,
    args: &PruneArgs,
    keep_settled: Option<Duration>,
    who: Option<&str>,
) -> anyhow::Result<Exit> {
    let now = clock::now();
    let before = match (&args.before, keep_settled) {
        (Some(text), _) => input::moment(text, now)?,
        (None, Some(keep)) => now.plus_millis(-i64::try_from(keep.as_millis()).unwrap_or(i64::MAX)),
        (None, None) => {
            let how = "gate.keep_settled is off; say what to prune with --before, like --before 90d";
            return Err(Usage(how.to_owned()).into());
        }
    };
    let mut export = args.export.as_deref().map(new_file).transpose()?;
    let gone = AtomicU64::new(0);
    let pruning = gate.prune(before, who, &gone, |lines| kept(export.as_mut(), lines));
    let pruned = output::counting("actions pruned", None, &gone, pruning).await??;
    let what = match pruned.actions {
        1 => "1 action that was".to_owned(),
        many => format!("{many} actions that were"),
    };
    let said = format!("pruned: {what} settled before {}", output::moment(before));
    output::line(&match &args.export {
        Some(path) => format!("{said}; exported to {}", path.display()),
        None => said,
    })?;
    Ok(Exit::Done)
}

fn new_file(path: &Path) -> anyhow::Result<File> {
    let opened = private::options().write(true).create_new(true).open(path);
    opened.with_context(|| format!("cannot create {}; it must not be there yet", path.display()))
}

/// Writes the export to disk before its actions are deleted.
fn kept(file: Option<&mut File>, lines: &[String]) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    for line in lines {
        writeln!(file, "{line}").context("cannot write the export; nothing that is not in it was pruned")?;
    }
    file.sync_all().context("cannot write the export; nothing that is not in it was pruned")
}

async fn callbacks(gate: &Gate, args: &CallbacksArgs) -> anyhow::Result<Exit> {
    let callbacks = gate.callbacks(args.limit).await?;
    let actions: Vec<Untrusted> = callbacks.iter().map(|it| it.action.as_str().into()).collect();
    let ids = ShortIds::of(&actions);
    for callback in callbacks {
        let (state, when) = match (callback.next_at, callback.ended_at, &callback.error) {
            (Some(next), ..) => ("waiting", format!("next try {}", output::moment(next))),
            (None, at, None) => ("arrived", at.map(output::moment).unwrap_or_default()),
            (None, at, Some(_)) => ("given up", at.map(output::moment).unwrap_or_default()),
        };
        if args.json {
            output::versioned(&json!({
                "id": callback.id,
                "callback": callback.name,
                "pendingActionId": callback.action,
                "workspaceId": callback.workspace,
                "revision": callback.revision,
                "status": wire_status(&Status::parse(&callback.status)),
                "state": state,
                "tries": callback.tries,
                "at": time::write(callback.at),
                "nextTryAt": callback.next_at.map(time::write),
                "endedAt": callback.ended_at.map(time::write),
                "lastError": callback.error,
            }))?;
            continue;
        }
        let (name, action) = (callback.name.as_str().into(), callback.action.as_str().into());
        let (name, action) = (output::identifier_cell(&name, 20), ids.short(&action).plain());
        let status = output::padded(&text::status_word(&Status::parse(&callback.status)), 10);
        let tries = callback.tries;
        let said =
            callback.error.map(|why| format!("  {}", output::cell(&why.as_str().into(), 200).trim_end()));
        let said = said.unwrap_or_default();
        output::line(&format!("{state:8}  {name}  {status}  {action}  tries {tries}  {when}{said}"))?;
    }
    Ok(Exit::Done)
}
