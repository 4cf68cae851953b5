//! The Context tab: what waits in the same batch, mission or session, as last listed.

use async_trait::async_trait;

use super::client::PendingActions;
use crate::domain::{ActionId, ContextEntry, Fact, Row, Untrusted};
use crate::sources::{Context, SourceError};

const BESIDE: usize = 8;

#[async_trait]
impl Context for PendingActions {
    async fn context(&self, id: &ActionId, listed: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        let Some(own) = listed.iter().find(|row| row.id == *id) else { return Ok(Vec::new()) };
        let batch = |row: &Row| row.batch.as_ref().map(|batch| batch.untrusted().clone());
        let circles = [
            passage("Its batch", listed, own, batch),
            passage("Its mission", listed, own, |row| row.mission.clone()),
            passage("Its session", listed, own, |row| row.session.clone()),
        ];
        Ok(circles.into_iter().flatten().collect())
    }
}

fn passage(
    title: &'static str,
    listed: &[Row],
    own: &Row,
    of: impl Fn(&Row) -> Option<Untrusted>,
) -> Option<ContextEntry> {
    let name = of(own)?;
    let beside: Vec<&Row> =
        listed.iter().filter(|row| row.id != own.id && of(row).as_ref() == Some(&name)).collect();
    let mut facts = vec![Fact::id("id", name)];
    facts.push(Fact::text("waiting", format!("{} with this one", beside.len() + 1).into()));
    let told = beside
        .iter()
        .take(BESIDE)
        .map(|row| Fact::text("beside it", row.title.clone()).at(Some(row.created_at)));
    facts.extend(told);
    let more = beside.len().saturating_sub(BESIDE);
    facts.extend((more > 0).then(|| Fact::text("beside it", format!("and {more} more").into())));
    Some(ContextEntry { title, facts })
}
