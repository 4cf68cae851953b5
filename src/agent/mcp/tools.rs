//! Knows a server's tools: which are gated, and how their list is shown.

use std::collections::{BTreeMap, HashMap};

use crate::config::McpTools;
use crate::domain::json;

use super::answers::{RESULT_TOOL, RESULT_TOOL_ENTRY};
use super::line::{self, Message};

const NAME_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct Tools {
    /// Prefix of the tools' names at the gate.
    name: Option<String>,
    configured: BTreeMap<String, McpTools>,
    /// `readOnlyHint` by tool.
    hints: HashMap<String, bool>,
    /// The server has a tool named like placet's own.
    pub(super) shadows: bool,
}

impl Tools {
    /// `name` is the server's; if `None` it is taken from the server's introduction.
    pub(super) fn new(name: Option<String>, configured: BTreeMap<String, McpTools>) -> Self {
        Self { name, configured, hints: HashMap::new(), shadows: false }
    }

    pub(super) fn gate_name(&self, tool: &str) -> String {
        format!("{}.{tool}", self.name())
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("mcp")
    }

    /// Returns whether a human decides on this tool. Open are tools configured as open, and unconfigured read-only
    /// tools.
    pub(super) fn is_gated(&self, tool: &str) -> bool {
        let only_reads = self.hints.get(tool).copied().unwrap_or(false);
        match self.configured.get(self.name()) {
            Some(rules) if rules.gated.contains(tool) => true,
            Some(rules) if rules.open.contains(tool) => false,
            _ => !only_reads,
        }
    }

    pub(super) const fn has_name(&self) -> bool {
        self.name.is_some()
    }

    pub(super) fn is_unlisted(&self, tool: &str) -> bool {
        let rules = self.configured.get(self.name()).filter(|_| self.has_name());
        let is_configured =
            rules.is_some_and(|rules| rules.gated.contains(tool) || rules.open.contains(tool));
        !is_configured && !self.hints.contains_key(tool)
    }

    pub(super) fn introduced(&mut self, info: &str) {
        let own = || line::member(info, "name").and_then(line::text);
        self.name = self.name.take().or_else(|| own().as_deref().and_then(short));
    }

    /// Rewrites an answer to `tools/list`: removes `outputSchema` of gated tools, because their results lose
    /// `structuredContent`, and adds placet's own tool on the first page. `None` if the answer holds no list.
    pub(super) fn listed(&mut self, answer: &Message<'_>, is_first: bool) -> Option<String> {
        let result = answer.raw("result")?;
        let entries = line::member(result, "tools").and_then(json::elements)?;
        self.learn(&entries);
        let mut shown: Vec<String> = Vec::with_capacity(entries.len() + 1);
        for entry in entries {
            let name = name_of(entry);
            if name.as_deref() == Some(RESULT_TOOL) {
                continue;
            }
            let is_gated = name.is_none_or(|name| self.is_gated(&name));
            let plain = is_gated.then(|| line::without_member(entry, "outputSchema")).flatten();
            shown.push(plain.unwrap_or_else(|| entry.to_owned()));
        }
        if is_first {
            shown.push(RESULT_TOOL_ENTRY.to_owned());
        }
        let result = line::with_member(result, "tools", &format!("[{}]", shown.join(",")))?;
        line::with_member(answer.text, "result", &result)
    }

    fn learn(&mut self, entries: &[&str]) {
        let mut here: HashMap<String, bool> = HashMap::new();
        for entry in entries {
            let Some(name) = name_of(entry) else { continue };
            self.shadows |= name == RESULT_TOOL;
            let hints = line::member(entry, "annotations");
            let only_reads = hints.and_then(|hints| line::member(hints, "readOnlyHint")) == Some("true");
            // Of two tools with one name, the writing one counts.
            here.entry(name).and_modify(|known| *known &= only_reads).or_insert(only_reads);
        }
        self.hints.extend(here);
    }
}

fn name_of(entry: &str) -> Option<String> {
    line::member(entry, "name").and_then(line::text)
}

/// Makes a client's name for a server usable at the gate. `None` if no letter or digit is left.
pub(super) fn word(given: &str) -> Option<String> {
    let plain: String =
        given.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let name = plain.trim_matches('-');
    (!name.is_empty()).then(|| name.chars().take(NAME_MAX).collect())
}

