//! Messages ([`Msg`]) for everything that can happen, and effects ([`Effect`]) for everything that the model requests.

use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::{KeyEvent, MouseEvent};

use crate::domain::{
    ActionKey, Claim, DecisionKind, Digest, Flows, FlowsAsked, Followed, KeptMinute, PendingAction, Person,
    Report, Resolution, Resolved, Revision, Row, SourceName, Staged, Submission, SubmissionId, Timestamp,
    Untrusted,
};
use crate::inbox::notices::Notice;
use crate::inbox::{Answer, Event, Problem, Ran, Reconciled, Sending, Synced, Tool};
use crate::journal::{KeptFilter, Learned, Restored, Write};
use crate::tui::chrome::theme::palette::Rgb;
use crate::tui::history::state::{PageRequest, ViewPage};
use crate::tui::preview::page::made::{Cached, Tab};
use crate::tui::preview::page::{Page, ToLayOut};
use crate::tui::preview::state::{Asked, AskedState};

use super::command::Command;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SheetLines {
    /// Number of lines above the last page.
    pub end: usize,
    /// Lines per page.
    pub page: usize,
}

/// An event and its time. The model gets the time only from messages.
#[derive(Clone, Debug)]
pub(crate) struct Msg {
    pub at: Timestamp,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Key(KeyEvent),
    /// An Alt chord, or Esc and a key in one read, which legacy terminals send alike.
    Escaped(KeyEvent),
    /// A line typed in plain mode.
    Intent(Intent),
    Paste(String),
    Resize(u16, u16),
    Mouse(MouseEvent),
    Focus(bool),
    Background(Rgb),
    Tick,
    Wake,
    /// [`Effect::AwaitKey`] ran out.
    StoodAlone,
    Drawn(SheetLines),
    /// A part of the program failed; the rest continues.
    Stumbled,
    /// How a text was copied. An error if no program could copy it; `None` if there is no such program.
    Copied(Clip, Result<String, Option<String>>),
    Opened(Result<(), String>),
    /// The file of an [`Effect::Export`], or why there is none.
    Exported(Result<PathBuf, String>),
    Source(Event),
    Synced(SourceName, Result<Synced, Problem>),
    Loaded(Vec<Loaded>),
    /// A loaded action that was large enough to be examined in the background.
    LoadedLong(ActionKey, Arc<Cached>),
    LaidOut(Box<Page>),
    Answered {
        asked: Asked,
        stood: AskedState,
        answer: Box<Result<Answer, Problem>>,
    },
    ReviewLoaded {
        review: u64,
        /// The id of the submission that the review may lead to.
        id: SubmissionId,
        actions: Vec<Loaded>,
    },
    Held(SubmissionId, Result<(), Problem>),
    /// The answer to an [`Effect::LearnTool`]; `None` if the source has no schemas.
    ToolLearnt {
        source: SourceName,
        tool: Untrusted,
        answer: Result<Option<Arc<Tool>>, Problem>,
    },
    Edited {
        key: ActionKey,
        digest: Digest,
        answer: Result<String, String>,
    },
    Listed {
        number: u64,
        page: Box<ViewPage>,
    },
    Ran(Vec<Ran>),
    /// The answer to an [`Effect::AskPeople`]; `None` if the source does not support that.
    People(SourceName, Result<Option<Vec<Person>>, Problem>),
    Flows(SourceName, Result<Option<Flows>, Problem>),
    BoardExported(Result<Vec<PathBuf>, String>),
    Sending(SubmissionId, Sending),
    Submitted(SubmissionId, Result<Report, Problem>),
    Followed(Followed),
    Resolved(ActionKey, Resolution, Result<Resolved, Problem>),
    ApprovalTakenBack(ActionKey, Result<(), Problem>),
    Claimed(ActionKey, Result<Option<Claim>, Problem>),
    Reconciled(Result<Vec<Reconciled>, Problem>),
    /// Decisions that were never delivered, as they were staged.
    TakenBack(Result<Vec<(ActionKey, Staged)>, Problem>),
    Restored(Result<Box<Restored>, Problem>),
    /// The result of an [`Effect::Tell`]. An error is a sentence by placet.
    Noticed {
        rule: usize,
        answer: Result<(), String>,
    },
    /// The answer to an [`Effect::RestoreMinutes`]; empty if they cannot be read.
    KeptMinutes(Vec<KeptMinute>),
    FiltersKept(Result<(), Problem>),
    /// This many [`Effect::Save`]s were written together. Failed saves are retried before later ones and are not
    /// counted.
    Saved {
        saves: usize,
        answer: Result<(), Problem>,
    },
}

