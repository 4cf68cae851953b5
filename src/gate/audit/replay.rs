//! Replays the audit to compute the state of each action, token and pause, and compares it with the tables.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Deserialize;

use super::{AuditHead, AuditRow, Verified, fingerprint, hash, hex};
use crate::contract::time;
use crate::domain::chain::{Chain, Misfit};
use crate::domain::subject::is_same_subject;
use crate::domain::{Edits, Status, Timestamp, Untrusted, Via};
use crate::gate::store::action_fields::record;
use crate::gate::store::{KeptApproval, KeptToken, Origin, Stored};
use crate::gate::token::Token;

/// Maximum number of problems listed. Further ones are only counted.
const TOLD: usize = 100;

/// Takes audit rows, then the records they describe. Actions come in parts, so that memory use does not depend on their
/// number.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    verified: Verified,
    more: u64,
    kept: HashMap<(String, u64), String>,
    chains: BTreeMap<String, Chain>,
    actions: HashMap<String, Expected>,
    /// Must not exist.
    pruned: HashSet<String>,
    /// Whether any part has pruned actions.
    prunes: bool,
    tokens: HashMap<String, ExpectedToken>,
    paused: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Expected {
    status: String,
    revision: u64,
    digest: Option<String>,
    record: Option<String>,
    origin: Origin,
    resolved: Option<(Timestamp, Option<String>)>,
    reason: Option<String>,
    via: Option<String>,
    approval: Option<(u64, Details)>,
    fence: u64,
    lease: Option<(Option<String>, Option<String>)>,
    /// For actions that need more than one approval.
    approvals: Vec<ExpectedApproval>,
    result: Option<String>,
    error: Option<String>,
    executed_at: Option<Timestamp>,
}

#[derive(Debug)]
struct ExpectedApproval {
    subject: String,
    content: (Option<String>, Option<String>),
    fingerprint: String,
}

#[derive(Debug)]
struct ExpectedToken {
    workspace: String,
    at: Timestamp,
    details: Details,
    revoked_at: Option<Timestamp>,
}

/// The fields of all kinds of rows.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    status: Option<String>,
    digest: Option<String>,
    record: Option<String>,
    callback: Option<String>,
    traceparent: Option<String>,
    reason: Option<String>,
    via: Option<String>,
    effective_digest: Option<String>,
    terms: Option<String>,
    edits: Option<String>,
    policy: Option<String>,
    approvers: Option<Vec<String>>,
    voided: Option<Vec<String>>,
    lease_until: Option<String>,
    result: Option<String>,
    error: Option<String>,
    token: Option<String>,
    subject: Option<String>,
    scopes: Option<String>,
    hash: Option<String>,
    expires_at: Option<String>,
    name: Option<String>,
    groups: Option<String>,
}

/// An action in the audit row of a prune, with the place of that row.
#[derive(Debug)]
pub(crate) struct Gone {
    pub(crate) workspace: String,
    pub(crate) revision: u64,
    pub(crate) id: String,
    pub(crate) record: String,
}

impl Replay {
    /// The head of an empty workspace has no hash and is ignored.
    pub(crate) fn new(kept: &[AuditHead]) -> Self {
        let kept = kept.iter().filter(|head| !head.hash.is_empty());
        let kept = kept.map(|head| ((head.workspace.clone(), head.revision), head.hash.clone()));
        Self { kept: kept.collect(), ..Self::default() }
    }

    pub(crate) fn problem(&mut self, what: String) {
        if self.verified.problems.len() < TOLD {
            self.verified.problems.push(what);
        } else {
            self.more += 1;
        }
    }

    /// Rows must be in the order of workspace and revision.
    pub(crate) fn row(&mut self, row: &AuditRow) {
        self.verified.rows += 1;
        let place = format!("audit {:?} revision {}", row.workspace, row.revision);
        let chain = self.chains.entry(row.workspace.clone()).or_default();
        let computed = |before: Option<&str>| hex(&hash(row, before));
        let told = Some(hex(&row.hash)).filter(|_| row.hash.len() == 32);
        let is_told = told.is_some();
        // If the row's hash was removed, continues with the hash it should have.
        let own = told.unwrap_or_else(|| computed(chain.hash.as_deref()));
        let Misfit { missing, changed } = chain.take(row.revision, &own, computed);
        if changed || !is_told {
            self.problem(format!("{place}: the row was changed, or the one before it"));
        }
        if let Some(kept) = self.kept.remove(&(row.workspace.clone(), row.revision))
            && kept != own
        {
            self.problem(format!("{place}: it is not the row whose head was kept"));
        }
        if let Some(missing) = missing {
            self.problem(format!("{place}: {missing} is missing before it"));
        }
        match Details::of(row) {
            None => self.problem(format!("{place}: its details cannot be read")),
            Some(details) if row.action.is_none() => self.other(row, details),
            Some(_) => {}
        }
    }

    /// Rows of one action must be in the order of revisions.
    pub(crate) fn action_row(&mut self, row: &AuditRow) {
        if let (Some(action), Some(details)) = (&row.action, Details::of(row)) {
            self.actions.entry(action.clone()).or_default().take(row, details);
        }
    }

