//! Settled actions of all sources in one list, decisions from this journal, and the timeline of an action.

use std::collections::VecDeque;

use super::core::Inbox;
use super::pace::GRACE;
use super::problem::Problem;
use super::timeouts::{Wait, in_time};
use crate::clock;
use crate::domain::{
    ActionKey, Entry, HistoryEvent, ListQuery, Outcome, SourceName, Status, Timestamp, Untrusted,
};
use crate::journal::Sent;

/// Maximum rows per request and per answer.
const PAGE: u32 = 200;

/// A page of settled actions, newest first. A source that fails does not hide the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<Entry>,
    pub next: Option<Next>,
    /// Sources that could not be read or have no lists. Their actions are missing from this page and later ones.
    pub problems: Vec<Problem>,
    pub unreadable: Vec<(SourceName, Untrusted)>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next(Vec<Trail>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Trail {
    source: SourceName,
    /// Read but not returned yet, newest first.
    rest: VecDeque<Entry>,
    cursor: Cursor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cursor {
    Start,
    At(String),
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// In order; `None` if the source keeps no timeline.
    pub events: Option<Vec<HistoryEvent>>,
    pub problem: Option<Problem>,
    /// Decisions sent from here, oldest first.
    pub sent: Vec<SentHere>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentHere {
    pub at: Timestamp,
    pub reviewer: Option<String>,
    pub sent: Sent,
}

impl Inbox {
    /// Lists a page of the actions in these states, newest first, of all sources or only `of` these. Failures are part
    /// of the listing. `next` is that of the page before, for the same states.
    pub async fn listed(
        &self,
        of: Option<&[SourceName]>,
        statuses: &[Status],
        next: Option<Next>,
    ) -> Listing {
        let mut listing = Listing { at: clock::now(), ..Listing::default() };
        let trails = next.map_or_else(|| trails(self, of, &mut listing), |next| next.0);
        let names: Vec<SourceName> = trails.iter().map(|trail| trail.source.clone()).collect();
        let read = trails.into_iter().map(|trail| filled(self, statuses, trail));
        let read = in_time(read, GRACE, |(.., problem)| problem.is_none()).await;
        let mut trails = Vec::new();
        for (name, read) in names.iter().zip(read) {
            let Some((trail, unreadable, problem)) = read else {
                listing.problems.push(Problem::silent(name, GRACE));
                continue;
            };
            listing.problems.extend(problem);
            listing.unreadable.extend(unreadable.into_iter().map(|raw| (trail.source.clone(), raw)));
            trails.push(trail);
        }
        listing.entries = merged(&mut trails);
        trails.retain(|trail| !trail.rest.is_empty() || trail.cursor != Cursor::End);
        listing.next = (!trails.is_empty()).then_some(Next(trails));
        listing
    }

    /// Returns the events of an action. Fails only if the journal cannot be read.
    pub async fn history(&self, key: &ActionKey) -> Result<History, Problem> {
        let sent = self.sent_here(key).await?;
        let told = match self.source(&key.source) {
            Ok(source) => {
                let told = source.ask_able(Wait::Look, |able| Some(able.timeline?.timeline(&key.id))).await;
                told.map_err(|error| Problem::of(&key.source, &error))
            }
            Err(problem) => Err(problem),
        };
        let (events, problem) = told.map_or_else(|problem| (None, Some(problem)), |events| (events, None));
        Ok(History { events, problem, sent })
    }

    pub async fn sent_here(&self, key: &ActionKey) -> Result<Vec<SentHere>, Problem> {
        let sent = self.journal.about(key).await?;
        Ok(sent.into_iter().map(|(at, reviewer, sent)| SentHere { at, reviewer, sent }).collect())
    }
}

impl SentHere {
    /// The outcome of deciding an action again that its source no longer lists.
    pub fn as_skipped(&self) -> Outcome {
        let followed = self.sent.followed.as_ref().map(|seen| seen.status.clone());
        let status = match &self.sent.outcome {
            Some(Outcome::Approved) => followed.unwrap_or(Status::Approved),
            Some(Outcome::Rejected) => Status::Rejected,
            Some(skipped @ Outcome::Skipped { .. }) => return skipped.clone(),
            _ => return Outcome::Skipped { status: None, by: None },
        };
        Outcome::Skipped { status: Some(status), by: self.reviewer.as_deref().map(Untrusted::from) }
    }
}

/// Starts with every source that has lists, and reports the others.
fn trails(inbox: &Inbox, of: Option<&[SourceName]>, listing: &mut Listing) -> Vec<Trail> {
    let mut trails = Vec::new();
    for source in inbox.sources.iter().filter(|source| of.is_none_or(|of| of.contains(source.name()))) {
        if source.records().lists {
            let (source, rest) = (source.name().clone(), VecDeque::new());
            trails.push(Trail { source, rest, cursor: Cursor::Start });
        } else {
            listing.problems.push(Problem::at(source.name(), "cannot list what is over"));
        }
    }
    trails
}

/// Reads pages until there is an entry. A source that fails is reported and counts as ended.
async fn filled(
    inbox: &Inbox,
    statuses: &[Status],
    mut trail: Trail,
) -> (Trail, Vec<Untrusted>, Option<Problem>) {
    let mut unreadable = Vec::new();
    // A page without entries that can be shown may have pages after it.
    while trail.rest.is_empty() && trail.cursor != Cursor::End {
        let cursor = match std::mem::replace(&mut trail.cursor, Cursor::End) {
            Cursor::At(cursor) => Some(cursor),
            Cursor::Start | Cursor::End => None,
        };
        match page(inbox, &trail.source, statuses, cursor).await {
            Ok((entries, bad, next)) => {
                trail.rest.extend(entries);
                unreadable.extend(bad);
                trail.cursor = next.map_or(Cursor::End, Cursor::At);
            }
            Err(problem) => return (trail, unreadable, Some(problem)),
        }
    }
    (trail, unreadable, None)
}

type Page = (Vec<Entry>, Vec<Untrusted>, Option<String>);

async fn page(
    inbox: &Inbox,
    name: &SourceName,
    statuses: &[Status],
    cursor: Option<String>,
) -> Result<Page, Problem> {
    let source = inbox.source(name)?;
    let query = ListQuery { statuses: statuses.to_vec(), cursor, limit: PAGE, tool: None };
    let listed = source.ask_able(Wait::Look, |able| Some(able.history?.listed(&query))).await;
    let listed = listed.map_err(|error| Problem::of(name, &error))?.unwrap_or_default();
    let entries = listed.rows.into_iter().map(|row| inbox.entry(name, row)).collect();
    Ok((entries, listed.unreadable.into_iter().map(|bad| bad.raw).collect(), listed.next))
}

/// Takes the newest entries until a source needs another request, because its next entry may be newer than the others'.
/// Keeps each source's own order.
fn merged(trails: &mut [Trail]) -> Vec<Entry> {
    let mut entries = Vec::new();
    while entries.len() < PAGE as usize {
        if trails.iter().any(|trail| trail.rest.is_empty() && trail.cursor != Cursor::End) {
            break;
        }
        let newest = |trail: &&mut Trail| trail.rest.front().map(|entry| entry.row.created_at);
        let Some(trail) = trails.iter_mut().filter(|trail| !trail.rest.is_empty()).max_by_key(newest) else {
            break;
        };
        entries.extend(trail.rest.pop_front());
    }
    entries
}
