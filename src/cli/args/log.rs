//! `placet log`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};

use super::words::{id, one_of};
use crate::cli::log::columns;
use crate::domain::DecisionKind;

/// The values of `--decision`.
fn decisions() -> impl TypedValueParser<Value = DecisionKind> {
    one_of(DecisionKind::ALL.map(|kind| {
        let (word, help) = kind.words().logged;
        (word, kind, help)
    }))
}

/// The values of `--outcome`.
fn outcomes() -> impl TypedValueParser<Value = &'static str> {
    one_of([
        ("approved", "approved", ""),
        ("executed", "executed", "Approved, and it ran"),
        ("rejected", "rejected", ""),
        ("skipped", "skipped", "Settled before, or gone"),
        ("accepted", "accepted", "Taken, and settled later"),
        ("failed", "failed", "Refused by the source, or approved and failed"),
        ("unknown", "unknown", "We lost track of it, when it was sent or when it ran"),
    ])
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    /// At most this many decisions, newest first
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Only decisions since: an age like 12h or 30d, or a time like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only decisions before, written the same way
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only this tool, by its whole name
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only these decisions; separate several with commas
    #[arg(long, value_parser = decisions(), value_delimiter = ',', value_name = "DECISION")]
    pub decision: Vec<DecisionKind>,
    /// Only these outcomes; separate several with commas
    #[arg(long, value_parser = outcomes(), value_delimiter = ',', value_name = "OUTCOME")]
    pub outcome: Vec<&'static str>,
    /// Which columns, in which order, for the table and CSV
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = PossibleValuesParser::new(columns().map(|it| it.name)))]
    pub columns: Vec<String>,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<LogCommand>,
}

impl LogArgs {
    /// Returns whether a filter is set.
    pub const fn is_filtered(&self) -> bool {
        self.since.is_some()
            || self.until.is_some()
            || self.source.is_some()
            || self.tool.is_some()
            || !self.decision.is_empty()
            || !self.outcome.is_empty()
    }

    /// Returns whether the command needs only the stored receipts. Outcomes are then not read before.
    pub const fn reads_receipts(&self) -> bool {
        matches!(self.command, Some(LogCommand::Verify { .. } | LogCommand::Export { .. }))
    }
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Read every receipt and every decision, and report what was changed outside placet
    Verify {
        /// A head kept elsewhere: its hash, or a file whose last line is a receipt or a head; - reads standard input
        #[arg(long, value_name = "FILE|HASH")]
        head: Option<String>,
        /// One JSON object; keep it elsewhere as a head
        #[arg(long)]
        json: bool,
    },
    /// Print every receipt as JSON, one a line, oldest first; the last line is a head
    Export {
        /// Write to this file instead, readable only by its owner; it must not exist
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        /// As CSV for spreadsheets; only the JSON can be verified
        #[arg(long)]
        csv: bool,
    },
    /// Print the report of one submission again, with current outcomes
    Report(ReportArgs),
    /// Summarise a shift for a chat: counts, names of sources and tools, and what it hands over
    Shift(ShiftArgs),
}

#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// The submission's id, as `placet log --columns submission` has it, or as much of it as no other has; or `last`
    #[arg(default_value = "last", value_parser = id)]
    pub id: String,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ShiftArgs {
    /// Its start: an age like 8h, or a time like 2026-11-22T08:00:00Z
    #[arg(long, value_name = "TIME", default_value = "8h")]
    pub since: String,
    /// The same, under the name that goes with --until
    #[arg(long, value_name = "TIME", conflicts_with = "since")]
    pub from: Option<String>,
    /// Its end, written the same way [default: now]
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// CSV for spreadsheets: a row for all, for each source and for each tool; never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}
