//! The Context tab for an action of a site.

use async_trait::async_trait;

use super::client::AgentsApi;
use super::wire;
use crate::domain::{ActionId, ContextEntry, Fact, PendingAction, RawJson, Row, Untrusted, json};
use crate::sources::{Context, SourceError};

#[async_trait]
impl Context for AgentsApi {
    async fn context(&self, id: &ActionId, _: &[Row]) -> Result<Vec<ContextEntry>, SourceError> {
        let found = self.one(id).await?;
        Ok(found.and_then(Result::ok).map(|action| passages(&action)).unwrap_or_default())
    }
}

fn passages(action: &PendingAction) -> Vec<ContextEntry> {
    let raw = action.raw.as_str();
    let member = |name: &str| action.raw.member(name).and_then(|value| RawJson::parse(value).ok());
    let written =
        |name: &'static str, key: &str| member(key).filter(is_something).map(|it| Fact::json(name, it));
    let said = |name: &'static str, key: &str| {
        let value = wire::odd_date(raw, key);
        value.map(|date| Fact::text(format!("{name} (as it came)"), date))
    };
    let kind = action.raw.member("kind").map(|kind| Untrusted::from(json::decode(kind).text.into_owned()));
    let row = &action.row;
    let of_action = [
        kind.map(|kind| Fact::id("kind", kind)),
        action.requested_by.clone().map(|who| Fact::id("creator", who)),
        row.agent.clone().map(|agent| Fact::id("agent", agent)),
        written("workspace", "workspace"),
        row.session.clone().map(|session| Fact::id("session", session)),
        row.run.clone().map(|run| Fact::id("run", run)),
        action.tool_call.clone().map(|call| Fact::id("tool call", call)),
        said("created", "createdAt"),
        said("expires", "expiresAt"),
    ];
    let of_host: Vec<Fact> = member("metadata").map(|metadata| facts(&metadata)).unwrap_or_default();
    let settled = [
        row.resolved_by.clone().map(|who| Fact::id("resolver", who).at(row.resolved_at)),
        said("resolved", "resolvedAt"),
        written("result", "resolution_result"),
        action.error.clone().map(|error| Fact::text("error", error)),
        written("metadata", "resolution_metadata"),
    ];
    let passages = [
        ContextEntry { title: "The proposal", facts: of_action.into_iter().flatten().collect() },
        ContextEntry { title: "What its host adds", facts: of_host },
        ContextEntry { title: "How it was settled", facts: settled.into_iter().flatten().collect() },
    ];
    passages.into_iter().filter(|passage| !passage.facts.is_empty()).collect()
}

fn facts(object: &RawJson) -> Vec<Fact> {
    let members = object.members().unwrap_or_default();
    let fact = |member: json::Member<'_>| {
        let value = RawJson::parse(member.value).ok().filter(is_something)?;
        Some(Fact::json(member.key.text.into_owned(), value))
    };
    members.into_iter().filter_map(fact).collect()
}

fn is_something(value: &RawJson) -> bool {
    !wire::is_nothing(value.as_str())
}