/// A request by value, where the screen takes several keys. Applies to the action under the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Command(Command),
    Go(ActionKey),
    Show(Tab),
    /// Approves; never unstages, unlike the key.
    Approve {
        comment: Option<String>,
    },
    Exclude {
        reason: Option<String>,
    },
    Comment(String),
    /// Stages a decision that hands the action back, with its text.
    Ask(DecisionKind, String),
    Snooze(String),
    /// Keeps this whole input as a draft, as JSON text; `None` restores the proposed one.
    Draft(Option<String>),
    /// Answers the question of the review. Only the exact text sends; any other cancels.
    Answer(String),
    ResolveUnknown {
        finding: Resolution,
        reason: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clip {
    /// Names the text in messages: `the id`.
    pub what: &'static str,
    pub text: String,
}

/// A loaded action, or why it could not be loaded.
pub(crate) type Loaded = (ActionKey, Result<PendingAction, Problem>);

/// A request of the model. Its answer arrives as a [`Msg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Restore,
    RestoreMinutes,
    KeepMinutes(Vec<KeptMinute>),
    Reconcile,
    /// Loads the failed ones of these decisions back into the draft.
    TakeBack {
        id: SubmissionId,
        keys: Vec<ActionKey>,
    },
    Sync {
        source: SourceName,
        since: Option<Revision>,
    },
    Load(Vec<ActionKey>),
    LayOut(Box<ToLayOut>),
    Ask {
        asked: Asked,
        stood: AskedState,
        /// The action, and listed ones of the same batch, mission or session.
        listed: Vec<Row>,
    },
    /// Requests a page for the list of ended actions with this number.
    List {
        number: u64,
        ask: PageRequest,
    },
    /// Asks a source for recently approved actions, after its first list.
    AskRan(SourceName),
    AskPeople(SourceName),
    /// Asks a source for its counts of arrivals and decisions, and who decided.
    Flows {
        source: SourceName,
        asked: FlowsAsked,
    },
    LoadForReview {
        review: u64,
        keys: Vec<ActionKey>,
    },
    Hold {
        submission: Box<Submission>,
        left_pending: u64,
    },
    Recall(SubmissionId),
    /// Asks the source for a tool's description, above all its schema.
    LearnTool {
        source: SourceName,
        tool: Untrusted,
    },
    /// Opens the reviewer's editor on a draft. It has the terminal until it ends.
    Editor {
        key: ActionKey,
        /// The input that the draft is based on.
        digest: Digest,
        text: String,
    },
    Submit {
        submission: Box<Submission>,
        left_pending: u64,
    },
    Follow(Vec<ActionKey>),
    /// Claims an action, renews the claim, or ends it (`end`).
    Claim {
        key: ActionKey,
        end: bool,
    },
    ResolveUnknown {
        key: ActionKey,
        finding: Resolution,
        reason: Option<String>,
    },
    TakeBackApproval(ActionKey),
    Save(Vec<Write>),
    Learn(Learned),
    /// Saves the named filters made in the inbox, all of them.
    KeepFilters(Vec<KeptFilter>),
    WakeIn(u64),
    /// Requests [`What::StoodAlone`] once the next key can no longer belong to the same paste.
    AwaitKey,
    Mouse(bool),
    /// Shows a desktop notification. Contains counts only.
    Notify(String),
    Ring,
    /// Notifies through a rule's command or webhook. Contains counts only.
    Tell(Box<Notice>),
    /// Copies through a program, if there is one for this display.
    Copy(Clip),
    CopyByTerminal(Clip),
    /// Writes a new file in this folder that only its owner can read.
    Export {
        folder: PathBuf,
        text: String,
    },
    /// Writes the figures as two new files in this folder that only their owner can read.
    ExportBoard {
        folder: PathBuf,
        json: String,
        csv: String,
    },
    Open(String),
    Repaint,
    Suspend,
    Quit,
}
