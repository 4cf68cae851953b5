//! Capabilities of a call, and notes on deciding it.

use super::client::Road;
use super::turn::{Turn, Waits};
use super::wire::Report;
use crate::domain::{Capabilities, Note, Notes, On, ReasonRule, Together};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    waits: Waits,
    way: DecisionRoute,
    several: bool,
    /// Held server-side calls that need no approval.
    free: u16,
    /// Held client-side calls.
    client: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DecisionRoute {
    /// By the bridge, each call by itself. With `notes`, a comment reaches the agent.
    Each { notes: bool },
    /// By the bridge, with one decision (dendrux before 0.3).
    Whole,
    /// By a route that the application's owner wrote, one decision per turn. The version of dendrux is unknown.
    Plain,
}

const CALLS_RUN: Note = Note {
    on: On::Any,
    words: "the calls beside it that need no approval run when it is decided, whichever way (Context shows them)",
};
const CALLS_WAIT: Note = Note {
    on: On::Any,
    words: "the calls beside it that need no approval are held with it, and run when it is approved (Context shows them)",
};
const CLIENT_AFTER: Note =
    Note { on: On::Approve, words: "a client's call beside it waits for its own answer afterwards" };
const CLIENT_STUB: Note = Note {
    on: On::Approve,
    words: "approve runs the client stub on the server: dendrux before 0.3 does so with a client's call beside it",
};
const CLIENT_EITHER: Note = Note {
    on: On::Approve,
    words: "approve runs the client stub on the server with dendrux before 0.3; later ones ask for that call's answer afterwards",
};
const TO_AGENT: Note =
    Note { on: On::Approve, words: "a comment goes to the agent, which reads it after the call ran" };
const RESULT: Note = Note {
    on: On::Edit,
    words: "only `result` can be filled in: it is given to the agent as what the call came to",
};
const NO_RESULT: Note =
    Note { on: On::Reject, words: "a rejection is given to the agent as a failed call, with the reason" };
const ANSWER: Note =
    Note { on: On::Edit, words: "only `answer` can be filled in: it is given to the agent as text" };

const NOBODY: Note = Note::NOBODY;
/// The bridge keeps names in memory.
const REMEMBERED: Note = Note {
    on: On::Any,
    words: "dendrux records nobody: its bridge keeps the name that decides until it restarts",
};
const GIVE: [Note; 4] = [NOBODY, REMEMBERED, RESULT, NO_RESULT];
const ASKED: [Note; 3] = [NOBODY, REMEMBERED, ANSWER];
/// For a turn that waits for approval.
const APPROVAL: [Note; 8] =
    [NOBODY, REMEMBERED, CALLS_RUN, CALLS_WAIT, CLIENT_AFTER, CLIENT_STUB, CLIENT_EITHER, TO_AGENT];

impl Facts {
    pub(super) fn of(turn: &Turn, road: &Road) -> Self {
        let way = match road {
            Road::Plain => DecisionRoute::Plain,
            Road::Bridge(report) if report.decisions => DecisionRoute::Each { notes: report.notes },
            Road::Bridge(_) => DecisionRoute::Whole,
        };
        let held = |client| u16::try_from(turn.held().filter(|call| call.client == client).count());
        let (free, client) = (held(false).unwrap_or(u16::MAX), held(true).unwrap_or(u16::MAX));
        Self { waits: turn.waits, way, several: turn.len() > 1, free, client }
    }

    pub(super) fn capabilities(self) -> Capabilities {
        let together = match self.way {
            _ if !self.several => Together::Free,
            DecisionRoute::Whole | DecisionRoute::Plain if self.waits == Waits::Approval => Together::Same,
            _ => Together::All,
        };
        let titled = self.waits == Waits::Approval;
        let bridge = self.way != DecisionRoute::Plain;
        let give = Notes::that_hold(&GIVE, [!bridge, bridge, true, true]);
        let asked = Notes::that_hold(&ASKED, [!bridge, bridge, true]);
        let plain = Capabilities { reason: ReasonRule::Optional, together, titled, ..Capabilities::PLAIN };
        match self.waits {
            Waits::Result => Capabilities { edit: true, answer: true, notes: give, ..plain },
            Waits::Input => Capabilities { edit: true, answer: true, reject: false, notes: asked, ..plain },
            Waits::Approval => {
                let comment = self.way == DecisionRoute::Each { notes: true };
                let also_rejects = match self.way {
                    DecisionRoute::Each { .. } => 0,
                    DecisionRoute::Whole | DecisionRoute::Plain => self.free.saturating_add(self.client),
                };
                Capabilities { comment, also_rejects, notes: self.notes(), ..plain }
            }
        }
    }

    fn notes(self) -> Notes {
        let (free, client) = (self.free > 0, self.client > 0);
        let each = matches!(self.way, DecisionRoute::Each { .. });
        let (whole, plain) = (self.way == DecisionRoute::Whole, self.way == DecisionRoute::Plain);
        let to_agent = self.way == DecisionRoute::Each { notes: true };
        let (runs, waits) = (free && each, free && !each);
        let holds = [plain, !plain, runs, waits, client && each, client && whole, client && plain, to_agent];
        Notes::that_hold(&APPROVAL, holds)
    }
}

impl Report {
    pub(super) const fn deciding(&self) -> &'static str {
        if self.decisions {
            "each call by itself, all calls of a turn together"
        } else {
            "one decision for a whole turn: this dendrux takes none on single calls, which 0.3 and later do"
        }
    }
}
