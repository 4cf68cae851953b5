//! Reads the pending list, and actions in full.

use std::collections::{HashMap, HashSet};

use futures_util::stream::{self, StreamExt as _};

use super::client::{AgentsApi, READ_LIMIT};
use super::{site, wire};
use crate::config::AgentsApi as Settings;
use crate::contract::action::Unreadable;
use crate::domain::{ActionId, PendingAction, Untrusted, json};

use crate::sources::{Full, SourceError, Synced, answer};
/// Data Machine's maximum page size.
const PAGE: usize = 200;
/// Items by which pages overlap, so that an action settled meanwhile leaves no gap between two pages.
const OVERLAP: usize = 20;
/// Items to go back when two pages did not overlap.
const BACK: usize = 100;
/// Maximum number of times to go back: the pages of a host without a stable order never overlap.
const GAPS: usize = 8;
const REQUESTS: usize = 500;
const GETS: usize = 4;
/// Minimum number of ids for which the list, which holds whole actions, is read instead.
const LISTS_FROM: usize = 6;

#[derive(Default)]
struct Listing {
    items: Vec<Full>,
    seen: HashSet<String>,
}

impl Listing {
    /// Returns false if the item is already present.
    fn put(&mut self, raw: &str, settings: &Settings) -> bool {
        let is_new = self.seen.insert(name(raw));
        if is_new {
            self.items.push(wire::action(raw, settings));
        }
        is_new
    }
}

/// Returns the item's id, or its text if it has none.
fn name(raw: &str) -> String {
    wire::id(raw).map_or_else(|| raw.to_owned(), |id| id.as_raw().to_owned())
}

struct Page {
    length: usize,
    /// Whether its first item was on an earlier page.
    joins: bool,
    brought_news: bool,
}

impl AgentsApi {
    pub(super) async fn list(&self) -> Result<Synced, SourceError> {
        let pending = self.pending().await?;
        self.known.listed(&pending.iter().flatten().map(|action| &action.row.id).collect());
        Ok(Synced::all(pending.into_iter().map(|full| self.permitted(full))))
    }

    /// Reads pages until one has no new item, because hosts differ in page size and some ignore the offset.
    async fn pending(&self) -> Result<Vec<Full>, SourceError> {
        let mut all = Listing::default();
        let (mut offset, mut doubtful_until, mut gaps) = (0, 0, 0);
        for _ in 0..REQUESTS {
            let (page, read) = self.page(offset, all).await?;
            all = read;
            if offset > 0 && !page.joins && gaps < GAPS {
                gaps += 1;
                doubtful_until = doubtful_until.max(offset + page.length);
                offset = offset.saturating_sub(BACK);
                continue;
            }
            let step = page.length - OVERLAP.min(page.length.div_ceil(2));
            if !page.brought_news && (offset >= doubtful_until || step == 0) {
                return Ok(self.ours(all));
            }
            offset += step;
        }
        Err(answer::nonsense("its pages do not end"))
    }

    /// Drops items that were not asked for.
    fn ours(&self, all: Listing) -> Vec<Full> {
        let asked = |action: &PendingAction| {
            let agent = action.row.agent.as_ref().map(Untrusted::as_raw);
            action.row.status.is_pending()
                && self.settings.agent.as_deref().is_none_or(|wanted| agent == Some(wanted))
        };
        let items = all.items.into_iter().map(answer::known_status);
        items.filter(|item| item.as_ref().map_or(true, asked)).collect()
    }

    async fn page(&self, offset: usize, mut all: Listing) -> Result<(Page, Listing), SourceError> {
        let agent = self.settings.agent.as_deref().map(json::encode);
        let agent = agent.map_or_else(String::new, |agent| format!(r#","agent":{agent}"#));
        let input =
            format!(r#"{{"filters":{{"status":"pending","limit":{PAGE},"offset":{offset}{agent}}}}}"#);
        let text = site::success(self.site.run(site::LIST, &input, READ_LIMIT).await?)?;
        let settings = self.settings.clone();
        let read = move |text: &str| {
            let items = wire::listed(text)?;
            let joins = items.first().is_some_and(|first| all.seen.contains(&name(first)));
            let news = items.iter().filter(|raw| all.put(raw, &settings)).count();
            Some((Page { length: items.len(), joins, brought_news: news > 0 }, all))
        };
        answer::parsed(text, "the reply is no list of agents-api", read).await
    }

    pub(super) async fn read(&self, ids: &[ActionId]) -> Result<Vec<Full>, SourceError> {
        let mut listed: HashMap<ActionId, Full> = HashMap::new();
        if ids.len() >= LISTS_FROM {
            for item in self.pending().await? {
                let id =
                    item.as_ref().map_or_else(|bad| bad.id.clone(), |action| Some(action.row.id.clone()));
                listed.extend(id.map(|id| (id, item)));
            }
        }
        let (mut found, mut single) = (Vec::new(), Vec::new());
        for id in ids {
            match listed.remove(id) {
                Some(item) => found.push(self.permitted(item)),
                None => single.push(id),
            }
        }
        let asks: Vec<_> = single.into_iter().map(|id| self.one(id)).collect();
        let answers: Vec<_> = stream::iter(asks).buffer_unordered(GETS).collect().await;
        for answer in answers {
            found.extend(answer?);
        }
        Ok(found)
    }

    /// Reads one action, pending or settled. Falls back to how it ended here if the site no longer knows it.
    pub(super) async fn one(&self, id: &ActionId) -> Result<Option<Full>, SourceError> {
        let told = self.ask_for(id).await?;
        Ok(told.or_else(|| self.known.ended(id).map(Ok)).map(|full| self.permitted(full)))
    }

    pub(super) async fn ask_for(&self, id: &ActionId) -> Result<Option<Full>, SourceError> {
        let input = format!(r#"{{"action_id":{},"include_resolved":true}}"#, json::encode(id.as_raw()));
        let text = site::success(self.site.run(site::GET, &input, READ_LIMIT).await?)?;
        let raw = wire::one(&text).ok_or_else(|| answer::nonsense("the reply is no action of agents-api"))?;
        if wire::is_nothing(raw) {
            return Ok(None);
        }
        Ok(Some(match wire::action(raw, &self.settings) {
            Ok(action) if action.row.id == *id => Ok(action),
            Ok(_) => {
                let what = "another action came than was asked for";
                Err(Unreadable::under(Some(id.clone()), what, raw.into()))
            }
            // Reported under the id that was asked for.
            Err(bad) => Err(Unreadable { id: Some(id.clone()), ..bad }),
        }))
    }
}
