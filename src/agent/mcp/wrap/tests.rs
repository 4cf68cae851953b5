use super::*;

const PROGRAM: &str = "/opt/placet";

struct Home(tempfile::TempDir);

impl Home {
    fn with(path: &str, text: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.put(path, text);
        home
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn find(&self, client: McpClient, name: &str) -> Result<Server, WrapError> {
        let home = self.0.path();
        find(client, name, &home.join("work"), |variable| (variable == "HOME").then(|| home.to_owned()))
    }

    fn wrap(&self, client: McpClient, name: &str) -> Change {
        let change = self.find(client, name).unwrap().wrapped(&[PROGRAM.to_owned()]).unwrap().unwrap();
        change.write().unwrap();
        change
    }

    fn unwrap(&self, client: McpClient, name: &str) {
        self.find(client, name).unwrap().unwrapped().unwrap().unwrap().write().unwrap();
    }
}

/// Wraps, looks, and takes it off: the same bytes.
fn there_and_back(client: McpClient, path: &str, text: &str, wrapped: &str) {
    let home = Home::with(path, text);
    home.wrap(client, "fs");
    assert_eq!(home.text(path), wrapped);
    let again = home.find(client, "fs").unwrap();
    assert!(again.is_wrapped() && again.wrapped(&[PROGRAM.to_owned()]).is_none(), "{wrapped}");
    home.unwrap(client, "fs");
    assert_eq!(home.text(path), text);
    assert!(home.find(client, "fs").unwrap().unwrapped().is_none());
}

#[test]
fn claude_code_gets_the_word_in_front_and_loses_it_again() {
    let client = McpClient::ClaudeCode;
    there_and_back(
        client,
        "work/.mcp.json",
        "{\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"npx\", \"args\": [\n      \"-y\", \"srv\"\n    ], \"env\": {\"N\": 1.0}}\n  },\n  \"x\":1.10\n}\n",
        "{\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"/opt/placet\", \"args\": [\"mcp\", \"--name\", \"fs\", \"--\", \"npx\", \n      \"-y\", \"srv\"\n    ], \"env\": {\"N\": 1.0}}\n  },\n  \"x\":1.10\n}\n",
    );
    there_and_back(
        client,
        ".claude.json",
        r#"{"mcpServers":{"fs":{"args":[ ],"command":"\u006epx"}}}"#,
        r#"{"mcpServers":{"fs":{"args":["mcp", "--name", "fs", "--", "\u006epx" ],"command":"/opt/placet"}}}"#,
    );
    there_and_back(
        client,
        ".claude.json",
        r#"{"mcpServers":{"fs":{"command":"srv" , "env":{}}}}"#,
        r#"{"mcpServers":{"fs":{"command":"/opt/placet","args":["mcp","--name","fs","--","srv"] , "env":{}}}}"#,
    );
}

#[test]
fn gemini_cli_is_written_like_claude_code() {
    there_and_back(
        McpClient::Gemini,
        ".gemini/settings.json",
        r#"{"mcpServers":{"fs":{"command":"srv","args":["a"],"timeout":5}}}"#,
        r#"{"mcpServers":{"fs":{"command":"/opt/placet","args":["mcp", "--name", "fs", "--", "srv", "a"],"timeout":5}}}"#,
    );
}

#[test]
fn opencode_has_one_list_and_gets_a_limit() {
    let client = McpClient::Opencode;
    there_and_back(
        client,
        ".config/opencode/opencode.json",
        r#"{"mcp":{"fs":{"type":"local","command":["npx", "srv"],"enabled":true}}}"#,
        r#"{"mcp":{"fs":{"type":"local","command":["/opt/placet", "mcp", "--name", "fs", "--", "npx", "srv"],"timeout":3600000,"enabled":true}}}"#,
    );
    there_and_back(
        client,
        "work/opencode.json",
        r#"{"mcp":{"fs":{"timeout":9,"command":[ "srv" ]}}}"#,
        r#"{"mcp":{"fs":{"timeout":9,"command":["/opt/placet", "mcp", "--name", "fs", "--",  "srv" ]}}}"#,
    );
}

#[test]
fn codex_keeps_its_comments_and_gets_a_limit() {
    let client = McpClient::Codex;
    let path = ".codex/config.toml";
    there_and_back(
        client,
        path,
        "# mine\nmodel = 'x'\n[mcp_servers.fs]\ncommand = 'npx' # run\nargs = [\n  \"-y\", # yes\n  'srv',\n]\n[mcp_servers.fs.env]\nA = \"1\"\n",
        "# mine\nmodel = 'x'\n[mcp_servers.fs]\ncommand = \"/opt/placet\"\ntool_timeout_sec=3600 # run\nargs = [\"mcp\", \"--name\", \"fs\", \"--\", 'npx', \n  \"-y\", # yes\n  'srv',\n]\n[mcp_servers.fs.env]\nA = \"1\"\n",
    );
    there_and_back(
        client,
        path,
        "[mcp_servers.fs]\ntool_timeout_sec = 9\ncommand = \"srv\"\n",
        "[mcp_servers.fs]\ntool_timeout_sec = 9\ncommand = \"/opt/placet\"\nargs=[\"mcp\",\"--name\",\"fs\",\"--\",\"srv\"]\n",
    );
    there_and_back(
        client,
        path,
        "mcp_servers.fs = { command = \"srv\", env = {} }\n",
        "mcp_servers.fs = { command = \"/opt/placet\",tool_timeout_sec=3600,args=[\"mcp\",\"--name\",\"fs\",\"--\",\"srv\"], env = {} }\n",
    );
}

#[test]
fn what_was_wrapped_by_hand_is_unwrapped() {
    let wrapped =
        r#"{"mcpServers":{"fs":{"command":"placet","args":["mcp", "--wait", "60", "--", "srv", "a"]}}}"#;
    let home = Home::with(".claude.json", wrapped);

    home.unwrap(McpClient::ClaudeCode, "fs");

    let bare = r#"{"mcpServers":{"fs":{"command":"srv","args":["a"]}}}"#;
    assert_eq!(home.text(".claude.json"), bare);
    home.put(".claude.json", &wrapped.replace(", ", ","));
    home.unwrap(McpClient::ClaudeCode, "fs");
    assert_eq!(home.text(".claude.json"), bare);
}

#[test]
fn a_name_that_the_gate_does_not_take_becomes_a_word() {
    let home = Home::with(".claude.json", r#"{"mcpServers":{"my server":{"command":"srv","args":[]}}}"#);

    let change = home.wrap(McpClient::ClaudeCode, "my server");

    assert_eq!(change.after, ["/opt/placet", "mcp", "--name", "my-server", "--", "srv"]);
    assert_eq!(change.before, ["srv"]);
}

#[test]
fn the_place_that_the_client_prefers_is_changed() {
    let server = r#"{"mcpServers":{"fs":{"command":"srv","args":[]}}}"#;
    let home = Home::with("work/.mcp.json", server);
    home.put(".claude.json", server);
    assert!(home.find(McpClient::ClaudeCode, "fs").unwrap().path().ends_with("work/.mcp.json"));

    let work = home.0.path().join("work").display().to_string();
    home.put(".claude.json", &format!(r#"{{"projects":{{"{work}":{server}}}}}"#));
    assert!(home.find(McpClient::ClaudeCode, "fs").unwrap().path().ends_with(".claude.json"));
}

#[test]
fn what_cannot_be_wrapped_says_why() {
    let said = |client, path: &str, text: &str| {
        Home::with(path, text).find(client, "fs").map(|_| ()).unwrap_err().to_string()
    };
    let claude = |text: &str| said(McpClient::ClaudeCode, ".claude.json", text);

    assert!(claude(r#"{"mcpServers":{"fs":{"type":"http","url":"https://x"}}}"#).contains("over HTTP"));
    assert!(claude(r#"{"mcpServers":{"gs":{}}}"#).contains("Claude Code has no MCP server \"fs\" in "));
    assert!(claude(r#"{"mcpServers":{"fs":{"command":7}}}"#).contains("has no command"));
    assert!(claude("{ // comment\n}").contains("plain JSON"));
    let codex = |text: &str| said(McpClient::Codex, ".codex/config.toml", text);
    assert!(codex("[mcp_servers.fs]\nurl = 'https://x'\n").contains("over HTTP"));
    assert!(codex("mcp_servers.fs.command = 'srv'\n").contains("dotted"));
    assert!(codex("[mcp_servers").contains("cannot be read"));
}