    fn other(&mut self, row: &AuditRow, details: Details) {
        match (row.kind.as_str(), details.token.clone()) {
            ("token-issued", Some(token)) => {
                let issued =
                    ExpectedToken { workspace: row.workspace.clone(), at: row.at, details, revoked_at: None };
                self.tokens.insert(token, issued);
            }
            ("token-revoked", Some(token)) => {
                if let Some(issued) = self.tokens.get_mut(&token) {
                    issued.revoked_at = Some(row.at);
                }
            }
            ("token-ends", Some(token)) => {
                if let Some(issued) = self.tokens.get_mut(&token) {
                    issued.details.expires_at = details.expires_at;
                }
            }
            ("paused", _) => drop(self.paused.insert(row.workspace.clone())),
            ("resumed", _) => drop(self.paused.remove(&row.workspace)),
            ("pruned", _) => self.prunes = true,
            _ => {}
        }
    }

    pub(crate) const fn prunes(&self) -> bool {
        self.prunes
    }

    /// A pruned action of this part, after its rows.
    pub(crate) fn went(&mut self, gone: Gone) {
        let Gone { workspace, revision, id, record } = gone;
        let place = format!("audit {workspace:?} revision {revision}");
        let Some(expected) = self.actions.remove(&id) else {
            return self
                .problem(format!("{place}: action {id:?} was pruned, and the audit knows nothing of it"));
        };
        let status = Status::parse(&expected.status);
        if !status.is_final() || status == Status::Unknown {
            self.problem(format!("{place}: action {id:?} was pruned while it was {}", expected.status));
        }
        if expected.record.is_some_and(|proposed| proposed != record) {
            self.problem(format!("{place}: action {id:?} was pruned, and was not what was proposed"));
        }
        self.pruned.insert(id);
    }

    /// A stored action, after its rows.
    pub(crate) fn action(&mut self, stored: &Stored) {
        self.verified.actions += 1;
        let id = stored.action.row.id.as_raw();
        let Some(expected) = self.actions.remove(id) else {
            let known = if self.pruned.contains(id) {
                "it was pruned, and is there"
            } else {
                "the audit knows nothing of it"
            };
            return self.problem(format!("action {id:?}: {known}"));
        };
        let wrong = expected.compare(stored);
        if !wrong.is_empty() {
            self.problem(format!("action {id:?}: the audit says otherwise of its {}", wrong.join(", ")));
        }
    }

    /// A stored token with its exact texts, after all rows.
    pub(crate) fn token(&mut self, token: &Token, kept: &KeptToken) {
        let Some(expected) = self.tokens.remove(&token.id) else {
            return self.problem(format!("token {:?}: the audit knows nothing of it", token.id));
        };
        let details = &expected.details;
        let same = expected.workspace == token.workspace
            && expected.at == token.created_at
            && expected.revoked_at == token.revoked_at
            && details.subject.as_deref() == Some(&token.subject)
            && details.name == token.name
            && details.groups.as_deref().unwrap_or_default() == token.groups.join(" ")
            && details.scopes.as_deref() == Some(&kept.scopes)
            && details.hash.as_deref() == Some(&hex(&kept.hash))
            && details.expires_at == token.expires_at.map(time::write);
        if !same {
            self.problem(format!("token {:?}: the audit says otherwise of it", token.id));
        }
    }

    /// A stored head, after all rows.
    pub(crate) fn head(&mut self, head: &AuditHead) {
        self.verified.heads.push(head.clone());
        let chain = self.chains.remove(&head.workspace).unwrap_or_default();
        let hash = chain.hash.unwrap_or_default();
        if (chain.number, &hash) != (head.revision, &head.hash) {
            self.problem(format!("workspace {:?}: its head is not its newest audit row", head.workspace));
        }
    }

    pub(crate) fn paused(&self) -> &BTreeSet<String> {
        &self.paused
    }

    /// Ends a part. Actions left in it were deleted.
    pub(crate) fn end_of_part(&mut self) {
        self.pruned.clear();
        let mut gone: Vec<String> = std::mem::take(&mut self.actions).into_keys().collect();
        gone.sort();
        for id in gone {
            self.problem(format!("action {id:?}: it is gone"));
        }
    }

    pub(crate) fn end(mut self) -> Verified {
        for workspace in std::mem::take(&mut self.chains).into_keys() {
            self.problem(format!("workspace {workspace:?}: its head is gone"));
        }
        for token in std::mem::take(&mut self.tokens).into_keys() {
            self.problem(format!("token {token:?}: it is gone"));
        }
        for (workspace, revision) in std::mem::take(&mut self.kept).into_keys() {
            self.problem(format!(
                "audit {workspace:?} revision {revision}: its head was kept, and it is gone"
            ));
        }
        if self.more > 0 {
            self.verified.problems.push(format!("and {} more", self.more));
        }
        self.verified
    }
}

impl Details {
    fn of(row: &AuditRow) -> Option<Self> {
        row.details.as_deref().map_or(Some(Self::default()), |text| serde_json::from_str(text).ok())
    }
}

