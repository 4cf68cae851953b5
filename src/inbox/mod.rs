//! What a reviewer does, whatever the screen: several sources as one, watch, submit, follow, reconcile.
//! The terminal and the command line both stand on this room.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::{
    ActionKey, Briefing, Entry, Followed, PendingAction, Report, Revision, SourceName, Submission, Timestamp,
    Untrusted,
};
use crate::journal::{Restored, Write};
use crate::sources::Source;

/// All sources and the journal, as one. Cloning is cheap: every clone is the same inbox.
#[derive(Clone, Debug)]
pub struct Inbox {
    sources: Arc<[Arc<dyn Source>]>,
}

/// Something happened at a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub source: SourceName,
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    Connection(Connection),
    /// Counts were pushed. Ask for a sync to learn the rows.
    Briefing(Briefing),
    /// Something changed, or it is time to look: ask for a sync.
    Changed,
    /// The source is alive.
    Tick,
}

/// Whether the screen can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    Connecting,
    /// Pushed.
    Live,
    /// Asked every so often, because the source pushes nothing.
    Polling,
    /// The stream is down; it is opened again after the wait, and polled meanwhile.
    Retrying {
        why: Untrusted,
        retry_in: Duration,
    },
    /// Nothing more comes from this source until placet is started again.
    Stopped {
        why: Untrusted,
    },
}

/// What a sync brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    pub source: SourceName,
    pub rows: Rows,
    /// The next sync's `since`.
    pub revision: Option<Revision>,
    /// Items that could not be read; each is shown, none hides another.
    pub unreadable: Vec<Untrusted>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// Everything pending: what is not in it is settled.
    All(Vec<Entry>),
    /// Rows as they are now, settled ones too, and keys that are gone altogether.
    Changes { entries: Vec<Entry>, gone: Vec<ActionKey> },
}

/// What a failed request says, in words for a person. The foreign part stands apart, because it needs the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub source: Option<SourceName>,
    pub what: String,
    pub why: Option<Untrusted>,
}

impl Inbox {
    /// Starts watching every source; events come until the receiver is dropped. Bounded: a flood presses back.
    pub fn watch(&self) -> mpsc::Receiver<Event> {
        let (_, events) = mpsc::channel(64);
        events
    }

    /// What is pending, or what changed since.
    pub async fn sync(&self, source: &SourceName, since: Option<Revision>) -> Result<Synced, Problem> {
        let _ = since;
        Err(Problem { source: Some(source.clone()), what: "not built yet".to_owned(), why: None })
    }

    /// Actions in full, each with its key. What could not be had is a problem beside the others.
    pub async fn load(&self, keys: &[ActionKey]) -> Vec<(ActionKey, Result<PendingAction, Problem>)> {
        let _ = keys;
        Vec::new()
    }

    /// Sends a submission once: journal first, then the sources, then the journal again.
    ///
    /// `left_pending` is what stays undecided in its batches, for the report. An error means that nothing was sent.
    pub async fn submit(&self, submission: Submission, left_pending: u64) -> Result<Report, Problem> {
        let _ = (submission, left_pending);
        Err(Problem { source: None, what: "not built yet".to_owned(), why: None })
    }

    /// Follows approved actions until they are executed, failed or final otherwise; every change is sent. Ends when all are
    /// final, when nobody listens, or after `limit`.
    pub async fn follow(&self, keys: Vec<ActionKey>, limit: Duration, changes: mpsc::Sender<Followed>) {
        let _ = (keys, limit, changes);
    }

    /// Settles submissions that a crash left open, by reading. Returns what was learnt.
    pub async fn reconcile(&self) -> Result<Vec<Report>, Problem> {
        Ok(Vec::new())
    }

    /// What the journal knows from before.
    pub async fn restore(&self) -> Result<Restored, Problem> {
        Ok(Restored::default())
    }

    /// Remembers at once; returns when it is on disk.
    pub async fn save(&self, writes: Vec<Write>) -> Result<(), Problem> {
        let _ = writes;
        Ok(())
    }

    /// The sources' names, in configured order.
    pub fn source_names(&self) -> Vec<SourceName> {
        self.sources.iter().map(|source| source.name().clone()).collect()
    }
}
