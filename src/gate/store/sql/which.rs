//! Rules about tool names as SQL, so that the database reads only rows of matching tools.

use super::{Sql, Statement};
use crate::gate::which::{Rule, Which};

/// Adds the condition of [`Which::has`] on the tool of `actions a`.
pub(in crate::gate::store) fn push<S: Sql>(query: &mut Statement, tools: &Which) {
    let word = |is: bool| if is { "TRUE" } else { "FALSE" };
    // A CASE needs a branch even without rules. This one matches no row.
    query.push("(CASE WHEN a.tool IS NULL THEN FALSE");
    for (rule, is) in &tools.rules {
        query.push(" WHEN a.tool ");
        match rule {
            Rule::OneOf(names) => query.push("IN ").push_list(names),
            Rule::Like(pattern) => {
                let (operator, pattern) = S::like(pattern);
                query.push(operator).push(" ").push_bind(pattern)
            }
        };
        query.push(" THEN ").push(word(*is));
    }
    query.push(" ELSE ").push(word(tools.others)).push(" END)");
}

pub(super) fn push_none_of(query: &mut Statement, names: &[String]) {
    if !names.is_empty() {
        query.push(" AND a.tool NOT IN ").push_list(names);
    }
}
