//! The table of agents' clients: what placet knows about each, as its hook and as the proxy of its MCP servers.
//!
//! Describes Claude Code 2.1.197, Codex CLI 0.169.0, opencode 1.18.33 and Gemini CLI 0.61.0. docs/agents.md lists the
//! measurements.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// In the order of the help.
pub const CLIENTS: [&Client; 4] = [&CLAUDE_CODE, &CODEX, &OPENCODE, &GEMINI];

pub static CLAUDE_CODE: Client = Client {
    word: "claude-code",
    title: "Claude Code",
    help: "~/.claude.json, or .mcp.json here",
    home: Home { variable: "CLAUDE_CONFIG_DIR", default: "" },
    places: |home, here| {
        let own = home.join(".claude.json");
        vec![
            place(own.clone(), &["projects", &here.to_string_lossy(), "mcpServers"]),
            place(here.join(".mcp.json"), &["mcpServers"]),
            place(own, &["mcpServers"]),
        ]
    },
    servers: Servers::Json { has_comments: false, excluded: None },
    patience: None,
    hook: Some(&CLAUDE_CODE_HOOK),
};

pub static CLAUDE_CODE_HOOK: HookClient = HookClient {
    client: &CLAUDE_CODE,
    agent: "claude-code",
    protocol: Protocol::Claude,
    marker: None,
    can_defer: true,
    home: Home { variable: "CLAUDE_CONFIG_DIR", default: ".claude" },
    user_file: "settings.json",
    project_file: Some(".claude/settings.json"),
    other_file: |here, _| Some(here.join(".claude/settings.local.json")),
    managed_files: claude_managed,
    reading_rules: ReadingRules::StrictJson,
    is_off: |settings| settings["disableAllHooks"].as_bool(),
    has_permissions: true,
    needs_trust: false,
    list_letters: Some(", -"),
    events: &["PreToolUse", "PostToolUse", "PostToolUseFailure"],
    changing: "Bash|Edit|Write|NotebookEdit|mcp__any__tool",
    acting: "WebFetch|WebSearch|Agent",
    reading: "Read|Grep|Glob",
    default_timeout: 600.0,
    timeout_units: 1,
};

pub static CODEX: Client = Client {
    word: "codex",
    title: "Codex",
    help: "~/.codex/config.toml",
    home: Home { variable: "CODEX_HOME", default: ".codex" },
    places: |home, _| vec![place(home.join("config.toml"), &["mcp_servers"])],
    servers: Servers::Toml,
    // It gives up after 300 s, even with progress.
    patience: Some(Duration::from_mins(4)),
    hook: Some(&CODEX_HOOK),
};

pub static CODEX_HOOK: HookClient = HookClient {
    client: &CODEX,
    agent: "codex",
    protocol: Protocol::Claude,
    marker: Some("turn_id"),
    can_defer: false,
    home: Home { variable: "CODEX_HOME", default: ".codex" },
    user_file: "hooks.json",
    project_file: None,
    other_file: |_, hooks| Some(hooks?.with_file_name("config.toml")),
    managed_files: |_| Vec::new(),
    reading_rules: ReadingRules::Json,
    is_off: |config| {
        let features = &config["features"];
        features["hooks"].as_bool().or_else(|| features["codex_hooks"].as_bool()).map(|on| !on)
    },
    has_permissions: false,
    needs_trust: true,
    list_letters: Some(""),
    events: &["PreToolUse", "PostToolUse"],
    changing: "Bash|apply_patch|mcp__any__tool",
    acting: "web_search",
    reading: "",
    default_timeout: 600.0,
    timeout_units: 1,
};

pub static OPENCODE: Client = Client {
    word: "opencode",
    title: "opencode",
    help: "opencode.json here, in .opencode or in ~/.config/opencode",
    home: Home { variable: "XDG_CONFIG_HOME", default: ".config" },
    places: |home, here| {
        let folders = [here.join(".opencode"), here.to_owned(), home.join("opencode")];
        let files = |folder: PathBuf| ["opencode.json", "opencode.jsonc"].map(|name| folder.join(name));
        folders.into_iter().flat_map(files).map(|path| place(path, &["mcp"])).collect()
    },
    servers: Servers::JsonList,
    patience: None,
    hook: None,
};

pub static GEMINI: Client = Client {
    word: "gemini",
    title: "Gemini CLI",
    help: ".gemini/settings.json here or at home",
    home: Home { variable: "GEMINI_CLI_HOME", default: "" },
    places: |home, here| {
        [here, home].map(|it| place(it.join(".gemini/settings.json"), &["mcpServers"])).into()
    },
    servers: Servers::Json { has_comments: true, excluded: Some("excludeTools") },
    // It gives up after 600 s, even with progress.
    patience: Some(Duration::from_mins(9)),
    hook: Some(&GEMINI_HOOK),
};

