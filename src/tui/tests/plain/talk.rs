//! A plain-mode session with a typing reviewer and a fake world.

use std::collections::HashMap;

use crate::domain::{
    ActionKey, Capabilities, ContextEntry, DecisionKind, Entry, Outcome, PendingAction, Report, ReportLine,
    Submission, SubmissionId, Timestamp,
};
use crate::inbox::{Answer, Connection, Event, EventKind, Problem, Rows, Synced};
use crate::journal::Write;
use crate::tui::core::model::Model;
use crate::tui::core::msg::{Effect, Loaded, Msg, What};
use crate::tui::dashboard::state::StartView;
use crate::tui::plain::session::{How, Session, Typed};
use crate::tui::plain::words::keymap;
use crate::tui::testing::{CAN, Desk, NOW, action, key, source};

pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) at: i64,
    pub(crate) world: HashMap<ActionKey, PendingAction>,
    pub(crate) can: Capabilities,
    pub(crate) submitted: Vec<Submission>,
    pub(crate) settled: usize,
    pub(crate) saved: Vec<Write>,
    /// Whether loads stay unanswered.
    pub(crate) slow: bool,
    pub(crate) waiting: Vec<Effect>,
    pub(crate) left: bool,
    /// Number of requests for a source's own counts.
    pub(crate) asked: usize,
    pub(crate) others: Vec<Effect>,
    pub(crate) context: Result<Vec<ContextEntry>, Problem>,
    /// The terminal's content, with typed lines echoed.
    pub(crate) heard: String,
}

/// An unlimited width, so that lines do not wrap.
pub(crate) const TERMINAL: How =
    How { why: "--plain", opens: StartView::Inbox, interactive: true, width: None, rows: 24 };
pub(crate) const SCRIPT: How = How { interactive: false, ..TERMINAL };

impl Talk {
    pub(crate) fn new(how: How, actions: Vec<PendingAction>) -> Self {
        Self::with(how, actions, CAN)
    }

    pub(crate) fn with(how: How, actions: Vec<PendingAction>, can: Capabilities) -> Self {
        let mut talk = Self::started(how, can);
        talk.connects();
        talk.lists(actions);
        talk
    }

    pub(crate) fn connects(&mut self) {
        self.take(What::Source(Event { source: source(), kind: EventKind::Connection(Connection::Live) }));
    }

    pub(crate) fn started(how: How, can: Capabilities) -> Self {
        let mut model = Desk::unstarted(80, 24, can).model;
        model.settings.keymap = keymap();
        let mut talk = Self {
            session: Session::new(model, how),
            at: NOW,
            world: HashMap::new(),
            can,
            submitted: Vec::new(),
            settled: 0,
            saved: Vec::new(),
            slow: false,
            waiting: Vec::new(),
            left: false,
            asked: 0,
            others: Vec::new(),
            context: Ok(Vec::new()),
            heard: String::new(),
        };
        let effects = talk.session.start();
        talk.perform(effects);
        talk.take(What::Restored(Ok(Box::default())));
        talk
    }

