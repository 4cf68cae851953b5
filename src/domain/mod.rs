//! Types and rules of deciding: actions, decisions, drafts, submissions, outcomes. Plain values, without clock, I/O,
//! async or wire formats.

mod action;
mod alert;
mod approvals;
mod briefing;
mod by_tool;
mod capability;
pub mod chain;
mod claim;
mod confirm;
mod context;
mod decision;
mod digest;
mod draft;
mod edit;
mod flow;
mod history;
pub mod json;
mod lock;
mod look;
mod outcome;
mod person;
mod preview;
mod refusal;
mod resolve;
mod risk;
mod risks;
mod seen;
mod status;
pub mod subject;
mod submission;
pub mod time;
mod tool;
mod untrusted;
mod via;
pub mod workspace;

pub use action::{
    ActionId, ActionKey, BatchId, BatchKey, Entry, IdMap, IdSet, KeyMap, PendingAction, Revision, Row,
    SourceName, StandIn,
};
pub use alert::AlertKind;
pub use approvals::{Approval, Approvals};
pub use briefing::{Briefing, Outstanding, ToolOutstanding};
pub use by_tool::{ByTool, is_pattern, matches};
pub use capability::{Binding, Capabilities, Note, Notes, On, ReasonRule, Together};
pub use claim::Claim;
pub use confirm::{Confirm, Weight, confirm_by};
pub use context::{Check, ContextEntry, Fact, FactValue, Verdict};
pub use decision::{Decision, DecisionKind};
pub use digest::Digest;
pub use draft::{Change, Draft, OpenStep, Staged, StagedCounts, Step};
pub use edit::{EditError, Edits, FieldChange, IDENTITY_KEYS, changed_keys, changes, merge};
pub use flow::{
    Decider, Flow, Flows, FlowsAsked, KeptMinute, KeptQueue, LastMinute, Minute, Queue, QueueFlow,
    QueueState, Rate, ToolDecided, Trend,
};
pub use history::{HistoryEvent, ListQuery, Records};
pub use json::RawJson;
pub use lock::{Lock, ReadFirst, Sight, lock};
pub use look::{Look, Role};
pub use outcome::{Counts, Followed, Outcome, Report, ReportLine};
pub use person::Person;
pub use preview::PreviewShape;
pub use refusal::Refusal;
pub use resolve::{Resolution, Resolved};
pub use risk::{Effect, Risk};
pub use risks::Risks;
pub use seen::{Seen, SeenLog};
pub use status::{Status, StatusStep};
pub use submission::{Item, Submission, SubmissionBatch, SubmissionId, freeze, in_sending_order};
pub use time::Timestamp;
pub use tool::KnownTool;
pub use untrusted::Untrusted;
pub use via::Via;
