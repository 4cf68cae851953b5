//! Abilities of a gate, and some of Praxiom: lists of settled actions, timelines, figures, look-ups, and resolving
//! unknown outcomes.

use async_trait::async_trait;

use super::client::{Dialect, GET_LIMIT, LONG_LIMIT, PendingActions, ROOT};
use super::read::{STATUSES, parse};
use super::wire;
use crate::contract::fields::Fields;
use crate::contract::settle::{Settle, SettleAs};
use crate::contract::{briefing, error, flows, time};
use crate::domain::{
    ActionId, Effect, Flows, FlowsAsked, HistoryEvent, KnownTool, ListQuery, Outstanding, Person,
    PreviewShape, Resolution, Resolved, Risk, Row, Status, Untrusted, json,
};
use crate::net::url;
use crate::sources::answer::{self, success};
use crate::sources::source::permit;
use crate::sources::{
    Figures, History, Identity, Listed, Lookup, ResolveUnknown, SourceError, TakeBack, Timeline,
};

#[async_trait]
impl History for PendingActions {
    async fn listed(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        let mut listed = match self.dialect {
            Dialect::Gate => self.one_page(query).await?,
            Dialect::Praxiom => self.all_of(&query.statuses).await?,
        };
        permit(&mut listed.rows, &mut listed.unreadable, |row| self.can(row));
        Ok(listed)
    }
}

#[async_trait]
impl Timeline for PendingActions {
    async fn timeline(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        let reply = self.ask(format!("{ROOT}/{}/events", wire::segment(id)?), GET_LIMIT).await?;
        match reply.status {
            404 => Err(SourceError::Refused { why: wire::GONE.into() }),
            _ => parse(success(reply)?, |text| wire::timeline(text)).await,
        }
    }
}

impl PendingActions {
    async fn one_page(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        let words = query.statuses.iter().map(Status::as_raw).collect::<Vec<_>>().join(",");
        let limit = query.limit.to_string();
        let mut asked = vec![("status", words.as_str()), ("view", "row"), ("limit", limit.as_str())];
        asked.extend(query.tool.as_ref().map(|tool| ("tool_name", tool.as_raw())));
        asked.extend(query.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let reply = self.ask(self.path("", &asked), LONG_LIMIT).await?;
        let page = parse(success(reply)?, |text| wire::page(text, wire::row)).await?;
        if page.next.is_some() && page.next == query.cursor {
            return Err(answer::in_a_circle());
        }
        Ok(listed(page, |row| query.statuses.contains(&row.status)))
    }

    /// Praxiom takes one status per request and has no pages. Statuses that it does not have are empty.
    async fn all_of(&self, statuses: &[Status]) -> Result<Listed, SourceError> {
        let mut all = Listed::default();
        for word in STATUSES.into_iter().filter(|word| statuses.contains(&Status::parse(word))) {
            let page = self.pages(&[("status", word)], wire::row).await?;
            let page = listed(page, |row| row.status.as_raw() == word);
            all.rows.extend(page.rows);
            all.unreadable.extend(page.unreadable);
        }
        all.rows.sort_by_key(|row| std::cmp::Reverse(row.created_at));
        Ok(all)
    }
}

/// Drops rows that changed while the list was read and no longer match.
fn listed(page: wire::Page<Row>, asked: impl Fn(&Row) -> bool) -> Listed {
    let mut listed = Listed { next: page.next, ..Listed::default() };
    for row in page.items {
        match row {
            Ok(row) if asked(&row) => listed.rows.push(row),
            Ok(_) => {}
            Err(bad) => listed.unreadable.push(bad),
        }
    }
    listed
}

#[async_trait]
impl Figures for PendingActions {
    async fn flows(&self, asked: &FlowsAsked) -> Result<Flows, SourceError> {
        let [since, decided] = [asked.since, asked.decided_since].map(time::write);
        let workspace = self.workspace.as_deref().map(|workspace| ("workspace_id", workspace));
        let since = [("since", since.as_str()), ("decided_since", decided.as_str())];
        let reviewers = asked.reviewers.then_some(("reviewers", "true"));
        let groups = asked.groups.then_some(("groups", "true"));
        let query: Vec<_> = workspace.into_iter().chain(since).chain(reviewers).chain(groups).collect();
        let counts = success(self.ask(format!("/api/flows{}", url::query(&query)), LONG_LIMIT).await?)?;
        flows::read(&counts).ok_or_else(|| answer::nonsense("its counts cannot be read"))
    }

