//! Rules about the names of tools, as SQL: the database reads only rows of tools that are asked for.

use sqlx::{Postgres, QueryBuilder};

use crate::gate::which::{Rule, Which};

/// Whether the tool of a row of `actions a` is one of these, as [`Which::has`] says it.
pub(super) fn push(query: &mut QueryBuilder<Postgres>, tools: &Which) {
    let word = |is: bool| if is { "TRUE" } else { "FALSE" };
    // There may be no rule, and a CASE needs one: the first one fits no row.
    query.push("(CASE WHEN a.tool IS NULL THEN FALSE");
    for (rule, is) in &tools.rules {
        query.push(" WHEN a.tool ");
        match rule {
            Rule::OneOf(names) => push_list(query, "IN (", names),
            Rule::Like(pattern) => {
                query.push("LIKE ").push_bind(like(pattern));
            }
        }
        query.push(" THEN ").push(word(*is));
    }
    query.push(" ELSE ").push(word(tools.others)).push(" END)");
}

/// Nor is it one of these names.
pub(super) fn push_none_of(query: &mut QueryBuilder<Postgres>, names: &[String]) {
    if !names.is_empty() {
        push_list(query, " AND a.tool NOT IN (", names);
    }
}

fn push_list(query: &mut QueryBuilder<Postgres>, before: &'static str, names: &[String]) {
    query.push(before);
    let mut list = query.separated(", ");
    for name in names {
        list.push_bind(name.clone());
    }
    query.push(")");
}

/// The same pattern for `LIKE`, which tells upper from lower case.
fn like(pattern: &str) -> String {
    let plain = pattern.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
    plain.replace('*', "%")
}
