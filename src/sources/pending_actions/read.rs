//! Reads lists, changes, and actions in full.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::sync::mpsc;

use super::client::{Dialect, GET_LIMIT, LONG_LIMIT, PendingActions, ROOT};
use super::wire;
use crate::contract::action::Unreadable;
use crate::domain::{ActionId, Revision, Row};
use crate::net::url;
use crate::sources::answer::{self, success};
use crate::sources::source::{PagesEnd, permit};
use crate::sources::{Full, SourceError, Synced};

/// Rows per page of changes and of reads by id, the gate's maximum.
const PAGE: &str = "5000";
/// Rows per page of the list. One page is parsed while the next is made, and a screen takes one in between two keys.
const LIST_PAGE: &str = "1000";
/// Rows of the first page: a screen or two, so that it arrives at once.
const FIRST_PAGE: &str = "100";
const PAGES_MAX: usize = 1_000;
/// Maximum rows of a list. A list that grows while it is read would never end.
const ROWS_MAX: usize = 500_000;
/// Maximum ids per request, so that the URL stays short.
const IDS: usize = 100;
const GETS: usize = 4;
/// Number of actions from which Praxiom's lists are read instead: it counts requests, not their size.
const LISTS_FROM: usize = 6;
/// In the order of an action's life, so that an action that moves on meanwhile is found in a later list.
pub(super) const STATUSES: [&str; 5] = ["pending", "approved", "executed", "failed", "rejected"];

impl PendingActions {
    pub(super) async fn list(&self) -> Result<Synced, SourceError> {
        match self.dialect {
            Dialect::Gate => {
                let (pages, mut come) = mpsc::channel::<Vec<Row>>(1);
                let collecting = async {
                    let mut rows = Rows::default();
                    while let Some(page) = come.recv().await {
                        for row in page {
                            rows.put(row);
                        }
                    }
                    rows.all
                };
                let (end, rows) = futures_util::future::join(self.list_paged(pages), collecting).await;
                let PagesEnd { unreadable, revision } = end?;
                Ok(Synced::All { rows, unreadable, revision })
            }
            Dialect::Praxiom => self.list_whole().await,
        }
    }

    async fn list_whole(&self) -> Result<Synced, SourceError> {
        let pages = self.pages(&[("status", "pending")], wire::listed).await?;
        let (mut rows, mut unreadable) = (Rows::default(), Vec::new());
        unreadable.extend(cut_off(&pages, pages.items.len()));
        for row in pages.items {
            match row {
                Ok(row) => rows.put(row),
                Err(bad) => unreadable.push(bad),
            }
        }
        let mut rows: Vec<Row> = rows.all.into_iter().filter(|row| self.lists(&row.status)).collect();
        rows.extend(self.orphans().await);
        permit(&mut rows, &mut unreadable, |row| self.can(row));
        Ok(Synced::All { rows, unreadable, revision: pages.revision })
    }

