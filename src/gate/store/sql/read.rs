//! Reads: one action, pages, changes, actions to run. Never through the writer.

use futures_util::TryStreamExt as _;

use super::{Sql, Statement, which};
use crate::domain::{BatchId, PendingAction, Row, Status, Timestamp, Untrusted};
use crate::gate::audit::WHOLE_GATE;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::{Census, Changes, Filter, LookedUp, Page, StoreError, Stored, Waiting};
use crate::gate::store::{action_fields, rows};
use crate::gate::tool::Tools;
use crate::gate::which::Which;

const CENSUS: &str = "SELECT 'pending' AS status, pending AS actions FROM heads WHERE workspace = $1 \
     UNION ALL SELECT status, actions FROM states WHERE workspace = $1";
/// The first to arrive is the oldest.
const OLDEST: &str =
    "SELECT created_at FROM actions WHERE workspace = $1 AND status = 'pending' ORDER BY seq LIMIT 1";

pub(in crate::gate::store) async fn get<S: Sql>(
    conn: &mut S,
    id: &str,
    tools: &Tools,
) -> Result<Option<Stored>, StoreError> {
    let mut query = Statement::new(action_fields::whole_listing());
    query.push(" WHERE a.id = ").push_bind(id);
    conn.fetch_optional(query).await?.map(|row| action_fields::stored(&row, tools)).transpose()
}

pub(in crate::gate::store) async fn rows<S: Sql>(
    conn: &mut S,
    filter: &Filter,
    tools: &Tools,
) -> Result<Page<Row>, StoreError> {
    page(conn, filter, &action_fields::listing(tools), |row| action_fields::light(row, tools), light_weight)
        .await
}

pub(in crate::gate::store) async fn actions<S: Sql>(
    conn: &mut S,
    filter: &Filter,
    tools: &Tools,
) -> Result<Page<PendingAction>, StoreError> {
    page(conn, filter, &action_fields::whole_listing(), |row| action_fields::whole(row, tools), weight).await
}

/// Returns about how many bytes a row takes on the wire, without its input.
pub(in crate::gate::store) fn light_weight(row: &Row) -> u64 {
    let batch = row.batch.as_ref().map_or("", BatchId::as_raw);
    let foreign = [&row.checkpoint, &row.workspace, &row.mission, &row.session, &row.run, &row.agent];
    let foreign = foreign.into_iter().flatten().map(Untrusted::as_raw);
    let texts = foreign.chain([batch, row.tool.as_raw(), row.title.as_raw(), row.risk.as_raw()]);
    texts.map(|text| text.len() as u64).sum::<u64>() + 500
}

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

async fn page<S: Sql, T: Send>(
    conn: &mut S,
    filter: &Filter,
    select: &str,
    read: impl Fn(&S::Row) -> Result<T, StoreError> + Send,
    weight: fn(&T) -> u64,
) -> Result<Page<T>, StoreError> {
    let revision = revision(conn, &filter.workspace).await?;
    let mut query = Statement::new("");
    // One extra row shows that there is another page.
    push_list::<S>(&mut query, select, filter, filter.limit.saturating_add(1));
    let mut found = conn.fetch(query);
    let (mut items, mut next, mut last, mut bytes) = (Vec::new(), None, 0_i64, 0_u64);
    while let Some(row) = found.try_next().await? {
        let item = read(&row)?;
        bytes += weight(&item);
        // At least one item, however large, so that paging makes progress.
        if items.len() >= filter.limit as usize || (bytes > filter.bytes && !items.is_empty()) {
            next = Some(last);
            break;
        }
        last = row.int("seq")?;
        items.push(item);
    }
    Ok(Page { items, next, revision })
}

pub(in crate::gate::store) fn push_list<S: Sql>(
    query: &mut Statement,
    select: &str,
    filter: &Filter,
    limit: u32,
) {
    query.push(select);
    push_filter::<S>(query, filter, limit);
    query.push(" ORDER BY a.seq DESC LIMIT ").push_bind(i64::from(limit));
}

fn push_filter<S: Sql>(query: &mut Statement, filter: &Filter, limit: u32) {
    let by = filter.looked_up();
    if by == LookedUp::ByStatus {
        return push_newest_of_each::<S>(query, filter, limit);
    }
    let hint = if by == LookedUp::ById { S::UNINDEXED } else { "" };
    query.push(" WHERE ").push(hint).push("a.workspace = ").push_bind(&filter.workspace);
    if !filter.statuses.is_empty() {
        query.push(" AND ").push(S::UNINDEXED).push("a.status IN ").push_list(&filter.statuses);
    }
    if !filter.ids.is_empty() {
        query.push(" AND a.id IN ").push_list(&filter.ids);
    }
    if let Some(prefix) = &filter.id_prefix {
        query.push(" AND a.id IN (");
        push_beginning(query, prefix);
        query.push(")");
    }
    push_equal_and_older::<S>(query, filter, by);
}

/// Selects the newest of each status, which include the newest of all. An index is in order only within one status.
fn push_newest_of_each<S: Sql>(query: &mut Statement, filter: &Filter, limit: u32) {
    query.push(" WHERE a.seq IN (");
    for (nth, status) in filter.statuses.iter().enumerate() {
        query.push(if nth == 0 { "" } else { " UNION ALL " });
        query.push("SELECT seq FROM (SELECT a.seq FROM actions a WHERE a.workspace = ");
        query.push_bind(&filter.workspace).push(" AND a.status = ");
        push_status(query, status);
        push_equal_and_older::<S>(query, filter, LookedUp::ByStatus);
        query.push(" ORDER BY a.seq DESC LIMIT ").push_bind(i64::from(limit)).push(") AS newest");
    }
    query.push(")");
}

