//! The Context tab for an approval request.

use async_trait::async_trait;

use super::client::ConfusedAi;
use crate::domain::{ActionId, ContextEntry, Fact, PendingAction, Row};
use crate::sources::{Context, SourceError};

const BESIDE: usize = 8;

#[async_trait]
impl Context for ConfusedAi {
    async fn context(&self, id: &ActionId, _: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        let remembered = self.remembered(id);
        let listed: Vec<PendingAction> = self.list().await?.into_iter().flatten().collect();
        let own = remembered.or_else(|| listed.iter().find(|action| action.row.id == *id).cloned());
        let Some(own) = own else { return Ok(Vec::new()) };
        Ok([Some(request(&own)), run(&own, &listed)].into_iter().flatten().collect())
    }
}

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
