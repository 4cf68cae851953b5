//! Judges settings as the client reads them: whether it calls the hook, for which tools, and what overrides an
//! approval. docs/agents.md lists the measurements.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fancy_regex::Regex;
use serde_json::Value;

use super::{GRACE, OR_BLOCK, Scope, is_ours, path};
use crate::agent::client_files::plain_json;
use crate::agent::clients::{Env, HookClient, ReadingRules};
use crate::domain::json::duplicate_keys;
use crate::domain::{Check, time};

pub const WHAT: &str = "hook";
const INSTALL_AGAIN: &str = "install the hook again";
/// Values of Claude Code's `permissions.defaultMode`.
const MODES: [&str; 7] =
    ["acceptEdits", "auto", "bypassPermissions", "default", "delegate", "dontAsk", "plan"];
/// Longest timeout of a client's timer, in seconds. A hook with a longer one is ended at once.
const TIMER_MAX: f64 = 2_147_483.647;

/// A settings file. `text` is empty if the file is missing.
#[derive(Debug)]
pub struct Layer {
    pub path: PathBuf,
    pub managed: bool,
    pub text: String,
}

/// Returns the files that the client reads in `folder`, in ascending precedence.
pub fn layers(client: &HookClient, folder: &Path, env: Env<'_>) -> Vec<Layer> {
    let [user, project] = [Scope::User, Scope::Project].map(|scope| path(client, scope, folder, env).ok());
    let other = (client.other_file)(folder, user.as_deref());
    let own = [user, project, other].into_iter().flatten().map(|path| (path, false));
    let managed = (client.managed_files)(env).into_iter().map(|path| (path, true));
    let mut paths: Vec<_> = own.chain(managed).collect();
    paths.dedup_by(|one, other| one.0 == other.0);
    let layer =
        |(path, managed)| Layer { text: fs::read_to_string(&path).unwrap_or_default(), path, managed };
    paths.into_iter().map(layer).collect()
}

#[derive(Clone, Copy)]
struct Hook<'a> {
    path: &'a Path,
    group: &'a Value,
    matcher: &'a str,
    handler: &'a Value,
    command: &'a str,
}

struct Judge<'a> {
    client: &'static HookClient,
    read: &'a [(&'a Layer, Value)],
    checks: Vec<Check>,
}

/// Returns the findings about placet's hook in these files, empty if it is not installed, and the commands of sound
/// hooks that ask.
pub fn judge(client: &'static HookClient, layers: &[Layer]) -> (Vec<Check>, Vec<(PathBuf, String)>) {
    let mut judge = Judge { client, read: &[], checks: Vec::new() };
    let read: Vec<_> = layers
        .iter()
        .filter_map(|layer| match value(client, layer) {
            Ok(value) => Some((layer, value)),
            Err(error) => {
                let (path, is_installed) = (layer.path.display(), layer.text.contains("hook --client"));
                if is_installed {
                    let found = format!("it ignores all of {path}, because of {error}");
                    judge.bad(&found, "correct the file; until then its tools run without the gate");
                }
                None
            }
        })
        .collect();
    for (layer, _) in read.iter().filter(|(layer, _)| layer.text.contains("hook --client")) {
        for key in duplicate_keys(&plain_json(&layer.text)).iter().filter(|key| key.starts_with("hooks")) {
            let found =
                format!("{} has the key {key} twice, and only the last one counts", layer.path.display());
            judge.bad(&found, "put the hooks of both together");
        }
    }
    judge.read = &read;
    let asking = judge.whole();
    (judge.checks, asking)
}

fn value(client: &HookClient, layer: &Layer) -> Result<Value, String> {
    let text = if layer.text.trim().is_empty() { "{}" } else { &layer.text };
    if layer.path.extension().is_some_and(|extension| extension == "toml") {
        return toml::from_str(&layer.text).map_err(|error| error.message().to_owned());
    }
    let is_commented = client.reading_rules == ReadingRules::JsonWithComments;
    let plain = if is_commented { plain_json(text) } else { text.to_owned() };
    let value: Value = serde_json::from_str(&plain).map_err(|error| error.to_string())?;
    match misformed(&value).filter(|_| client.reading_rules == ReadingRules::StrictJson) {
        Some(member) => Err(format!("the form of {member}")),
        None => Ok(value),
    }
}

