//! Messages, for everything that can happen ([`Msg`]), and effects, for everything that can be asked of the world ([`Effect`]).

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

/// Of the sheet that is open over the inbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SheetLines {
    /// How many lines are above when the last one is on screen.
    pub end: usize,
    /// So many are on screen at once.
    pub page: usize,
}

/// Something that happened, and when. The only way time reaches the model.
#[derive(Clone, Debug)]
pub(crate) struct Msg {
    pub at: Timestamp,
    pub what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Key(KeyEvent),
    /// A line of words asks for something, with all that belongs to it.
    Intent(Intent),
    /// Bracketed paste.
    Paste(String),
    Resize(u16, u16),
    Mouse(MouseEvent),
    /// The terminal's window came to the front, or left it.
    Focus(bool),
    /// The colour behind the text, as the terminal says.
    Background(Rgb),
    /// A second has gone by.
    Tick,
    /// An [`Effect::WakeIn`] ran out.
    Wake,
    /// The model was drawn: what is on screen now was on screen.
    Drawn(SheetLines),
    /// A part of the program failed; the rest goes on.
    Stumbled,
    /// How something was copied; or why no program could, `None` where there is no such program.
    Copied(Clip, Result<String, Option<String>>),
    Opened(Result<(), String>),
    /// The answer to an [`Effect::Export`]: the file, or why there is none.
    Exported(Result<PathBuf, String>),
    Source(Event),
    Synced(SourceName, Result<Synced, Problem>),
    Loaded(Vec<Loaded>),
    /// An action that takes long to look through, looked through.
    LoadedLong(ActionKey, Arc<Cached>),
    /// The answer to an [`Effect::LayOut`].
    LaidOut(Box<Page>),
    /// The answer to an [`Effect::Ask`].
    Answered {
        asked: Asked,
        stood: AskedState,
        answer: Box<Result<Answer, Problem>>,
    },
    /// Everything staged, read afresh for a review.
    ReviewLoaded {
        /// Which review asked for it.
        review: u64,
        /// What the submission will be called.
        id: SubmissionId,
        actions: Vec<Loaded>,
    },
    /// The answer to an [`Effect::Hold`].
    Held(SubmissionId, Result<(), Problem>),
    /// The answer to an [`Effect::LearnTool`]; `None` where the source tells nothing.
    ToolLearnt {
        source: SourceName,
        tool: Untrusted,
        answer: Result<Option<Arc<Tool>>, Problem>,
    },
    /// The answer to an [`Effect::Editor`]: what the editor left, or why nothing was changed.
    Edited {
        key: ActionKey,
        digest: Digest,
        answer: Result<String, String>,
    },
    /// A page of an [`Effect::List`].
    Listed {
        number: u64,
        page: Box<ViewPage>,
    },
    /// The answer to an [`Effect::AskRan`].
    Ran(Vec<Ran>),
    /// The answer to an [`Effect::AskPeople`]; `None` where the source does not tell.
    People(SourceName, Result<Option<Vec<Person>>, Problem>),
    /// The answer to an [`Effect::Flows`]; `None` where the source does not count by itself.
    Flows(SourceName, Result<Option<Flows>, Problem>),
    /// The answer to an [`Effect::ExportBoard`]: the files, or why there are none.
    BoardExported(Result<Vec<PathBuf>, String>),
    /// How far a submission is.
    Sending(SubmissionId, Sending),
    Submitted(SubmissionId, Result<Report, Problem>),
    Followed(Followed),
    /// The answer to an [`Effect::ResolveUnknown`].
    Resolved(ActionKey, Resolution, Result<Resolved, Problem>),
    /// The answer to an [`Effect::TakeBackApproval`].
    ApprovalTakenBack(ActionKey, Result<(), Problem>),
    /// The answer to an [`Effect::Claim`]; `None` where the claim ended.
    Claimed(ActionKey, Result<Option<Claim>, Problem>),
    Reconciled(Result<Vec<Reconciled>, Problem>),
    /// Decisions that never landed, as they were staged.
    TakenBack(Result<Vec<(ActionKey, Staged)>, Problem>),
    Restored(Result<Box<Restored>, Problem>),
    /// What became of an [`Effect::Tell`] of this rule; an error is a sentence of ours.
    Noticed {
        rule: usize,
        answer: Result<(), String>,
    },
    /// The answer to an [`Effect::RestoreMinutes`]; empty where they cannot be read.
    KeptMinutes(Vec<KeptMinute>),
    /// The answer to an [`Effect::KeepFilters`].
    FiltersKept(Result<(), Problem>),
    /// So many [`Effect::Save`] went to disk together. After a failure they wait, before any later ones, and none is counted.
    Saved {
        saves: usize,
        answer: Result<(), Problem>,
    },
}

