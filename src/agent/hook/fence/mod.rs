//! Calls that are refused without asking anyone: they reach for placet's own files, or decide in a shell.
//!
//! This is a fence and not a wall. An agent that runs as the reviewer's user can find another way.

mod shell;

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use fancy_regex::Regex;
use serde_json::Value;

use super::event::HookCall;
use shell::Command;

/// Commands of placet that decide, or that take a hook or a proxy out of the way.
const DECIDING: [&[&str]; 7] = [
    &["decide"],
    &["settle"],
    &["gate", "settle"],
    &["gate", "token"],
    &["gate", "resume"],
    &["hook", "uninstall"],
    &["mcp", "unwrap"],
];
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];
/// Programs and words of a shell that run the words behind them and their options.
const RUNNERS: [&str; 28] = [
    "!", "{", "builtin", "busybox", "command", "coproc", "do", "doas", "elif", "else", "env", "exec", "find",
    "if", "ionice", "nice", "nohup", "setsid", "stdbuf", "strace", "sudo", "then", "time", "timeout",
    "unbuffer", "until", "while", "xargs",
];
/// Options of runners that take a word.
const VALUED: [&str; 11] = ["-u", "-g", "-U", "-n", "-s", "-k", "-I", "-P", "-L", "-d", "-C"];
/// Programs that give their arguments to a shell as one line.
const JOINERS: [&str; 5] = ["parallel", "screen", "ssh", "tmux", "watch"];
/// Programs whose arguments are text, or that search for text.
const WRITERS: [&str; 19] = [
    "ack", "ag", "declare", "echo", "egrep", "export", "fgrep", "gh", "git", "glab", "grep", "jq", "local",
    "man", "printf", "rg", "sed", "type", "which",
];
/// Of these all arguments are text.
const ONLY_TEXT: [&str; 5] = ["declare", "echo", "export", "local", "printf"];
/// Programs whose first argument is a search pattern.
const SEARCHERS: [&str; 6] = ["ack", "ag", "egrep", "fgrep", "grep", "rg"];
/// How members end that hold a path, without `_` and `-`.
const PATHS: [&str; 20] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "dir",
    "directory",
    "folder",
    "cwd",
    "workdir",
    "uri",
    "destination",
    "glob",
    "from",
    "src",
    "target",
    "root",
    "location",
    "resource",
];
/// How members end that hold text. All others may hold a whole path.
const TEXTS: [&str; 20] = [
    "body",
    "code",
    "comment",
    "content",
    "contents",
    "description",
    "diff",
    "html",
    "message",
    "note",
    "pattern",
    "prompt",
    "query",
    "source",
    "str",
    "string",
    "subject",
    "summary",
    "text",
    "title",
];
const DEPTH: usize = 8;
/// Longest glob that is matched, in bytes.
const PATTERN_MAX: usize = 4096;

/// The files and the program that an agent must not use.
#[derive(Debug)]
pub struct Fence {
    /// The state folder and the configuration file, as written and where their links lead.
    own: Vec<PathBuf>,
    state: PathBuf,
    home: PathBuf,
    /// This program. A command can call it by another name.
    program: Option<PathBuf>,
}

impl Fence {
    /// Around these files: the state folder first. `home` is what `~` stands for.
    pub fn around(files: [&Path; 2], home: Option<PathBuf>, program: Option<PathBuf>) -> Self {
        let whole = files.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        Self {
            own: whole.iter().flat_map(|path| [lexical(path), resolved(path)]).collect(),
            state: whole.into_iter().next().unwrap_or_default(),
            home: home.unwrap_or_else(|| "/".into()),
            program: program.and_then(|program| program.canonicalize().ok()),
        }
    }

