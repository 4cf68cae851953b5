//! `placet watch`.

use clap::{ArgGroup, Args as ClapArgs};

#[derive(Debug, ClapArgs)]
#[command(after_help = FIELDS, group = ArgGroup::new("prints").args(["once", "json", "line"]).multiple(true))]
pub struct WatchArgs {
    /// Print the figures once, as a table, and exit; waits at most 10 s for a source
    #[arg(long)]
    pub once: bool,
    /// One JSON object a line: the figures at once and on each change, and events; with --once only the figures
    #[arg(long)]
    pub json: bool,
    /// One line for a status bar, and a new one on each change; with --once exactly one, after at most 3 s
    #[arg(long, conflicts_with = "json")]
    pub line: bool,
    /// The format of the line, with fields in braces
    #[arg(long, value_name = "TEXT", requires = "line")]
    pub format: Option<String>,
    /// Only this source
    #[arg(long, value_name = "NAME", requires = "prints")]
    pub source: Option<String>,
    /// Count outcomes over this many minutes, up to 1440 [default: 60]
    #[arg(long, value_name = "MINUTES", requires = "prints", value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub window: Option<u32>,
    /// Plain mode, lines of text for screen readers: the figures first, then the inbox
    #[arg(long, conflicts_with = "prints")]
    pub plain: bool,
}

const FIELDS: &str = "Fields of --format: {state} {pending} {high} {oldest} {over} {target} {unknown} {arrivals_now} \
                      {resolves_now} {arrivals} {resolves} {net} {clears} {approved} {rejected} {failed} {alerts} {missing}; {{ and \
                      }} are braces. {arrivals_now} and {resolves_now} count the last full minute; {arrivals}, {resolves} and {net} are \
                      a minute, over the last fifteen. {missing} says which numbers are old or not there; a line without it has that \
                      at its end.";

impl WatchArgs {
    /// Returns whether it prints instead of drawing a screen.
    pub const fn prints(&self) -> bool {
        self.once || self.json || self.line
    }
}
