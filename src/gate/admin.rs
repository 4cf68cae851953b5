//! Owner operations on the gate's machine: tokens, pauses, the audit, settling unknown actions.

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

const EXPORT_PAGE: u32 = 1_000;

impl Gate {
    /// Issues a token without a name or groups.
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

    /// Issues a token. The secret is returned once and cannot be read again.
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

    /// Issues a token like `id`, with the same lifetime. The old one ends after `overlap` at the latest. Returns `None`
    /// if there is no live token with this id.
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

    /// Returns subjects of tokens and people named by a proxy, with the newest name and groups of each.
    pub(crate) async fn people(&self, workspace: &str) -> Result<BTreeMap<String, Token>, StoreError> {
        let tokens = self.store().tokens().await?.into_iter().filter(|token| token.workspace == workspace);
        let mut people: BTreeMap<_, _> = tokens.map(|token| (token.subject.clone(), token)).collect();
        for person in self.store().proxied(workspace).await? {
            people.insert(person.subject.clone(), person);
        }
        Ok(people)
    }

    /// Returns all tokens, revoked ones included, oldest first.
    pub async fn list_tokens(&self) -> Result<Vec<Token>, GateError> {
        Ok(self.inner.store.tokens().await?)
    }

    /// Revokes a token permanently. Returns `false` if it is not live.
    pub async fn revoke_token(&self, id: &str) -> Result<bool, GateError> {
        Ok(self.revoke_with_approvals(id, false, None).await?.is_some())
    }

    /// Revokes a token and returns its subject's approvals that have not run; `None` if it is not live. `void`
    /// withdraws unclaimed ones, also if the token was revoked before.
    pub async fn revoke_with_approvals(
        &self,
        id: &str,
        void: bool,
        who: Option<&str>,
    ) -> Result<Option<Vec<OpenApproval>>, GateError> {
        Ok(self.store().revoke_token(id.to_owned(), void, who.map(str::to_owned)).await?)
    }

    /// Stops dispatching in a workspace, or everywhere; running actions finish. Returns `false` if it was already
    /// paused. Also applies to gates of other processes on this database.
    pub async fn pause(&self, workspace: Option<&str>, who: Option<&str>) -> Result<bool, GateError> {
        self.set_paused(workspace, true, who).await
    }

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

    /// Returns waiting callback messages of all workspaces, then finished ones of the last days, newest first.
    pub async fn callbacks(&self, most: u32) -> Result<Vec<Callback>, GateError> {
        Ok(self.store().callbacks(most).await?)
    }

    /// Returns the newest audit row of every workspace. With copies kept elsewhere,
    /// [`verify_audit_counting`](Self::verify_audit_counting) detects changes to earlier rows.
    pub async fn audit_heads(&self) -> Result<Vec<AuditHead>, GateError> {
        Ok(self.store().audit_heads(None).await?)
    }

    #[cfg(test)]
    pub async fn verify_audit(&self, kept: &[AuditHead]) -> Result<Verified, GateError> {
        Ok(self.store().verify(kept).await?)
    }

    /// Reads the whole database and reports mismatches with the audit or with the `kept` heads. `read` counts the rows
    /// read; every audit row is read twice.
    pub async fn verify_audit_counting(
        &self,
        kept: &[AuditHead],
        read: &AtomicU64,
    ) -> Result<Verified, GateError> {
        Ok(self.store().verify_counting(kept, read).await?)
    }

    /// Calls `take` for every audit row of a workspace, oldest first. Stops at the first error.
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

    pub async fn ids_beginning(&self, prefix: &str, limit: u32) -> Result<Vec<String>, GateError> {
        Ok(self.store().beginning(prefix, limit).await?)
    }

    /// Records a person's verdict on an `unknown` action. `who` must not be the proposer.
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
