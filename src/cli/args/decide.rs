//! `placet decide`, `placet retry` and `placet propose`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::NonEmptyStringValueParser;

use super::words::id;

#[derive(Debug, ClapArgs)]
pub struct DecideArgs {
    /// Approve this action, by its id or any unique beginning of it; repeat for more
    #[arg(long, value_name = "ID", value_parser = id)]
    pub approve: Vec<String>,
    /// Reject this action, given the same way; repeat for more
    #[arg(long, value_name = "ID", value_parser = id)]
    pub reject: Vec<String>,
    /// Take your own approval of this action back, given the same way, while more people must approve it; repeat for more
    #[arg(long, value_name = "ID", value_parser = id, conflicts_with_all = ["approve", "reject", "from", "dry_run", "follow", "json"])]
    pub take_back: Vec<String>,
    /// Why, for every rejection given by --reject
    #[arg(long, requires = "reject")]
    pub reason: Option<String>,
    /// Decisions as JSON: [{"id","decision":"approve|reject|retry","userEdits"?,"reason"?,"digest"?,"terms"?,"source"?}]; - is standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until approved actions have run, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60")]
    pub follow: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// Of `placet retry`.
    #[arg(skip)]
    pub retry: Vec<String>,
    #[arg(skip)]
    pub guidance: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub struct RetryArgs {
    /// The action, by its id or any unique beginning of it
    #[arg(required = true, value_parser = id)]
    pub id: Vec<String>,
    /// Guidance for the agent
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub guidance: String,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until the actions are back, at most this many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "180")]
    pub follow: Option<u64>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

impl From<RetryArgs> for DecideArgs {
    fn from(RetryArgs { id, guidance, source, dry_run, follow, json }: RetryArgs) -> Self {
        let (approve, reject, take_back, reason, from) = <_>::default();
        let (retry, guidance) = (id, Some(guidance));
        Self { approve, reject, take_back, reason, from, source, dry_run, follow, json, retry, guidance }
    }
}

#[derive(Debug, ClapArgs)]
pub struct ProposeArgs {
    /// The tool that would be called
    pub tool: String,
    /// Its input, a JSON object; - reads standard input. Every byte is kept
    #[arg(long, value_name = "FILE")]
    pub input: PathBuf,
    /// The target's current values, JSON under the input's keys: reviewers see before and after
    #[arg(long, value_name = "FILE")]
    pub before: Option<PathBuf>,
    /// One sentence for the reviewer
    #[arg(long)]
    pub summary: Option<String>,
    /// low, medium, high, critical: only above the tool's own
    #[arg(long, value_name = "WORD", value_parser = ["low", "medium", "high", "critical"], hide_possible_values = true)]
    pub risk: Option<String>,
    /// The workspace [default: the token's]
    #[arg(long)]
    pub workspace: Option<String>,
    #[arg(long)]
    pub mission: Option<String>,
    #[arg(long)]
    pub session: Option<String>,
    #[arg(long)]
    pub agent: Option<String>,
    /// The batch [default: MISSION:TOOL]
    #[arg(long)]
    pub batch: Option<String>,
    /// Who is told when it is decided and when it is over: a name in the gate's configuration
    #[arg(long, value_name = "NAME")]
    pub callback: Option<String>,
    /// Propose it to this gate [default: PLACET_URL, else the configured gate, else the one on this machine]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The file with the token to propose with [default: PLACET_TOKEN, else PLACET_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The CA certificate of that gate, in PEM
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca_file: Option<PathBuf>,
    /// Wait until it is executed, rejected or expired, at most this many seconds. The token also needs the scope read
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600")]
    pub wait: Option<u64>,
    /// One JSON object; with --wait a second one, a line each
    #[arg(long)]
    pub json: bool,
}
