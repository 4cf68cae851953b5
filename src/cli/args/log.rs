//! `placet log`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};

use super::words::one_of;
use crate::cli::log::columns;
use crate::domain::DecisionKind;

/// What was decided.
fn decisions() -> impl TypedValueParser<Value = DecisionKind> {
    one_of(DecisionKind::ALL.map(|kind| {
        let (word, help) = kind.words().logged;
        (word, kind, help)
    }))
}

/// What a decision came to.
fn outcomes() -> impl TypedValueParser<Value = &'static str> {
    one_of([
        ("approved", "approved", ""),
        ("executed", "executed", "Approved, and it ran"),
        ("rejected", "rejected", ""),
        ("skipped", "skipped", "Decided by someone else first"),
        ("accepted", "accepted", "Taken, and settled later"),
        ("failed", "failed", "Refused by the source, or approved and failed"),
        ("unknown", "unknown", "Lost sight of, when it was sent or when it ran"),
    ])
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    /// At most so many decisions, the newest
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Only what was decided since: a time ago like 12h or 30d, or a moment like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what was decided before, written in the same way
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only in this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only of this tool; its whole name
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only what was decided so; several with commas
    #[arg(long, value_parser = decisions(), value_delimiter = ',', value_name = "DECISION")]
    pub decision: Vec<DecisionKind>,
    /// Only what came to this; several with commas
    #[arg(long, value_parser = outcomes(), value_delimiter = ',', value_name = "OUTCOME")]
    pub outcome: Vec<&'static str>,
    /// Which columns, in which order; in the table and in CSV
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = PossibleValuesParser::new(columns().map(|it| it.name)))]
    pub columns: Vec<String>,
    /// A table for spreadsheets: RFC 4180, a header first; text as it is shown, and never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<LogCommand>,
}

impl LogArgs {
    /// Not every decision is asked for.
    pub const fn is_filtered(&self) -> bool {
        self.since.is_some()
            || self.until.is_some()
            || self.source.is_some()
            || self.tool.is_some()
            || !self.decision.is_empty()
            || !self.outcome.is_empty()
    }

    /// It is about the receipts as they stand: nothing is to be learnt before.
    pub const fn reads_receipts(&self) -> bool {
        matches!(self.command, Some(LogCommand::Verify { .. } | LogCommand::Export { .. }))
    }
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Read every receipt and every decision, and say what was changed behind placet's back
    Verify {
        /// A head that was kept elsewhere: its hash, or a file whose last line is a receipt or a head; - is standard input
        #[arg(long, value_name = "FILE|HASH")]
        head: Option<String>,
        /// One JSON object; kept elsewhere, it is a head
        #[arg(long)]
        json: bool,
    },
    /// Print every receipt as JSON, one a line, oldest first; the last line is a head
    Export {
        /// Into this file instead, readable by its owner alone; it must not be there yet
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// As a table for spreadsheets, for reading; only the JSON can be checked
        #[arg(long)]
        csv: bool,
    },
    /// Print the report of one submission again, with what is known now
    Report(ReportArgs),
    /// Say what a shift was like, in some forty lines for a chat: counts, and names of sources and tools
    Shift(ShiftArgs),
}

#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// The submission's id, as `placet log --columns submission` has it, or as much of it as no other has; or `last`
    #[arg(default_value = "last")]
    pub id: String,
    /// A table for spreadsheets: RFC 4180, a header first; text as it is shown, and never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ShiftArgs {
    /// It began so long ago, like 8h, or at a moment like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME", default_value = "8h")]
    pub since: String,
    /// The same, under the name that goes with --until
    #[arg(long, value_name = "TIME", conflicts_with = "since")]
    pub from: Option<String>,
    /// It ended then, written in the same way; else now
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// A table for spreadsheets: RFC 4180, a row for all, for each source and for each tool; never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}
