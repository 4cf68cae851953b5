//! What the gate's owner does on the machine itself: tokens, pauses, the audit, and what became of a lost run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use secrecy::SecretString;

use super::audit::{self, AuditHead, Verified};
use super::error::GateError;
use super::state::Gate;
use super::store::{Actor, Callback, OpenApproval, Refused, StoreError};
use super::token::{self, NewToken, Scope, Token};
use crate::contract::audit::AuditBody;
use crate::contract::settle::SettleAs;
use crate::domain::{PendingAction, Timestamp, Untrusted, workspace};

/// Audit rows that are read at once.
const EXPORT_PAGE: u32 = 1_000;

impl Gate {
    /// Makes a token without a name or groups; else as [`issue_token`](Self::issue_token).
    pub async fn create_token(
        &self,
        subject: &str,
        workspace: &str,
        scopes: &[Scope],
        lifetime: Option<Duration>,
    ) -> Result<SecretString, GateError> {
        let (subject, workspace, scopes) = (subject.to_owned(), workspace.to_owned(), scopes.to_vec());
        self.issue_token(NewToken { subject, workspace, scopes, lifetime, ..NewToken::default() }).await
    }

    /// Makes a token that is good for its lifetime, or until it is revoked. The secret is returned once and cannot be read again.
    pub async fn issue_token(&self, new: NewToken) -> Result<SecretString, GateError> {
        let (subject, workspace) = (new.subject.as_str(), new.workspace.as_str());
        let refused = |why: &str| GateError::Refused(why.to_owned());
        workspace::check_name(workspace).map_err(refused)?;
        if workspace == audit::WHOLE_GATE {
            return Err(GateError::Workspace(workspace.to_owned()));
        }
        let subject = token::subject(subject).map_err(GateError::Refused)?;
        if let Some(group) = new.groups.iter().find(|group| !token::is_word(group)) {
            let why =
                format!("{group:?} is no group: one has 1 to 64 characters, none of them a blank or a comma");
            return Err(GateError::Refused(why));
        }
        let name = token::name(new.name.as_deref())
            .map_err(|why| GateError::Refused(why.to_owned()))?
            .map(str::to_owned);
        let expires_at = new.lifetime.map(|time| self.inner.clock.now().plus_millis(millis(time)));
        let (token, secret) = Token::issue(subject, workspace, &new.scopes, expires_at);
        let token = Token { name, groups: new.groups, ..token };
        self.inner.store.add_token(token, token::hash(&secret)).await?;
        Ok(secret)
    }

    /// Makes a token for the subject of another one, with the same name, groups, workspace and scopes. Both are good until the old one
    /// ends, after `overlap` or before. A new one lives as long as the old one did. `None` when there is no such live token.
    pub async fn rotate_token(&self, id: &str, overlap: Duration) -> Result<Option<SecretString>, GateError> {
        let now = self.inner.clock.now();
        let old = self.list_tokens().await?.into_iter().find(|token| token.id == id && token.is_live(now));
        let Some(old) = old else { return Ok(None) };
        let lives = |end: Timestamp| end.as_millis().saturating_sub(old.created_at.as_millis());
        let expires_at = old.expires_at.map(|end| now.plus_millis(lives(end)));
        let (token, secret) = Token::issue(&old.subject, &old.workspace, &old.scopes, expires_at);
        let token = Token { name: old.name, groups: old.groups, ..token };
        let until = now.plus_millis(millis(overlap));
        let is = self.store().rotate_token(old.id, until, token, token::hash(&secret)).await?;
        Ok(is.then_some(secret))
    }

    /// Whoever a token of this workspace was made for or a proxy named, by subject: the newest name and groups of each.
    pub(crate) async fn people(&self, workspace: &str) -> Result<BTreeMap<String, Token>, StoreError> {
        let tokens = self.store().tokens().await?.into_iter().filter(|token| token.workspace == workspace);
        let mut people: BTreeMap<_, _> = tokens.map(|token| (token.subject.clone(), token)).collect();
        for person in self.store().proxied(workspace).await? {
            people.insert(person.subject.clone(), person);
        }
        Ok(people)
    }

    /// All tokens, oldest first, the revoked ones too.
    pub async fn list_tokens(&self) -> Result<Vec<Token>, GateError> {
        Ok(self.inner.store.tokens().await?)
    }

