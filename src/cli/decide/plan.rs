//! Reads the requested decisions and their actions.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::requested::{DecideArgs, RequestedDecision, Word, requested_decisions, twice};
use crate::cli::exit::{Exit, Usage};
use crate::cli::find::{NotFound, SearchedId, find, sent_here};
use crate::cli::output;
use crate::domain::{
    ActionKey, BatchKey, Capabilities, Decision, DecisionKind, Digest, Draft, Edits, Entry, Item, Outcome,
    PendingAction, RawJson, ReportLine, Staged, Status, Timestamp,
};
use crate::inbox::{Inbox, SentHere};
use crate::text;

/// Status of an id that neither a source nor the journal knows.
const NO_SUCH_ODD: &str = "no such action: its id has odd characters, shown in ⟦⟧; copy it again";
const NO_SUCH: &str = "no such action, or decided and no longer in the source";

/// The requested decisions, staged, with their actions.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) draft: Draft,
    /// The actions in the order of the request.
    pub(super) order: Vec<ActionKey>,
    /// Send in the order of the request, as for a file.
    pub(super) as_given: bool,
    pub(super) loaded: HashMap<ActionKey, PendingAction>,
    /// Approvals without a digest of actions that need a closer look, with the reasons.
    pub(super) flagged: Vec<(ActionKey, String)>,
    /// Actions settled before anything was sent. They are skipped.
    pub(super) settled: Vec<ReportLine>,
}

impl Plan {
    pub(super) fn can(&self, key: &ActionKey) -> Capabilities {
        self.loaded.get(key).map_or(Capabilities::READ_ONLY, |action| action.row.can)
    }

    pub(super) fn to_know(&self, key: &ActionKey, item: &Item) -> Vec<String> {
        let notes = self.can(key).told_of(&item.decision).into_iter().map(String::from);
        notes.chain(self.replaces(key, item)).collect()
    }

    /// Describes the approvals that an approval replaces because their content differs.
    pub(super) fn replaces(&self, key: &ActionKey, item: &Item) -> Option<String> {
        let approvals = self.loaded.get(key).map(|action| &action.approvals)?;
        let others = approvals.iter().filter(|it| item.kind().approves() && it.effective != item.effective);
        let names: Vec<_> = others.map(|it| format!("{}'s", text::name(&it.by).plain())).collect();
        let approvals = if names.len() == 1 { "approval" } else { "approvals" };
        let whose = names.join(" and ");
        (!names.is_empty()).then(|| format!("takes the place of {whose} {approvals}, of other content"))
    }
}

/// Reads the requested actions and stages their decisions. Also returns those that no source has.
pub(super) async fn plan(
    inbox: &Inbox,
    args: &DecideArgs,
    now: Timestamp,
) -> anyhow::Result<(Plan, Vec<NotFound>)> {
    let mut plan = Plan { as_given: args.from.is_some(), ..Plan::default() };
    let mut missing = Vec::new();
    let wishes = requested_decisions(args)?;
    let source = args.source.as_deref();
    let sought: Vec<_> = wishes
        .iter()
        .map(|wish| SearchedId {
            id: &wish.id,
            source: wish.source.as_deref().or(source),
            may_begin: wish.typed,
        })
        .collect();
    let found = find(inbox, &sought).await?;
    let mut keys = HashSet::new();
    for (wish, found) in wishes.into_iter().zip(found) {
        let (key, action) = match found {
            Ok(found) => found,
            Err(NotFound { gone: Some(key), exit, .. }) => {
                let named = wish.source.as_deref().or(source);
                let known = sent_here(inbox, named, &key.id).await?;
                let why = if exit == Exit::Usage { NO_SUCH_ODD } else { NO_SUCH };
                plan.settled.push(vanished(known, key, &wish, why));
                continue;
            }
            Err(not_found) => {
                missing.push(not_found);
                continue;
            }
        };
        // One request may name the source and the other not.
        if !keys.insert(key.clone()) {
            return Err(twice(key.id.untrusted()).into());
        }
        let flagged = asks_for_a_look(&wish, &action);
        let staged = stage(&key, &action, wish, now)?;
        if !action.row.status.is_pending() || action.row.has_expired(now) {
            plan.settled.push(settled(key, &action, &staged));
            continue;
        }
        plan.draft.stage([(key.clone(), Some(staged))]);
        plan.flagged.extend(flagged.map(|why| (key.clone(), why)));
        plan.order.push(key.clone());
        plan.loaded.insert(key, action);
    }
    Ok((plan, missing))
}

