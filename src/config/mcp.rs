//! The tables `[mcp.NAME]`: which tools of an MCP server need approval.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::check::Mistakes;

/// Tools of a server by its own names. For other tools the server's hint counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpTools {
    /// Run without approval.
    pub open: BTreeSet<String>,
    /// Need approval, regardless of the server's hint.
    pub gated: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMcp {
    open: Vec<String>,
    gated: Vec<String>,
}

pub fn is_mcp_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

pub(super) fn servers(
    given: BTreeMap<String, RawMcp>,
    mistakes: &mut Mistakes,
) -> BTreeMap<String, McpTools> {
    let one = |(name, raw): (String, RawMcp)| {
        let tools = McpTools { open: raw.open.into_iter().collect(), gated: raw.gated.into_iter().collect() };
        if !is_mcp_name(&name) {
            return Err(format!("mcp.{name:?} is no name; use letters, digits, - and _"));
        }
        match tools.open.intersection(&tools.gated).next() {
            Some(both) => {
                Err(format!("mcp.{name} has {both:?} in open and in gated; leave it in one of them"))
            }
            None => Ok((name, tools)),
        }
    };
    given.into_iter().filter_map(|server| mistakes.take(one(server))).collect()
}