    /// Returns why a call is refused; `None` if a human may decide on it.
    pub fn refuses(&self, call: &HookCall) -> Option<&'static str> {
        let input: Value = serde_json::from_str(call.input.get()).ok()?;
        let part = |key: &str| input.get(key).and_then(Value::as_str);
        let looks_up = match call.tool.as_str() {
            "Glob" | "glob" => part("pattern").map(str::to_owned),
            // Without a slash it fits in every folder.
            _ => part("glob")
                .map(|glob| if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") }),
        };
        let base = part("path").or_else(|| part("dir_path")).unwrap_or(".");
        let looks_up = looks_up.is_some_and(|glob| {
            let below = format!("{}/{}", base.trim_end_matches('/'), glob.trim_start_matches("./"));
            self.is_within(if glob.starts_with(['/', '~', '$']) { &glob } else { &below }, call)
        });
        if looks_up || self.reaches(&input, "", call) {
            return Some(
                "Agents must not use the files of placet: they decide what agents may do. The call did not run.",
            );
        }
        let among = |names: &'static [&str]| {
            let members = input.as_object().into_iter().flatten();
            members.filter(|(key, _)| names.contains(&plain(key).as_str())).map(|(_, value)| value)
        };
        let more = among(&["args", "arguments", "argv"]).next();
        let several = among(&["commands"]).filter_map(Value::as_array).flatten();
        let mut lines = among(&["command", "cmd", "commandline", "program", "script"]).chain(several);
        if call.tool != "apply_patch" && lines.any(|line| self.decides(&words(line, more), call, 0)) {
            return Some(
                "Agents must not decide with placet, or open its files. Ask a human to do it. The call did not run.",
            );
        }
        None
    }

    /// A member that holds a path names one of placet's files. Members that hold text are skipped.
    fn reaches(&self, value: &Value, key: &str, call: &HookCall) -> bool {
        match value {
            Value::Object(members) => members.iter().any(|(key, value)| self.reaches(value, key, call)),
            Value::Array(values) => values.iter().any(|value| self.reaches(value, key, call)),
            Value::String(patch) if call.tool == "apply_patch" => {
                let names = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(": "));
                names.into_iter().any(|(_, name)| self.is_within(name, call))
            }
            Value::String(_) => {
                let key = plain(key);
                let is_path = key == "source" || PATHS.iter().any(|end| key.ends_with(end));
                let name = value.as_str().unwrap_or_default();
                let is_whole = name.starts_with(['/', '~', '$']) || name.starts_with("file:");
                let is_text = TEXTS.iter().any(|end| key.ends_with(end));
                (is_path || is_whole && !is_text) && self.is_within(name, call)
            }
            _ => false,
        }
    }

    /// The name lies in the state folder, or is the configuration's, as it is written or where its links lead.
    fn is_within(&self, name: &str, call: &HookCall) -> bool {
        let name = name.strip_prefix("file:").map_or(name, |uri| uri.split('?').next().unwrap_or(uri));
        let name = name.strip_prefix("//localhost").or_else(|| name.strip_prefix("//")).unwrap_or(name);
        let home = self.home.as_path();
        let bases = [("~", home), ("$HOME", home), ("${HOME}", home)];
        let state = [("$PLACET_STATE_DIR", self.state.as_path()), ("${PLACET_STATE_DIR}", &self.state)];
        let expanded = bases.into_iter().chain(state).find_map(|(variable, base)| {
            let rest = name.strip_prefix(variable).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(base.join(rest.trim_start_matches('/')))
        });
        let path = call.folder.join(expanded.unwrap_or_else(|| name.into()));
        [lexical(&path), resolved(&path)].iter().any(|path| self.own.iter().any(|own| path.starts_with(own)))
            || self.fits(&lexical(&path).to_string_lossy())
    }

    /// The pattern of names fits one of placet's files.
    fn fits(&self, pattern: &str) -> bool {
        let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let near = |own: &&PathBuf| own.to_string_lossy().starts_with(fixed);
        if fixed == pattern || pattern.len() > PATTERN_MAX || !self.own.iter().any(|own| near(&own)) {
            return false;
        }
        let Ok(pattern) = Regex::new(&regex(pattern)) else { return false };
        let within = |own: &PathBuf| {
            let files = std::fs::read_dir(own).into_iter().flatten().flatten();
            files.map(|file| file.path()).chain([own.clone()])
        };
        let mut files = self.own.iter().flat_map(within);
        files.any(|file| pattern.is_match(&*file.to_string_lossy()).unwrap_or(false))
    }

    /// A command line decides with placet, or opens its files.
    fn decides(&self, line: &str, call: &HookCall, depth: usize) -> bool {
        if depth == DEPTH {
            return false;
        }
        shell::commands(line).iter().any(|it| {
            let mut input = it.input.iter().filter(|_| reads_commands(&it.words));
            self.opens(it, call)
                || self.runs(&it.words, call, depth)
                || input.any(|text| self.decides(text, call, depth + 1))
        })
    }

    fn opens(&self, command: &Command, call: &HookCall) -> bool {
        let own = own_words(&command.words);
        let program = own.first().map_or("", |program| name_of(program));
        let before = command.words.len() - own.len();
        let mut words: Vec<&String> = command.words.iter().take(before).collect();
        words.extend(paths_of(program, own));
        words.into_iter().chain(&command.files).any(|word| {
            if word.starts_with("PLACET_") {
                return false;
            }
            let attached = word.strip_prefix('-').and_then(|option| option.get(1..)).unwrap_or_default();
            let mut parts = word.split(['=', '@', ',', '{', '}', ':', '?']).chain([word.as_str(), attached]);
            parts.any(|name| !name.is_empty() && self.is_within(name.trim_start_matches('@'), call))
        })
    }

    fn runs(&self, words: &[String], call: &HookCall, depth: usize) -> bool {
        let own = own_words(words);
        let Some((program, arguments)) = own.split_first() else {
            return self.decides_anywhere(words, call);
        };
        let name = name_of(program);
        // `find` may run several.
        let is_exec = |word: &String| ["-exec", "-execdir", "-ok"].contains(&word.as_str());
        let mut found = words.get(1..).unwrap_or_default().split(is_exec).skip(1);
        if found.any(|words| self.runs(words, call, depth)) {
            return true;
        }
        if WRITERS.contains(&name) || words.iter().any(|word| word == "-exec") {
            return false;
        }
        if name == "eval" {
            return self.decides(&arguments.join(" "), call, depth + 1);
        }
        let line = |(at, word): (usize, &String)| line_of(name_of(word), words.get(at + 1..)?);
        self.decides_anywhere(words, call)
            || self.is_placet(program, call) && is_deciding(arguments)
            || words.iter().enumerate().filter_map(line).any(|line| self.decides(&line, call, depth + 1))
    }

    fn decides_anywhere(&self, words: &[String], call: &HookCall) -> bool {
        let is_placet = |word: &String| !word.contains(char::is_whitespace) && self.is_placet(word, call);
        let mut found = words.iter().enumerate().filter(|(_, word)| is_placet(word));
        found.any(|(at, _)| words.get(at + 1..).is_some_and(is_deciding))
    }

    fn is_placet(&self, word: &str, call: &HookCall) -> bool {
        name_of(word) == "placet"
            || word.contains('/')
                && self.program.is_some()
                && call.path(word).canonicalize().ok() == self.program
    }
}