fn settled(key: ActionKey, action: &PendingAction, staged: &Staged) -> ReportLine {
    // The source still lists it as pending, but it has expired.
    let expired = action.row.status.is_pending();
    ReportLine {
        batch: staged.batch.clone(),
        tool: action.row.tool.clone(),
        title: action.row.shown_title().clone(),
        decision: staged.decision.kind(),
        outcome: Outcome::Skipped {
            status: Some(if expired { Status::Expired } else { action.row.status.clone() }),
            by: action.row.resolved_by.clone(),
        },
        key,
    }
}

/// Reports an action that no source has, from the journal if it knows it. It does not stop the others.
fn vanished(
    known: Option<(ActionKey, Vec<SentHere>)>,
    key: ActionKey,
    wish: &RequestedDecision,
    why: &str,
) -> ReportLine {
    let (key, sent) = known.unwrap_or_else(|| (key, Vec::new()));
    let last = sent.into_iter().last();
    let never = || Outcome::Skipped { status: Some(Status::Other(why.into())), by: None };
    let outcome = last.as_ref().map_or_else(never, SentHere::as_skipped);
    let (tool, title) = last.map(|it| (it.sent.tool, it.sent.title)).unwrap_or_default();
    ReportLine {
        batch: BatchKey::Alone(key.clone()),
        tool,
        title,
        decision: match (wish.decision, &wish.user_edits) {
            (Word::Approve, None) => DecisionKind::Approve,
            (Word::Approve, Some(_)) => DecisionKind::ApproveWithEdits,
            (Word::Reject, _) => DecisionKind::Reject,
            (Word::Retry, _) => DecisionKind::Retry,
        },
        outcome,
        key,
    }
}

