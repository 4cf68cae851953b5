use std::fs;

use super::*;
use crate::agent::clients::{CLAUDE_CODE_HOOK, CODEX_HOOK, GEMINI_HOOK};

const CLIENT: &HookClient = &CLAUDE_CODE_HOOK;

fn block(client: &'static HookClient) -> Block {
    Block {
        client,
        tools: default_matcher(client),
        program: vec!["/opt/my tools/placet".to_owned()],
        wait: Duration::from_mins(50),
        defer: false,
    }
}

fn settings(client: &'static HookClient, text: &str) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, text).unwrap();
    Settings::read(&path, client).unwrap()
}

/// The last handler of an event that waits for a human.
fn handler(text: &str, event: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap();
    let groups = value["hooks"][event].as_array().unwrap().iter().rev();
    let mut handlers = groups.map(|group| group["hooks"][0].clone());
    handlers.find(|handler| handler["command"].as_str().is_some_and(|it| it.contains(" --wait "))).unwrap()
}

#[test]
fn command_blocks_without_its_program_and_outlasts_the_wait() {
    for (client, event, unit) in
        [(CLIENT, "PreToolUse", 1), (&CODEX_HOOK, "PreToolUse", 1), (&GEMINI_HOOK, "BeforeTool", 1_000)]
    {
        let text = settings(client, "").with(&block(client)).unwrap();
        let asks = handler(&text, event);

        let command = asks["command"].as_str().unwrap();
        let word = client.word();
        assert_eq!(command, format!("'/opt/my tools/placet' hook --client {word} --wait 50m || exit 2"));
        assert!(asks["timeout"].as_u64().unwrap() > (50 * 60 + GRACE.as_secs()) * unit, "{asks}");
    }
    assert!(Block { defer: true, ..block(CLIENT) }.command().ends_with(" --wait 50m --defer || exit 2"));
    assert!(Block { wait: Duration::from_secs(90), ..block(CLIENT) }.command().contains(" --wait 90s "));
}

#[test]
fn new_file_equals_the_preview() {
    let text = settings(CLIENT, "").with(&block(CLIENT)).unwrap();

    assert_eq!(text.trim_end(), block(CLIENT).shown());
    assert!(
        text.starts_with("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"^(Bash|"),
        "{text}"
    );
    assert_eq!(settings(CLIENT, &text).without().unwrap(), "{}\n");
}

#[test]
fn uninstall_restores_the_file_byte_for_byte() {
    let files = [
        "{}",
        "{\n    \"model\" : \"opus\",\"n\":1.10 }\n\n",
        "{\"a\":1}",
        "{\r\n\t\"a\": [1,2],\r\n\t\"b\": {}\r\n}\r\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Read\", \"hooks\": [] }\n    ]\n  },\n  \"z\": true\n}",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]}}",
        "{ \"hooks\": { \"PostToolUse\": [ 1 , 2 ] , \"Stop\": [] } }",
    ];
    for before in files {
        let installed = settings(CLIENT, before).with(&block(CLIENT)).unwrap();

        assert!(handler(&installed, "PreToolUse")["command"].as_str().unwrap().contains("hook --client"));
        assert_eq!(installed.contains("\r\n"), before.contains("\r\n"));
        assert_eq!(settings(CLIENT, &installed).without().unwrap(), before);
        // The file's bytes remain in order.
        let mut rest = installed.as_str();
        for c in before.chars().filter(|c| !c.is_whitespace()) {
            rest = rest.split_once(c).expect("a byte of the file is missing").1;
        }
    }
}

#[test]
fn reinstall_changes_only_a_new_wait() {
    let others = r#"{"hooks":{"PreToolUse":[{"hooks":[]}]}}"#;
    let once = settings(CLIENT, others).with(&block(CLIENT)).unwrap();
    let file = settings(CLIENT, &once);

    assert!(file.is(&file.with(&block(CLIENT)).unwrap()));
    let longer = Block { wait: Duration::from_hours(2), ..block(CLIENT) };
    let changed = file.with(&longer).unwrap();
    assert_eq!((changed.matches("|| exit 2").count(), changed.matches(" --fence ").count()), (4, 1));
    assert_eq!(changed.matches("--wait 120m").count(), 3);
    assert_eq!(settings(CLIENT, &changed).without().unwrap(), others);
    assert_eq!(handler(&changed, "PreToolUse")["command"], longer.command());
}

