//! Converts database rows to domain types, except actions ([`super::action_fields`]).

use super::columns::Columns;
use super::{Callback, KeptToken, StoreError};
use crate::domain::{ActionId, Claim, RawJson, Timestamp, Untrusted};
use crate::gate::audit::AuditRow;
use crate::gate::token::{Scope, Token};

pub(super) fn callback(row: &dyn Columns) -> Result<Callback, StoreError> {
    Ok(Callback {
        workspace: row.text("workspace")?,
        revision: number(row.int("revision")?),
        id: row.text("id")?,
        name: row.text("name")?,
        action: row.text("action")?,
        status: row.text("status")?,
        who: row.maybe_text("who")?,
        at: Timestamp::from_millis(row.int("at")?),
        traceparent: row.maybe_text("traceparent")?,
        tries: number(row.int("tries")?),
        next_at: time(row, "next_at")?,
        error: row.maybe_text("error")?,
        ended_at: time(row, "ended_at")?,
        held_until: time(row, "held_until")?,
    })
}

pub(super) fn claim(row: &dyn Columns) -> Result<Claim, StoreError> {
    Ok(Claim {
        id: ActionId::new(row.text("action")?),
        by: row.text("who")?.into(),
        since: Timestamp::from_millis(row.int("since")?),
    })
}

pub(super) fn audit_row(row: &dyn Columns) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        workspace: row.text("workspace")?,
        revision: number(row.int("revision")?),
        action: row.maybe_text("action")?,
        kind: row.text("kind")?,
        at: Timestamp::from_millis(row.int("at")?),
        who: row.maybe_text("who")?,
        details: row.maybe_text("details")?,
        hash: row.bytes("hash")?,
    })
}

pub(super) fn token(row: &dyn Columns) -> Result<(Token, KeptToken), StoreError> {
    let scopes = row.text("scopes")?;
    let token = Token {
        id: row.text("id")?,
        subject: row.text("subject")?,
        name: row.maybe_text("name")?,
        groups: row.text("groups")?.split_terminator(' ').map(str::to_owned).collect(),
        workspace: row.text("workspace")?,
        scopes: Scope::read(&scopes),
        created_at: Timestamp::from_millis(row.int("created_at")?),
        revoked_at: time(row, "revoked_at")?,
        expires_at: time(row, "expires_at")?,
        last_used_at: time(row, "last_used_at")?,
    };
    Ok((token, KeptToken { hash: row.bytes("hash")?, scopes }))
}

pub(super) fn proxied(row: &dyn Columns) -> Result<Token, StoreError> {
    let seen_at = Timestamp::from_millis(row.int("seen_at")?);
    // Names in a directory may contain spaces.
    let groups = row.text("groups")?.split_terminator('\n').map(str::to_owned).collect();
    let (workspace, scopes) = (row.text("workspace")?, Scope::read(&row.text("scopes")?));
    let person = Token::by_proxy(row.text("subject")?, row.maybe_text("name")?, groups);
    Ok(Token { workspace, scopes, last_used_at: Some(seen_at), ..person })
}

/// Converts a signed column that is never negative. A negative value becomes absurdly large, not 0.
pub(super) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn foreign(row: &dyn Columns, column: &str) -> Result<Option<Untrusted>, StoreError> {
    Ok(row.maybe_lent(column)?.map(Untrusted::new))
}

pub(super) fn time(row: &dyn Columns, column: &str) -> Result<Option<Timestamp>, StoreError> {
    Ok(row.maybe_int(column)?.map(Timestamp::from_millis))
}

pub(super) fn json(row: &dyn Columns, column: &str) -> Result<Option<RawJson>, StoreError> {
    let text = row.maybe_text(column)?;
    text.map(RawJson::parse).transpose().map_err(|_| StoreError::Corrupt("a payload that is no JSON"))
}
