//! A fake WordPress: REST under both addresses, Basic auth, abilities by POST, refusals with code, message and data.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use super::books::{Host, Kept, Site};
use crate::contract::fields::Fields;
use crate::domain::json;

pub(super) const USER: &str = "kim";
/// The password as WordPress prints it, in groups of four.
pub(super) const PASSWORD: &str = "abcd EFGH 1234 ijkl";

pub(super) fn router(site: Arc<Site>) -> Router {
    Router::new().fallback(answer).with_state(site)
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    site.books().asked.push(format!("{} {}", head.method, head.uri));
    let Some(route) = route(&site, &head.uri) else {
        return (StatusCode::NOT_FOUND, [("content-type", "text/html")], "<html>Page not found")
            .into_response();
    };
    let decides = route.contains("/resolve-pending-action/");
    let deed = async { answered(&site, &head.method, &route, &head.headers, &body) };
    site.faults.meet(decides, fault, deed).await
}

/// Returns the REST route of a request; `None` for other requests.
fn route(site: &Site, uri: &Uri) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    let plain = query.split('&').find_map(|pair| pair.strip_prefix("rest_route="));
    match uri.path().strip_prefix("/wp-json") {
        Some(route) if site.setup().pretty_permalinks => Some(route.to_owned()),
        Some(_) => None,
        None => plain.filter(|_| uri.path() == "/").map(|route| route.replace("%2F", "/")),
    }
}

