//! `placet list` and `placet show`.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::words::{id, one_of};
use crate::cli::list::columns;
use crate::config::SortBy;
use crate::domain::Status;

/// The values of `--status`.
fn statuses() -> impl TypedValueParser<Value = Status> {
    one_of([
        ("pending", Status::Pending, ""),
        ("unknown", Status::Unknown, "It ran, or was decided from here, and its outcome is unknown"),
        ("approved", Status::Approved, "It was approved and has not ended"),
        ("executed", Status::Executed, ""),
        ("failed", Status::Failed, ""),
        ("rejected", Status::Rejected, ""),
        ("expired", Status::Expired, ""),
        ("withdrawn", Status::Withdrawn, ""),
        ("superseded", Status::Superseded, ""),
    ])
}

/// The values of `--sort`.
fn orders() -> impl TypedValueParser<Value = SortBy> {
    one_of([
        ("age", SortBy::Age, "The oldest"),
        ("risk", SortBy::Risk, "The most harmful"),
        ("expiry", SortBy::Expiry, "What expires first"),
        ("tool", SortBy::Tool, "By the tool's name"),
        ("source", SortBy::Source, "By the source's name"),
    ])
}

#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// The inbox's own filter, all of which must hold: 'risk:>=high age:>1h tool:refund*'
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// A saved filter, by its name; with FILTER, both must hold
    #[arg(long = "filter", value_name = "NAME")]
    pub saved: Option<String>,
    /// Which actions, by status; separate several with commas
    #[arg(long, value_parser = statuses(), value_delimiter = ',', default_value = "pending", value_name = "STATUS")]
    pub status: Vec<Status>,
    /// What comes first [default: the sources' order]
    #[arg(long, value_parser = orders(), value_name = "BY")]
    pub sort: Option<SortBy>,
    /// At most this many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only this source. Without it, a source still silent 5 s after another answered is named and left out
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Which columns, in which order, for the table and CSV
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = PossibleValuesParser::new(columns().map(|it| it.name)))]
    pub columns: Vec<String>,
    /// CSV for spreadsheets (with a header, lines end with LF); text as shown, never a formula
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Counts in one line, for tmux and status bars; waits at most 3 s for a source
    #[arg(long, conflicts_with_all = ["json", "csv", "columns", "sort", "limit", "status"])]
    pub line: bool,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ClaimArgs {
    /// The action's id or any unique beginning of it; several are claimed one after another
    #[arg(required = true, value_parser = id)]
    pub id: Vec<String>,
    /// Its source, when several know the id
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// You are no longer on it
    #[arg(long)]
    pub end: bool,
    /// One JSON object a line for each action
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// The action's id or any unique beginning of it; several are shown one after another
    #[arg(required = true, value_parser = id)]
    pub id: Vec<String>,
    /// Its source, when several know the id
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only the proposed input, byte for byte as its source sent it, for jq; one line each for several
    #[arg(long, conflicts_with = "json")]
    pub raw: bool,
    /// One JSON object a line for each action
    #[arg(long)]
    pub json: bool,
}