/// The name of a member without its case, `_` and `-`.
fn plain(key: &str) -> String {
    key.to_ascii_lowercase().replace(['_', '-'], "")
}

/// One command line from a string, or from a list of words.
fn words(line: &Value, more: Option<&Value>) -> String {
    let list = |value: &Value| {
        let words = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
        shell_words::join(words)
    };
    let line = line.as_str().map_or_else(|| list(line), str::to_owned);
    format!("{line} {}", more.map(list).unwrap_or_default())
}

/// The command that runs in the end: without assignments, the words of a shell and the programs that run another.
fn own_words(mut words: &[String]) -> &[String] {
    while let [first, rest @ ..] = words {
        let name = name_of(first);
        if is_assignment(first) {
            words = rest;
            continue;
        }
        if !RUNNERS.contains(&name) || name == "find" {
            break;
        }
        words = rest;
        while let [option, rest @ ..] = words {
            let is_number = option.starts_with(|c: char| c.is_ascii_digit());
            if !option.starts_with('-') && !is_number {
                break;
            }
            let takes = VALUED.contains(&option.as_str()) && !(name == "sudo" && option == "-n");
            words = if takes { rest.get(1..).unwrap_or_default() } else { rest };
        }
    }
    words
}

/// The arguments of a program that may name files.
fn paths_of<'a>(program: &str, words: &'a [String]) -> Vec<&'a String> {
    if ONLY_TEXT.contains(&program) {
        return Vec::new();
    }
    let is_writer = WRITERS.contains(&program);
    let reads_patterns = words.iter().any(|word| word.starts_with("-f") || word.starts_with("--file"));
    let mut pattern = SEARCHERS.contains(&program) && !reads_patterns;
    let (mut paths, mut skipped) = (Vec::new(), 0);
    for (nth, word) in words.iter().enumerate() {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        let takes = match option {
            "-m" | "--message" | "--body" | "--title" | "--notes" | "-e" | "--regexp" if is_writer => 1,
            // `gh -n TITLE`, but `grep -n PATTERN FILE`.
            "-b" | "-n" | "-t" if matches!(program, "gh" | "glab") => 1,
            "--arg" | "--argjson" if is_writer => 2,
            _ => 0,
        };
        match takes {
            _ if skipped > 0 => skipped -= 1,
            0 if nth > 0 && pattern && !word.starts_with('-') => pattern = false,
            0 => paths.push(word),
            takes => skipped = if option == word { takes } else { 0 },
        }
    }
    paths
}