fn answered(site: &Site, method: &Method, route: &str, headers: &HeaderMap, body: &Bytes) -> Response {
    let logged_in = site.setup().passwords && is_logged_in(headers);
    let setup = site.setup();
    match route.trim_end_matches('/') {
        "" => {
            let passwords =
                if setup.passwords { r#"{"application-passwords":{"endpoints":{}}}"# } else { "[]" };
            ok(format!(r#"{{"name":"A Site","authentication":{passwords}}}"#))
        }
        "/wp/v2/users/me" if !setup.tells_who => {
            refusal(403, "rest_user_cannot_view", "Sorry, you are not allowed to do that.", "")
        }
        "/wp/v2/users/me" if logged_in => ok(r#"{"id":7,"name":"Kim","slug":"kim"}"#.to_owned()),
        "/wp/v2/users/me" => refusal(401, "rest_not_logged_in", "You are not currently logged in.", ""),
        _ => {
            let Some(ability) = ability(route).filter(|_| setup.abilities_api) else {
                return refusal(404, "rest_no_route", "No route was found.", "");
            };
            if !setup.agents_api {
                return refusal(404, "rest_ability_not_found", "Ability not found.", "");
            }
            if method != Method::POST {
                return refusal(405, "rest_ability_invalid_method", "It requires POST.", "");
            }
            if !logged_in || !setup.rights {
                let status = if logged_in { 403 } else { 401 };
                let words = "Sorry, you are not allowed to execute this ability.";
                return refusal(status, "rest_ability_cannot_execute", words, "");
            }
            run(site, ability, body)
        }
    }
}

fn is_logged_in(headers: &HeaderMap) -> bool {
    use base64::Engine as _;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{USER}:{PASSWORD}"));
    headers.get("authorization").is_some_and(|value| value == format!("Basic {pair}").as_str())
}

fn ability(route: &str) -> Option<&str> {
    route.strip_prefix("/wp-abilities/v1/abilities/agents/")?.strip_suffix("/run")
}

fn run(site: &Site, ability: &str, body: &Bytes) -> Response {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let Some(input) = Fields::of(&text).and_then(|it| it.raw("input")).filter(|it| it.starts_with('{'))
    else {
        return refusal(400, "ability_invalid_input", "input is not of type object.", "");
    };
    let resolves = ability == "resolve-pending-action";
    if site.setup().host == Host::Nobody {
        let what = if resolves { "resolver" } else { "store" };
        let body = format!(
            r#"{{"code":"agents_pending_action_no_{what}","message":"No pending action {what} is registered.","data":null}}"#
        );
        return sent(500, body);
    }
    let fields = Fields::of(input).unwrap();
    match ability {
        "list-pending-actions" => list(site, &fields),
        "summary-pending-actions" => {
            ok(r#"{"total":1,"by_status":{"pending":1},"by_agent_id":[1]}"#.to_owned())
        }
        "get-pending-action" => get(site, &fields),
        _ => resolve(site, input, &fields),
    }
}

fn list(site: &Site, fields: &Fields<'_>) -> Response {
    let setup = site.setup();
    let filters = Fields::of(fields.raw("filters").unwrap_or("{}")).unwrap();
    let number = |name: &str, usual: u64| usize::try_from(filters.number(name).unwrap_or(usual)).unwrap();
    let offset = if setup.pages { number("offset", 0) } else { 0 };
    let limit = number("limit", 50).min(setup.page_max);
    let mut books = site.books();
    let pages = books.asked.iter().filter(|line| line.contains("/list-pending-actions/")).count();
    if let Some((_, settled)) = books.settles_at_page.take_if(|(page, _)| *page == pages) {
        books.actions.iter_mut().take(settled).for_each(|kept| kept.status = "accepted".to_owned());
    }
    let pending = books.actions.iter().filter(|kept| kept.status == "pending" && kept.claimed_for.is_none());
    let items: Vec<_> = pending.skip(offset).take(limit).map(|kept| kept.text(setup.host)).collect();
    ok(format!(r#"{{"actions":[{}]}}"#, items.join(",")))
}

fn get(site: &Site, fields: &Fields<'_>) -> Response {
    let host = site.setup().host;
    let id = fields.text("actionId").unwrap();
    let mut books = site.books();
    let found = books.actions.iter_mut().find(|kept| kept.id == id.as_raw());
    let told = found.and_then(|kept| {
        match kept.claimed_for.filter(|_| kept.status == "applying") {
            Some(0) => (kept.status, kept.resolver) = ("accepted".to_owned(), Some("user:9".to_owned())),
            Some(reads) => kept.claimed_for = Some(reads - 1),
            None => {}
        }
        let resolved = kept.status != "pending";
        let wanted = !resolved || fields.flag("includeResolved") == Some(true);
        (wanted && (host == Host::OfItsOwn || kept.is_told())).then(|| kept.text(host))
    });
    ok(format!(r#"{{"action":{}}}"#, told.as_deref().unwrap_or("null")))
}

fn resolve(site: &Site, input: &str, fields: &Fields<'_>) -> Response {
    let host = site.setup().host;
    let id = fields.text("actionId").unwrap();
    let decision = fields.text("decision").unwrap();
    if !matches!(decision.as_raw(), "accepted" | "rejected") {
        return refusal(
            400,
            "ability_invalid_input",
            "input[decision] is not one of accepted and rejected.",
            "",
        );
    }
    let mut books = site.books();
    books.resolves.push(input.to_owned());
    let found = books.actions.iter_mut().find(|kept| kept.id == id.as_raw());
    let about = format!(r#","action_id":{}"#, json::encode(id.as_raw()));
    let Some(kept) = found else { return not_found(host, None, &about) };
    if kept.claimed_for.is_some() {
        kept.status = "applying".to_owned();
    }
    if kept.status != "pending" || kept.has_expired() {
        return not_found(host, Some(&kept.status), &about);
    }
    let named = format!(r#"{about},"kind":{}"#, json::encode(&kept.kind));
    let refused = |message: &str, data: &str| refusal(400, "pending_action_resolution_failed", message, data);
    if kept.creator != 7 {
        return refused("You do not have permission to resolve this pending action.", &about);
    }
    if fields.text("resolver").unwrap().as_raw() != "user:7" {
        return refused("This resolver is not granted permission to resolve this pending action.", &named);
    }
    if kept.kind == "orphan" {
        return refused("No handler registered for pending action kind \"orphan\".", &named);
    }
    kept.payload = fields.raw("payload").map(str::to_owned);
    decided(kept, host, decision.as_raw(), &named)
}

fn decided(kept: &mut Kept, host: Host, decision: &str, named: &str) -> Response {
    kept.taken += 1;
    kept.resolver = Some("user:7".to_owned());
    if decision == "accepted" && kept.kind == "boom" {
        if host == Host::OfItsOwn {
            (kept.status, kept.error) = ("accepted".to_owned(), Some("It exploded.".to_owned()));
        } else {
            kept.status = "failed".to_owned();
        }
        return refusal(400, "pending_action_resolution_failed", "It exploded.", named);
    }
    if decision == "accepted" && kept.kind == "torn" {
        kept.status = "applying".to_owned();
        let named = named.replace("\"torn\"", "\"no_receipt\"");
        let words = "The mutation may have completed, but its claim could not be finalized.";
        return refusal(400, "pending_action_resolution_failed", words, &named);
    }
    if decision == "accepted" && kept.kind == "throws" {
        kept.status = "applying".to_owned();
        let words = "The callback threw an exception: out of paper";
        let body = format!(r#"{{"code":"ability_callback_exception","message":"{words}","data":null}}"#);
        return sent(500, body);
    }
    kept.status = decision.to_owned();
    if kept.kind == "mute" {
        return ok("<br />\n<b>Warning</b>: it printed something".to_owned());
    }
    let id = json::encode(&kept.id);
    let inner = if decision == "accepted" { r#","result":{"post_id":77}"# } else { "" };
    kept.result = (decision == "accepted").then(|| r#"{"post_id":77}"#.to_owned());
    ok(format!(
        r#"{{"action_id":{id},"decision":"{decision}","result":{{"success":true,"decision":"{decision}"{inner}}}}}"#
    ))
}

fn not_found(host: Host, status: Option<&str>, about: &str) -> Response {
    match (host, status) {
        (Host::OfItsOwn, Some(status)) => {
            let current = format!(r#","current_status":"{status}""#);
            refusal(409, "own_already_resolved", "Pending action is resolved.", &current)
        }
        _ => refusal(400, "pending_action_resolution_failed", "Pending action not found or expired.", about),
    }
}

fn fault(status: u16) -> Response {
    let code = match status {
        401 | 403 => "rest_ability_cannot_execute",
        404 => "rest_ability_not_found",
        409 => "own_busy",
        429 => "too_many_requests",
        500 => "internal_server_error",
        _ => "rest_invalid_param",
    };
    let mut refusal = refusal(status, code, "There has been an error.", "");
    if status == 429 {
        refusal.headers_mut().insert("retry-after", "1".parse().unwrap());
    }
    refusal
}

/// `more` follows the status in the data, with a comma before it.
fn refusal(status: u16, code: &str, message: &str, more: &str) -> Response {
    let message = json::encode(message);
    sent(status, format!(r#"{{"code":"{code}","message":{message},"data":{{"status":{status}{more}}}}}"#))
}

fn ok(body: String) -> Response {
    sent(200, body)
}

fn sent(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json; charset=UTF-8")], body).into_response()
}
