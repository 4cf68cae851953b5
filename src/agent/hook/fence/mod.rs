//! Refuses calls that use placet's own files or decide through a shell, without asking a human.
//!
//! This is no security boundary: an agent with the reviewer's user id can get around it.

mod paths;
mod shell;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use fancy_regex::Regex;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::event::HookCall;
use paths::{file_uri, lexical, regex, resolved};
use shell::Command;

/// Commands of placet that decide, or remove a hook or a proxy.
const DECIDING: [&[&str]; 8] = [
    &["decide"],
    &["retry"],
    &["settle"],
    &["gate", "settle"],
    &["gate", "token"],
    &["gate", "resume"],
    &["hook", "uninstall"],
    &["mcp", "unwrap"],
];
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];
/// Programs and shell words that run the words after them and their options.
const RUNNERS: [&str; 30] = [
    "!", "{", "builtin", "busybox", "command", "coproc", "do", "doas", "elif", "else", "env", "exec", "find",
    "if", "ionice", "nice", "nohup", "rlwrap", "setsid", "stdbuf", "strace", "sudo", "then", "time",
    "timeout", "unbuffer", "unshare", "until", "while", "xargs",
];
/// Programs that run the words after them. Their options are unknown here.
const LAUNCHERS: [&str; 13] = [
    "bunx",
    "chroot",
    "chrt",
    "flock",
    "gdb",
    "npx",
    "nsenter",
    "runuser",
    "script",
    "su",
    "systemd-run",
    "taskset",
    "uvx",
];
/// Programs that run the words after one of [`RUNS`].
const MANAGERS: [&str; 10] =
    ["bun", "cargo", "docker", "kubectl", "npm", "pipx", "pnpm", "podman", "uv", "yarn"];
const RUNS: [&str; 5] = ["dlx", "exec", "run", "tool", "x"];
/// Options of [`RUNNERS`] that take a value.
const VALUED: [&str; 11] = ["-u", "-g", "-U", "-n", "-s", "-k", "-I", "-P", "-L", "-d", "-C"];
/// Programs that pass their arguments to a shell as one line.
const JOINERS: [&str; 5] = ["parallel", "screen", "ssh", "tmux", "watch"];
/// Commands of `tmux` whose arguments are text.
const SHOWS: [&str; 4] = ["display", "display-message", "rename-session", "rename-window"];
/// Programs whose arguments are text, or that search text.
const WRITERS: [&str; 19] = [
    "ack", "ag", "declare", "echo", "egrep", "export", "fgrep", "gh", "git", "glab", "grep", "jq", "local",
    "man", "printf", "rg", "sed", "type", "which",
];
/// Of [`WRITERS`], programs with text arguments only.
const ONLY_TEXT: [&str; 5] = ["declare", "echo", "export", "local", "printf"];
const SEARCHERS: [&str; 6] = ["ack", "ag", "egrep", "fgrep", "grep", "rg"];
/// Suffixes of members that hold a path, without `_` and `-`.
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
/// Suffixes of members that hold text. Any other member may hold an absolute path.
const TEXTS: [&str; 27] = [
    "answer",
    "body",
    "code",
    "comment",
    "content",
    "contents",
    "data",
    "description",
    "diff",
    "html",
    "input",
    "label",
    "markdown",
    "message",
    "note",
    "pattern",
    "payload",
    "prompt",
    "query",
    "source",
    "str",
    "string",
    "subject",
    "summary",
    "text",
    "title",
    "value",
];
/// Tools that show the content of all files below a folder.
const SEARCHES: [&str; 4] = ["Grep", "grep_search", "read_many_files", "search_file_content"];
const DEPTH: usize = 8;
/// Longest glob to match, in bytes.
const PATTERN_MAX: usize = 4096;

#[derive(Debug)]
pub struct Fence {
    /// The state folder and the configuration file, as written and with links resolved.
    own: Vec<PathBuf>,
    state: PathBuf,
    home: PathBuf,
    /// placet's own program, to recognize it under another name.
    program: Option<PathBuf>,
}

impl Fence {
    /// `files` are the state folder and the configuration file. `home` replaces `~`.
    pub fn around(files: [&Path; 2], home: Option<PathBuf>, program: Option<PathBuf>) -> Self {
        let whole = files.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        Self {
            own: whole.iter().flat_map(|path| [lexical(path), resolved(path)]).collect(),
            state: whole.into_iter().next().unwrap_or_default(),
            home: home.unwrap_or_else(|| "/".into()),
            program: program.and_then(|program| program.canonicalize().ok()),
        }
    }