    /// Revokes a token by its id, at once and for good. False when there is no such live token.
    pub async fn revoke_token(&self, id: &str) -> Result<bool, GateError> {
        Ok(self.revoke_with_approvals(id, false, None).await?.is_some())
    }

    /// Revokes a token and returns the approvals of its subject that have not run; `None` if there is no such live token. `void` withdraws
    /// those that no executor has taken, also of a token that was revoked before.
    pub async fn revoke_with_approvals(
        &self,
        id: &str,
        void: bool,
        who: Option<&str>,
    ) -> Result<Option<Vec<OpenApproval>>, GateError> {
        Ok(self.store().revoke_token(id.to_owned(), void, who.map(str::to_owned)).await?)
    }

    /// Stops dispatching in a workspace, or everywhere; running actions finish. False when it was paused already.
    /// Holds from its return on, also for a gate that another process serves on this database.
    pub async fn pause(&self, workspace: Option<&str>, who: Option<&str>) -> Result<bool, GateError> {
        self.set_paused(workspace, true, who).await
    }

    /// Lets dispatching go on. False when it was not paused.
    pub async fn resume(&self, workspace: Option<&str>, who: Option<&str>) -> Result<bool, GateError> {
        self.set_paused(workspace, false, who).await
    }

    async fn set_paused(
        &self,
        workspace: Option<&str>,
        paused: bool,
        who: Option<&str>,
    ) -> Result<bool, GateError> {
        if let Some(workspace) = workspace
            && self.store().audit_heads(Some(workspace)).await?.is_empty()
        {
            return Err(GateError::Workspace(workspace.to_owned()));
        }
        let workspace = workspace.unwrap_or(audit::WHOLE_GATE).to_owned();
        Ok(self.store().pause(workspace, paused, who.map(str::to_owned)).await?)
    }

    /// What callbacks are told and were told in the last days, of all workspaces: what waits first, then the newest.
    pub async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, GateError> {
        Ok(self.store().callbacks(most).await?)
    }

    /// The newest audit row of every workspace: keep it elsewhere, and [`verify_audit_counting`](Self::verify_audit_counting)
    /// finds what was changed before it.
    pub async fn audit_heads(&self) -> Result<Vec<AuditHead>, GateError> {
        Ok(self.store().audit_heads(None).await?)
    }

    #[cfg(test)]
    pub async fn verify_audit(&self, kept: &[AuditHead]) -> Result<Verified, GateError> {
        Ok(self.store().verify(kept).await?)
    }

    /// Reads the whole database and says what does not fit the audit, or the heads that were kept. Each row that was read is
    /// added to `read`: every row of the audit is read twice.
    pub async fn verify_audit_counting(
        &self,
        kept: &[AuditHead],
        read: &AtomicU64,
    ) -> Result<Verified, GateError> {
        Ok(self.store().verify_counting(kept, read).await?)
    }

    /// Hands every audit row of a workspace to `take`, oldest first; an error of its own ends that.
    pub async fn export_audit<E: From<GateError>>(
        &self,
        workspace: &str,
        mut take: impl FnMut(&AuditBody<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut since = 0;
        loop {
            let rows = self.store().audit(workspace, since, EXPORT_PAGE).await.map_err(GateError::from)?;
            let Some(last) = rows.last() else { return Ok(()) };
            since = last.revision;
            rows.iter().try_for_each(|row| take(&AuditBody::from(row)))?;
        }
    }

    /// At most `limit` ids of actions that begin so, whatever workspace they are in.
    pub async fn ids_beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, GateError> {
        Ok(self.store().beginning(prefix, limit).await?)
    }

    /// A human says what became of an action that is `unknown`. `who` must not be who proposed it.
    pub async fn settle(
        &self,
        id: &str,
        how: SettleAs,
        reason: Option<String>,
        who: &str,
    ) -> Result<PendingAction, GateError> {
        let stored = self.store().get(id).await?.ok_or(StoreError::from(Refused::Missing))?;
        let workspace = stored.action.row.workspace.as_ref().map_or("", Untrusted::as_raw).to_owned();
        let by = Actor { subject: who.to_owned(), workspace };
        Ok(self.store().settle(id.to_owned(), how, reason, by).await?.action)
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
