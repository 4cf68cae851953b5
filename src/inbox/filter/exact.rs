//! Filters that match exactly one source, queue, agent, tool or mission, for names of any characters.

use std::fmt::Write as _;

use crate::domain::{Queue, SourceName, Untrusted};
use crate::text;

use super::Filter;

impl Filter {
    pub fn of_source(source: &SourceName) -> Self {
        Self::made(&format!("source:=={}", quoted(source.as_str())))
    }

    /// Matches the actions that [`Queue::of`] puts into this queue; the whole source for [`Queue::Rest`].
    pub fn of_queue(source: &SourceName, queue: &Queue) -> Self {
        let source = format!("source:=={}", quoted(source.as_str()));
        Self::made(&match queue {
            Queue::Agent(agent) => format!("{source} agent:=={}", quoted(agent.as_raw())),
            Queue::Tool(tool) => format!("{source} agent:==\"\" tool:=={}", quoted(tool.as_raw())),
            Queue::Rest => source,
        })
    }

    pub fn of_agent(agent: &Untrusted) -> Self {
        Self::made(&format!("agent:=={}", quoted(agent.as_raw())))
    }

    pub fn of_tool(tool: &Untrusted) -> Self {
        Self::made(&format!("tool:=={}", quoted(tool.as_raw())))
    }

    pub fn of_mission(mission: &Untrusted) -> Self {
        Self::made(&format!("mission:=={}", quoted(mission.as_raw())))
    }

    /// Adds `more`, a filter text of placet's own.
    #[must_use]
    pub fn and(&self, more: &str) -> Self {
        Self::made(&format!("{} {more}", self.text()))
    }

    fn made(text: &str) -> Self {
        Self::parse(text).unwrap_or_default()
    }
}

/// Quotes a text for `==` if needed, and escapes characters that a terminal would obey or hide.
fn quoted(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || "._-/@".contains(c);
    if !text.is_empty() && text.chars().all(word) {
        return text.to_owned();
    }
    let as_it_is = text::part(text).plain() == text;
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c == ' ' || c.is_ascii_graphic() || (as_it_is && !c.is_whitespace()) => out.push(c),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c)); // writing to a String cannot fail
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Row;
    use crate::inbox::filter::tests::{Known, holds, known};
    use crate::rounds;

    const HOSTILE: [&str; 18] = [
        "refunds-agent",
        "Refunds-Agent",
        "refunds agent",
        "refunds\u{a0}agent",
        "a\"b",
        "a\\\"b",
        "a\\",
        "a:b, tool:x -y 'z",
        "\u{202e}yrollam",
        "line\nbreak\u{1b}[2J",
        "é",
        "e\u{301}",
        "退款",
        "👩‍💻",
        " ",
        "==",
        "\\u{202e}yrollam",
        "",
    ];

    fn one(agent: Option<&str>, tool: &str) -> Known {
        let mut known = known("title", tool, "", "low", 1);
        known.entry.row = Row { agent: agent.map(Untrusted::from), ..known.entry.row };
        known
    }

    fn text(queue: &Queue) -> String {
        Filter::of_queue(&SourceName::new("team-gate"), queue).text().to_owned()
    }

    #[test]
    fn queue_filter_matches_only_that_queue() {
        let agents = HOSTILE.iter().map(|agent| one(Some(agent), "tool"));
        let tools = HOSTILE.iter().flat_map(|tool| [one(None, tool), one(Some(""), tool)]);
        let all: Vec<Known> = agents.chain(tools).collect();
        for queue in all.iter().map(|known| Queue::of(&known.entry.row)) {
            for known in &all {
                let same = Queue::of(&known.entry.row) == queue;
                assert_eq!(holds(&text(&queue), known), same, "{queue:?} and {:?}", known.entry.row);
            }
        }
    }

    #[test]
    fn exact_filter_escapes_control_characters() {
        assert_eq!(
            text(&Queue::Agent("a \"b\" \u{202e}c\n".into())),
            r#"source:==team-gate agent:=="a \"b\" \u{202e}c\u{a}""#
        );
        assert_eq!(text(&Queue::Agent("退款".into())), r#"source:==team-gate agent:=="退款""#);
        assert_eq!(text(&Queue::Tool("x".into())), r#"source:==team-gate agent:=="" tool:==x"#);
    }

    #[test]
    fn a_source_is_not_another_one_that_begins_so() {
        let other = |name: &str| Filter::of_source(&SourceName::new(name)).text().to_owned();
        let known = one(None, "tool");
        assert!(holds(&other("team-gate"), &known));
        assert!(!holds(&other("team"), &known) && !holds(&other("Team-gate"), &known));
    }

    proptest! {
        #![proptest_config(rounds::config(128, 5_000))]

        #[test]
        fn any_name_round_trips_through_a_one_line_filter(name: String, other: String) {
            let queue = Queue::Agent(name.as_str().into());
            let filter = text(&queue);
            prop_assert!(text::part(&filter).plain() == filter, "{filter:?}");
            if !name.is_empty() {
                prop_assert!(holds(&filter, &one(Some(&name), "tool")), "{filter:?}");
            }
            prop_assert_eq!(holds(&filter, &one(Some(&other), "tool")), name == other);
        }
    }
}