pub static GEMINI_HOOK: HookClient = HookClient {
    client: &GEMINI,
    agent: "gemini-cli",
    protocol: Protocol::Gemini,
    marker: None,
    can_defer: false,
    home: Home { variable: "GEMINI_CLI_HOME", default: "" },
    user_file: ".gemini/settings.json",
    project_file: Some(".gemini/settings.json"),
    other_file: |_, _| None,
    managed_files: |env| {
        let system = env("GEMINI_CLI_SYSTEM_SETTINGS_PATH");
        vec![system.unwrap_or_else(|| "/etc/gemini-cli/settings.json".into())]
    },
    reading_rules: ReadingRules::JsonWithComments,
    is_off: |settings| settings.pointer("/hooksConfig/enabled")?.as_bool().map(|on| !on),
    has_permissions: false,
    needs_trust: false,
    list_letters: None,
    events: &["BeforeTool", "AfterTool"],
    changing: "run_shell_command|replace|write_file|mcp_any_tool",
    acting: "web_fetch|google_web_search",
    reading: "read_file|read_many_files|list_directory|grep_search|search_file_content|glob",
    default_timeout: 60.0,
    timeout_units: 1_000,
};

/// A client, and how it runs MCP servers.
#[derive(Debug)]
pub struct Client {
    /// The name on the command line. Its name in MCP contains it, too.
    pub word: &'static str,
    pub title: &'static str,
    /// Where its servers are, for the help.
    pub help: &'static str,
    pub home: Home,
    /// Places of its servers in descending precedence, given its home and the project's folder.
    pub places: fn(&Path, &Path) -> Vec<Place>,
    pub servers: Servers,
    /// The wait before a call is parked, shorter than its own limit. `None` if progress extends that limit.
    pub patience: Option<Duration>,
    pub hook: Option<&'static HookClient>,
}

#[derive(Debug)]
pub struct HookClient {
    pub client: &'static Client,
    /// The name shown to reviewers. It is part of every idempotency key and must not change.
    pub agent: &'static str,
    pub protocol: Protocol,
    /// A member of its events that other clients of this protocol do not write.
    pub marker: Option<&'static str>,
    /// Whether it ends the turn on `defer`. Others run the tool, or do not know the word.
    pub can_defer: bool,
    pub home: Home,
    pub user_file: &'static str,
    /// A project's settings. `None` if hooks are installed for the user only.
    pub project_file: Option<&'static str>,
    /// Another file that it reads, given the project's folder and the user's settings.
    pub other_file: fn(&Path, Option<&Path>) -> Option<PathBuf>,
    /// Files of the machine's administrator, which override all others.
    pub managed_files: fn(Env<'_>) -> Vec<PathBuf>,
    pub reading_rules: ReadingRules,
    /// Whether a file switches hooks off, or on again.
    pub is_off: fn(&Value) -> Option<bool>,
    /// Whether settings can set the hook's environment and override approvals.
    pub has_permissions: bool,
    /// Whether it skips a hook until the user trusts it. Only Codex can be asked.
    pub needs_trust: bool,
    /// A matcher of words, `|` and these letters is a list of exact names. `None` if it is always a pattern.
    pub list_letters: Option<&'static str>,
    /// The event before a call, then those after it.
    pub events: &'static [&'static str],
    /// Tools in the default matcher, separated by `|`; one of them stands for all MCP tools.
    pub changing: &'static str,
    pub acting: &'static str,
    /// Tools that take file paths. Empty if it reads files in its shell.
    pub reading: &'static str,
    /// In seconds.
    pub default_timeout: f64,
    /// The number of units of `timeout` in a second.
    pub timeout_units: u32,
}

impl HookClient {
    pub fn all() -> impl Iterator<Item = &'static Self> {
        CLIENTS.into_iter().filter_map(|client| client.hook)
    }

    pub const fn word(&self) -> &'static str {
        self.client.word
    }

    pub const fn title(&self) -> &'static str {
        self.client.title
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Claude,
    /// Without call ids.
    Gemini,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingRules {
    Json,
    /// Ignores a file with a member of a wrong form.
    StrictJson,
    JsonWithComments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Servers {
    Toml,
    /// JSON with a string `command` and a list `args`.
    Json {
        has_comments: bool,
        /// The name of a list of tools that the model does not see.
        excluded: Option<&'static str>,
    },
    /// JSON with comments, where `command` is a list and `tools` at the top hides tools.
    JsonList,
}

/// A settings file, and the keys of its table of servers.
type Place = (PathBuf, Vec<String>);

fn place(path: PathBuf, keys: &[&str]) -> Place {
    (path, keys.iter().map(|key| (*key).to_owned()).collect())
}

pub type Env<'a> = &'a dyn Fn(&str) -> Option<PathBuf>;

#[derive(Debug)]
pub struct Home {
    variable: &'static str,
    /// Below the user's home, without the variable.
    default: &'static str,
}

impl Home {
    pub fn folder(&self, env: Env<'_>) -> Option<PathBuf> {
        let default = || variable(env, "HOME").map(|home| home.join(self.default));
        variable(env, self.variable).or_else(default)
    }
}

pub fn variable(env: Env<'_>, name: &str) -> Option<PathBuf> {
    env(name).filter(|value| !value.as_os_str().is_empty())
}

fn claude_managed(_: Env<'_>) -> Vec<PathBuf> {
    let folder = Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else {
        "/etc/claude-code"
    });
    let more = fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut more: Vec<_> = more.map(|entry| entry.path()).collect();
    more.sort();
    [vec![folder.join("managed-settings.json")], more].concat()
}
