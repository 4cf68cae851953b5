//! `GET /api/pending-actions`: a page of light rows or whole actions, newest first.

use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::contract::action::{self, RowBody};
use crate::contract::changes::ListReply;
use crate::contract::claim::{self, ClaimBody};
use crate::domain::{PendingAction, Row, Status};
use crate::gate::auth::Caller;
use crate::gate::error::{ApiError, INVALID};
use crate::gate::state::Gate;
use crate::gate::store::{Filter, StoreError};

/// Approximate length of a row in JSON, in bytes.
const ROW: usize = 640;
const IDS_MAX: usize = 1_000;

#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    #[serde(alias = "workspaceId")]
    workspace_id: Option<String>,
    status: Option<String>,
    #[serde(alias = "toolName")]
    tool_name: Option<String>,
    #[serde(alias = "batchId")]
    batch_id: Option<String>,
    #[serde(alias = "missionId")]
    mission_id: Option<String>,
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    #[serde(alias = "runId")]
    run_id: Option<String>,
    agent: Option<String>,
    risk: Option<String>,
    ids: Option<String>,
    #[serde(alias = "idPrefix")]
    id_prefix: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
    view: Option<String>,
    nulls: Option<bool>,
    /// Excludes approved actions that are running.
    #[serde(default)]
    claimable: bool,
}

pub(crate) async fn list(
    State(gate): State<Gate>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Response, ApiError> {
    let workspace = caller.reads(query.workspace_id.as_deref())?.to_owned();
    let filter = filter(&gate, workspace, &query)?;
    // Only the first page has claims.
    let claims = match query.cursor {
        None => Some(claim::write(&gate.store().claims(&filter.workspace).await?)),
        Some(_) => None,
    };
    match query.view.as_deref() {
        None | Some("full") => {
            // Capacity is not reserved because actions differ by megabytes.
            let (page, mut items) = (gate.store().actions(&filter).await?, Items::with_room_for(0));
            page.items.iter().try_for_each(|action| items.write_whole(action))?;
            items.end(page.next, page.revision, claims)
        }
        Some("row") => {
            let (mut items, nulls) = (Items::with_room_for(filter.limit), query.nulls.unwrap_or(true));
            let page = gate.store().rows(&filter, &mut |row| items.write_row(row, nulls)).await?;
            items.end(page.next, page.revision, claims)
        }
        Some(_) => Err(ApiError::new(INVALID, "view is row or full")),
    }
}

fn list_of<T>(
    items: Vec<T>,
    next: Option<i64>,
    revision: u64,
    claims: Option<Vec<ClaimBody>>,
) -> ListReply<T> {
    ListReply { items, next_cursor: next.map(|seq| format!("{seq:x}")), revision, claims }
}

fn write(body: &mut Vec<u8>, value: &impl Serialize) -> Result<(), StoreError> {
    serde_json::to_writer(body, value).map_err(|_| StoreError::Corrupt("a row that is no JSON"))
}

/// A list in JSON, written item by item.
struct Items(Vec<u8>);

/// Maximum number of rows to reserve capacity for.
const MANY: u32 = 1_000;
const BEGIN: &str = r#"{"items":["#;

impl Items {
    fn with_room_for(rows: u32) -> Self {
        let mut body = Vec::with_capacity(rows.min(MANY) as usize * ROW);
        body.extend_from_slice(BEGIN.as_bytes());
        Self(body)
    }

    fn write_row(&mut self, row: &Row, nulls: bool) -> Result<(), StoreError> {
        self.comma();
        write(&mut self.0, &RowBody::of(row, nulls))
    }

    fn write_whole(&mut self, action: &PendingAction) -> Result<(), StoreError> {
        self.comma();
        action::write_into(&mut self.0, action).map_err(|_| StoreError::Corrupt("a payload that is no JSON"))
    }

    fn comma(&mut self) {
        if self.0.len() > BEGIN.len() {
            self.0.push(b',');
        }
    }

    /// Appends the rest of the reply, taken from a reply without items.
    fn end(
        mut self,
        next: Option<i64>,
        revision: u64,
        claims: Option<Vec<ClaimBody>>,
    ) -> Result<Response, ApiError> {
        let mut without = Vec::new();
        write(&mut without, &list_of::<()>(Vec::new(), next, revision, claims))?;
        let rest = without.strip_prefix(BEGIN.as_bytes());
        self.0.extend_from_slice(rest.ok_or(StoreError::Corrupt("a list that begins otherwise"))?);
        Ok(([(CONTENT_TYPE, "application/json")], self.0).into_response())
    }
}

pub(super) fn light(row: &Row) -> Result<Box<RawValue>, ApiError> {
    to_raw_value(&RowBody::of(row, true)).map_err(|_| StoreError::Corrupt("a row that is no JSON").into())
}

fn filter(gate: &Gate, workspace: String, query: &ListQuery) -> Result<Filter, ApiError> {
    let limits = &gate.inner.limits;
    let equal = [
        ("tool", &query.tool_name),
        ("batch", &query.batch_id),
        ("mission", &query.mission_id),
        ("session", &query.session_id),
        ("run", &query.run_id),
        ("agent", &query.agent),
        ("risk", &query.risk),
    ];
    let mut ids = words(query.ids.as_deref());
    if query.ids.is_some() && ids.is_empty() {
        // No action has the empty id, so this gives an empty list.
        ids.push(String::new());
    }
    if ids.len() > IDS_MAX {
        return Err(ApiError::new(
            INVALID,
            format!("ids holds at most {IDS_MAX} ids; ask for more in parts"),
        ));
    }
    if query.id_prefix.as_deref().is_some_and(str::is_empty) {
        return Err(ApiError::new(INVALID, "id_prefix is the beginning of an id, at least one character"));
    }
    let before = query.cursor.as_deref().map(cursor).transpose()?;
    Ok(Filter {
        workspace,
        statuses: statuses(query.status.as_deref(), query.claimable)?,
        equal: equal.into_iter().filter_map(|(column, value)| Some((column, value.clone()?))).collect(),
        ids,
        id_prefix: query.id_prefix.clone(),
        before,
        limit: query.limit.unwrap_or(limits.page_rows).clamp(1, limits.page_rows.max(1)),
        bytes: limits.page_bytes,
    })
}

/// Reads a cursor written by [`list`]: lower-case hex digits without a sign.
fn cursor(text: &str) -> Result<i64, ApiError> {
    let is_ours = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let place = i64::from_str_radix(text, 16).ok().filter(|_| is_ours);
    place.ok_or_else(|| ApiError::new(INVALID, "the cursor is not one of this gate's"))
}

/// Converts statuses from the wire, where a running action is `approved`.
fn statuses(wire: Option<&str>, claimable: bool) -> Result<Vec<String>, ApiError> {
    let mut statuses = words(wire);
    if let Some(unknown) = statuses.iter().find(|word| matches!(Status::parse(word), Status::Other(_))) {
        return Err(ApiError::new(INVALID, format!("{unknown:?} is no status")));
    }
    if !claimable && statuses.iter().any(|word| word == Status::Approved.as_raw()) {
        statuses.push(Status::Running.as_raw().to_owned());
    }
    Ok(statuses)
}

fn words(list: Option<&str>) -> Vec<String> {
    list.unwrap_or_default().split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
