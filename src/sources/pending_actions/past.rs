//! What is over: lists by status, and the timeline of one action.

use super::read::{STATUSES, parse, success};
use super::{Dialect, GET_LIMIT, LONG_LIMIT, PendingActions, ROOT, answer, submit, wire};
use crate::contract::action;
use crate::domain::{ActionId, HistoryEvent, ListQuery, Row, Status};
use crate::net::url;
use crate::sources::{Listed, SourceError};

/// So many are enough to tell that a beginning is not the only one.
const BEGINNING: &str = "20";

impl PendingActions {
    /// One page, newest first.
    pub(super) async fn page(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        match self.dialect {
            Dialect::Gate => self.one_page(query).await,
            Dialect::Praxiom => self.all_of(&query.statuses).await,
        }
    }

    async fn one_page(&self, query: &ListQuery) -> Result<Listed, SourceError> {
        let words = query.statuses.iter().map(Status::as_raw).collect::<Vec<_>>().join(",");
        let limit = query.limit.to_string();
        let mut asked = vec![("status", words.as_str()), ("view", "row"), ("limit", limit.as_str())];
        asked.extend(query.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let reply = self.ask(self.path("", &asked), LONG_LIMIT).await?;
        let page = parse(success(reply)?, |text| wire::page(text, action::read_row)).await?;
        if page.next.is_some() && page.next == query.cursor {
            return Err(answer::nonsense("its pages do not move on"));
        }
        Ok(listed(page, |row| query.statuses.contains(&row.status)))
    }

    /// Ids that begin so, whatever became of them. A gate from before the question answers with anything.
    pub(super) async fn ids_beginning(&self, prefix: &str) -> Result<Vec<ActionId>, SourceError> {
        if self.dialect == Dialect::Praxiom {
            return Err(SourceError::NotOffered);
        }
        let asked = self.path("", &[("id_prefix", prefix), ("view", "row"), ("limit", BEGINNING)]);
        let page =
            parse(success(self.ask(asked, GET_LIMIT).await?)?, |text| wire::page(text, action::read_row));
        let rows = page.await?.items.into_iter();
        let ids: Vec<ActionId> =
            rows.filter_map(|row| row.map_or_else(|bad| bad.id, |row| Some(row.id))).collect();
        let asked_for = |id: &ActionId| id.as_raw().starts_with(prefix);
        if ids.iter().all(asked_for) { Ok(ids) } else { Err(SourceError::NotOffered) }
    }

    /// Praxiom takes one status a call and pages nothing: one page is everything. States that it does not have are empty.
    async fn all_of(&self, statuses: &[Status]) -> Result<Listed, SourceError> {
        let mut all = Listed::default();
        for word in STATUSES.into_iter().filter(|word| statuses.contains(&Status::parse(word))) {
            let page = self.pages(&[("status", word)], action::read_row).await?;
            let page = listed(page, |row| row.status.as_raw() == word);
            all.rows.extend(page.rows);
            all.unreadable.extend(page.unreadable);
        }
        all.rows.sort_by_key(|row| std::cmp::Reverse(row.created_at));
        Ok(all)
    }

    pub(super) async fn timeline(&self, id: &ActionId) -> Result<Vec<HistoryEvent>, SourceError> {
        if self.dialect == Dialect::Praxiom {
            return Err(SourceError::NotOffered);
        }
        let refused = |why: &str| SourceError::Refused { why: why.into() };
        let segment =
            url::segment(id.as_raw()).ok_or_else(|| refused("the action's id cannot stand in an address"))?;
        let reply = self.ask(format!("{ROOT}/{segment}/events"), GET_LIMIT).await?;
        match reply.status {
            // A gate of before it kept timelines, or an action that was purged.
            404 => Err(refused(submit::GONE)),
            _ => parse(success(reply)?, wire::timeline).await,
        }
    }
}

/// What the backend listed that was not asked for is left out: it moved on while it was read.
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