    pub(crate) fn model(&self) -> &Model {
        &self.session.model
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.at)
    }

    pub(crate) fn lists(&mut self, actions: Vec<PendingAction>) {
        let entries = self.entries(actions);
        self.synced(Rows::All(entries));
    }

    pub(crate) fn changes(&mut self, actions: Vec<PendingAction>) {
        let entries = self.entries(actions);
        self.synced(Rows::Changes { entries, gone: Vec::new() });
    }

    pub(crate) fn entries(&mut self, mut actions: Vec<PendingAction>) -> Vec<Entry> {
        for action in &mut actions {
            action.row.can = self.can;
        }
        let entry = |it: &PendingAction| Entry { key: key(it.row.id.as_raw()), row: it.row.clone() };
        let entries = actions.iter().map(entry).collect();
        self.world.extend(actions.into_iter().map(|it| (key(it.row.id.as_raw()), it)));
        entries
    }

    pub(crate) fn synced(&mut self, rows: Rows) {
        let synced = Synced {
            source: source(),
            subject: None,
            claims: None,
            rows,
            revision: None,
            unreadable: Vec::new(),
            at: self.now(),
        };
        self.take(What::Synced(source(), Ok(synced)));
    }

    pub(crate) fn take(&mut self, what: What) {
        let effects = self.session.take(Msg { at: self.now(), what });
        self.perform(effects);
    }

    pub(crate) fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Load(_) | Effect::LoadForReview { .. } if self.slow => self.waiting.push(effect),
                Effect::Load(keys) => {
                    let loaded = self.loaded(&keys);
                    self.take(What::Loaded(loaded));
                }
                Effect::LoadForReview { review, keys } => {
                    let actions = self.loaded(&keys);
                    self.take(What::ReviewLoaded { review, id: SubmissionId::new("sub-1"), actions });
                }
                Effect::Save(writes) => {
                    self.saved.extend(writes);
                    self.take(What::Saved { saves: 1, answer: Ok(()) });
                }
                // The ticks end a hold.
                Effect::WakeIn(millis) if millis >= 1_000 => {}
                Effect::WakeIn(millis) => {
                    self.at += millis as i64;
                    self.take(What::Wake);
                }
                Effect::Hold { submission, .. } => self.take(What::Held(submission.id().clone(), Ok(()))),
                Effect::Submit { submission, .. } => self.submitted.push(*submission),
                Effect::Ask { asked, stood, .. } => {
                    let answer = Box::new(self.context.clone().map(|told| Answer::Context(told, None)));
                    self.take(What::Answered { asked, stood, answer });
                }
                Effect::ResolveUnknown { .. } => self.settled += 1,
                Effect::Flows { .. } => self.asked += 1,
                Effect::Quit => self.left = true,
                other => self.others.push(other),
            }
        }
        let said = self.session.said();
        self.heard.push_str(&said);
    }

    pub(crate) fn answers(&mut self) {
        self.slow = false;
        let waiting = std::mem::take(&mut self.waiting);
        self.perform(waiting);
    }

    pub(crate) fn loaded(&self, keys: &[ActionKey]) -> Vec<Loaded> {
        let gone = || Problem { source: None, what: "is gone".to_owned(), why: None };
        keys.iter().map(|key| (key.clone(), self.world.get(key).cloned().ok_or_else(gone))).collect()
    }

    /// Types lines a second apart and returns the new output.
    pub(crate) fn types(&mut self, lines: &str) -> String {
        let before = self.heard.len();
        for line in lines.split('\n') {
            self.at += 1_000;
            self.types_now(line);
        }
        self.heard[before..].to_owned()
    }

    pub(crate) fn types_now(&mut self, line: &str) {
        if self.session.is_interactive() {
            self.heard.push_str(line);
            self.heard.push('\n');
        }
        let effects = self.session.typed(self.now(), Typed::Line(line.to_owned()));
        self.perform(effects);
    }

    pub(crate) fn ends_input(&mut self) {
        let effects = self.session.typed(self.now(), Typed::End);
        self.perform(effects);
    }

    /// Lets `seconds` pass and returns the new output.
    pub(crate) fn waits(&mut self, seconds: i64) -> String {
        let before = self.heard.len();
        for _ in 0..seconds {
            self.at += 1_000;
            self.take(What::Tick);
        }
        self.heard[before..].to_owned()
    }

    pub(crate) fn accepts(&mut self) {
        let submission = self.submitted.last().unwrap().clone();
        let lines = submission.batches().iter().flat_map(|batch| {
            batch.items().iter().map(|item| ReportLine {
                key: ActionKey { source: batch.source().clone(), id: item.id.clone() },
                batch: batch.key().unwrap(),
                tool: item.tool.clone(),
                title: item.title.clone(),
                decision: item.kind(),
                outcome: match item.kind() {
                    DecisionKind::Reject => Outcome::Rejected,
                    _ => Outcome::Approved,
                },
            })
        });
        let report = Report { id: submission.id().clone(), lines: lines.collect(), left_pending: 0 };
        self.take(What::Submitted(submission.id().clone(), Ok(report)));
    }

    pub(crate) fn staged(&self) -> String {
        let letter = |(key, staged): (&ActionKey, &crate::domain::Staged)| {
            format!("{}{}", key.id.as_raw(), staged.decision.kind().letter())
        };
        let mut staged: Vec<String> = self.model().decide.draft.iter().map(letter).collect();
        staged.sort();
        staged.join(" ")
    }
}

pub(crate) fn risky() -> PendingAction {
    let input = r#"{"title":"Bulk-close 214 tickets","ids":[1,2],"count":214,"workspace_id":"acme"}"#;
    action("r update_linear_issue refunds-agent high 192", "Bulk-close 214 tickets", input)
}