    /// Returns why a call is refused, `None` if a human may decide it.
    pub fn refuses(&self, call: &HookCall) -> Option<&'static str> {
        let input: Value = serde_json::from_str(call.input.get()).ok()?;
        let part = |key: &str| input.get(key).and_then(Value::as_str);
        let base = self.located(part("path").or_else(|| part("dir_path")).unwrap_or("."), &call.folder);
        let globs = globs(call, &input);
        let below = |glob: &String| {
            let glob = glob.trim_start_matches("./");
            let is_rooted = glob.starts_with(['/', '~', '$']);
            let bases = [lexical(&base), resolved(&base)].map(|it| it.to_string_lossy().into_owned());
            bases.map(|base| if is_rooted { glob.to_owned() } else { format!("{base}/{glob}") })
        };
        let mut names = globs.iter().flat_map(below);
        let is_search = SEARCHES.contains(&call.tool.as_str());
        let is_reached = names.any(|name| {
            self.is_within(&name, &call.folder) || is_search && self.holds(&self.located(&name, &call.folder))
        });
        // The fence cannot tell what these globs match.
        let is_doubtful = |glob: &String| glob.contains(['!', '\\']) || glob.len() > PATTERN_MAX;
        let is_open = is_search && (globs.is_empty() || globs.iter().any(is_doubtful)) && self.holds(&base);
        if is_open || is_search && is_reached {
            return Some(
                "Files of placet lie in the folder of this search. Search a folder that does not hold them, or give a glob that does not fit them, such as *.rs. The call did not run.",
            );
        }
        if is_reached || self.reaches(&input, "", call) {
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
        if call.tool != "apply_patch" && lines.any(|line| self.decides(&words(line, more), &call.folder, 0)) {
            return Some(
                "Agents must not decide with placet, or open its files. Ask a human to do it. The call did not run.",
            );
        }
        None
    }