/// Returns a member with an invalid value. Claude Code ignores a file that has one.
fn misformed(file: &Value) -> Option<String> {
    let is_hook = |hook: &Value| hook["type"].is_string();
    let is_group = |group: &Value| group["hooks"].as_array().is_some_and(|it| it.iter().all(is_hook));
    let is_event = |groups: &Value| groups.as_array().is_some_and(|it| it.iter().all(is_group));
    let hooks = file
        .get("hooks")
        .filter(|hooks| !hooks.as_object().is_some_and(|events| events.values().all(is_event)));
    if hooks.is_some() || !file.is_object() {
        return Some("hooks".to_owned());
    }
    let events = file["hooks"].as_object().into_iter().flat_map(|events| events.values());
    let groups: Vec<_> = events.filter_map(Value::as_array).flatten().collect();
    let handlers: Vec<_> = groups.iter().filter_map(|group| group["hooks"].as_array()).flatten().collect();
    let objects = [file, &file["permissions"]].into_iter().chain(groups).chain(handlers);
    let mut members = objects.filter_map(Value::as_object).flatten();
    members.find(|(name, value)| !is_formed(name, value)).map(|(name, _)| name.to_owned())
}

/// Returns whether Claude Code accepts the value of a member. Names that it does not check accept all but null.
fn is_formed(name: &str, value: &Value) -> bool {
    let is_text = |values: Option<&Vec<Value>>| values.is_some_and(|it| it.iter().all(Value::is_string));
    match name {
        "disableAllHooks" | "allowManagedHooksOnly" | "async" | "asyncRewake" | "once" => value.is_boolean(),
        "matcher" | "type" | "command" | "if" | "statusMessage" | "prompt" | "url" | "model" => {
            value.is_string()
        }
        "shell" => ["bash", "powershell"].iter().any(|shell| value == shell),
        "defaultMode" => MODES.iter().any(|mode| value == mode),
        "timeout" => value.as_f64().is_some_and(|limit| limit > 0.0),
        "cleanupPeriodDays" => value.is_number(),
        "allow" | "ask" | "deny" | "additionalDirectories" | "args" => is_text(value.as_array()),
        "env" => value.as_object().is_some_and(|it| it.values().all(Value::is_string)),
        "permissions" => value.is_object(),
        _ => !value.is_null(),
    }
}

fn at<'a>(value: &'a Value, names: &[&str]) -> &'a Value {
    names.iter().try_fold(value, |value, name| value.get(name)).unwrap_or(&Value::Null)
}

impl<'a> Judge<'a> {
    fn bad(&mut self, found: &str, advice: &str) {
        self.checks.push(Check::bad(WHAT, format!("{}: {found}", self.client.title()), advice));
    }

    fn warn(&mut self, found: &str, advice: &str) {
        self.checks.push(Check::warn(WHAT, format!("{}: {found}", self.client.title()), advice));
    }

    fn whole(&mut self) -> Vec<(PathBuf, String)> {
        let &[event, report, ..] = self.client.events else { return Vec::new() };
        let (all, reports) = (self.hooks(event), self.hooks(report));
        let client = self.client;
        let is_ours = |hook: &Hook<'_>| is_ours(client, hook.command);
        let (all_ours, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_ours);
        // Claude Code's hooks for its own question can change the input, too.
        if client.has_permissions {
            others.extend(self.hooks("PermissionRequest"));
        }
        let (fences, ours): (Vec<_>, Vec<_>) =
            all_ours.into_iter().partition(|hook| hook.command.contains(" --fence"));
        let reporting: Vec<_> = reports.into_iter().filter(is_ours).collect();
        if ours.is_empty() {
            if let Some(hook) = reporting.first().or(fences.first()) {
                let found = format!(
                    "the hook of {} only reports or fences, no other of {event} is placet's: it asks nothing",
                    hook.path.display()
                );
                self.bad(&found, INSTALL_AGAIN);
            }
            return Vec::new();
        }
        if let Some(why) = self.switched_off(&ours) {
            self.bad(&why, "remove that; until then its tools run without the gate");
        }
        if client.has_permissions {
            self.placet_variables();
        }
        let all_events: Vec<_> = client.events.iter().flat_map(|event| self.hooks(event)).collect();
        for hook in all_events.iter().filter(|hook| is_ours(hook)) {
            for fault in faults(client, hook) {
                self.bad(&fault, INSTALL_AGAIN);
            }
        }
        let mut sound = ours.clone();
        sound.retain(|hook| faults(client, hook).is_empty() && self.waits(*hook));
        if !sound.is_empty() {
            self.tools(&sound, &reporting);
            self.beside(&sound, &fences);
        }
        self.rivals(&sound, &others);
        self.rules(&sound);
        // doctor runs the returned commands, so they must run only placet.
        sound.iter().map(|hook| (hook.path.to_owned(), hook.command.to_owned())).collect()
    }

