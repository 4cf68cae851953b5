//! Feeds the figures of `placet watch` with the answers and events of the sources.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use crate::clock;
use crate::domain::{Flows, Minute, Revision, SourceName};
use crate::inbox::figures::{Board, BoardRequest, Figures};
use crate::inbox::{Connection, Event, EventKind, GRACE, Inbox, Problem, Synced};

/// Time without an answer or event after which the first events of the streams have arrived.
const QUIET: Duration = Duration::from_millis(100);
/// Longest wait for streams to open, once there are numbers.
const STREAMS: Duration = Duration::from_secs(1);

enum Answer {
    Synced(SourceName, Box<Result<Synced, Problem>>),
    Counted(SourceName, Box<Result<Option<Flows>, Problem>>),
}

/// Why the last list of each source failed.
pub(super) type Problems = HashMap<SourceName, Problem>;

#[derive(Default)]
struct Asked {
    name: SourceName,
    syncing: bool,
    /// Another list is needed after it.
    again: bool,
    revision: Option<Revision>,
    /// It has listed everything at least once.
    listed: bool,
    counting: bool,
    connecting: bool,
}

pub(super) struct Observer {
    inbox: Inbox,
    figures: Figures,
    window: u32,
    sources: Vec<Asked>,
    problems: Problems,
    events: mpsc::Receiver<Event>,
    answers: mpsc::Receiver<Answer>,
    answer: mpsc::Sender<Answer>,
    /// Earlier minutes are in the journal.
    kept: Minute,
}

impl Observer {
    /// Starts with the minutes of earlier runs, and asks every source.
    pub(super) async fn start(inbox: Inbox, figures: Figures, window: u32, names: &[SourceName]) -> Self {
        let (answer, answers) = mpsc::channel(64);
        let asked = |name: &SourceName| Asked { name: name.clone(), connecting: true, ..Asked::default() };
        let sources = names.iter().map(asked).collect();
        let (events, now) = (inbox.watch(), clock::now());
        let kept = Minute::of(now);
        let problems = Problems::new();
        let mut this = Self { inbox, figures, window, sources, problems, events, answers, answer, kept };
        match this.inbox.kept_minutes(kept.plus(1 - i64::from(Figures::LONGEST))).await {
            Ok(minutes) => this.figures.restore(&minutes),
            Err(problem) => tracing::warn!(what = problem.what, "earlier figures cannot be read"),
        }
        for name in names {
            this.sync(name);
        }
        this.ask_counts();
        this
    }

    pub(super) const fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn board(&self, ask: BoardRequest) -> Board {
        self.figures.board(ask, clock::now())
    }

    pub(super) fn reached(&self) -> bool {
        self.sources.iter().any(|source| source.listed)
    }

    pub(super) const fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Waits until all sources have answered, or until the given time. A source that hangs delays the others only
    /// briefly.
    pub(super) async fn first(&mut self, mut until: Instant) {
        let mut reached = false;
        while !self.sources.iter().all(|source| self.answered(source)) {
            if !std::mem::replace(&mut reached, self.reached()) && reached {
                until = until.min(Instant::now() + GRACE);
            }
            if timeout_at(until, self.step()).await.is_err() {
                return;
            }
        }
        let until = until.min(Instant::now() + STREAMS);
        while self.sources.iter().any(|source| source.connecting) {
            if timeout_at(until, self.step()).await.is_err() {
                return;
            }
        }
        while timeout_at(until.min(Instant::now() + QUIET), self.step()).await.is_ok() {}
    }

    fn answered(&self, source: &Asked) -> bool {
        (source.listed || self.problems.contains_key(&source.name)) && !source.counting
    }

    pub(super) async fn step(&mut self) {
        tokio::select! {
            Some(event) = self.events.recv() => self.hear(&event),
            Some(answer) = self.answers.recv() => self.learn(answer),
        }
        self.ask_counts();
    }

    /// Does what is due with time alone. Called regularly.
    pub(super) async fn minute(&mut self) {
        self.ask_counts();
        if Minute::of(clock::now()) != self.kept {
            self.keep().await;
        }
    }

    pub(super) async fn keep(&mut self) {
        let now = clock::now();
        self.kept = Minute::of(now);
        let minutes = self.figures.take_unkept(now);
        if let Err(problem) = self.inbox.keep_minutes(&minutes).await {
            tracing::warn!(what = problem.what, "the last minute's figures cannot be saved");
        }
    }

    fn hear(&mut self, event: &Event) {
        let Some(source) = self.sources.iter_mut().find(|source| source.name == event.source) else { return };
        self.figures.event(event, clock::now());
        let news = match &event.kind {
            EventKind::Connection(connection) => {
                source.connecting = *connection == Connection::Connecting;
                false
            }
            EventKind::Briefing(briefing) => {
                briefing.revision.is_none() || briefing.revision != source.revision
            }
            EventKind::Changed => true,
            EventKind::Tick => false,
        };
        if news {
            self.sync(&event.source);
        }
    }

    fn learn(&mut self, answer: Answer) {
        let now = clock::now();
        match answer {
            Answer::Synced(name, answer) => {
                match &*answer {
                    Ok(synced) => self.figures.listed(synced, now),
                    Err(problem) => self.figures.not_listed(&name, &problem.what, now),
                }
                let Some(source) = self.sources.iter_mut().find(|source| source.name == name) else { return };
                source.syncing = false;
                match *answer {
                    Ok(synced) => {
                        (source.revision, source.listed) = (synced.revision, true);
                        self.problems.remove(&name);
                    }
                    Err(problem) => drop(self.problems.insert(name.clone(), problem)),
                }
                if std::mem::take(&mut source.again) {
                    self.sync(&name);
                }
            }
            Answer::Counted(name, answer) => {
                if let Some(source) = self.sources.iter_mut().find(|source| source.name == name) {
                    source.counting = false;
                }
                match *answer {
                    Ok(Some(flows)) => self.figures.told(&name, flows, now),
                    Ok(None) => {}
                    Err(problem) => {
                        tracing::debug!(
                            source = name.as_str(),
                            what = problem.what,
                            "no counts from a source"
                        );
                    }
                }
            }
        }
    }

    /// Requests changes. During a list, requests another one after it.
    fn sync(&mut self, name: &SourceName) {
        let Some(source) = self.sources.iter_mut().find(|source| source.name == *name) else { return };
        if std::mem::replace(&mut source.syncing, true) {
            source.again = true;
            return;
        }
        let (inbox, answer, name, since) =
            (self.inbox.clone(), self.answer.clone(), name.clone(), source.revision);
        tokio::spawn(async move {
            let synced = inbox.sync(&name, since).await;
            // The receiver is gone when the command ends.
            answer.send(Answer::Synced(name, Box::new(synced))).await.ok();
        });
    }

    fn ask_counts(&mut self) {
        let now = clock::now();
        for source in &mut self.sources {
            if source.counting || !self.inbox.records(&source.name).flows {
                continue;
            }
            let Some(asked) = self.figures.flows_due(&source.name, self.window, now) else { continue };
            source.counting = true;
            let (inbox, answer, name) = (self.inbox.clone(), self.answer.clone(), source.name.clone());
            tokio::spawn(async move {
                let told = inbox.flows(&name, &asked).await;
                answer.send(Answer::Counted(name, Box::new(told))).await.ok();
            });
        }
    }
}