/// The command line in the arguments of a shell, or of a program that hands a line to one.
fn line_of(program: &str, arguments: &[String]) -> Option<String> {
    if SHELLS.contains(&program) {
        let mut after = arguments.iter().skip_while(|word| !is_option_c(word)).skip(1);
        return after.find(|word| !word.starts_with('-')).cloned();
    }
    if JOINERS.contains(&program) {
        let is_start = |word: &String| word.contains(' ') || WRITERS.contains(&name_of(word));
        let from = arguments.iter().position(is_start)?;
        return Some(arguments.get(from..)?.join(" "));
    }
    let options = match program {
        "env" => ["-S", "--split-string"],
        "su" | "runuser" | "script" => ["-c", "--command"],
        _ => return None,
    };
    let at = arguments.iter().position(|word| options.iter().any(|option| word.starts_with(option)))?;
    let attached = arguments.get(at)?.trim_start_matches('-').split_once('=');
    attached.map(|(_, line)| line.to_owned()).or_else(|| arguments.get(at + 1).cloned())
}

/// A pattern of names as a regular expression.
fn regex(pattern: &str) -> String {
    // In this order: the longer first.
    let parts = [
        (r"\*\*/", "(.*/)?"),
        (r"\*\*", ".*"),
        (r"\*", "[^/]*"),
        (r"\?", "[^/]"),
        (r"\{", "("),
        (r"\}", ")"),
        (",", "|"),
        (r"\[", "["),
        (r"\]", "]"),
    ];
    let escaped = fancy_regex::escape(pattern).into_owned();
    format!("^{}$", parts.iter().fold(escaped, |text, (glob, regex)| text.replace(glob, regex)))
}

/// The last part of a program's path, also of one that a substitution finds.
fn name_of(word: &str) -> &str {
    word.rsplit(['/', ' ']).next().unwrap_or(word)
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    })
}

fn is_option_c(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('c')
}

/// A shell that reads its commands from standard input.
fn reads_commands(words: &[String]) -> bool {
    let shell = words.iter().position(|word| SHELLS.contains(&name_of(word)));
    let arguments = shell.and_then(|at| words.get(at + 1..));
    arguments.is_some_and(|words| words.iter().all(|word| word.starts_with('-') && !is_option_c(word)))
}

fn is_deciding(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    let mut named = Vec::new();
    while let Some(word) = words.next() {
        match word {
            // Options that take a word.
            "--config" | "--database" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => named.push(word),
        }
    }
    DECIDING.iter().any(|deciding| named.starts_with(deciding))
}

/// The path without `.` and `..`, as it is written.
fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
        whole
    })
}

/// The path behind all links, also where its end does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    path.ancestors()
        .find_map(|folder| Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?)))
        .map_or_else(|| path.to_owned(), |path| lexical(&path))
}
