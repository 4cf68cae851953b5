//! Reading: one action, pages, changes, what is to be run. Never through the writer.

use std::cmp::Reverse;

use futures_util::TryStreamExt as _;
use futures_util::future::join;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection, SqlitePool};

use super::packed::Packed;
use super::which;
use crate::domain::{BatchId, PendingAction, Row, Status, Timestamp, Untrusted};
use crate::gate::audit::WHOLE_GATE;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::rows;
use crate::gate::store::{
    Census, Changes, Filter, LookedUp, Page, PageEnd, StoreError, Stored, TakeRow, Waiting,
};
use crate::gate::tool::Tools;
use crate::gate::which::Which;

/// At most so many rows come in one piece; in unit tests few, so that their pages have several.
const PIECE: u32 = if cfg!(test) { 3 } else { 256 };

pub(super) async fn get(pool: &SqlitePool, id: &str, tools: &Tools) -> Result<Option<Stored>, StoreError> {
    let mut query = QueryBuilder::new(rows::WHOLE);
    query.push(" WHERE a.id = ").push_bind(id);
    query.build().fetch_optional(pool).await?.map(|row| rows::stored(&row, tools)).transpose()
}

/// While a piece is taken apart, SQLite makes the next.
pub(super) async fn rows(
    pool: &SqlitePool,
    filter: &Filter,
    tools: &Tools,
    take: &mut TakeRow<'_>,
) -> Result<PageEnd, StoreError> {
    let revision = revision(pool, &filter.workspace).await?;
    let mut taken = Taken { most: filter.limit, bytes: filter.bytes, rows: 0, weight: 0, last: 0, take };
    // One more than the page holds tells that it goes on.
    let mut left = filter.limit.saturating_add(1);
    let piece = left.div_ceil(left.div_ceil(PIECE));
    let mut come = packed(pool, filter, &mut left, piece, tools).await?;
    while let Some((until, text)) = come {
        let rest = Filter { before: Some(until), ..filter.clone() };
        let ahead = packed(pool, &rest, &mut left, piece, tools);
        let (ahead, is_full) = join(ahead, async { unpack(&text, tools, &mut taken) }).await;
        if is_full? {
            return Ok(PageEnd { next: Some(taken.last), revision });
        }
        come = ahead?;
    }
    Ok(PageEnd { next: None, revision })
}

/// What of a page was taken.
struct Taken<'a, 't> {
    most: u32,
    bytes: u64,
    rows: u32,
    weight: u64,
    /// The number of the last one.
    last: i64,
    take: &'a mut TakeRow<'t>,
}

/// The next of the rows that are `left`, packed, with the last one's number; nothing once there are no more.
async fn packed(
    pool: &SqlitePool,
    filter: &Filter,
    left: &mut u32,
    piece: u32,
    tools: &Tools,
) -> Result<Option<(i64, String)>, StoreError> {
    let limit = piece.min(*left);
    if limit == 0 {
        return Ok(None);
    }
    let mut query = QueryBuilder::new("SELECT count(*), min(seq), '[' || group_concat(packed) || ']' FROM (");
    push_list(&mut query, rows::packed_listing(tools), filter, limit);
    query.push(")");
    let (count, until, text): (i64, Option<i64>, Option<String>) =
        query.build_query_as().fetch_one(pool).await?;
    *left = if count < i64::from(limit) { 0 } else { *left - limit };
    Ok(until.zip(text))
}

/// Takes the rows of a piece, the newest first: how they were strung together has no promised order. True once the page is full.
fn unpack(text: &str, tools: &Tools, taken: &mut Taken<'_, '_>) -> Result<bool, StoreError> {
    let mut rows = Vec::with_capacity(PIECE as usize);
    for packed in Packed::several(text)? {
        rows.push((packed.int("seq")?, packed));
    }
    rows.sort_by_key(|(seq, _)| Reverse(*seq));
    for (seq, packed) in rows {
        let row = rows::light(&packed, tools)?;
        taken.weight += light_weight(&row);
        // At least one item, as in any page.
        if taken.rows >= taken.most || (taken.weight > taken.bytes && taken.rows > 0) {
            return Ok(true);
        }
        (taken.rows, taken.last) = (taken.rows + 1, seq);
        (taken.take)(&row)?;
    }
    Ok(false)
}

pub(super) async fn actions(
    pool: &SqlitePool,
    filter: &Filter,
    tools: &Tools,
) -> Result<Page<PendingAction>, StoreError> {
    page(pool, filter, rows::WHOLE, |row| rows::whole(row, tools), weight).await
}

/// About how many bytes a row takes on the wire, whatever its input weighs.
fn light_weight(row: &Row) -> u64 {
    let batch = row.batch.as_ref().map_or("", BatchId::as_raw);
    let foreign = [&row.checkpoint, &row.workspace, &row.mission, &row.session, &row.run, &row.agent];
    let foreign = foreign.into_iter().flatten().map(Untrusted::as_raw);
    let texts = foreign.chain([batch, row.tool.as_raw(), row.title.as_raw(), row.risk.as_raw()]);
    texts.map(|text| text.len() as u64).sum::<u64>() + 500
}