    /// Returns whether a path in the input names one of placet's files. Skips members that hold text.
    fn reaches(&self, value: &Value, key: &str, call: &HookCall) -> bool {
        match value {
            Value::Object(members) => members.iter().any(|(key, value)| self.reaches(value, key, call)),
            Value::Array(values) => values.iter().any(|value| self.reaches(value, key, call)),
            Value::String(patch) if call.tool == "apply_patch" => {
                let names = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(": "));
                names.into_iter().any(|(_, name)| self.is_within(name, &call.folder))
            }
            Value::String(_) => {
                let key = plain(key);
                let is_path = key == "source" || PATHS.iter().any(|end| key.ends_with(end));
                let name = value.as_str().unwrap_or_default();
                let is_whole = name.starts_with(['/', '~', '$']) || file_uri(name).is_some();
                let is_text = TEXTS.iter().any(|end| key.ends_with(end));
                (is_path || is_whole && !is_text) && self.is_within(name, &call.folder)
            }
            _ => false,
        }
    }

    /// Returns whether the folder contains one of placet's files, as written or with links resolved.
    fn holds(&self, folder: &Path) -> bool {
        [lexical(folder), resolved(folder)]
            .iter()
            .any(|path| self.own.iter().any(|own| own.starts_with(path)))
    }

    /// Returns whether the name is in the state folder or is the configuration file, as written or with links resolved.
    fn is_within(&self, name: &str, folder: &Path) -> bool {
        let path = self.located(name, folder);
        [lexical(&path), resolved(&path)].iter().any(|path| self.own.iter().any(|own| path.starts_with(own)))
            || self.fits(&lexical(&path).to_string_lossy())
    }

    fn located(&self, name: &str, folder: &Path) -> PathBuf {
        let path = |uri: &str| {
            percent_decode_str(uri.split('?').next().unwrap_or(uri)).decode_utf8_lossy().into_owned()
        };
        let uri = file_uri(name).map(path);
        let name = uri.as_deref().unwrap_or(name);
        let name = name.strip_prefix("//localhost").or_else(|| name.strip_prefix("//")).unwrap_or(name);
        let home = self.home.as_path();
        let bases = [("~", home), ("$HOME", home), ("${HOME}", home), ("$PWD", folder), ("${PWD}", folder)];
        let state = [("$PLACET_STATE_DIR", self.state.as_path()), ("${PLACET_STATE_DIR}", &self.state)];
        let expanded = bases.into_iter().chain(state).find_map(|(variable, base)| {
            let rest = name.strip_prefix(variable).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
            Some(base.join(rest.trim_start_matches('/')))
        });
        folder.join(expanded.unwrap_or_else(|| name.into()))
    }

    /// Returns whether the pattern matches one of placet's files.
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

    fn decides(&self, line: &str, folder: &Path, depth: usize) -> bool {
        if depth == DEPTH {
            return false;
        }
        // A subshell or a condition may undo a `cd`, so each folder counts for all later commands.
        let (mut at, mut folders) = (folder.to_owned(), vec![folder.to_owned()]);
        shell::commands(line).iter().any(|it| {
            let input = it.input.iter().filter(|_| reads_commands(&it.words));
            let is_refused = folders.iter().any(|folder| {
                self.opens(it, folder)
                    || self.runs(&it.words, folder, depth)
                    || input.clone().any(|text| self.decides(text, folder, depth + 1))
            });
            if let Some((word, arguments)) = own_words(&it.words).split_first()
                && ["cd", "pushd"].contains(&word.as_str())
            {
                let to = arguments.iter().find(|word| !word.starts_with('-')).map_or("~", String::as_str);
                at = self.located(to, &at);
                if !folders.contains(&at) {
                    folders.push(at.clone());
                }
            }
            is_refused
        })
    }

    fn opens(&self, command: &Command, folder: &Path) -> bool {
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
            parts.any(|name| !name.is_empty() && self.is_within(name.trim_start_matches('@'), folder))
        })
    }

    fn runs(&self, words: &[String], folder: &Path, depth: usize) -> bool {
        let own = own_words(words);
        let (program, arguments) = own.split_first().map_or(("", own), |(it, rest)| (it.as_str(), rest));
        let name = name_of(program);
        // `find` can have several.
        let is_exec = |word: &String| ["-exec", "-execdir", "-ok", "-okdir"].contains(&word.as_str());
        let mut found = words.get(1..).unwrap_or_default().split(is_exec).skip(1);
        if found.any(|words| self.runs(words, folder, depth)) {
            return true;
        }
        if name == "git" && git_lines(arguments).iter().any(|line| self.decides(line, folder, depth + 1)) {
            return true;
        }
        let is_shown = name == "tmux"
            && arguments.first().is_some_and(|word| SHOWS.contains(&word.as_str()))
            && !arguments.iter().any(|word| word.ends_with(';') || word.contains("#("));
        if is_shown || WRITERS.contains(&name) || words.iter().any(|word| word == "-exec") {
            return false;
        }
        if name == "eval" {
            return self.decides(&arguments.join(" "), folder, depth + 1);
        }
        let line = |(at, word): (usize, &String)| line_of(name_of(word), words.get(at + 1..)?);
        let before = words.get(..words.len() - arguments.len()).unwrap_or_default();
        launches(before, arguments) && self.decides_anywhere(words, folder)
            || self.is_placet(program, folder) && is_deciding(arguments)
            || words.iter().enumerate().filter_map(line).any(|line| self.decides(&line, folder, depth + 1))
    }

    fn decides_anywhere(&self, words: &[String], folder: &Path) -> bool {
        let is_placet = |word: &String| !word.contains(char::is_whitespace) && self.is_placet(word, folder);
        let mut found = words.iter().enumerate().filter(|(_, word)| is_placet(word));
        found.any(|(at, _)| words.get(at + 1..).is_some_and(is_deciding))
    }

    fn is_placet(&self, word: &str, folder: &Path) -> bool {
        name_of(word) == "placet"
            || word.contains('/')
                && self.program.is_some()
                && folder.join(word).canonicalize().ok() == self.program
    }
}

fn plain(key: &str) -> String {
    key.to_ascii_lowercase().replace(['_', '-'], "")
}

fn words(line: &Value, more: Option<&Value>) -> String {
    let list = |value: &Value| {
        let words = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
        shell_words::join(words)
    };
    let line = line.as_str().map_or_else(|| list(line), str::to_owned);
    format!("{line} {}", more.map(list).unwrap_or_default())
}

/// Skips assignments, shell words and programs that run another program.
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
            // -n takes a value in `gh -n TITLE`, but not in `grep -n PATTERN FILE`.
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