impl Expected {
    fn take(&mut self, row: &AuditRow, details: Details) {
        self.revision = row.revision;
        if let Some(status) = &details.status {
            self.status.clone_from(status);
        }
        self.error.clone_from(&details.error);
        self.lease = None;
        self.count_approval(row, &details);
        match row.kind.as_str() {
            "created" => {
                "pending".clone_into(&mut self.status);
                (self.digest, self.record) = (details.digest, details.record);
                self.origin = Origin { callback: details.callback, traceparent: details.traceparent };
                return;
            }
            "dispatched" => {
                self.fence += 1;
                self.lease = Some((details.lease_until, row.who.clone()));
                return;
            }
            "requeued" => self.lease = Some((details.lease_until.clone(), None)),
            "approved" | "rejected" | "expired" | "withdrawn" | "superseded" => {
                self.resolved = Some((row.at, row.who.clone()));
                self.reason.clone_from(&details.reason);
                self.via.clone_from(&details.via);
            }
            _ => {}
        }
        if matches!(self.status.as_str(), "executed" | "failed") {
            self.executed_at = Some(row.at);
            if details.result.is_some() {
                self.result.clone_from(&details.result);
            }
        }
        if row.kind == "approved" {
            self.approval = Some((row.revision, details));
        }
    }

    /// Same rule as `gate/store/approvals.rs`: counted approvals have the same content, and one subject counts once.
    fn count_approval(&mut self, row: &AuditRow, details: &Details) {
        let who = row.who.as_deref().unwrap_or_default();
        match (row.kind.as_str(), &details.approvers) {
            ("approval-given" | "approved", Some(_)) => {
                let content = (details.effective_digest.clone(), details.terms.clone());
                self.approvals.retain(|it| it.content == content && !is_same_subject(&it.subject, who));
                let said = |field: &Option<String>| field.clone().unwrap_or_default();
                let fingerprint = format!(
                    "{} {who:?} {} {} {} {} {}",
                    row.revision,
                    row.at.as_millis(),
                    said(&content.0),
                    said(&content.1),
                    said(&details.policy),
                    said(&details.edits)
                );
                self.approvals.push(ExpectedApproval { subject: who.to_owned(), content, fingerprint });
            }
            ("approval-voided", _) => {
                let voided = details.voided.iter().flatten();
                let is_voided = |it: &ExpectedApproval| voided.clone().any(|who| *who == it.subject);
                self.approvals.retain(|it| !is_voided(it));
            }
            ("approval-taken-back", _) => self.approvals.retain(|it| !is_same_subject(&it.subject, who)),
            _ => {}
        }
    }

    fn compare(&self, stored: &Stored) -> Vec<&'static str> {
        let (action, row) = (&stored.action, &stored.action.row);
        let text = |field: &Option<Untrusted>| field.as_ref().map(|text| text.as_raw().to_owned());
        let mut wrong = Vec::new();
        let mut check = |what, same: bool| {
            if !same {
                wrong.push(what);
            }
        };
        check("status", row.status == Status::parse(&self.status));
        check("revision", row.revision.0 == self.revision);
        check("fence", stored.fence == self.fence);
        check("resolution", (row.resolved_at, text(&row.resolved_by)) == self.resolved_by());
        check("moment of execution", action.executed_at == self.executed_at);
        let (until, holder) = self.lease.clone().unwrap_or_default();
        let record = record(stored.proposed()).to_string();
        check("proposal", self.record.as_deref() == Some(&record));
        check("callback or trace", self.origin == stored.origin);
        let kept = stored.approvals.iter().map(KeptApproval::fingerprint);
        check("approvals", kept.eq(self.approvals.iter().map(|it| it.fingerprint.clone())));
        check("digest", self.digest == row.digest.map(|digest| digest.to_string()));
        check("size", row.size == action.input.as_str().len() as u64);
        check("lease", stored.lease_until.map(time::write) == until && stored.lease_by == holder);
        check("reason", text(&action.reason) == self.reason);
        check("way of deciding", row.resolved_via.map(Via::word) == self.via.as_deref());
        check("error", text(&action.error) == self.error);
        check("result", action.result.as_ref().map(fingerprint) == self.result);
        let (revision, approval) = match &self.approval {
            Some((revision, details)) => (Some(*revision), Some(details)),
            None => (None, None),
        };
        let said = |field: fn(&Details) -> &Option<String>| approval.and_then(|it| field(it).clone());
        let effective = action.effective_input.as_ref().map(|input| action.digest_of(input.as_str()));
        let effective = effective.map(|digest| digest.to_string());
        let kept = stored.effective_digest.map(|digest| digest.to_string());
        check("decision", stored.decision_revision == revision);
        check("approved input", effective == said(|it| &it.effective_digest) && kept == effective);
        check("approved terms", stored.approved_terms == said(|it| &it.terms));
        check(
            "edits",
            action.user_edits.as_ref().map(Edits::as_json).map(fingerprint) == said(|it| &it.edits),
        );
        wrong
    }

    fn resolved_by(&self) -> (Option<Timestamp>, Option<String>) {
        self.resolved.clone().map_or((None, None), |(at, by)| (Some(at), by))
    }
}
