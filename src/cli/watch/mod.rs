//! `placet watch` without a screen: the figures of the watch view as a table, JSON lines, or a line for a status bar.
//! Every form marks old and missing numbers.

use std::time::Duration;

use clap::{ArgGroup, Args as ClapArgs};
use tokio::time::{Instant, MissedTickBehavior};

use crate::clock;
use crate::config::Watch;
use crate::domain::SourceName;
use crate::inbox::Inbox;
use crate::inbox::figures::{Board, BoardRequest, Figures, Happening};
use crate::inbox::notify::Caller;

use super::args::Completed;
use super::exit::Exit;
use super::find::chosen;
use super::list::settle;
use super::output::{self, problem};

mod changes;
mod event;
mod line;
mod missing;
mod observer;
mod table;
#[cfg(test)]
mod tests;

use line::Format;
use observer::Observer;

/// Watch every queue's figures, live; nothing is decided there
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
    #[arg(long, value_name = "NAME", requires = "prints", add = Completed::Sources)]
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
    pub const fn prints(&self) -> bool {
        self.once || self.json || self.line
    }
}

/// Interval of looks at the figures.
const EVERY: Duration = Duration::from_secs(1);
/// The default window, in minutes.
const HOUR: u32 = 60;
/// Interval of looks at open decisions.
const LOOK: Duration = Duration::from_mins(1);
/// Maximum number of values in a series.
const COLUMNS: usize = 60;
/// Longest wait for the first numbers if others follow, or for a status bar.
const SOON: Duration = Duration::from_secs(3);
/// Longest wait for the numbers if they are printed once.
const ALL: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Watching {
    pub watch: Watch,
    /// The rules that need no screen. They are not applied if the figures are printed once.
    pub caller: Option<Caller>,
}

enum Form {
    Table,
    Json { last: Option<Box<Board>>, told: Vec<Happening> },
    Line { format: Format, last: Option<String> },
}

/// Watches and prints until `end`, or until standard output is closed.
pub async fn run(
    inbox: &Inbox,
    args: &WatchArgs,
    mut watching: Watching,
    end: impl Future<Output = ()>,
) -> anyhow::Result<Exit> {
    if args.once {
        settle(inbox).await;
    }
    let settling = (!args.once).then(|| tokio::spawn(settle_open(inbox.clone())));
    let watched = until(inbox, args, &mut watching, end).await;
    if let Some(settling) = settling {
        settling.abort();
    }
    if let Some(caller) = watching.caller {
        caller.finish().await;
    }
    watched
}

async fn settle_open(inbox: Inbox) {
    loop {
        let next = match inbox.settle_open().await {
            Ok(next) => next,
            Err(problem) => {
                tracing::warn!(what = problem.what, "open decisions cannot be read again");
                None
            }
        };
        // Another run may leave a decision open meanwhile.
        let wait =
            next.map_or(LOOK, |at| Duration::from_millis(at.since(clock::now()).max(0).unsigned_abs()));
        tokio::time::sleep(wait.min(LOOK)).await;
    }
}

async fn until(
    inbox: &Inbox,
    args: &WatchArgs,
    watching: &mut Watching,
    end: impl Future<Output = ()>,
) -> anyhow::Result<Exit> {
    let mut form = match (args.json, args.line) {
        (true, _) => Form::Json { last: None, told: Vec::new() },
        (_, true) => Form::Line { format: Format::of(args.format.as_deref())?, last: None },
        _ => Form::Table,
    };
    let sources = chosen(inbox, args.source.as_deref())?;
    let figures = Figures::new(watching.watch.targets, watching.watch.reviewers, &sources)
        .with_queue_targets(&watching.watch.queue_targets)
        .with_groups(watching.watch.groups);
    let mut observer = Observer::start(inbox.clone(), figures, args.window.unwrap_or(HOUR), &sources).await;
    let limit = if args.once && !args.line { ALL } else { SOON };
    tokio::pin!(end);
    tokio::select! {
        () = &mut end => return Ok(Exit::Done),
        () = observer.first(Instant::now() + limit) => {}
    }
    form.print(&observer, watching, !args.once)?;
    if args.once {
        return Ok(if observer.reached() { Exit::Done } else { Exit::Unreachable });
    }
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        tokio::select! {
            () = &mut end => break,
            () = observer.step() => continue,
            _ = ticks.tick() => {}
        }
        if output::unread() {
            break;
        }
        observer.minute().await;
        form.print(&observer, watching, true)?;
    }
    observer.keep().await;
    Ok(Exit::Done)
}

impl Form {
    /// Prints changes since the last call; `goes_on`: it will be called again.
    fn print(&mut self, observer: &Observer, watching: &mut Watching, goes_on: bool) -> anyhow::Result<()> {
        let board = observer.board(BoardRequest { window: observer.window(), columns: COLUMNS });
        if goes_on && let Some(caller) = &mut watching.caller {
            caller.look(&board);
        }
        let targets = watching.watch.targets;
        match self {
            Self::Table => table::print(&board, observer.problems(), targets)?,
            Self::Line { format, last } => {
                let line = format.line(&board, &missing::of(&board, observer.problems()), targets);
                if last.as_ref() != Some(&line) {
                    output::line(&line)?;
                    *last = Some(line);
                }
            }
            Self::Json { last, told } => {
                if goes_on {
                    let (new, is_missed) = event::news(&board.events, told);
                    if let Some(first) = new.last().filter(|_| is_missed) {
                        output::versioned(&event::missed(first))?;
                    }
                    for happening in new.iter().rev() {
                        output::versioned(&event::event_json(happening))?;
                    }
                    told.clone_from(&board.events);
                }
                let figures = changes::figures(&board);
                if last.as_deref() != Some(&figures) {
                    let why = |name: &SourceName| observer.problems().get(name).map(problem);
                    output::json(&board.json(why))?;
                    *last = Some(Box::new(figures));
                }
            }
        }
        Ok(())
    }
}