/// About how many bytes an action takes on the wire.
fn weight(action: &PendingAction) -> u64 {
    let payloads = [
        Some(&action.input),
        action.preview.as_ref(),
        action.before.as_ref(),
        action.effective_input.as_ref(),
        action.result.as_ref(),
    ];
    payloads.into_iter().flatten().map(|json| json.as_str().len() as u64).sum::<u64>() + 1_000
}

async fn page<T>(
    pool: &SqlitePool,
    filter: &Filter,
    select: &'static str,
    read: impl Fn(&SqliteRow) -> Result<T, StoreError>,
    weight: fn(&T) -> u64,
) -> Result<Page<T>, StoreError> {
    let revision = revision(pool, &filter.workspace).await?;
    let mut query = QueryBuilder::new("");
    push_list(&mut query, select, filter, filter.limit.saturating_add(1));
    let mut found = query.build().fetch(pool);
    let (mut items, mut next, mut last, mut bytes) = (Vec::new(), None, 0_i64, 0_u64);
    while let Some(row) = found.try_next().await? {
        let item = read(&row)?;
        bytes += weight(&item);
        // At least one item, however heavy: a page that never moves on would be no page.
        if items.len() >= filter.limit as usize || (bytes > filter.bytes && !items.is_empty()) {
            next = Some(last);
            break;
        }
        last = row.try_get("seq")?;
        items.push(item);
    }
    Ok(Page { items, next, revision })
}

/// The newest that a filter lets through, so many.
pub(super) fn push_list(query: &mut QueryBuilder<Sqlite>, select: &'static str, filter: &Filter, limit: u32) {
    query.push(select);
    push_filter(query, filter, limit);
    query.push(" ORDER BY a.seq DESC LIMIT ").push_bind(i64::from(limit));
}

/// A plus keeps SQLite from looking up by this.
fn push_filter(query: &mut QueryBuilder<Sqlite>, filter: &Filter, limit: u32) {
    let by = filter.looked_up();
    if by == LookedUp::ByStatus {
        return push_newest_of_each(query, filter, limit);
    }
    query
        .push(if by == LookedUp::ById { " WHERE +a.workspace = " } else { " WHERE a.workspace = " })
        .push_bind(filter.workspace.clone());
    push_any_of(query, "+a.status", &filter.statuses);
    push_any_of(query, "a.id", &filter.ids);
    if let Some(prefix) = &filter.id_prefix {
        query.push(" AND a.id IN (");
        push_beginning(query, prefix);
        query.push(")");
    }
    push_equal_and_older(query, filter, by);
}

/// The newest of each status, of which the newest of all are among: an index has those of one status in their order, and of several in
/// none.
fn push_newest_of_each(query: &mut QueryBuilder<Sqlite>, filter: &Filter, limit: u32) {
    query.push(" WHERE a.seq IN (");
    for (nth, status) in filter.statuses.iter().enumerate() {
        query.push(if nth == 0 { "" } else { " UNION ALL " });
        query.push("SELECT seq FROM (SELECT a.seq FROM actions a WHERE a.workspace = ");
        query.push_bind(filter.workspace.clone());
        query.push(" AND a.status = ");
        push_status(query, status);
        push_equal_and_older(query, filter, LookedUp::ByStatus);
        query.push(" ORDER BY a.seq DESC LIMIT ").push_bind(i64::from(limit)).push(")");
    }
    query.push(")");
}

/// In the statement's own text: an index may be about actions of one status only, and SQLite would plan anew for each value.
fn push_status(query: &mut QueryBuilder<Sqlite>, status: &str) {
    if status.bytes().all(|byte| byte.is_ascii_lowercase()) {
        query.push("'").push(status).push("'");
    } else {
        query.push_bind(status.to_owned());
    }
}

fn push_equal_and_older(query: &mut QueryBuilder<Sqlite>, filter: &Filter, by: LookedUp) {
    for (column, value) in &filter.equal {
        query.push(if by == LookedUp::By(column) { " AND a." } else { " AND +a." });
        query.push(column).push(" = ").push_bind(value.clone());
    }
    if let Some(before) = filter.before {
        query.push(" AND a.seq < ").push_bind(before);
    }
}

/// The ids that begin so: a range of the index, and of it only what really does.
fn push_beginning(query: &mut QueryBuilder<Sqlite>, prefix: &str) {
    query.push("SELECT id FROM actions WHERE id >= ").push_bind(prefix.to_owned());
    query.push(" AND id < ").push_bind(format!("{prefix}\u{10ffff}"));
    query
        .push(" AND substr(id, 1, length(")
        .push_bind(prefix.to_owned())
        .push(")) = ")
        .push_bind(prefix.to_owned());
}

/// At most `limit` ids that begin so, of any workspace, in their order.
pub(super) async fn beginning(
    pool: &SqlitePool,
    prefix: &str,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    let mut query = QueryBuilder::new("");
    push_beginning(&mut query, prefix);
    query.push(" ORDER BY id LIMIT ").push_bind(i64::from(limit));
    Ok(query.build_query_scalar().fetch_all(pool).await?)
}

