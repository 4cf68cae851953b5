//! Rules about the names of tools, as SQL: the database reads only rows of tools that are asked for.

use sqlx::{QueryBuilder, Sqlite};

use crate::gate::which::{Rule, Which};

/// Whether the tool of a row of `actions a` is one of these, as [`Which::has`] says it.
pub(super) fn push(query: &mut QueryBuilder<Sqlite>, tools: &Which) {
    let word = |is: bool| if is { "1" } else { "0" };
    // There may be no rule, and a CASE needs one: the first one fits no row.
    query.push("(CASE WHEN a.tool IS NULL THEN 0");
    for (rule, is) in &tools.rules {
        query.push(" WHEN a.tool ");
        match rule {
            Rule::OneOf(names) => push_list(query, "IN (", names),
            Rule::Like(pattern) => {
                query.push("GLOB ").push_bind(glob(pattern));
            }
        }
        query.push(" THEN ").push(word(*is));
    }
    query.push(" ELSE ").push(word(tools.others)).push(" END)");
}

/// Nor is it one of these names.
pub(super) fn push_none_of(query: &mut QueryBuilder<Sqlite>, names: &[String]) {
    if !names.is_empty() {
        push_list(query, " AND a.tool NOT IN (", names);
    }
}

fn push_list(query: &mut QueryBuilder<Sqlite>, before: &'static str, names: &[String]) {
    query.push(before);
    let mut list = query.separated(", ");
    for name in names {
        list.push_bind(name.clone());
    }
    query.push(")");
}

/// The same pattern for SQLite's GLOB, which tells upper from lower case, and to which two characters more than `*` are special.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]").replace('?', "[?]")
}
