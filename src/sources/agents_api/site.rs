//! HTTP access to a WordPress site: both forms of its REST address, abilities by name, the meaning of refusals.

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

#[derive(Debug)]
pub(super) struct Site {
    http: Http,
    /// `None` until the REST API has answered.
    address: Mutex<Option<Address>>,
}

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

    /// Reads a route. The first call finds out the address form.
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

    /// Runs an ability once. `input` is a JSON object. All use POST, because the site marks no ability as read-only.
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

/// Returns the site's address, also for the address of its REST API.
pub(super) fn address(url: &str) -> &str {
    let rest = |at: &usize| url.get(at + "/wp-json".len()..).unwrap_or_default();
    let api = url
        .match_indices("/wp-json")
        .map(|(at, _)| at)
        .find(|at| matches!(rest(at).chars().next(), None | Some('/')));
    api.and_then(|at| url.get(..at)).unwrap_or(url)
}

/// WordPress always answers in JSON. A web server or a theme's "not found" page does not.
pub(super) fn is_rest(reply: &Reply) -> bool {
    reply.text.trim_start().starts_with(['{', '['])
}

pub(super) fn code(reply: &Reply) -> Option<Untrusted> {
    crate::contract::error::read(&reply.text).code
}

pub(super) fn refusal(reply: &Reply) -> SourceError {
    let refused = |why: &str| SourceError::Refused { why: why.into() };
    let code = code(reply);
    match (reply.status, code.as_ref().map_or("", Untrusted::as_raw)) {
        // The plugin answers so before it does anything, despite the 500.
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

pub(super) fn success(reply: Reply) -> Result<String, SourceError> {
    match reply.status {
        200..=299 => Ok(reply.text),
        _ => Err(refusal(&reply)),
    }
}
