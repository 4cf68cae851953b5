//! Locates a server's command in the text of a settings file, and replaces it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::agent::client_files;
use crate::agent::clients::{Client, Servers};
use crate::agent::mcp::answers::RESULT_TOOL;
use crate::domain::json::{self, Member};

/// The time limit that is set for calls, in seconds. By default Codex gives up after 300 s, and opencode after 60 s
/// without progress.
const LIMIT: u32 = 3_600;

/// placet's own tool, as written in a list of tools.
const RESULT: &str = "\"placet_result\"";

/// A server in the text. Ranges are byte offsets.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) words: Vec<String>,
    pub(super) is_remote: bool,
    /// The program's string; `None` if it is the first element of the list.
    command: Option<Range<usize>>,
    list: Option<Range<usize>>,
    elements: Vec<Range<usize>>,
    /// The text that sets a time limit, if the user set none.
    limit: Option<String>,
    /// The text before a new list.
    args: &'static str,
    /// The user's time limit for a call in seconds; NaN if it is not a number.
    pub(super) patience: Option<f64>,
    /// The name of the client's list that hides placet's tool from the model.
    pub(super) hidden_by: Option<&'static str>,
    /// The list of tools visible to the model, and its elements.
    allowed: Option<(Range<usize>, Vec<Range<usize>>)>,
}

