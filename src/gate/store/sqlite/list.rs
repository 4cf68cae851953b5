//! Lists. SQLite returns rows as one text ([`Packed`]), because it copies each column of each row.

use std::cmp::Reverse;

use futures_util::future::join;
use sqlx::{SqliteConnection, SqlitePool};

use super::packed::Packed;
use crate::gate::store::action_fields;
use crate::gate::store::columns::Columns as _;
use crate::gate::store::sql::{Sql as _, Statement, read};
use crate::gate::store::{Filter, PageEnd, StoreError, TakeRow};
use crate::gate::tool::Tools;

/// Maximum number of rows in one text; few in unit tests, so that their pages have several.
const PIECE: u32 = if cfg!(test) { 3 } else { 256 };

/// Reads a page. SQLite makes the next text while one is parsed.
pub(super) async fn rows(
    pool: &SqlitePool,
    filter: &Filter,
    tools: &Tools,
    take: &mut TakeRow<'_>,
) -> Result<PageEnd, StoreError> {
    let revision = read::revision(&mut *pool.acquire().await?, &filter.workspace).await?;
    let mut taken = Taken { most: filter.limit, bytes: filter.bytes, rows: 0, weight: 0, last: 0, take };
    // One extra row shows that there is another page.
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

struct Taken<'a, 't> {
    most: u32,
    bytes: u64,
    rows: u32,
    weight: u64,
    last: i64,
    take: &'a mut TakeRow<'t>,
}

/// Returns the next packed rows and the `seq` of the last one; `None` if no rows are `left`.
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
    let mut query = Statement::new(
        "SELECT count(*) AS count, min(seq) AS until, '[' || group_concat(packed) || ']' AS packed FROM (",
    );
    read::push_list::<SqliteConnection>(&mut query, &action_fields::packed_listing(tools), filter, limit);
    query.push(")");
    let row = pool.acquire().await?.fetch_one(query).await?;
    *left = if row.int("count")? < i64::from(limit) { 0 } else { *left - limit };
    Ok(row.maybe_int("until")?.zip(row.maybe_text("packed")?))
}

/// Passes on packed rows, newest first; SQLite does not promise their order in the text. Returns true once the page is
/// full.
fn unpack(text: &str, tools: &Tools, taken: &mut Taken<'_, '_>) -> Result<bool, StoreError> {
    let mut rows = Vec::with_capacity(PIECE as usize);
    for packed in Packed::several(text)? {
        rows.push((packed.int("seq")?, packed));
    }
    rows.sort_by_key(|(seq, _)| Reverse(*seq));
    for (seq, packed) in rows {
        let row = action_fields::light(&packed, tools)?;
        taken.weight += read::light_weight(&row);
        // At least one item, as in any page.
        if taken.rows >= taken.most || (taken.weight > taken.bytes && taken.rows > 0) {
            return Ok(true);
        }
        (taken.rows, taken.last) = (taken.rows + 1, seq);
        (taken.take)(&row)?;
    }
    Ok(false)
}
