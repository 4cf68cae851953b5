//! `placet hook`.

use std::ffi::OsString;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand};

use super::words::one_of;
use crate::agent::hook::HookClient;

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct HookArgs {
    #[command(subcommand)]
    pub command: Option<HookCommand>,
    #[command(flatten)]
    pub run: HookRunArgs,
}

/// One event, from standard input.
#[derive(Debug, ClapArgs)]
pub struct HookRunArgs {
    /// The client that calls [default: as its event tells]
    #[arg(long, value_parser = client())]
    pub client: Option<HookClient>,
    #[command(flatten)]
    pub wait: HookWaitArgs,
    /// Do not ask: refuse calls that reach for placet's state folder, and let all others pass
    #[arg(long)]
    pub fence: bool,
}

#[derive(Debug, ClapArgs)]
pub struct HookWaitArgs {
    /// How long a call waits for a decision; then it is withdrawn and denied
    #[arg(long, value_name = "TIME", default_value = "50m")]
    pub wait: String,
    /// Claude Code without a terminal: do not wait, end the session; `placet hook resume` goes on
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
    pub client: HookClient,
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
    pub client: HookClient,
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

fn client() -> impl TypedValueParser<Value = HookClient> {
    one_of(HookClient::ALL.map(|client| (client.word(), client, "")))
}
