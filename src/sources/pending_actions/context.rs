//! What is known around an action, and what it is like to work with this backend.

use std::collections::HashSet;
use std::sync::PoisonError;

use super::{Dialect, GET_LIMIT, PendingActions};
use crate::contract::fields::Fields;
use crate::domain::{ActionId, Check, ContextEntry, Fact, Row, Untrusted, json};
use crate::sources::{SourceError, Synced, health_check};

/// Titles that are told of what waits beside an action.
const BESIDE: usize = 8;

impl PendingActions {
    /// Keeps what was listed, for [`Self::around`]: a look at an action is then no request, which Praxiom counts.
    pub(super) fn keep(&self, rows: &[Row]) {
        if self.dialect == Dialect::Praxiom {
            *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = rows.to_vec();
        }
    }

    /// What waits in its batch, its mission and its session, as last listed.
    pub(super) fn around(&self, id: &ActionId) -> Vec<ContextEntry> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = listed.iter().find(|row| row.id == *id) else { return Vec::new() };
        let batch = |row: &Row| row.batch.as_ref().map(|batch| batch.untrusted().clone());
        let circles = [
            passage("Its batch", &listed, own, batch),
            passage("Its mission", &listed, own, |row| row.mission.clone()),
            passage("Its session", &listed, own, |row| row.session.clone()),
        ];
        circles.into_iter().flatten().collect()
    }

    /// From the address to the right to decide.
    pub(super) async fn look_over(&self) -> Vec<Check> {
        self.learn_me().await;
        let listed = self.list().await;
        let mut checks = Vec::new();
        match &listed {
            Err(SourceError::Forbidden { why }) => checks.push(self.no_member(why)),
            _ => checks.push(health_check::list(listed.clone())),
        }
        if listed.is_ok() {
            checks.extend(self.workspaces().await);
            checks.extend(
                self.hints
                    .as_ref()
                    .map(|hints| Check::good("events", format!("hints are taken from {}", hints.path))),
            );
        }
        if let Ok(Synced::All { .. }) = listed
            && self.dialect == Dialect::Gate
        {
            checks.push(if self.me().may_decide {
                Check::good("token", "it may decide")
            } else {
                Check::warn("token", "it may look, and not decide", "get a token with the scope `decide`")
            });
        }
        checks
    }

    fn no_member(&self, why: &Untrusted) -> Check {
        let workspace = self.workspace.as_deref().unwrap_or_default();
        let found = format!("the token is good, but whose it is is no member of the workspace {workspace}");
        let advice = "check `workspace`, or ask an owner of it to be made a member";
        Check::bad("workspace", found, advice).said(Some(why.clone()))
    }

    /// Whether the workspace is among those of this token, where the backend lists them.
    async fn workspaces(&self) -> Option<Check> {
        let wanted = self.workspace.as_deref()?;
        let reply = self.ask("/api/workspaces".to_owned(), GET_LIMIT).await.ok()?;
        let items = json::items(&reply.text, "items").filter(|_| reply.status == 200)?.items;
        let ids: HashSet<Untrusted> = items
            .into_iter()
            .filter_map(Fields::of)
            .filter_map(|item| item.text("workspaceId").or_else(|| item.text("id")))
            .collect();
        // Without a single id it is a list of something else.
        if ids.is_empty() {
            return None;
        }
        Some(if ids.contains(&Untrusted::from(wanted)) {
            Check::good("workspace", format!("this token is a member of {wanted}"))
        } else {
            let found = format!("{wanted} is not among the {} workspaces of this token", ids.len());
            Check::warn("workspace", found, "check `workspace`")
        })
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
