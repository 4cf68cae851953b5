use super::*;
use crate::agent::clients::{CLAUDE_CODE, CODEX, GEMINI, OPENCODE};

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

    fn find(&self, client: &'static Client, name: &str) -> Result<Server, WrapError> {
        let home = self.0.path();
        find(client, name, &home.join("work"), &|variable| (variable == "HOME").then(|| home.to_owned()))
    }

    fn wrap(&self, client: &'static Client, name: &str) -> Change {
        let change = self.find(client, name).unwrap().wrapped(&[PROGRAM.to_owned()]).unwrap().unwrap();
        change.write().unwrap();
        change
    }

    fn unwrap(&self, client: &'static Client, name: &str) {
        self.find(client, name).unwrap().unwrapped().unwrap().unwrap().write().unwrap();
    }
}

/// Wraps and unwraps a server, which must restore the same bytes.
fn there_and_back(client: &'static Client, path: &str, text: &str, wrapped: &str) {
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
fn claude_code_server_is_wrapped_and_unwrapped() {
    let client = &CLAUDE_CODE;
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
fn gemini_server_is_wrapped_and_unwrapped() {
    there_and_back(
        &GEMINI,
        ".gemini/settings.json",
        r#"{"mcpServers":{"fs":{"command":"srv","args":["a"],"timeout":5000000}}}"#,
        r#"{"mcpServers":{"fs":{"command":"/opt/placet","args":["mcp", "--name", "fs", "--", "srv", "a"],"timeout":5000000}}}"#,
    );
}

#[test]
fn opencode_server_gets_a_limit() {
    let client = &OPENCODE;
    there_and_back(
        client,
        ".config/opencode/opencode.json",
        r#"{"mcp":{"fs":{"type":"local","command":["npx", "srv"],"enabled":true}}}"#,
        r#"{"mcp":{"fs":{"type":"local","command":["/opt/placet", "mcp", "--name", "fs", "--", "npx", "srv"],"timeout":3600000,"enabled":true}}}"#,
    );
    there_and_back(
        client,
        "work/opencode.json",
        r#"{"mcp":{"fs":{"timeout":9000,"command":[ "srv" ]}}}"#,
        r#"{"mcp":{"fs":{"timeout":9000,"command":["/opt/placet", "mcp", "--name", "fs", "--wait", "7", "--",  "srv" ]}}}"#,
    );
}

#[test]
fn codex_server_keeps_comments_and_gets_a_limit() {
    let client = &CODEX;
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
        "[mcp_servers.fs]\ntool_timeout_sec = 900\ncommand = \"srv\"\n",
        "[mcp_servers.fs]\ntool_timeout_sec = 900\ncommand = \"/opt/placet\"\nargs=[\"mcp\",\"--name\",\"fs\",\"--\",\"srv\"]\n",
    );
    there_and_back(
        client,
        path,
        "mcp_servers.fs = { command = \"srv\", env = {} }\n",
        "mcp_servers.fs = { command = \"/opt/placet\",tool_timeout_sec=3600,args=[\"mcp\",\"--name\",\"fs\",\"--\",\"srv\"], env = {} }\n",
    );
}

#[test]
fn server_wrapped_by_hand_is_unwrapped() {
    let wrapped =
        r#"{"mcpServers":{"fs":{"command":"placet","args":["mcp", "--wait", "60", "--", "srv", "a"]}}}"#;
    let home = Home::with(".claude.json", wrapped);

    home.unwrap(&CLAUDE_CODE, "fs");

    let bare = r#"{"mcpServers":{"fs":{"command":"srv","args":["a"]}}}"#;
    assert_eq!(home.text(".claude.json"), bare);
    home.put(".claude.json", &wrapped.replace(", ", ","));
    home.unwrap(&CLAUDE_CODE, "fs");
    assert_eq!(home.text(".claude.json"), bare);
}

#[test]
fn name_invalid_at_the_gate_is_replaced() {
    let home = Home::with(".claude.json", r#"{"mcpServers":{"my server":{"command":"srv","args":[]}}}"#);

    let change = home.wrap(&CLAUDE_CODE, "my server");

    assert_eq!(change.after, ["/opt/placet", "mcp", "--name", "my-server", "--", "srv"]);
    assert_eq!(change.before, ["srv"]);
}

#[test]
fn preferred_settings_file_is_changed() {
    let server = r#"{"mcpServers":{"fs":{"command":"srv","args":[]}}}"#;
    let home = Home::with("work/.mcp.json", server);
    home.put(".claude.json", server);
    assert!(home.find(&CLAUDE_CODE, "fs").unwrap().path().ends_with("work/.mcp.json"));

    let work = home.0.path().join("work").display().to_string();
    home.put(".claude.json", &format!(r#"{{"projects":{{"{work}":{server}}}}}"#));
    assert!(home.find(&CLAUDE_CODE, "fs").unwrap().path().ends_with(".claude.json"));
}

#[test]
fn server_that_cannot_be_wrapped_says_why() {
    let said = |client, path: &str, text: &str| {
        Home::with(path, text).find(client, "fs").map(|_| ()).unwrap_err().to_string()
    };
    let claude = |text: &str| said(&CLAUDE_CODE, ".claude.json", text);

    assert!(claude(r#"{"mcpServers":{"fs":{"type":"http","url":"https://x"}}}"#).contains("over HTTP"));
    assert!(claude(r#"{"mcpServers":{"gs":{}}}"#).contains("Claude Code has no MCP server \"fs\" in "));
    assert!(claude(r#"{"mcpServers":{"fs":{"command":7}}}"#).contains("has no command"));
    assert!(claude("{ // comment\n}").contains("cannot read it either"));
    for args in ["7", "\"x\"", "{}"] {
        let text = format!(r#"{{"mcpServers":{{"fs":{{"command":"srv","args":{args}}}}}}}"#);
        assert!(claude(&text).contains("has no command"), "{args}");
    }
    let codex = |text: &str| said(&CODEX, ".codex/config.toml", text);
    assert!(codex("[mcp_servers.fs]\nurl = 'https://x'\n").contains("over HTTP"));
    assert!(codex("mcp_servers.fs.command = 'srv'\n").contains("dotted"));
    assert!(codex("[mcp_servers").contains("cannot be read"));
}

#[test]
fn limit_below_the_wait_parks_calls_in_time() {
    let codex = |limit: &str| format!("[mcp_servers.fs]\ncommand='s'\n{limit}\n");
    let json = |limit: &str| format!(r#"{{"mcpServers":{{"fs":{{"command":"s","timeout":{limit}}}}}}}"#);
    let opencode = r#"{"mcp":{"fs":{"command":["s"],"timeout":600000}}}"#.to_owned();
    for (client, path, text, wait) in [
        (&CODEX, ".codex/config.toml", codex("tool_timeout_sec = 30"), Some("24")),
        (&CODEX, ".codex/config.toml", codex("tool_timeout_sec = 2.5"), Some("2")),
        (&CODEX, ".codex/config.toml", codex("tool_timeout_sec = 300"), None),
        (&CODEX, ".codex/config.toml", codex(""), None),
        (&GEMINI, ".gemini/settings.json", json("60000"), Some("48")),
        (&OPENCODE, "work/opencode.json", opencode, Some("480")),
        (&CLAUDE_CODE, ".claude.json", json("1e5"), Some("80")),
    ] {
        let home = Home::with(path, &text);
        let after = home.wrap(client, "fs").after;
        let waits = after.iter().position(|word| word == "--wait").map(|at| after[at + 1].as_str());
        assert_eq!(waits, wait, "{text}");
        home.unwrap(client, "fs");
        assert_eq!(home.text(path), text);
    }
    let home = Home::with(".claude.json", &json("900"));
    let server = home.find(&CLAUDE_CODE, "fs").unwrap();
    let refused = server.wrapped(&[PROGRAM.to_owned()]).unwrap().unwrap_err().to_string();
    assert!(refused.contains("only 0.9 seconds"), "{refused}");
    for (client, path, text) in [
        (&CODEX, ".codex/config.toml", codex("tool_timeout_sec = \"60\"")),
        (&GEMINI, ".gemini/settings.json", json("\"60\"")),
    ] {
        let server = Home::with(path, &text).find(client, "fs").unwrap();
        let refused = server.wrapped(&[PROGRAM.to_owned()]).unwrap().unwrap_err().to_string();
        assert!(refused.contains("the time limit of \"fs\" is no number"), "{refused}");
    }
    for limit in ["-1", "inf", "-inf"] {
        let home = Home::with(".codex/config.toml", &codex(&format!("tool_timeout_sec = {limit}")));
        let server = home.find(&CODEX, "fs").unwrap();
        let refused = server.wrapped(&[PROGRAM.to_owned()]).unwrap().unwrap_err().to_string();
        assert!(
            refused.contains(&format!("the time limit of \"fs\" is {limit} s; set a minute or more")),
            "{refused}"
        );
    }
}

#[test]
fn all_changes_are_shown() {
    let result = "\"placet_result\" in the list of tools that the model may use";
    for (client, path, text, limit, list) in [
        (
            &CODEX,
            ".codex/config.toml",
            "[mcp_servers.fs]\ncommand='s'\nenabled_tools=['w']\n",
            "tool_timeout_sec=3600",
            true,
        ),
        (
            &CODEX,
            ".codex/config.toml",
            "[mcp_servers.fs]\ncommand='s'\nenabled_tools=['w']\n[mcp_servers.b]\ncommand='b'\ntool_timeout_sec=3600\nenabled_tools=[\"placet_result\"]\n",
            "tool_timeout_sec=3600",
            true,
        ),
        (
            &OPENCODE,
            "work/opencode.json",
            r#"{"mcp":{"fs":{"command":["s"]}}}"#,
            "\"timeout\":3600000",
            false,
        ),
        (
            &GEMINI,
            ".gemini/settings.json",
            r#"{"mcpServers":{"fs":{"command":"s","includeTools":[]}}}"#,
            "",
            true,
        ),
    ] {
        let home = Home::with(path, text);
        let lines = |sign: &str| {
            let limit = Some(limit).filter(|limit| !limit.is_empty());
            let lines = limit.into_iter().chain(list.then_some(result));
            lines.map(|line| format!("{sign} {line}")).collect::<Vec<_>>()
        };
        assert_eq!(home.wrap(client, "fs").more, lines("+"), "{text}");
        let back = home.find(client, "fs").unwrap().unwrapped().unwrap().unwrap();
        assert_eq!(back.more, lines("-"), "{text}");
    }
}

#[test]
fn list_of_allowed_tools_gets_placet_result() {
    let codex = |tools: &str| {
        format!(
            "[mcp_servers.fs]\ncommand = 'srv'\nargs = []\ntool_timeout_sec = 900\nenabled_tools = {tools}\n"
        )
    };
    for (before, after) in [
        ("['w', # one\n]", "['w', \"placet_result\", # one\n]"),
        ("[ \"w\" ]", "[ \"w\", \"placet_result\" ]"),
        ("[\n]", "[\"placet_result\"\n]"),
    ] {
        let wrapped = codex(after)
            .replace("'srv'", "\"/opt/placet\"")
            .replace("args = []", "args = [\"mcp\", \"--name\", \"fs\", \"--\", 'srv']");
        there_and_back(&CODEX, ".codex/config.toml", &codex(before), &wrapped);
    }
    there_and_back(
        &GEMINI,
        ".gemini/settings.json",
        r#"{"mcpServers":{"fs":{"includeTools":["w"],"command":"srv","args":["a"]}}}"#,
        r#"{"mcpServers":{"fs":{"includeTools":["w", "placet_result"],"command":"/opt/placet","args":["mcp", "--name", "fs", "--", "srv", "a"]}}}"#,
    );
}

#[test]
fn tool_hidden_by_opencode_is_reported() {
    let said = |tools: &str| {
        let text = format!(r#"{{"tools":{tools},"mcp":{{"fs":{{"command":["srv"]}}}}}}"#);
        Home::with("work/opencode.json", &text).find(&OPENCODE, "fs").unwrap().hides_result()
    };
    assert!(said(r#"{"fs_*":false, "fs_write":true}"#).unwrap().contains("fs_placet_result"));
    assert!(said(r#"{"*":false,}"#).is_some());
    for shown in [r#"{"fs_*":false,"fs_placet_result":true}"#, r#"{"gs_*":false}"#, "{}"] {
        assert_eq!(said(shown), None, "{shown}");
    }
}

#[test]
fn list_that_hides_placet_result_is_reported() {
    let codex = |tool: &str| format!("[mcp_servers.fs]\ncommand = 's'\ndisabled_tools = ['w', '{tool}']\n");
    let gemini =
        |tool: &str| format!(r#"{{"mcpServers":{{"fs":{{"command":"s","excludeTools":["w","{tool}"]}}}}}}"#);
    for (client, path, text, list) in [
        (&CODEX, ".codex/config.toml", codex("placet_result"), Some("`disabled_tools` of \"fs\"")),
        (&CODEX, ".codex/config.toml", codex("x"), None),
        (&GEMINI, ".gemini/settings.json", gemini("placet_result"), Some("`excludeTools` of \"fs\"")),
        (&GEMINI, ".gemini/settings.json", gemini("x"), None),
    ] {
        let said = Home::with(path, &text).find(client, "fs").unwrap().hides_result();
        assert_eq!(said.is_some(), list.is_some(), "{text}");
        assert!(said.unwrap_or_default().starts_with(list.unwrap_or_default()), "{text}");
    }
}

#[test]
fn comments_and_trailing_commas_are_kept() {
    let opencode = "{\n  // servers, [\"a\"]\n  \"mcp\": { \"fs\": { \"type\": \"local\", \"command\": [ /* é */ \"npx\", // run\n \"srv\", ], }, },\n}\n";
    let wrapped = opencode
        .replace("[ /* é", "[\"/opt/placet\", \"mcp\", \"--name\", \"fs\", \"--\",  /* é")
        .replace("\"srv\", ],", "\"srv\", ],\"timeout\":3600000,");
    there_and_back(&OPENCODE, ".config/opencode/opencode.jsonc", opencode, &wrapped);
    let gemini = "{\n  // my theme\n  \"mcpServers\": { \"fs\": { \"command\": \"npx\" /* it */, \"args\": [\"-y\", \".\"], } }\n}\n";
    let wrapped = gemini
        .replace("\"npx\"", "\"/opt/placet\"")
        .replace("[\"-y\"", "[\"mcp\", \"--name\", \"fs\", \"--\", \"npx\", \"-y\"");
    there_and_back(&GEMINI, ".gemini/settings.json", gemini, &wrapped);
}

#[test]
fn null_in_place_of_arguments_is_replaced() {
    there_and_back(
        &CLAUDE_CODE,
        "work/.mcp.json",
        r#"{"mcpServers": {"fs": {"command": "npx", "args": null}}}"#,
        r#"{"mcpServers": {"fs": {"command": "/opt/placet", "args": [ "mcp","--name","fs","--","npx"]}}}"#,
    );
    there_and_back(
        &CLAUDE_CODE,
        "work/.mcp.json",
        r#"{"mcpServers":{"fs":{"command":"npx","args":null}}}"#,
        r#"{"mcpServers":{"fs":{"command":"/opt/placet","args":[ "mcp","--name","fs","--","npx"]}}}"#,
    );
    there_and_back(
        &GEMINI,
        ".gemini/settings.json",
        r#"{"mcpServers":{"fs":{"args":null,"command":"npx"}}}"#,
        r#"{"mcpServers":{"fs":{"args":[ "mcp","--name","fs","--","npx"],"command":"/opt/placet"}}}"#,
    );
}