impl Entry {
    /// Finds the server `name` in the table below `keys`. An error describes invalid text.
    pub(super) fn find(
        client: &Client,
        text: &str,
        keys: &[String],
        name: &str,
    ) -> Result<Option<Self>, String> {
        if client.servers == Servers::Toml {
            return in_toml(text, name);
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        let is_commented = !matches!(client.servers, Servers::Json { has_comments: false, .. });
        let plain = if is_commented { client_files::plain_json(text) } else { text.to_owned() };
        let text = plain.as_str();
        if let Err(error) = json::Scanner::new(text).check() {
            return Err(format!("{error}; {} cannot read it either", client.title));
        }
        let mut span = 0..text.len();
        for key in keys.iter().map(String::as_str).chain([name]) {
            match below(text, &span, key) {
                Some(value) => span = value,
                None => return Ok(None),
            }
        }
        Ok(Some(in_json(client.servers, text, &span)))
    }

    /// Returns how many words belong to placet, `None` if the server is not wrapped.
    pub(super) fn wrapped_at(&self) -> Option<usize> {
        let mut words = self.words.iter().map(String::as_str);
        let program = words.next()?;
        let is_placet = Path::new(program).file_stem().is_some_and(|stem| stem == "placet");
        let mut rest = words.next()?;
        if rest == "--config" {
            words.next()?;
            rest = words.next()?;
        }
        let dashes = self.words.iter().position(|word| word == "--")?;
        (is_placet && rest == "mcp" && self.words.len() > dashes + 1).then_some(dashes + 1)
    }

    pub(super) fn wrapped(&self, text: &str, words: &[String]) -> Option<String> {
        let limit = self.limit.clone().unwrap_or_default();
        let quoted: Vec<String> = words.iter().map(|word| json::encode(word)).collect();
        let Some(command) = &self.command else {
            let list = self.list.clone()?;
            let before = format!("{}, ", quoted.join(", "));
            let edits = [(list.start + 1..list.start + 1, before), (list.end..list.end, limit)];
            return edited(text, edits.into_iter().chain(self.allowing(text)));
        };
        let (program, others) = quoted.split_first()?;
        let own = text.get(command.clone())?;
        let others: Vec<&str> = others.iter().map(String::as_str).chain([own]).collect();
        let end = command.end..command.end;
        let set = (command.clone(), program.clone());
        let (before, list) = match &self.list {
            None => (format!("{limit}{}[{}]", self.args, others.join(",")), None),
            // The list is `null`. The blank in the new list marks that for unwrapping.
            Some(list) if !text.get(list.clone())?.starts_with('[') => {
                (limit, Some((list.clone(), format!("[ {}]", others.join(",")))))
            }
            Some(list) => {
                let comma = if self.elements.is_empty() { "" } else { ", " };
                let at = list.start + 1..list.start + 1;
                (limit, Some((at, format!("{}{comma}", others.join(", ")))))
            }
        };
        edited(text, [set, (end, before)].into_iter().chain(list).chain(self.allowing(text)))
    }

    fn allowing(&self, text: &str) -> Option<(Range<usize>, String)> {
        let (list, elements) = self.allowed.as_ref()?;
        let is_there = elements.iter().any(|at| text.get(at.clone()) == Some(RESULT));
        let (at, comma) = elements.last().map_or((list.start + 1, ""), |last| (last.end, ", "));
        (!is_there).then(|| (at..at, format!("{comma}{RESULT}")))
    }

    /// Removes placet's tool from the list if it is last and formatted as placet writes it.
    fn no_longer_allowing(&self, text: &str) -> Option<(Range<usize>, String)> {
        let (_, elements) = self.allowed.as_ref()?;
        let last = elements.last().filter(|at| text.get((*at).clone()) == Some(RESULT))?;
        let start = elements.iter().rev().nth(1).map_or(last.start, |before| before.end);
        matches!(text.get(start..last.start)?, "" | ", ").then(|| (start..last.end, String::new()))
    }

    /// Returns the text without the first `own` words and everything else that wrapping added.
    pub(super) fn unwrapped(&self, text: &str, own: usize) -> Option<String> {
        let Some(command) = &self.command else {
            let list = self.list.clone()?;
            let before = own.checked_sub(1)?;
            let limit = self.limit_at(text, list.end);
            let taken = list.start + 1..self.after(text, before)?;
            let edits = [(taken, String::new()), (limit, String::new())];
            return edited(text, edits.into_iter().chain(self.no_longer_allowing(text)));
        };
        // The program is not an element of the list.
        let first = self.elements.get(own.checked_sub(1)?)?.clone();
        let set = (command.clone(), text.get(first.clone())?.to_owned());
        let limit = self.limit_at(text, command.end);
        let tokens: Option<Vec<&str>> = self.elements.iter().map(|at| text.get(at.clone())).collect();
        let (made, list) = (tokens?.join(","), self.list.clone()?);
        // A list with other words or another layout existed before wrapping.
        let is_made = |start: &str| {
            own == self.elements.len() && text.get(list.clone()) == Some(&format!("{start}{made}]"))
        };
        let taken = if is_made("[") && text.get(limit.end..list.start) == Some(self.args) {
            (limit.end..list.end, String::new())
        } else if is_made("[ ") && own > 1 {
            (list, "null".to_owned())
        } else {
            (list.start + 1..self.after(text, own - 1)?, String::new())
        };
        let edits = [set, (limit, String::new()), taken];
        edited(text, edits.into_iter().chain(self.no_longer_allowing(text)))
    }

    /// Returns the position after an element and its separator. If the separator is not placet's, the position of the
    /// next element.
    fn after(&self, text: &str, nth: usize) -> Option<usize> {
        let end = self.elements.get(nth)?.end;
        let next = self.elements.get(nth + 1).map(|next| next.start);
        let is_ours = text.get(end..).is_some_and(|rest| rest.starts_with(", "));
        Some(next.map_or(end, |next| if is_ours { end + 2 } else { next }))
    }

    /// Returns what the new text has more or less than the old one, besides the command.
    pub(super) fn more(&self, old: &str, new: &str) -> Vec<String> {
        let limit = self.limit.as_deref().map(|limit| limit.trim_start_matches([',', '\n']));
        let sign = |part: &str| match old.matches(part).count().cmp(&new.matches(part).count()) {
            Ordering::Less => Some("+"),
            Ordering::Greater => Some("-"),
            Ordering::Equal => None,
        };
        limit
            .into_iter()
            .filter_map(|limit| Some(format!("{} {limit}", sign(limit)?)))
            .chain(self.allowed.iter().filter_map(|_| {
                Some(format!("{} {RESULT} in the list of tools that the model may use", sign(RESULT)?))
            }))
            .collect()
    }

    /// Returns the range of placet's limit at `at`, empty if another text is there.
    fn limit_at(&self, text: &str, at: usize) -> Range<usize> {
        let ours = self.limit.as_deref().unwrap_or_default();
        let is_there = text.get(at..).is_some_and(|rest| rest.starts_with(ours));
        at..at + if is_there { ours.len() } else { 0 }
    }
}

/// Replaces the ranges. Of two that start at one offset, the first is written first.
fn edited(text: &str, edits: impl IntoIterator<Item = (Range<usize>, String)>) -> Option<String> {
    let mut edits: Vec<_> = edits.into_iter().collect();
    edits.sort_by_key(|(at, _)| at.start);
    let (mut out, mut done) = (String::with_capacity(text.len() + 256), 0);
    for (at, with) in edits {
        out.push_str(text.get(done..at.start)?);
        out.push_str(&with);
        done = at.end;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

/// Returns the range of the value of `key` in the object at `span`. The last of several counts, as in the clients.
fn below(text: &str, span: &Range<usize>, key: &str) -> Option<Range<usize>> {
    let members = json::members(text.get(span.clone())?)?;
    let found = members.into_iter().rev().find(|member| member.key.text == key)?;
    Some(span.start + found.span.start..span.start + found.span.end)
}

fn in_json(servers: Servers, text: &str, span: &Range<usize>) -> Entry {
    let string = |at: &Range<usize>| {
        let raw = text.get(at.clone())?;
        raw.starts_with('"').then(|| json::decode(raw).text.into_owned())
    };
    let excluded = match servers {
        Servers::Json { excluded, .. } => excluded,
        Servers::Toml | Servers::JsonList => None,
    };
    let is_list = servers == Servers::JsonList;
    let command = below(text, span, "command").filter(|at| !is_list && string(at).is_some());
    let list = below(text, span, if is_list { "command" } else { "args" });
    let elements_of = |list: &Range<usize>| client_files::elements(text, list).unwrap_or_default();
    let raw = |at: &Range<usize>| text.get(at.clone()).unwrap_or_default();
    let is_words = |at: &Range<usize>| raw(at).starts_with('[') || raw(at) == "null" && !is_list;
    let elements = list.as_ref().map(elements_of).unwrap_or_default();
    let all = command.iter().chain(&elements);
    let words: Option<Vec<String>> = all.map(string).collect();
    let usable = list.as_ref().is_none_or(is_words) && (command.is_some() || is_list);
    let patience = below(text, span, "timeout").filter(|at| raw(at) != "null");
    let patience = patience.map(|at| raw(&at).parse::<f64>().unwrap_or(f64::NAN));
    let hides = excluded
        .and_then(|name| below(text, span, name))
        .is_some_and(|list| elements_of(&list).iter().any(|at| string(at).as_deref() == Some(RESULT_TOOL)));
    let allowed = below(text, span, "includeTools").filter(|at| raw(at).starts_with('['));
    let members: Vec<Member<'_>> = text.get(span.clone()).and_then(json::members).unwrap_or_default();
    let has = |key: &str| members.iter().any(|member| member.key.text == key);
    let limit = format!(r#","timeout":{}"#, LIMIT * 1_000);
    // Whether the limit is the one that placet wrote.
    let at = list.as_ref().map_or(0, |list| list.end);
    let is_ours = text.get(at..).is_some_and(|rest| rest.starts_with(&limit));
    Entry {
        is_remote: !has("command") && (has("url") || has("httpUrl")),
        words: words.filter(|_| usable).unwrap_or_default(),
        command,
        list,
        elements,
        limit: (is_list && (is_ours || !has("timeout"))).then_some(limit),
        args: r#","args":"#,
        // placet's limit is longer than any wait.
        patience: patience.filter(|_| !is_ours).map(|millis| millis / 1_000.0),
        hidden_by: excluded.filter(|_| hides),
        allowed: allowed.map(|list| (list.clone(), elements_of(&list))),
    }
}

#[derive(Deserialize)]
struct CodexConfig {
    #[serde(default)]
    mcp_servers: BTreeMap<String, Spanned<CodexServer>>,
}

#[derive(Deserialize)]
struct CodexServer {
    command: Option<Spanned<String>>,
    args: Option<Spanned<Vec<Spanned<String>>>>,
    url: Option<toml::Value>,
    tool_timeout_sec: Option<toml::Value>,
    enabled_tools: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
}

fn in_toml(text: &str, name: &str) -> Result<Option<Entry>, String> {
    let mut config: CodexConfig =
        toml::from_str(text).map_err(|error| format!("it cannot be read: {}", error.message()))?;
    let Some(server) = config.mcp_servers.remove(name) else { return Ok(None) };
    let is_inline = text.get(server.span()).is_some_and(|table| table.starts_with('{'));
    let server = server.into_inner();
    let command = server.command.as_ref().map(Spanned::span);
    let args = server.args.as_ref();
    let list = args.map(Spanned::span);
    let elements: Vec<_> = args.into_iter().flat_map(Spanned::get_ref).map(Spanned::span).collect();
    let others = args.into_iter().flat_map(Spanned::get_ref).map(|word| word.get_ref().clone());
    let words = server.command.as_ref().map(|command| command.get_ref().clone());
    let between = if is_inline { "," } else { "\n" };
    let limit = format!("{between}tool_timeout_sec={LIMIT}");
    let end = command.as_ref().map_or(0, |command| command.end);
    let is_ours = text.get(end..).is_some_and(|rest| rest.starts_with(&limit));
    let is_missing = server.tool_timeout_sec.is_none();
    let patience = server.tool_timeout_sec.map(|it| it.to_string().parse::<f64>().unwrap_or(f64::NAN));
    let hides = server.disabled_tools.iter().any(|tool| tool == RESULT_TOOL);
    // New keys next to a dotted key would need its table's name.
    let line = text.get(..command.as_ref().map_or(0, |command| command.start)).unwrap_or_default();
    let key = line.rsplit('\n').next().unwrap_or_default().trim_start();
    let is_plain = is_inline || key.split('=').next().is_some_and(|key| key.trim() == "command");
    if command.is_some() && !is_plain && (is_missing || list.is_none()) {
        return Err(format!(
            "{name:?} is written with dotted keys; write it as the table [mcp_servers.{name}]"
        ));
    }
    Ok(Some(Entry {
        is_remote: command.is_none() && server.url.is_some(),
        words: words.into_iter().flat_map(|command| std::iter::once(command).chain(others.clone())).collect(),
        command,
        list,
        elements,
        limit: (is_missing || is_ours).then_some(limit),
        args: if is_inline { ",args=" } else { "\nargs=" },
        patience: patience.filter(|_| !is_ours),
        hidden_by: hides.then_some("disabled_tools"),
        allowed: server
            .enabled_tools
            .map(|list| (list.span(), list.get_ref().iter().map(Spanned::span).collect())),
    }))
}