#[test]
fn changed_command_is_replaced_and_removed() {
    for (from, to) in [("|| exit 2", "|| true"), (" || exit 2", ""), ("--wait 50m", "")] {
        let broken = settings(CLIENT, "").with(&block(CLIENT)).unwrap().replace(from, to);

        assert_eq!(
            settings(CLIENT, &broken).with(&block(CLIENT)).unwrap(),
            settings(CLIENT, "").with(&block(CLIENT)).unwrap()
        );
        assert_eq!(settings(CLIENT, &broken).without().unwrap(), "{}\n");
    }
}

#[test]
fn reading_tools_call_the_hook_for_its_fence() {
    for (client, event, reader) in
        [(CLIENT, "PreToolUse", "Read|Grep|Glob"), (&GEMINI_HOOK, "BeforeTool", "read_file")]
    {
        let text = settings(client, "").with(&block(client)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let group = &value["hooks"][event][1];

        assert!(group["matcher"].as_str().unwrap().contains(reader), "{group}");
        let command = group["hooks"][0]["command"].as_str().unwrap();
        assert!(
            command.ends_with(&format!("hook --client {} --fence || exit 2", client.word())),
            "{command}"
        );
        assert_eq!(text.matches("--fence").count(), 1);
    }
}

#[test]
fn unreadable_settings_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{\n  // my model\n  \"model\": \"x\"\n}").unwrap();
    let error = Settings::read(&path, &GEMINI_HOOK).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("nothing was written"), "{error}");

    for odd in ["[]", "{\"hooks\":[]}", "{\"hooks\":{\"PreToolUse\":{}}}", "{\"hooks\":{},\"hooks\":{}}"] {
        let refused = settings(CLIENT, odd).with(&block(CLIENT));
        assert!(matches!(refused, Err(SettingsError::Shape { .. })), "{odd}: {refused:?}");
    }
    let mine = block(CLIENT).command();
    let shared = format!(
        r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{{"type":"command","command":"{mine}"}},{{"type":"command","command":"say"}}]}}]}}}}"#
    );
    assert!(matches!(settings(CLIENT, &shared).without(), Err(SettingsError::Shared { .. })));
}

#[test]
fn settings_path_follows_the_clients_variables() {
    let at = |client, scope, set: &[(&str, &str)]| {
        let env = |name: &str| {
            let known = set.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| PathBuf::from(value))
        };
        path(client, scope, Path::new("/w"), &env).map(|path| path.display().to_string())
    };
    let home = ("HOME", "/h");

    assert_eq!(at(CLIENT, Scope::User, &[home]).unwrap(), "/h/.claude/settings.json");
    assert_eq!(at(CLIENT, Scope::User, &[home, ("CLAUDE_CONFIG_DIR", "/c")]).unwrap(), "/c/settings.json");
    assert_eq!(at(CLIENT, Scope::Project, &[home]).unwrap(), "/w/.claude/settings.json");
    assert_eq!(at(&CODEX_HOOK, Scope::User, &[home]).unwrap(), "/h/.codex/hooks.json");
    assert_eq!(at(&CODEX_HOOK, Scope::User, &[("CODEX_HOME", "/c")]).unwrap(), "/c/hooks.json");
    assert!(at(&CODEX_HOOK, Scope::Project, &[home]).is_err());
    assert_eq!(at(&GEMINI_HOOK, Scope::User, &[home]).unwrap(), "/h/.gemini/settings.json");
    assert_eq!(at(&GEMINI_HOOK, Scope::Project, &[home]).unwrap(), "/w/.gemini/settings.json");
    assert!(matches!(at(CLIENT, Scope::User, &[]), Err(SettingsError::NoHome)));
}

#[cfg(unix)]
#[test]
fn link_and_permissions_survive_writing() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("dotfiles.json"), folder.path().join("settings.json"));
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();

    Settings::read(&link, CLIENT).unwrap().write("{\"a\":1}").unwrap();

    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"a\":1}");
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    let new = folder.path().join("new/settings.json");
    Settings::read(&new, CLIENT).unwrap().write("{}").unwrap();
    assert_eq!(fs::read_to_string(&new).unwrap(), "{}");
}
