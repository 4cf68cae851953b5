//! Actions to put on a desk.

use crate::domain::{
    ActionId, ActionKey, BatchId, Capabilities, Entry, PendingAction, RawJson, Revision, Risk, Row,
    SourceName, Status, Timestamp,
};

use super::NOW;

pub(in crate::tui) fn source() -> SourceName {
    SourceName::new("gate")
}

pub(in crate::tui) fn key(id: &str) -> ActionKey {
    ActionKey { source: source(), id: ActionId::new(id) }
}

pub(in crate::tui) fn key_of(action: &PendingAction) -> ActionKey {
    ActionKey { source: source(), id: action.row.id.clone() }
}

pub(in crate::tui) fn entry(action: &PendingAction, can: Capabilities) -> Entry {
    Entry { key: key_of(action), row: action.row.clone(), can }
}

/// A pending action; `spec` is `id tool agent risk minutes`, the batch is tool and agent.
pub(in crate::tui) fn action(spec: &str, title: &str, input: &str) -> PendingAction {
    let [id, tool, agent, risk, minutes] = spec.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let input = RawJson::parse(input.to_owned()).unwrap();
    let row = Row {
        batch: Some(BatchId::new(format!("{agent}:{tool}"))),
        workspace: Some("acme".into()),
        agent: Some(agent.into()),
        risk: Risk::parse(risk),
        created_at: Timestamp::from_millis(NOW - minutes.parse::<i64>().unwrap() * 60_000),
        revision: Revision(1),
        ..Row::new(ActionId::new(id), tool.into(), title.into())
    };
    PendingAction::new(row, input, RawJson::null())
}

/// The same action, decided by somebody.
pub(in crate::tui) fn decided(mut action: PendingAction, status: Status, by: &str) -> PendingAction {
    action.row.status = status;
    action.row.resolved_by = Some(by.into());
    action
}

/// So many small low-risk actions of one batch, `1` the oldest.
pub(in crate::tui) fn few(n: usize) -> Vec<PendingAction> {
    let one = |i: usize| {
        let title = format!("Issue number {i}");
        action(
            &format!("{i} create_linear_issue support low {}", 60 - i),
            &title,
            &format!("{{\"title\":\"{title}\",\"n\":1.10}}"),
        )
    };
    (1..=n).map(one).collect()
}

/// The same action, approved by lee and lost sight of while it ran.
pub(in crate::tui) fn lost(action: PendingAction) -> PendingAction {
    let mut action = decided(action, Status::Unknown, "lee");
    action.row.resolved_at = Some(Timestamp::from_millis(NOW - 120_000));
    action.error = Some("the command was ended by signal 9".into());
    action
}
