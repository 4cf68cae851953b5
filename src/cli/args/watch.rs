//! `placet watch`.

use clap::{ArgGroup, Args as ClapArgs};

#[derive(Debug, ClapArgs)]
#[command(after_help = FIELDS, group = ArgGroup::new("prints").args(["once", "json", "line"]).multiple(true))]
pub struct WatchArgs {
    /// Print the board once, as a table, and open no view; nothing that does not answer is waited for longer than ten seconds
    #[arg(long)]
    pub once: bool,
    /// One JSON object a line: the board at once and whenever figures change, and what happens; with --once the board alone
    #[arg(long)]
    pub json: bool,
    /// One line for a status bar, and a new one whenever it changes; with --once exactly one, after three seconds at most
    #[arg(long, conflicts_with = "json")]
    pub line: bool,
    /// What the line says, with fields in braces
    #[arg(long, value_name = "TEXT", requires = "line")]
    pub format: Option<String>,
    /// Only this source
    #[arg(long, value_name = "NAME", requires = "prints")]
    pub source: Option<String>,
    /// Count outcomes over so many minutes, up to 1440 [default: 60]
    #[arg(long, value_name = "MINUTES", requires = "prints", value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub window: Option<u32>,
    /// In typed words and plain lines, for screen readers: the figures first, then the inbox
    #[arg(long, conflicts_with = "prints")]
    pub plain: bool,
}

const FIELDS: &str = "Fields of --format: {state} {pending} {high} {oldest} {over} {target} {unknown} {arrivals_now} \
                      {resolves_now} {arrivals} {resolves} {net} {clears} {approved} {rejected} {failed} {alerts} {missing}; {{ and \
                      }} are braces. {arrivals_now} and {resolves_now} count the last full minute; {arrivals}, {resolves} and {net} are \
                      a minute, over the last fifteen. {missing} says which numbers are old or not there; a line without it has that \
                      at its end.";

impl WatchArgs {
    /// Nothing is drawn: it is printed.
    pub const fn prints(&self) -> bool {
        self.once || self.json || self.line
    }
}