/// Adds the status as a literal: an index may be for one status only, and SQLite would plan again for each bound value.
fn push_status(query: &mut Statement, status: &str) {
    if status.bytes().all(|byte| byte.is_ascii_lowercase()) {
        query.push("'").push(status).push("'");
    } else {
        query.push_bind(status);
    }
}

fn push_equal_and_older<S: Sql>(query: &mut Statement, filter: &Filter, by: LookedUp) {
    for (column, value) in &filter.equal {
        let hint = if by == LookedUp::By(column) { "" } else { S::UNINDEXED };
        query.push(" AND ").push(hint).push("a.").push(column).push(" = ").push_bind(value);
    }
    if let Some(before) = filter.before {
        query.push(" AND a.seq < ").push_bind(before);
    }
}

/// Selects ids with this prefix: a range of the index, filtered, because collations differ.
fn push_beginning(query: &mut Statement, prefix: &str) {
    query.push("SELECT id FROM actions WHERE id >= ").push_bind(prefix);
    query.push(" AND id < ").push_bind(format!("{prefix}\u{10ffff}"));
    query.push(" AND substr(id, 1, length(").push_bind(prefix).push(")) = ").push_bind(prefix);
}

pub(in crate::gate::store) async fn beginning<S: Sql>(
    conn: &mut S,
    prefix: &str,
    limit: u32,
) -> Result<Vec<String>, StoreError> {
    let mut query = Statement::new("");
    push_beginning(&mut query, prefix);
    query.push(" ORDER BY id LIMIT ").push_bind(i64::from(limit));
    Ok(conn.fetch_all(query).await?.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?)
}

pub(in crate::gate::store) async fn revision<S: Sql>(
    conn: &mut S,
    workspace: &str,
) -> Result<u64, StoreError> {
    head(conn, workspace).await.map(|(revision, _)| revision)
}

async fn head<S: Sql>(conn: &mut S, workspace: &str) -> Result<(u64, u64), StoreError> {
    let query = Statement::new("SELECT revision, pruned FROM heads WHERE workspace = $1").bind(workspace);
    let Some(row) = conn.fetch_optional(query).await? else { return Ok((0, 0)) };
    Ok((rows::number(row.int("revision")?), rows::number(row.int("pruned")?)))
}

pub(in crate::gate::store) async fn changes<S: Sql>(
    conn: &mut S,
    (workspace, since): (&str, u64),
    (limit, bytes): (u32, u64),
    tools: &Tools,
) -> Result<Changes, StoreError> {
    // The head is read first: every change up to it is in the rows read after it.
    let (head, pruned) = head(conn, workspace).await?;
    // The client followed another history, or missed a prune, which leaves no rows.
    if since > head || since < pruned {
        return Ok(Changes { rows: Vec::new(), revision: head, more: false, complete: false });
    }
    let mut query = Statement::new(action_fields::listing(tools));
    query.push(" WHERE a.workspace = ").push_bind(workspace);
    query.push(" AND a.revision > ").push_bind(rows::integer(since));
    query.push(" ORDER BY a.revision LIMIT ").push_bind(i64::from(limit) + 1);
    let mut found = conn.fetch(query);
    let (mut rows, mut more, mut weight) = (Vec::new(), false, 0_u64);
    while let Some(found) = found.try_next().await? {
        let row = action_fields::light(&found, tools)?;
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

pub(in crate::gate::store) async fn census<S: Sql>(
    conn: &mut S,
    workspace: &str,
) -> Result<Census, StoreError> {
    let mut by_status = Vec::new();
    for row in conn.fetch_all(Statement::new(CENSUS).bind(workspace)).await? {
        let actions = row.int("actions")?;
        if actions != 0 {
            by_status.push((Status::parse(&row.lent("status")?), rows::number(actions)));
        }
    }
    let oldest = conn.fetch_optional(Statement::new(OLDEST).bind(workspace)).await?;
    let oldest = oldest.map(|row| row.int("created_at")).transpose()?;
    Ok(Census {
        pending: by_status.iter().find(|(status, _)| status.is_pending()).map_or(0, |(_, count)| *count),
        oldest: oldest.map(Timestamp::from_millis),
        by_status,
    })
}

pub(in crate::gate::store) async fn approved<S: Sql>(
    conn: &mut S,
    (tools, full): (&Which, &[String]),
    after: i64,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Waiting>, StoreError> {
    let mut query =
        Statement::new("SELECT a.seq, a.id, a.tool FROM actions a WHERE a.status = 'approved' AND a.seq > ");
    query.push_bind(after);
    query.push(" AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.workspace IN (a.workspace, ");
    query.push_bind(WHOLE_GATE).push("))");
    query.push(" AND (a.lease_until IS NULL OR a.lease_until <= ").push_bind(now.as_millis()).push(")");
    query.push(" AND ");
    which::push::<S>(&mut query, tools);
    which::push_none_of(&mut query, full);
    query.push(" ORDER BY a.seq LIMIT ").push_bind(i64::from(limit));
    let waiting =
        |row: &S::Row| Ok(Waiting { seq: row.int("seq")?, id: row.text("id")?, tool: row.text("tool")? });
    conn.fetch_all(query).await?.iter().map(waiting).collect()
}

pub(in crate::gate::store) async fn paused_since<S: Sql>(
    conn: &mut S,
    workspace: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let query = Statement::new("SELECT MIN(at) AS at FROM pauses WHERE workspace IN ($1, $2)");
    let row = conn.fetch_one(query.bind(workspace).bind(WHOLE_GATE)).await?;
    Ok(row.maybe_int("at")?.map(Timestamp::from_millis))
}