    async fn outstanding(&self) -> Result<Outstanding, SourceError> {
        let counts = success(self.ask(self.path("/counts", &[]), GET_LIMIT).await?)?;
        briefing::read_counts(&counts).ok_or_else(|| answer::nonsense("its counts cannot be read"))
    }
}

/// Maximum number of ids to list for a prefix, enough to show that it is ambiguous.
const BEGINNING: &str = "20";

#[async_trait]
impl Lookup for PendingActions {
    async fn tools(&self) -> Result<Vec<KnownTool>, SourceError> {
        let reply = success(self.ask("/api/tools".to_owned(), GET_LIMIT).await?)?;
        read(&reply).ok_or_else(|| answer::nonsense("its tools are no list"))
    }

    async fn beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError> {
        let asked = self.path("", &[("id_prefix", prefix), ("view", "row"), ("limit", BEGINNING)]);
        let page = parse(success(self.ask(asked, GET_LIMIT).await?)?, |text| wire::page(text, wire::row));
        let rows = page.await?.items.into_iter();
        Ok(rows.filter_map(|row| row.map_or_else(|bad| bad.id, |row| Some(row.id))).collect())
    }

    async fn whoami(&self) -> Result<Option<Identity>, SourceError> {
        let reply = success(self.ask("/api/workspaces".to_owned(), GET_LIMIT).await?)?;
        Ok(wire::identity(&reply, self.workspace.as_deref()))
    }

    async fn people(&self) -> Result<Vec<Person>, SourceError> {
        let reply = success(self.ask("/api/people".to_owned(), GET_LIMIT).await?)?;
        wire::people(&reply).ok_or_else(|| answer::nonsense("its people are no list"))
    }
}

/// Leaves out tools that cannot be read. A form works without them, and the gate still validates.
fn read(text: &str) -> Option<Vec<KnownTool>> {
    let items = json::elements(Fields::of(text)?.raw("items")?)?;
    Some(items.into_iter().filter_map(tool).collect())
}

fn tool(text: &str) -> Option<KnownTool> {
    let fields = Fields::of(text)?;
    Some(KnownTool {
        name: fields.text("toolName")?,
        risk: fields.text("risk").map_or(Risk::Medium, |word| Risk::parse(word.as_raw())),
        effect: fields.text("effect").map(|word| Effect::parse(word.as_raw())),
        approving: fields.text("approving"),
        preview: fields.raw("preview").and_then(shape),
        schema: fields.json("schema"),
    })
}

fn shape(text: &str) -> Option<PreviewShape> {
    let fields = Fields::of(text)?;
    let names = |name| {
        let list = fields.raw(name).and_then(json::elements).unwrap_or_default();
        list.into_iter().map(|one| json::decode(one).text.into_owned()).collect()
    };
    Some(PreviewShape {
        fields: names("fields"),
        items: fields.text("items").map(|key| key.as_raw().to_owned()),
        item_fields: names("itemFields"),
    })
}

#[async_trait]
impl ResolveUnknown for PendingActions {
    async fn resolve(
        &self,
        id: &ActionId,
        finding: Resolution,
        reason: Option<String>,
    ) -> Result<Resolved, SourceError> {
        let segment = wire::segment(id)?;
        let how = match finding {
            Resolution::Landed => SettleAs::Executed,
            Resolution::NotLanded => SettleAs::Failed,
            Resolution::RunAgain => SettleAs::Retry,
        };
        let body = wire::body(&Settle { how, reason })?;
        let reply = self.post(format!("{ROOT}/{segment}/settle"), body, None).await?;
        match reply.status {
            200..=299 => match wire::standing(&reply.text) {
                Some((status, _)) => Ok(Resolved::Settled(status)),
                None => Err(answer::nonsense("the answer does not say where the action stands")),
            },
            409 => {
                let status = error::read(&reply.text).status.map(|word| Status::parse(word.as_raw()));
                Ok(Resolved::Already { status, by: self.settler(&segment).await })
            }
            404 => Err(SourceError::Refused { why: wire::GONE.into() }),
            _ => Err(answer::refusal(&reply)),
        }
    }
}

#[async_trait]
impl TakeBack for PendingActions {
    async fn take_back(&self, id: &ActionId) -> Result<(), SourceError> {
        let path = format!("{ROOT}/{}/take-back", wire::segment(id)?);
        let reply = self.post(path, String::new(), None).await?;
        match reply.status {
            200..=299 => Ok(()),
            404 => Err(SourceError::Refused { why: wire::GONE.into() }),
            409 => Err(SourceError::Refused { why: answer::message(&reply) }),
            _ => Err(answer::refusal(&reply)),
        }
    }
}

impl PendingActions {
    /// Returns who settled the action, from its timeline. The action itself names who decided it.
    async fn settler(&self, segment: &str) -> Option<Untrusted> {
        let reply = self.ask(format!("{ROOT}/{segment}/events"), GET_LIMIT).await.ok()?;
        wire::settler(&reply.text).filter(|_| reply.status == 200)
    }
}