/// Returns the command line in the arguments of a shell, or of a program that passes a line to one.
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
    let (letter, long) = match program {
        "env" => ('S', "--split-string"),
        "flock" | "su" | "runuser" | "script" => ('c', "--command"),
        _ => return None,
    };
    arguments.iter().enumerate().find_map(|(at, word)| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let attached = match word.strip_prefix('-')? {
            // A long option may be abbreviated.
            option if option.starts_with('-') => {
                Some(value).filter(|_| name.len() > 2 && long.starts_with(name))
            }
            option => option.split_once(letter).map(|(_, line)| line),
        };
        Some(format!("{} {}", attached?, arguments.get(at + 1..)?.join(" ")))
    })
}

fn git_lines(arguments: &[String]) -> Vec<String> {
    let line = |(at, word): (usize, &String)| {
        let rest = arguments.get(at + 1..)?;
        match (word.as_str(), rest) {
            ("-c", [value, ..]) => Some(value.split_once('=')?.1.trim_start_matches('!').to_owned()),
            ("--exec" | "-x", [line, ..]) | ("run" | "foreach", [line]) => Some(line.clone()),
            ("foreach", [option, line]) if option == "--recursive" => Some(line.clone()),
            ("run" | "foreach", words) => Some(shell_words::join(words)),
            (option, _) => option.strip_prefix("--exec=").map(str::to_owned),
        }
    };
    arguments.iter().enumerate().filter_map(line).collect()
}

fn launches(before: &[String], arguments: &[String]) -> bool {
    let words = before.iter().chain(arguments);
    before
        .iter()
        .zip(words.skip(1))
        .any(|(word, next)| RUNNERS.contains(&name_of(word)) && next.starts_with('-'))
        || before.iter().map(|word| name_of(word)).any(|name| {
            JOINERS.contains(&name)
                || LAUNCHERS.contains(&name)
                || MANAGERS.contains(&name) && arguments.iter().any(|word| runs_next(name, word))
        })
}

fn runs_next(manager: &str, word: &str) -> bool {
    // `npm run` and `pnpm run` run only the scripts of a package.
    RUNS.contains(&word) && !(word == "run" && matches!(manager, "npm" | "pnpm"))
}

fn globs(call: &HookCall, input: &Value) -> Vec<String> {
    let (names, is_whole): (&[&str], _) = match call.tool.as_str() {
        "Glob" | "glob" => (&["pattern"], true),
        _ => (&["glob", "include", "include_pattern"], false),
    };
    let values = names.iter().filter_map(|name| input.get(name)).flat_map(|value| match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
        value => value.as_str().into_iter().collect(),
    });
    let parts = values.flat_map(|glob| {
        let words = glob.split_whitespace().filter(|_| !is_whole);
        // A comma within braces does not separate patterns.
        let parts = words.flat_map(|it| it.split(',').filter(|_| !it.contains('{')).chain([it]));
        [glob].into_iter().chain(parts)
    });
    // A pattern without a slash matches in every folder.
    let anywhere =
        |glob: &str| if is_whole || glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
    parts.filter(|glob| !glob.trim().is_empty()).map(anywhere).collect()
}

/// The file name of a program's path, which may be the output of a substitution such as `$(which placet)`.
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

/// Returns whether the words are a shell that reads commands from standard input or a substitution.
fn reads_commands(words: &[String]) -> bool {
    let is_shell = |word: &String| SHELLS.contains(&name_of(word)) || word == "." || word == "source";
    let Some(at) = words.iter().position(is_shell) else { return false };
    let mut arguments = words.iter().skip(at + 1).map(String::as_str);
    while let Some(word) = arguments.next() {
        let is_short = word.starts_with(['-', '+']) && !word.starts_with("--");
        match word {
            word if is_short && word.contains('c') => return false,
            word if is_short && word.contains('s') => return true,
            "--rcfile" | "--init-file" => drop(arguments.next()),
            // `-o NAME`, also after other letters.
            word if is_short && word.ends_with(['o', 'O']) => drop(arguments.next()),
            word if word.starts_with('-') || is_short => {}
            word => {
                return ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].iter().any(|it| word.starts_with(it));
            }
        }
    }
    words.get(at).is_some_and(|word| SHELLS.contains(&name_of(word)))
}

fn is_deciding(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    let mut named = Vec::new();
    while let Some(word) = words.next() {
        match word {
            // Options with a value
            "--config" | "--database" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => named.push(word),
        }
    }
    // `--help` prints help and does nothing else.
    let is_help = arguments.last().is_some_and(|word| word == "--help");
    let is_only_help = |deciding: &[&str]| is_help && arguments.len() == deciding.len() + 1;
    DECIDING.iter().any(|deciding| named.starts_with(deciding) && !is_only_help(deciding))
}
