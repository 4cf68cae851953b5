//! What is known around an action, and what it is like to work with this service.

use super::ConfusedAi;
use crate::contract::time;
use crate::domain::{ActionId, Check, ContextEntry, Fact, PendingAction};
use crate::sources::{SourceError, health_check};

/// Titles that are told of what waits beside an action.
const BESIDE: usize = 8;

impl ConfusedAi {
    pub(super) async fn around(&self, id: &ActionId) -> Result<Vec<ContextEntry>, SourceError> {
        let remembered = self.remembered(id);
        let listed: Vec<PendingAction> = self.list().await?.into_iter().flatten().collect();
        let own = remembered.or_else(|| listed.iter().find(|action| action.row.id == *id).cloned());
        let Some(own) = own else { return Ok(Vec::new()) };
        Ok([Some(request(&own)), run(&own, &listed)].into_iter().flatten().collect())
    }

    pub(super) async fn look_over(&self) -> Vec<Check> {
        let listed = self.list().await;
        let mut checks = vec![match &listed {
            Ok(actions) => list(actions.iter().flatten(), actions.iter().filter(|it| it.is_err()).count()),
            Err(SourceError::Refused { why }) if why.as_raw().starts_with("HTTP 404") => Check::bad(
                "list",
                "it knows no approvals",
                "check `url`; a service without an approval store has none: give it one where it is created",
            )
            .said(Some(why.clone())),
            Err(error) => health_check::failed("list", error),
        }];
        if listed.is_err() {
            return checks;
        }
        checks.push(match &self.reviewer {
            Some(name) => Check::good(
                "reviewer",
                format!("decisions go under the name {name:?}, which it does not verify"),
            ),
            None => Check::warn("reviewer", "decisions go without a name", "set `name` in [reviewer]"),
        });
        // Nothing on the wire tells how many there are.
        let one = "its answers are believed: run one service process a database, for two overwrite each other's decisions";
        checks.push(Check::good("processes", one));
        checks
    }
}

fn list<'a>(actions: impl Iterator<Item = &'a PendingAction>, unreadable: usize) -> Check {
    let now = time::now();
    let (expired, pending): (Vec<_>, Vec<_>) =
        actions.filter(|it| it.row.status.is_pending()).partition(|it| it.row.has_expired(now));
    let found = match expired.len() {
        0 => format!("{} pending", pending.len()),
        n => format!(
            "{} pending, {n} expired, which are refused here: it would still approve them",
            pending.len()
        ),
    };
    if unreadable == 0 {
        return Check::good("list", found);
    }
    let advice = "they are shown in the inbox; tell whoever runs the backend";
    Check::warn("list", format!("{found}, and {unreadable} that cannot be read"), advice)
}

/// What the agent asked for, in its own words.
fn request(own: &PendingAction) -> ContextEntry {
    let row = &own.row;
    let facts = [
        own.summary.clone().map(|words| Fact::text("description", words)),
        own.requested_by.clone().map(|by| Fact::text("requested by", by)),
        row.agent.clone().map(|agent| Fact::text("agent", agent)),
        Some(Fact::text("created", "asked for then".into()).at(Some(row.created_at))),
        row.expires_at.map(|at| Fact::text("expires", "cannot be decided from then on".into()).at(Some(at))),
        own.reason.clone().map(|comment| Fact::text("comment", comment).at(row.resolved_at)),
    ];
    ContextEntry { title: "The request", facts: facts.into_iter().flatten().collect() }
}

/// What else its run waits for.
fn run(own: &PendingAction, listed: &[PendingAction]) -> Option<ContextEntry> {
    let run = own.row.run.clone()?;
    let beside =
        |action: &&PendingAction| action.row.run.as_ref() == Some(&run) && action.row.id != own.row.id;
    let beside: Vec<_> = listed.iter().filter(beside).collect();
    let mut facts = vec![Fact::id("run", run.clone())];
    facts.push(Fact::text("waiting beside it", beside.len().to_string().into()));
    let told = beside.iter().take(BESIDE);
    facts.extend(
        told.map(|it| Fact::text(it.row.tool.clone(), it.row.title.clone()).at(Some(it.row.created_at))),
    );
    let more = beside.len().saturating_sub(BESIDE);
    facts.extend((more > 0).then(|| Fact::text("more", more.to_string().into())));
    Some(ContextEntry { title: "Its run", facts })
}
