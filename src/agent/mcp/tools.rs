//! The server's tools: which of them a human is asked about, and how their list is shown.

use std::collections::{BTreeMap, HashMap};

use crate::config::McpTools;
use crate::domain::json;

use super::answers::{RESULT_TOOL, RESULT_TOOL_ENTRY};
use super::line::{self, Message};

/// Longest name that is made of a server's own.
const NAME_MAX: usize = 32;

/// What is known of one server's tools.
#[derive(Debug)]
pub(super) struct Tools {
    /// What stands before its tools' names.
    name: Option<String>,
    configured: BTreeMap<String, McpTools>,
    /// By tool: the server says that it only reads.
    hints: HashMap<String, bool>,
    /// It has a tool with the name of ours.
    pub(super) shadows: bool,
}

impl Tools {
    /// `name` is the server's; without one it is made of what the server calls itself.
    pub(super) fn new(name: Option<String>, configured: BTreeMap<String, McpTools>) -> Self {
        Self { name, configured, hints: HashMap::new(), shadows: false }
    }

    /// The tool as reviewers and the gate's configuration know it.
    pub(super) fn gate_name(&self, tool: &str) -> String {
        format!("{}.{tool}", self.name())
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("mcp")
    }

    /// A human is asked about this tool: all but those that are configured as open, and those that the server calls read-only.
    pub(super) fn is_gated(&self, tool: &str) -> bool {
        let only_reads = self.hints.get(tool).copied().unwrap_or(false);
        match self.configured.get(self.name()) {
            Some(rules) if rules.gated.contains(tool) => true,
            Some(rules) if rules.open.contains(tool) => false,
            _ => !only_reads,
        }
    }

    /// The server was named or has named itself.
    pub(super) const fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// Neither configuration nor server has mentioned this tool yet.
    pub(super) fn is_unlisted(&self, tool: &str) -> bool {
        let rules = self.configured.get(self.name()).filter(|_| self.has_name());
        let is_configured =
            rules.is_some_and(|rules| rules.gated.contains(tool) || rules.open.contains(tool));
        !is_configured && !self.hints.contains_key(tool)
    }

    /// Takes the server's name from what it says of itself, unless it has one already.
    pub(super) fn introduced(&mut self, info: &str) {
        let own = || line::member(info, "name").and_then(line::text);
        self.name = self.name.take().or_else(|| own().as_deref().and_then(short));
    }

    /// An answer to `tools/list` as the client gets it: gated tools without `outputSchema`, because what they return has no
    /// `structuredContent`, and on the first page our own tool. `None` where it holds no list.
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
            // Of two tools with one name, the one that writes counts.
            here.entry(name).and_modify(|known| *known &= only_reads).or_insert(only_reads);
        }
        self.hints.extend(here);
    }
}

fn name_of(entry: &str) -> Option<String> {
    line::member(entry, "name").and_then(line::text)
}

/// A name for the gate, of one that a client gives to a server; `None` where nothing is left.
pub(super) fn word(given: &str) -> Option<String> {
    let plain: String =
        given.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let name = plain.trim_matches('-');
    (!name.is_empty()).then(|| name.chars().take(NAME_MAX).collect())
}

/// A word of what a server calls itself: `@acme/mcp-server-files` is `files`. `None` where nothing is left.
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
    fn only_what_says_that_it_reads_is_open() {
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
    fn hints_that_are_no_plain_true_gate() {
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
    fn the_configuration_outranks_the_hints() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let mut tools = tools(Some(McpTools { open: set(&["w", "later"]), gated: set(&["r"]) }));

        let shown = listed(&mut tools, LIST);

        assert!(tools.is_gated("r") && !tools.is_gated("w") && !tools.is_gated("later"));
        assert!(shown.contains(r#"{"name":"w", "outputSchema":{},"#), "{shown}");
    }

    #[test]
    fn our_tool_is_on_the_first_page_only() {
        let mut tools = tools(None);

        let first = listed(&mut tools, r#"{"tools":[{"name":"r"}],"nextCursor":""}"#);
        assert!(first.contains(RESULT_TOOL_ENTRY) && !tools.shadows, "{first}");
        let last = listed(&mut tools, r#"{"tools":[{"name":"placet_result"},{"name":"second"}]}"#);
        assert!(!last.contains(RESULT_TOOL) && tools.shadows, "{last}");
    }

    #[test]
    fn a_server_is_called_by_a_word_of_its_own_name() {
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
