//! The tables `[mcp.NAME]`: which tools of an MCP server a human is asked about.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::check::Mistakes;

/// Tools of one server, by their names there. Where neither names a tool, the server's own hint counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpTools {
    /// They run without asking.
    pub open: BTreeSet<String>,
    /// A human is asked, whatever the server says of them.
    pub gated: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawMcp {
    open: Vec<String>,
    gated: Vec<String>,
}

/// A server's name at the gate: letters, digits, `-` and `_`.
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