    fn hooks(&self, event: &str) -> Vec<Hook<'a>> {
        let mut hooks = Vec::new();
        let read: &'a [(&'a Layer, Value)] = self.read;
        for (layer, value) in read {
            for group in at(value, &["hooks", event]).as_array().into_iter().flatten() {
                let matcher = group["matcher"].as_str().unwrap_or_default();
                for handler in group["hooks"].as_array().into_iter().flatten() {
                    let command = handler["command"].as_str().unwrap_or_default();
                    hooks.push(Hook { path: &layer.path, group, matcher, handler, command });
                }
            }
        }
        hooks
    }

    fn switched_off(&self, ours: &[Hook<'_>]) -> Option<String> {
        let is_off = self.client.is_off;
        let last = self.read.iter().rev().find_map(|(layer, value)| Some((layer, is_off(value)?)));
        let off = last.and_then(|(layer, is_off)| {
            is_off.then(|| format!("{} turns all hooks off", layer.path.display()))
        });
        let is_managed =
            |hook: &Hook<'_>| self.read.iter().any(|(layer, _)| layer.managed && layer.path == hook.path);
        let only_managed = self.read.iter().find(|(layer, value)| {
            let plugins = &value["strictPluginOnlyCustomization"];
            let is_closed = plugins.as_bool() == Some(true)
                || plugins.as_array().is_some_and(|list| list.iter().any(|it| it == "hooks"));
            layer.managed && (value["allowManagedHooksOnly"].as_bool() == Some(true) || is_closed)
        });
        let only_managed = only_managed.filter(|_| !ours.iter().any(is_managed));
        let listed = |hook: &Hook<'_>| {
            let is_it =
                |name: &Value| name == hook.command || !name.is_null() && *name == hook.handler["name"];
            let mut lists =
                self.read.iter().filter_map(|(_, value)| at(value, &["hooksConfig", "disabled"]).as_array());
            lists.any(|list| list.iter().any(is_it))
        };
        off.or_else(|| {
            only_managed.map(|(layer, _)| format!("{} allows managed hooks only", layer.path.display()))
        })
        .or_else(|| ours.iter().all(listed).then(|| "the hook is in hooksConfig.disabled".to_owned()))
    }

    /// Reports variables that the client sets for the hook and that choose another gate than doctor's.
    fn placet_variables(&mut self) {
        let read: &'a [(&'a Layer, Value)] = self.read;
        for (layer, value) in read {
            let names = at(value, &["env"]).as_object().into_iter().flat_map(|env| env.keys());
            for name in names.filter(|name| is_placets(name)) {
                let found = format!("env of {} sets {name} for the hook", layer.path.display());
                self.bad(&found, &format!("remove {name}: it leads the hook to another gate"));
            }
        }
    }

    /// Returns whether the client lets the hook wait for its full time, and reports it if not.
    fn waits(&mut self, hook: Hook<'_>) -> bool {
        let limit = limit(self.client, hook.handler);
        let wait = written(self.client, hook.command).unwrap_or_default();
        let is_enough = limit >= wait.saturating_add(GRACE).as_secs_f64();
        if !is_enough {
            let found = format!(
                "it ends the hook of {} after {limit} s and runs the tool; the hook waits {} s, and needs {} s more",
                hook.path.display(),
                wait.as_secs(),
                GRACE.as_secs()
            );
            self.bad(&found, "install the hook again, with the --wait that you want");
        }
        is_enough
    }

    fn calls(&self, hooks: &[Hook<'_>], tool: &str) -> bool {
        hooks.iter().any(|hook| matches(self.client, hook.matcher, tool))
    }

    fn tools(&mut self, sound: &[Hook<'_>], reporting: &[Hook<'_>]) {
        let (asked, missed): (Vec<&str>, Vec<_>) =
            all_tools(self.client).partition(|tool| self.calls(sound, tool));
        let less = missed.iter().copied().filter(|tool| self.calls(reporting, tool)).collect::<Vec<_>>();
        let mut usual = self.client.changing.split('|');
        let found = format!("it asks about {}; it runs {} without asking", listed(&asked), listed(&missed));
        if asked.is_empty() {
            let found = format!("no tool is asked about: no matcher fits {}", listed(&missed));
            let name = usual.next().unwrap_or_default();
            self.bad(
                &found,
                &format!("install it with --tools of exact names (`{name}`), or without --tools"),
            );
        } else if !less.is_empty() {
            self.bad(&format!("{found}, of which {} were installed", listed(&less)), INSTALL_AGAIN);
        } else if usual.any(|tool| missed.contains(&tool)) {
            self.warn(&found, "leave --tools out to ask about all that change something");
        } else {
            self.checks.push(Check::good(WHAT, format!("{}: {found}", self.client.title())));
        }
    }

    /// Reports tools whose results are not reported, and reading tools without a fence.
    fn beside(&mut self, sound: &[Hook<'_>], fences: &[Hook<'_>]) {
        let client = self.client;
        let runs = |hook: &Hook<'_>| is_ours(client, hook.command) && faults(client, hook).is_empty();
        for event in client.events.iter().skip(1) {
            let reports: Vec<_> = self.hooks(event).into_iter().filter(runs).collect();
            let missed: Vec<_> = all_tools(client)
                .filter(|tool| self.calls(sound, tool) && !self.calls(&reports, tool))
                .collect();
            if !missed.is_empty() {
                let found = format!("no hook of {event} reports how {} ended", listed(&missed));
                self.bad(&found, INSTALL_AGAIN);
            }
        }
        let called: Vec<_> = fences.iter().copied().filter(runs).chain(sound.iter().copied()).collect();
        let mut open: Vec<_> = client.reading.split('|').filter(|tool| !tool.is_empty()).collect();
        open.retain(|tool| !self.calls(&called, tool));
        if !open.is_empty() {
            let found =
                format!("{} can read placet's own files: no hook with --fence is called", listed(&open));
            self.warn(&found, INSTALL_AGAIN);
        }
    }

    /// Reports hooks that may override an approval: a second one of placet, and those of other programs.
    fn rivals(&mut self, sound: &[Hook<'_>], others: &[Hook<'_>]) {
        let client = self.client;
        let overlap = |one: &Hook<'_>, other: &Hook<'_>| {
            let is_shared = |tool: &&str| [one, other].iter().all(|it| matches(client, it.matcher, tool));
            all_tools(client).filter(is_shared).collect::<Vec<_>>()
        };
        for (nth, one) in sound.iter().enumerate() {
            let rival = sound
                .iter()
                .skip(nth + 1)
                .find(|other| other.command != one.command && !overlap(one, other).is_empty());
            if let Some(other) = rival {
                let found = format!(
                    "two different hooks of placet ask about {}, in {} and {}: one denies what the other allows",
                    listed(&overlap(one, other)),
                    one.path.display(),
                    other.path.display()
                );
                self.bad(&found, "uninstall one of them");
            }
        }
        for other in others {
            let shared: Vec<_> = sound.iter().flat_map(|one| overlap(one, other)).collect();
            if !shared.is_empty() {
                let what = if other.command.is_empty() { "a hook" } else { other.command };
                let found =
                    format!("{what} of {} also answers for {}", other.path.display(), listed(&shared));
                self.warn(
                    &found,
                    "if it answers later or changes the input, something else runs than what was approved",
                );
            }
        }
    }

    fn rules(&mut self, sound: &[Hook<'_>]) {
        if !self.client.has_permissions {
            return;
        }
        for (kind, then) in [("ask", "asks once more, and without a terminal refuses"), ("deny", "refuses")] {
            for (layer, value) in self.read {
                let rules = at(value, &["permissions", kind]).as_array().into_iter().flatten();
                let outranks = |rule: &&str| {
                    let tool = rule.split('(').next().unwrap_or(rule);
                    self.calls(sound, if tool.starts_with("mcp__") { "mcp__any__tool" } else { tool })
                };
                let rules: Vec<_> = rules.filter_map(Value::as_str).filter(outranks).collect();
                if !rules.is_empty() {
                    let found = format!(
                        "it {then} what a human approved under {} ({kind} in {})",
                        rules.join(", "),
                        layer.path.display()
                    );
                    self.warn(&found, "remove the rules, or expect approvals that do not run");
                }
            }
        }
    }
}

/// Returns the faults of placet's own hook. Any member that placet does not write is a fault, because some make the
/// client skip the hook.
fn faults(client: &HookClient, hook: &Hook<'_>) -> Vec<String> {
    let (handler, at) = (hook.handler, hook.path.display());
    let others = |object: &Value, known: &[&str]| {
        let names = object.as_object().into_iter().flat_map(|object| object.keys().cloned());
        names.filter(|name| !known.contains(&name.as_str())).collect::<Vec<_>>()
    };
    let mut more = others(handler, &["type", "command", "timeout"]);
    more.extend(others(hook.group, &["matcher", "hooks"]));
    let kind = Some(&handler["type"]).filter(|kind| **kind != "command");
    let matcher = hook.group.get("matcher").filter(|matcher| !matcher.is_string());
    let limit = limit(client, handler);
    let faults = [
        kind.map(|kind| format!("the hook of {at} has the type {kind}, so it does not run placet")),
        written(client, hook.command).is_none().then(|| {
            format!("the hook of {at} is not placet followed by `|| exit 2`, so a fault lets the tool run")
        }),
        matcher.map(|matcher| format!("the hook of {at} has the matcher {matcher}, which is no text")),
        (limit > TIMER_MAX).then(|| format!("the hook of {at} has a timeout of {limit} s: it ends at once")),
        (!more.is_empty()).then(|| {
            format!("the hook of {at} has \"{}\", so it may not be called or waited for", more.join("\", \""))
        }),
    ];
    faults.into_iter().flatten().collect()
}

/// Returns the hook's timeout in seconds.
fn limit(client: &HookClient, handler: &Value) -> f64 {
    let given = handler["timeout"].as_f64().map(|limit| limit / f64::from(client.timeout_units));
    given.unwrap_or(client.default_timeout)
}

fn is_placets(name: &str) -> bool {
    name.starts_with("PLACET_") || ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"].contains(&name)
}

/// Returns the wait in a command that `placet hook install` may have written. `None` if it contains anything else, or
/// if a fault would let the tool run.
fn written(client: &HookClient, command: &str) -> Option<Duration> {
    let plain = command.trim().strip_suffix(OR_BLOCK.trim_start())?.trim_end();
    let words = shell_words::split(plain).ok()?;
    // Unquoted, these characters mean more to a shell than parts of words.
    let is_quoted = shell_words::join(&words) == plain;
    if !is_quoted && plain.contains(|c: char| "|;&`$\n<>#*?[(){}!".contains(c)) {
        return None;
    }
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let real = |path: &Path| path.canonicalize().ok();
    let path = Path::new(program);
    let is_this =
        || std::env::current_exe().is_ok_and(|it| real(&it).is_some_and(|it| real(path) == Some(it)));
    if !(path.file_stem()? == "placet" || is_this()) {
        return None;
    }
    let rest = if let ["--config", _, rest @ ..] = rest { rest } else { rest };
    let ["hook", "--client", name, rest @ ..] = rest else { return None };
    let (time, rest) = match rest {
        ["--wait", time, rest @ ..] => (*time, rest),
        [first, rest @ ..] if first.starts_with("--wait=") => (first.trim_start_matches("--wait="), rest),
        rest => ("50m", rest),
    };
    let rest = if let ["--defer", rest @ ..] = rest { rest } else { rest };
    let is_all = *name == client.word() && matches!(rest, [] | ["--fence"]);
    time::time_span(time).filter(|_| is_all)
}

fn matches(client: &HookClient, matcher: &str, tool: &str) -> bool {
    let is_word = |c: char| c == '_' || c == '|' || c.is_ascii_alphanumeric();
    let is_list =
        client.list_letters.is_some_and(|more| matcher.chars().all(|c| is_word(c) || more.contains(c)));
    match matcher {
        "" | "*" => true,
        list if is_list => list.split(['|', ',']).any(|name| name.trim() == tool),
        pattern => Regex::new(pattern).map_or(pattern == tool, |regex| regex.is_match(tool).unwrap_or(false)),
    }
}

fn all_tools(client: &HookClient) -> impl Iterator<Item = &'static str> + use<> {
    client.changing.split('|').chain(client.acting.split('|'))
}

fn listed(tools: &[&str]) -> String {
    let named = |tool: &&str| if tool.starts_with("mcp_") { "MCP tools" } else { *tool }.to_owned();
    let named: Vec<String> = tools.iter().map(named).collect();
    if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
}

#[cfg(test)]
mod tests;
