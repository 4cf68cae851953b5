//! The way to a WordPress: its REST address in both of its forms, abilities by name, and what its refusals mean.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::domain::Untrusted;
use crate::net::http::{Ask, Http, Reply};
use crate::net::url;

use crate::sources::{SourceError, answer};
pub(super) const LIST: &str = "list-pending-actions";
pub(super) const SUMMARY: &str = "summary-pending-actions";
pub(super) const GET: &str = "get-pending-action";
pub(super) const RESOLVE: &str = "resolve-pending-action";

pub(super) const NO_HOST: &str =
    "agents-api is there, but no plugin beside it keeps pending actions (Data Machine is one that does)";
pub(super) const TOO_OLD: &str =
    "this site has no abilities for pending actions: agents-api is missing, switched off or too old";
pub(super) const NO_ABILITIES: &str =
    "this WordPress has no abilities: it needs 6.9 or newer, and agents-api 7.0";
pub(super) const NO_RIGHTS: &str = "this user may not use the abilities for pending actions, which need manage_options unless the site says otherwise";
pub(super) const NO_REST: &str = "no WordPress REST API answers there";

/// One site.
#[derive(Debug)]
pub(super) struct Site {
    http: Http,
    /// `None` until the REST API answered under one of them.
    address: Mutex<Option<Address>>,
}

/// Where the REST API is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    /// `/wp-json/…`.
    Pretty,
    /// `/?rest_route=/…`, for a site without pretty permalinks.
    Plain,
}

impl Address {
    fn path(self, route: &str, pairs: &[(&str, &str)]) -> String {
        match self {
            Self::Pretty => format!("/wp-json{route}{}", url::query(pairs)),
            Self::Plain => {
                let pairs: Vec<_> =
                    [("rest_route", route)].into_iter().chain(pairs.iter().copied()).collect();
                format!("/{}", url::query(&pairs))
            }
        }
    }
}

impl Site {
    pub(super) fn new(http: Http) -> Self {
        Self { http, address: Mutex::default() }
    }

    /// Reads a route. The first time, the address is whichever the REST API answers under.
    pub(super) async fn read(
        &self,
        route: &str,
        pairs: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Reply, SourceError> {
        if let Some(address) = self.address() {
            return self.ask(address.path(route, pairs), None, limit).await;
        }
        let pretty = self.ask(Address::Pretty.path(route, pairs), None, limit).await?;
        if is_rest(&pretty) {
            self.settle(Address::Pretty);
            return Ok(pretty);
        }
        let plain = self.ask(Address::Plain.path(route, pairs), None, limit).await?;
        if !is_rest(&plain) {
            return Ok(pretty);
        }
        self.settle(Address::Plain);
        Ok(plain)
    }

    /// Runs an ability, once. `input` is a JSON object. All of them are POST: none is marked as reading only.
    pub(super) async fn run(
        &self,
        ability: &str,
        input: &str,
        limit: Duration,
    ) -> Result<Reply, SourceError> {
        if self.address().is_none() {
            self.read("/", &[("_fields", "name")], limit).await.map_err(answer::before_sending)?;
        }
        let address = self.address().unwrap_or(Address::Pretty);
        let path = address.path(&format!("/wp-abilities/v1/abilities/agents/{ability}/run"), &[]);
        self.ask(path, Some(format!(r#"{{"input":{input}}}"#)), limit).await
    }

    async fn ask(&self, path: String, body: Option<String>, limit: Duration) -> Result<Reply, SourceError> {
        let ask = Ask { path, body, key: None, limit };
        self.http.ask(&ask).await.map_err(answer::none)
    }

    fn address(&self) -> Option<Address> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, address: Address) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }
}

/// The address of a site, also from the address of its REST API, which is easily taken for it.
pub(super) fn address(url: &str) -> &str {
    let rest = |at: &usize| url.get(at + "/wp-json".len()..).unwrap_or_default();
    let api = url
        .match_indices("/wp-json")
        .map(|(at, _)| at)
        .find(|at| matches!(rest(at).chars().next(), None | Some('/')));
    api.and_then(|at| url.get(..at)).unwrap_or(url)
}

/// WordPress answers in JSON, its refusals included; what stands before it (a web server, a theme's "not found") does not.
pub(super) fn is_rest(reply: &Reply) -> bool {
    reply.text.trim_start().starts_with(['{', '['])
}

/// The code of a refusal, as WordPress names it.
pub(super) fn code(reply: &Reply) -> Option<Untrusted> {
    crate::contract::error::read(&reply.text).code
}

/// The answer is no success. Nothing landed, but for answers that may follow the deed.
pub(super) fn refusal(reply: &Reply) -> SourceError {
    let refused = |why: &str| SourceError::Refused { why: why.into() };
    let code = code(reply);
    match (reply.status, code.as_ref().map_or("", Untrusted::as_raw)) {
        // An answer of the plugin itself, before anything was looked at.
        (500, "agents_pending_action_no_store" | "agents_pending_action_no_resolver") => refused(NO_HOST),
        (404, "rest_ability_not_found") => refused(TOO_OLD),
        (404, "rest_no_route") => refused(NO_ABILITIES),
        (404, _) if !is_rest(reply) => refused(NO_REST),
        (403, _) => {
            let said = answer::message(reply);
            SourceError::Forbidden { why: format!("{NO_RIGHTS}; {}", said.as_raw()).into() }
        }
        _ => answer::refusal(reply),
    }
}

/// The text of a success.
pub(super) fn success(reply: Reply) -> Result<String, SourceError> {
    match reply.status {
        200..=299 => Ok(reply.text),
        _ => Err(refusal(&reply)),
    }
}