    /// Like [`list`](Self::list), page by page. Requests the next page while one is parsed.
    pub(super) async fn list_paged(&self, pages: mpsc::Sender<Vec<Row>>) -> Result<PagesEnd, SourceError> {
        let ask = |limit: &'static str, cursor: Option<String>| async move {
            let mut query =
                vec![("status", "pending,unknown"), ("view", "row"), ("nulls", "false"), ("limit", limit)];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            success(self.ask(self.path("", &query), LONG_LIMIT).await?)
        };
        let ((), mut text) = futures_util::future::join(self.learn_me(), ask(FIRST_PAGE, None)).await;
        let (mut unreadable, mut revision, mut count) = (Vec::new(), None, 0);
        let (mut followed, mut seen) = (HashSet::new(), HashSet::new());
        for number in 0..PAGES_MAX {
            let told = text?;
            let likely = wire::likely_cursor(&told);
            let parsed = parse(told, |text| wire::page(text, wire::listed));
            let ahead = async {
                match &likely {
                    Some(next) => Some(ask(LIST_PAGE, Some(next.clone())).await),
                    None => None,
                }
            };
            let (page, ahead) = futures_util::future::join(parsed, ahead).await;
            let mut page = page?;
            if number == 0 {
                self.learn_claims(page.claims.take());
                revision = page.revision;
            }
            count += page.items.len();
            bounded(count)?;
            if !has_news(&mut seen, &page.items) && number > 0 && page.next.is_some() {
                return Err(answer::in_a_circle());
            }
            let (mut rows, mut bad) = (Vec::with_capacity(page.items.len()), Vec::new());
            for item in std::mem::take(&mut page.items) {
                match item {
                    Ok(row) if self.lists(&row.status) => rows.push(row),
                    Ok(_) => {}
                    Err(unreadable) => bad.push(unreadable),
                }
            }
            permit(&mut rows, &mut bad, |row| self.can(row));
            unreadable.append(&mut bad);
            if pages.send(rows).await.is_err() {
                break;
            }
            let Some(next) = page.next.take() else {
                let mut cut = cut_off(&page, count);
                permit([], &mut cut, |row| self.can(row));
                unreadable.extend(cut);
                return Ok(PagesEnd { unreadable, revision });
            };
            answer::follow(&mut followed, &next)?;
            text = match ahead.filter(|_| likely.as_ref() == Some(&next)) {
                Some(text) => text,
                None => ask(LIST_PAGE, Some(next)).await,
            };
        }
        Err(answer::nonsense("its pages do not end"))
    }

    /// Returns the changes since a revision; `None` if the gate does not have them all and the whole list must be read.
    pub(super) async fn changes(&self, since: Revision) -> Result<Option<Synced>, SourceError> {
        let (mut rows, mut unreadable, mut purged) = (Rows::default(), Vec::new(), Vec::new());
        let mut since = since;
        for _ in 0..PAGES_MAX {
            let query = [("since", &*since.0.to_string()), ("limit", PAGE)];
            let reply = success(self.ask(self.path("/changes", &query), LONG_LIMIT).await?)?;
            let changes = parse(reply, |text| wire::changes(text)).await?;
            if !changes.complete {
                return Ok(None);
            }
            self.learn_claims(changes.claims);
            for row in changes.rows {
                match row {
                    Ok(row) => rows.put(row),
                    Err(bad) => unreadable.push(bad),
                }
            }
            purged.extend(changes.purged);
            if !changes.more {
                let revision = changes.revision;
                permit(&mut rows.all, &mut unreadable, |row| self.can(row));
                return Ok(Some(Synced::Changes { rows: rows.all, unreadable, purged, revision }));
            }
            if changes.revision <= since {
                return Err(answer::nonsense("its changes do not move on"));
            }
            since = changes.revision;
        }
        Err(answer::nonsense("its changes do not end"))
    }

    pub(super) async fn read(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut found = self.read_anyhow(ids).await?;
        for one in &mut found {
            match one {
                Ok(action) => permit([&mut action.row], [], |row| self.can(row)),
                Err(bad) => permit([], [bad], |row| self.can(row)),
            }
        }
        Ok(found)
    }

    async fn read_anyhow(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        match self.dialect {
            Dialect::Gate => {
                let asks: Vec<_> = ids.chunks(IDS).map(|ids| self.by_ids(ids)).collect();
                let parts: Vec<Vec<Full>> = stream::iter(asks).buffer_unordered(GETS).try_collect().await?;
                Ok(parts.into_iter().flatten().collect())
            }
            Dialect::Praxiom if ids.len() >= LISTS_FROM => self.by_lists(ids).await,
            Dialect::Praxiom => self.one_by_one(ids).await,
        }
    }

    async fn by_ids(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let joined = ids.iter().map(ActionId::as_raw).collect::<Vec<_>>().join(",");
        let query = [("ids", joined.as_str()), ("view", "full"), ("limit", PAGE)];
        let actions = self.pages(&query, wire::whole).await?.items.into_iter();
        let wanted: HashSet<_> = ids.iter().collect();
        let ours = |action: &Full| action.as_ref().map_or(true, |action| wanted.contains(&action.row.id));
        Ok(actions.filter(ours).collect())
    }

    async fn one_by_one(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        // An id that cannot be used in a URL is unknown.
        let places = ids.iter().filter_map(|id| Some((id, url::segment(id.as_raw())?)));
        let asks = places.map(|(id, segment)| async move {
            let reply = self.ask(format!("{ROOT}/{segment}"), GET_LIMIT).await?;
            match reply.status {
                404 | 410 => Ok(None),
                _ => success(reply).map(|text| Some(wire::one(&text, id))),
            }
        });
        let asks: Vec<_> = asks.collect();
        let answers: Vec<Result<Option<Full>, SourceError>> =
            stream::iter(asks).buffer_unordered(GETS).collect().await;
        answers.into_iter().filter_map(Result::transpose).collect()
    }

    async fn by_lists(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut wanted: HashSet<&ActionId> = ids.iter().collect();
        let mut found = Vec::new();
        for status in STATUSES {
            if wanted.is_empty() {
                break;
            }
            for action in self.pages(&[("status", status)], wire::whole).await?.items {
                // An item without an id is reported with the list.
                let id = action.as_ref().map_or_else(|bad| bad.id.as_ref(), |action| Some(&action.row.id));
                if id.is_some_and(|id| wanted.remove(id)) {
                    found.push(action);
                }
            }
        }
        Ok(found)
    }

    /// Reads all pages of a list. The revision is the first page's, so that changes during paging are requested again.
    pub(super) async fn pages<T: PartialEq + Send + 'static>(
        &self,
        query: &[(&str, &str)],
        read: wire::ReadItem<T>,
    ) -> Result<wire::Page<T>, SourceError> {
        let mut all = wire::Page {
            items: Vec::new(),
            next: None,
            revision: None,
            goes_on: false,
            total: None,
            claims: None,
        };
        let mut followed = HashSet::new();
        for number in 0..PAGES_MAX {
            let mut query = query.to_vec();
            query.extend(all.next.as_deref().map(|cursor| ("cursor", cursor)));
            let reply = self.ask(self.path("", &query), LONG_LIMIT).await?;
            let page = parse(success(reply)?, move |text| wire::page(text, read)).await?;
            if number == 0 {
                all.revision = page.revision;
            }
            // In a list that ends, every page has a new item.
            if number > 0 && page.next.is_some() && page.items.iter().all(|item| all.items.contains(item)) {
                return Err(answer::in_a_circle());
            }
            all.items.extend(page.items);
            bounded(all.items.len())?;
            (all.goes_on, all.total) = (page.goes_on, page.total);
            let Some(next) = page.next else { return Ok(wire::Page { next: None, ..all }) };
            answer::follow(&mut followed, &next)?;
            all.next = Some(next);
        }
        Err(answer::nonsense("its pages do not end"))
    }
}

