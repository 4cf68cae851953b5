//! The steps of a health check that are about workspaces and tokens.

use std::collections::HashSet;

use super::client::{GET_LIMIT, PendingActions};
use crate::contract::fields::Fields;
use crate::domain::{Check, Untrusted, json};
use crate::sources::{SourceError, Synced};

impl PendingActions {
    /// From the address to the right to decide.
    pub(super) async fn check_rights(&self) -> Vec<Check> {
        let mut checks: Vec<Check> = self.workspaces().await.into_iter().collect();
        let hints = self.hints.as_ref();
        checks
            .extend(hints.map(|hints| Check::good("events", format!("hints are taken from {}", hints.path))));
        if self.is_gate() {
            checks.push(if self.me().may_decide {
                Check::good("token", "it may decide")
            } else {
                Check::warn("token", "it may look, and not decide", "get a token with the scope `decide`")
            });
        }
        checks
    }

    pub(super) fn check_member(&self, listed: &Result<Synced, SourceError>) -> Option<Check> {
        let Err(SourceError::Forbidden { why }) = listed else { return None };
        let workspace = self.workspace.as_deref().unwrap_or_default();
        let found = format!("the token is good, but whose it is is no member of the workspace {workspace}");
        let advice = "check `workspace`, or ask an owner of it to be made a member";
        Some(Check::bad("workspace", found, advice).said(Some(why.clone())))
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