/// Something asked for by its value, where a screen takes a row of keys. About the action under the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    Command(Command),
    /// To this action.
    Go(ActionKey),
    /// Its page, from the first line.
    Show(Tab),
    /// Never back to undecided, as the key does.
    Approve {
        comment: Option<String>,
    },
    Exclude {
        reason: Option<String>,
    },
    /// For the decision that is staged.
    Comment(String),
    /// Hands it back, with what is said for that.
    Ask(DecisionKind, String),
    /// Out of sight until then.
    Snooze(String),
    /// The whole input as JSON text, kept as a draft; `None` is the input as it was proposed.
    Draft(Option<String>),
    /// To the question of the review: exactly what it asks for sends, anything else goes back.
    Answer(String),
    /// What became of an action whose outcome is unknown.
    ResolveUnknown {
        finding: Resolution,
        reason: Option<String>,
    },
}

/// Something for the clipboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clip {
    /// What it is, for the message: `the id`.
    pub what: &'static str,
    pub text: String,
}

/// An action in full, or why it could not be had.
pub(crate) type Loaded = (ActionKey, Result<PendingAction, Problem>);

/// Something asked of the world; the answer comes back as a [`Msg`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Restore,
    /// Minutes of the figures that an earlier run kept.
    RestoreMinutes,
    KeepMinutes(Vec<KeptMinute>),
    Reconcile,
    /// Those of these decisions that failed, for the draft.
    TakeBack {
        id: SubmissionId,
        keys: Vec<ActionKey>,
    },
    Sync {
        source: SourceName,
        since: Option<Revision>,
    },
    Load(Vec<ActionKey>),
    /// The page of a long action.
    LayOut(Box<ToLayOut>),
    /// A question about an action that stood like this when it was asked.
    Ask {
        asked: Asked,
        stood: AskedState,
        /// The action and what shares its batch, its mission or its session.
        listed: Vec<Row>,
    },
    /// A page of what is over, for the list of this number.
    List {
        number: u64,
        ask: PageRequest,
    },
    /// What ran lately at a source, when it was listed for the first time.
    AskRan(SourceName),
    /// Everybody who acts at a source or did.
    AskPeople(SourceName),
    /// How actions came and went at a source, as it counted, and who decided.
    Flows {
        source: SourceName,
        asked: FlowsAsked,
    },
    LoadForReview {
        review: u64,
        keys: Vec<ActionKey>,
    },
    /// Write down what was confirmed; nothing is sent.
    Hold {
        submission: Box<Submission>,
        left_pending: u64,
    },
    /// Forget what is held.
    Recall(SubmissionId),
    /// What the source knows of a tool, its schema above all.
    LearnTool {
        source: SourceName,
        tool: Untrusted,
    },
    /// The reviewer's own editor over a draft. It has the terminal until it ends.
    Editor {
        key: ActionKey,
        /// Of the input that the draft is over.
        digest: Digest,
        text: String,
    },
    Submit {
        submission: Box<Submission>,
        left_pending: u64,
    },
    Follow(Vec<ActionKey>),
    /// Says that we are on it, or still are, or (`end`) no longer.
    Claim {
        key: ActionKey,
        end: bool,
    },
    ResolveUnknown {
        key: ActionKey,
        finding: Resolution,
        reason: Option<String>,
    },
    /// An approval that was sent, while more people must approve.
    TakeBackApproval(ActionKey),
    /// In the order they are asked for.
    Save(Vec<Write>),
    /// What a newcomer knows by now.
    Learn(Learned),
    /// The filters that were saved in the inbox, all of them.
    KeepFilters(Vec<KeptFilter>),
    /// Milliseconds.
    WakeIn(u64),
    /// The terminal reports its mouse to us, or keeps it.
    Mouse(bool),
    /// Tells whoever looks elsewhere. Counts only.
    Notify(String),
    /// The terminal's bell.
    Ring,
    /// By the rule's own command or webhook. Counts only.
    Tell(Box<Notice>),
    /// Into the clipboard, by a program where there is one for this display.
    Copy(Clip),
    /// Into the clipboard, by the terminal.
    CopyByTerminal(Clip),
    /// Into a new file in this folder that only its owner can read.
    Export {
        folder: PathBuf,
        text: String,
    },
    /// The same figures twice, each into a new file in this folder that only its owner can read.
    ExportBoard {
        folder: PathBuf,
        json: String,
        csv: String,
    },
    /// In the reviewer's browser.
    Open(String),
    /// Draw every cell again.
    Repaint,
    Suspend,
    Quit,
}