fn push_any_of(query: &mut QueryBuilder<Sqlite>, column: &'static str, values: &[String]) {
    if values.is_empty() {
        return;
    }
    query.push(" AND ").push(column).push(" IN (");
    let mut list = query.separated(", ");
    for value in values {
        list.push_bind(value.clone());
    }
    query.push(")");
}

/// Zero for a workspace in which nothing ever happened.
pub(super) async fn revision(pool: &SqlitePool, workspace: &str) -> Result<u64, StoreError> {
    head(pool, workspace).await.map(|(revision, _)| revision)
}

/// The newest revision, and the one under which actions were pruned last.
async fn head(pool: &SqlitePool, workspace: &str) -> Result<(u64, u64), StoreError> {
    let found: Option<(i64, i64)> = sqlx::query_as("SELECT revision, pruned FROM heads WHERE workspace = ?1")
        .bind(workspace)
        .fetch_optional(pool)
        .await?;
    Ok(found.map_or((0, 0), |(revision, pruned)| (rows::number(revision), rows::number(pruned))))
}

pub(super) async fn changes(
    pool: &SqlitePool,
    (workspace, since): (&str, u64),
    (limit, bytes): (u32, u64),
    tools: &Tools,
) -> Result<Changes, StoreError> {
    // The head is read first: every change up to it is in the rows read after it.
    let (head, pruned) = head(pool, workspace).await?;
    // From another history, or from before something went of which no row can tell.
    if since > head || since < pruned {
        return Ok(Changes { rows: Vec::new(), revision: head, more: false, complete: false });
    }
    let mut query = QueryBuilder::new(rows::packed_listing(tools));
    query.push(" WHERE a.workspace = ").push_bind(workspace);
    query.push(" AND a.revision > ").push_bind(rows::integer(since));
    query.push(" ORDER BY a.revision LIMIT ").push_bind(i64::from(limit) + 1);
    let mut found = query.build().fetch(pool);
    let (mut rows, mut more, mut weight) = (Vec::new(), false, 0_u64);
    while let Some(found) = found.try_next().await? {
        let row = rows::light(&Packed::one(found.try_get("packed")?)?, tools)?;
        weight += light_weight(&row);
        // At least one, as in a page.
        if rows.len() >= limit as usize || (weight > bytes && !rows.is_empty()) {
            more = true;
            break;
        }
        rows.push(row);
    }
    let last = rows.last().map_or(since, |row| row.revision.0);
    Ok(Changes { rows, revision: if more { last } else { last.max(head) }, more, complete: true })
}

/// As the writers count; the oldest is the first to have arrived.
pub(super) async fn census(pool: &SqlitePool, workspace: &str) -> Result<Census, StoreError> {
    let kept = "SELECT 'pending', pending FROM heads WHERE workspace = ?1 \
         UNION ALL SELECT status, actions FROM states WHERE workspace = ?1";
    let found: Vec<(String, i64)> = sqlx::query_as(kept).bind(workspace).fetch_all(pool).await?;
    let by_status: Vec<_> = found
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(status, count)| (Status::parse(&status), rows::number(count)))
        .collect();
    let oldest: Option<i64> = sqlx::query_scalar(
        "SELECT created_at FROM actions WHERE workspace = ?1 AND status = 'pending' ORDER BY seq LIMIT 1",
    )
    .bind(workspace)
    .fetch_optional(pool)
    .await?;
    Ok(Census {
        pending: by_status.iter().find(|(status, _)| status.is_pending()).map_or(0, |(_, count)| *count),
        oldest: oldest.map(Timestamp::from_millis),
        by_status,
    })
}

/// What waits to be run, in the order it arrived.
pub(super) async fn approved(
    pool: &SqlitePool,
    (tools, full): (&Which, &[String]),
    after: i64,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Waiting>, StoreError> {
    let mut query = QueryBuilder::new(
        "SELECT a.seq, a.id, a.tool FROM actions a WHERE a.status = 'approved' AND a.seq > ",
    );
    query.push_bind(after);
    let paused = " AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.workspace IN (a.workspace, ";
    query.push(paused).push_bind(WHOLE_GATE).push("))");
    query.push(" AND (a.lease_until IS NULL OR a.lease_until <= ").push_bind(now.as_millis()).push(")");
    query.push(" AND ");
    which::push(&mut query, tools);
    which::push_none_of(&mut query, full);
    query.push(" ORDER BY a.seq LIMIT ").push_bind(i64::from(limit));
    let found: Vec<(i64, String, String)> = query.build_query_as().fetch_all(pool).await?;
    Ok(found.into_iter().map(|(seq, id, tool)| Waiting { seq, id, tool }).collect())
}

/// Since when nothing is dispatched in this workspace.
pub(super) async fn paused_since(
    conn: &mut SqliteConnection,
    workspace: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<i64> = sqlx::query_scalar("SELECT MIN(at) FROM pauses WHERE workspace IN (?1, ?2)")
        .bind(workspace)
        .bind(WHOLE_GATE)
        .fetch_one(conn)
        .await?;
    Ok(found.map(Timestamp::from_millis))
}