/// Returns why a bare id does not approve this action. A digest shows that the reviewer saw `show --json`, which
/// prints the same reasons.
fn asks_for_a_look(wish: &RequestedDecision, action: &PendingAction) -> Option<String> {
    let bare = matches!(wish.decision, Word::Approve) && wish.digest.is_none();
    let mut reasons = if bare { text::Flags::of(action).reasons() } else { Vec::new() };
    if bare && action.approvals.iter().any(|approval| approval.edits.is_some()) {
        reasons.push("somebody approved it with edits".to_owned());
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

fn edits(key: &ActionKey, given: &RawValue) -> Result<Edits, Usage> {
    let wrong =
        |why: String| Usage(format!("userEdits of {}: {why}", output::identifier(key.id.untrusted())));
    let object = RawJson::parse(given.get()).map_err(|error| wrong(error.to_string()))?;
    Edits::new(object).map_err(|error| wrong(error.to_string()))
}

fn stage(
    key: &ActionKey,
    action: &PendingAction,
    wish: RequestedDecision,
    at: Timestamp,
) -> anyhow::Result<Staged> {
    let edits = match wish.user_edits {
        None => None,
        Some(given) => Some(edits(key, &given)?),
    };
    let label = |text: String| {
        Digest::parse(&text)
            .ok_or_else(|| Usage(format!("{text:?} is not a digest; `placet show --json` prints one")))
    };
    let digest = wish.digest.map_or_else(|| Ok(action.digest()), label)?;
    let terms = wish.terms.map_or(Ok(action.terms), |text| label(text).map(Some))?;
    let decision = match wish.decision {
        Word::Approve => Decision::Approve { edits, comment: wish.reason },
        Word::Reject if edits.is_some() => {
            return Err(Usage("a rejection takes no userEdits".to_owned()).into());
        }
        Word::Reject => Decision::Reject { reason: wish.reason },
        Word::Retry => match (edits, wish.reason.filter(|guidance| !guidance.trim().is_empty())) {
            (None, Some(guidance)) => Decision::Retry { guidance },
            _ => return Err(Usage("a retry takes guidance (reason), and no userEdits".to_owned()).into()),
        },
    };
    let batch = Entry { key: key.clone(), row: action.row.clone() }.batch();
    Ok(Staged { decision, batch, digest: Some(digest), terms, at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Args, Command};
    use crate::domain::{ActionId, Row, SubmissionId, freeze};
    use crate::journal::Journal;
    use crate::sources::tests::two_with;
    use clap::Parser as _;
    use std::time::Duration;

    fn wish(text: &str) -> RequestedDecision {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn bare_id_approves_no_action_that_asks_for_a_look() {
        let input = RawJson::parse(r#"{"to":"a"}"#).unwrap();
        let of = |tool: &str| {
            let row = Row::new(ActionId::new("1"), tool.into(), "Plain".into());
            PendingAction::new(row, input.clone(), RawJson::null())
        };
        let (plain, odd) = (of("save_document"), of("save_docum\u{435}nt"));
        let bare = wish(r#"{"id":"1","decision":"approve"}"#);

        assert_eq!(asks_for_a_look(&bare, &plain), None);
        assert_eq!(asks_for_a_look(&bare, &odd).as_deref(), Some("mixed-script"));
        assert_eq!(asks_for_a_look(&wish(r#"{"id":"1","decision":"reject"}"#), &odd), None);
        let bound = format!(r#"{{"id":"1","decision":"approve","digest":"{}"}}"#, odd.digest());
        assert_eq!(asks_for_a_look(&wish(&bound), &odd), None);
    }
    fn given(words: &[&str]) -> DecideArgs {
        let args = Args::parse_from([&["placet"], words].concat());
        match args.command {
            Some(Command::Decide(args)) => args,
            Some(Command::Retry(args)) => args.into(),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn id_that_no_source_has_stops_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
        let ([before, after], ids) = two_with("confused-ai, in memory", 11).await;
        let now = Timestamp::from_millis(1_795_000_000_000);
        let open = |source| Inbox::open(vec![source], journal.clone(), Duration::MAX, Some("Ada".to_owned()));
        let (first, later) = (open(before), open(after));
        // This id is a prefix of another one.
        let decided = ids[1].as_raw();
        let (mut one, _) = plan(&first, &given(&["decide", "--reject", decided]), now).await.unwrap();
        let staged = one.draft.iter();
        let frozen = freeze(SubmissionId::new("s"), staged, &one.loaded, |_| 11, now).unwrap();
        first.submit(frozen, 0).await.unwrap();
        one.draft = Draft::default();

        let args = ["decide", "--approve", decided, "--reject", ids[10].as_raw(), "--approve", "typo"];
        let (plan, missing) = plan(&later, &given(&args), now).await.unwrap();

        assert!(missing.is_empty(), "{missing:?}");
        assert_eq!(plan.order.iter().map(|key| &key.id).collect::<Vec<_>>(), [&ids[10]]);
        let skipped: Vec<_> =
            plan.settled.iter().map(|it| (it.key.id.as_raw(), it.outcome.clone())).collect();
        let of = |status: &str, by: Option<&str>| Outcome::Skipped {
            status: Some(Status::parse(status)),
            by: by.map(Into::into),
        };
        assert_eq!(skipped, [(decided, of("rejected", Some("Ada"))), ("typo", of(NO_SUCH, None))]);
        assert_eq!(plan.settled[0].tool, "write_note".into());
        let known = sent_here(&later, None, &ids[1]).await.unwrap().unwrap();
        assert_eq!(known.1.len(), 1, "what `show` prints");
    }

    #[tokio::test]
    async fn retry_carries_its_guidance() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
        let ([saga, _], ids) = two_with("warden, reason steps", 1).await;
        let inbox = Inbox::open(vec![saga], journal, Duration::MAX, None);
        let now = Timestamp::from_millis(1_795_000_000_000);

        let args = ["retry", ids[0].as_raw(), "--guidance", "Say it warmer."];
        let (plan, _) = plan(&inbox, &given(&args), now).await.unwrap();

        let decisions: Vec<_> = plan.draft.iter().map(|(_, staged)| &staged.decision).collect();
        assert_eq!(decisions, [&Decision::Retry { guidance: "Say it warmer.".to_owned() }]);
        let frozen = freeze(SubmissionId::new("s"), plan.draft.iter(), &plan.loaded, |_| 1, now).unwrap();
        let report = inbox.submit(frozen, 0).await.unwrap();
        assert_eq!(report.lines[0].outcome, Outcome::Accepted);
        assert!(Args::try_parse_from(["placet", "retry", "1"]).is_err(), "guidance is required");
    }
}
