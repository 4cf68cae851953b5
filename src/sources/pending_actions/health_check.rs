//! Health checks of URLs, workspaces and tokens.

use std::collections::HashSet;

use futures_util::future::join_all;

use super::client::{GET_LIMIT, PendingActions};
use super::wire;
use crate::contract::fields::Fields;
use crate::domain::{Check, Person, Untrusted, Verdict, json, subject};
use crate::net::http::Ask;
use crate::sources::source::Lookup;
use crate::sources::{SourceError, Synced, answer, health_check};

const SUBJECTS: usize = 20;

impl PendingActions {
    /// Checks each of several URLs with the token. One that does not answer is only a warning if another does.
    pub(super) async fn check_urls(&self) -> Result<Vec<Check>, Vec<Check>> {
        let urls = self.http.each();
        if urls.len() < 2 {
            return Ok(Vec::new());
        }
        let asked = urls.iter().map(|(url, http)| async move {
            let ask = Ask { path: "/api/workspaces".to_owned(), body: None, key: None, limit: GET_LIMIT };
            let reply = http.ask(&ask).await.map_err(answer::none);
            (url, reply.and_then(answer::success))
        });
        let answers = join_all(asked).await;
        let one_answers = answers.iter().any(|(_, answer)| answer.is_ok());
        let check = |(url, answer): (&String, Result<String, SourceError>)| match answer {
            Ok(_) => Check::good("url", format!("{url} answers")),
            Err(error) => {
                let check = health_check::failed("url", &error);
                let works = one_answers && error.is_away();
                let verdict = if works { Verdict::Warn } else { Verdict::Bad };
                Check { found: format!("{url} {error}"), verdict, ..check }
            }
        };
        let checks = answers.into_iter().map(check).collect();
        if one_answers { Ok(checks) } else { Err(checks) }
    }

    pub(super) async fn check_rights(&self) -> Vec<Check> {
        let mut checks: Vec<Check> = self.workspaces().await.into_iter().collect();
        if self.is_gate() {
            checks.push(if self.may_decide() {
                Check::good("token", "it may decide")
            } else {
                Check::warn("token", "it may look, and not decide", "get a token with the scope `decide`")
            });
            checks.extend(self.check_approvers().await);
            checks.extend(self.check_subjects().await);
            checks.extend(self.check_readiness().await);
        }
        checks
    }

    /// Checks that enough people can decide for actions that several must approve. Otherwise the gate says nothing.
    async fn check_approvers(&self) -> Option<Check> {
        let reply = self.ask("/api/workspaces".to_owned(), GET_LIMIT).await.ok()?;
        let mine =
            wire::membership(&reply.text, self.workspace.as_deref()).filter(|_| reply.status == 200)?;
        let approvals = Fields::of(mine.raw("approvals")?)?;
        let (needed, deciders) = (approvals.number("needed")?, approvals.number("deciders")?);
        let found = format!("some actions take {needed} people, and {deciders} can decide in this workspace");
        Some(if deciders < needed {
            let advice = "create tokens with the scope `decide` for more people (placet gate token create --subject NAME), or ask for fewer: \
                          `approvals` in [gate.tools.NAME] and [gate.approvals]";
            Check::warn("approvals", found, advice)
        } else {
            Check::good("approvals", found)
        })
    }

    async fn check_subjects(&self) -> Vec<Check> {
        let people = Lookup::people(self).await.unwrap_or_default();
        let check = |person: Person| {
            let why = subject::check(person.subject.as_raw()).err()?;
            let advice =
                "it may only read; revoke its tokens (placet gate token list) or rename it at the proxy";
            Some(Check::warn("subject", format!("a subject {why}"), advice).said(Some(person.subject)))
        };
        people.into_iter().filter_map(check).take(SUBJECTS).collect()
    }

    /// Checks the readiness of the gate and of other gates on its database. A proxy may block the request.
    async fn check_readiness(&self) -> Vec<Check> {
        let Ok(reply) = self.ask("/readyz".to_owned(), GET_LIMIT).await else { return Vec::new() };
        if reply.status == 503 {
            let wrong = Check::bad("ready", "it answers, and is not ready", "see to what it said");
            return vec![wrong.said(Some(answer::message(&reply)))];
        }
        let body = Fields::of(&reply.text).filter(|_| reply.status == 200);
        let warnings = body.and_then(|body| json::elements(body.raw("warnings")?)).unwrap_or_default();
        let warning = |warning: Fields<'_>| {
            let found =
                "another gate on its database has other tools, and may not run what this one approves";
            let advice = "give both the same [gate.tools] and restart the older";
            Check::warn("gates", found, advice).said(warning.text("message"))
        };
        warnings.into_iter().filter_map(Fields::of).map(warning).collect()
    }

    pub(super) fn check_member(&self, listed: &Result<Synced, SourceError>) -> Option<Check> {
        let Err(SourceError::Forbidden { why }) = listed else { return None };
        let workspace = self.workspace.as_deref().unwrap_or_default();
        let found = format!("the token is good, but whose it is is no member of the workspace {workspace}");
        let advice = "check `workspace`, or ask an owner of it to be made a member";
        Some(Check::bad("workspace", found, advice).said(Some(why.clone())))
    }

    /// Checks that the workspace is among those of the token, if the backend lists them.
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