/// Shortens a server's name for itself: `@acme/mcp-server-files` becomes `files`. `None` if nothing is left.
fn short(own: &str) -> Option<String> {
    let last = own.rsplit('/').next().unwrap_or(own);
    let plain: String = last
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let kept = plain.split('-').filter(|word| !matches!(*word, "" | "mcp" | "server"));
    let name: String = kept.collect::<Vec<_>>().join("-").chars().take(NAME_MAX).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn tools(rules: Option<McpTools>) -> Tools {
        let configured = rules.map(|rules| ("fs".to_owned(), rules)).into_iter().collect();
        Tools::new(Some("fs".to_owned()), configured)
    }

    fn listed(tools: &mut Tools, result: &str) -> String {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        tools.listed(&Message::of_server(&line).unwrap(), !result.contains("second")).unwrap()
    }

    const LIST: &str = r#"{"tools":[{"name":"r","outputSchema":{"a":1.0},"annotations":{"readOnlyHint":true}},{"name":"w", "outputSchema":{},"annotations":{"readOnlyHint":false}},{"name":"n"}]}"#;

    #[test]
    fn only_read_only_tools_are_open() {
        let mut tools = tools(None);
        assert!(tools.is_gated("r"), "before it was listed");

        let shown = listed(&mut tools, LIST);

        assert!(!tools.is_gated("r"));
        for gated in ["w", "n", "unlisted", "R"] {
            assert!(tools.is_gated(gated), "{gated}");
        }
        assert!(
            shown.contains(r#"{"name":"r","outputSchema":{"a":1.0},"annotations":{"readOnlyHint":true}}"#)
        );
        assert!(shown.contains(r#"{"name":"w","annotations":{"readOnlyHint":false}}"#), "{shown}");
        assert!(shown.ends_with(&format!("{RESULT_TOOL_ENTRY}]}}}}")), "{shown}");
        assert_eq!(tools.gate_name("w"), "fs.w");
    }

    #[test]
    fn hint_other_than_true_gates_the_tool() {
        for hint in [r#""true""#, "1", r#"true,"readOnlyHint":false"#] {
            let mut tools = tools(None);
            listed(
                &mut tools,
                &format!(r#"{{"tools":[{{"name":"r","annotations":{{"readOnlyHint":{hint}}}}}]}}"#),
            );
            assert!(tools.is_gated("r"), "{hint}");
        }
        let mut twice = tools(None);
        listed(
            &mut twice,
            r#"{"tools":[{"name":"r","annotations":{"readOnlyHint":true}},{"name":"r"},{"name":"r","annotations":{"readOnlyHint":true}}]}"#,
        );
        assert!(twice.is_gated("r"));
    }

    #[test]
    fn configuration_overrides_hints() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let mut tools = tools(Some(McpTools { open: set(&["w", "later"]), gated: set(&["r"]) }));

        let shown = listed(&mut tools, LIST);

        assert!(tools.is_gated("r") && !tools.is_gated("w") && !tools.is_gated("later"));
        assert!(shown.contains(r#"{"name":"w", "outputSchema":{},"#), "{shown}");
    }

    #[test]
    fn own_tool_is_on_the_first_page_only() {
        let mut tools = tools(None);

        let first = listed(&mut tools, r#"{"tools":[{"name":"r"}],"nextCursor":""}"#);
        assert!(first.contains(RESULT_TOOL_ENTRY) && !tools.shadows, "{first}");
        let last = listed(&mut tools, r#"{"tools":[{"name":"placet_result"},{"name":"second"}]}"#);
        assert!(!last.contains(RESULT_TOOL) && tools.shadows, "{last}");
    }

    #[test]
    fn server_name_is_shortened() {
        for (own, name) in [
            ("secure-filesystem-server", Some("secure-filesystem")),
            ("mcp-servers/everything", Some("everything")),
            ("@acme/mcp-server-files", Some("files")),
            ("GitHub MCP Server", Some("github")),
            ("mcp.server", None),
            ("é", None),
        ] {
            assert_eq!(short(own).as_deref(), name, "{own}");
        }
    }
}