fn bounded(rows: usize) -> Result<(), SourceError> {
    match rows {
        0..=ROWS_MAX => Ok(()),
        _ => Err(answer::nonsense("its list has more than 500,000 actions; placet reads no further")),
    }
}

/// Records the ids of a page. Returns whether it has an item that no earlier page had.
fn has_news(seen: &mut HashSet<ActionId>, items: &[Result<Row, Unreadable>]) -> bool {
    let known = seen.len();
    seen.extend(items.iter().flatten().map(|row| row.id.clone()));
    seen.len() > known || items.iter().any(Result::is_err)
}

/// Reports a list that says that there is more without saying where, so that it is not taken for complete.
fn cut_off<T>(pages: &wire::Page<T>, count: usize) -> Option<Unreadable> {
    let more = pages.total.is_some_and(|total| total > count as u64);
    (pages.goes_on || more).then(|| Unreadable::new(Unreadable::CUT_OFF, "(the rest of the list)"))
}

/// Rows in the order of their first appearance, each in its last version, because an action can move between pages.
#[derive(Default)]
struct Rows {
    all: Vec<Row>,
    at: HashMap<ActionId, usize>,
}

impl Rows {
    fn put(&mut self, row: Row) {
        let at = *self.at.entry(row.id.clone()).or_insert(self.all.len());
        match self.all.get_mut(at) {
            Some(known) => *known = row,
            None => self.all.push(row),
        }
    }
}

pub(super) async fn parse<T: Send + 'static>(
    text: String,
    read: impl FnOnce(&Arc<String>) -> Option<T> + Send + 'static,
) -> Result<T, SourceError> {
    answer::parsed_to_keep(text, "the reply is not of the pending-actions contract", read).await
}
