use super::*;
use crate::agent::clients::{CLAUDE_CODE_HOOK, CODEX_HOOK, GEMINI_HOOK};
use crate::agent::hook::settings::{Block, Settings, default_matcher};

const CLAUDE: &HookClient = &CLAUDE_CODE_HOOK;

fn installed(client: &'static HookClient, changes: &[(&str, &str)]) -> String {
    let block = Block {
        client,
        tools: default_matcher(client),
        program: vec!["/usr/bin/placet".to_owned()],
        wait: Duration::from_mins(50),
        defer: false,
    };
    let text = Settings { path: "s.json".into(), client, text: String::new() }.with(&block).unwrap();
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1)
    })
}

fn layer(path: &str, text: &str) -> Layer {
    Layer { path: path.into(), managed: path.contains("managed"), text: text.to_owned() }
}

/// The findings, one per line, starting with the verdict.
fn judged(client: &'static HookClient, layers: &[(&str, &str)]) -> String {
    let layers: Vec<_> = layers.iter().map(|(path, text)| layer(path, text)).collect();
    let (checks, _) = judge(client, &layers);
    checks.iter().map(|check| format!("{:?} {}", check.verdict, check.found)).collect::<Vec<_>>().join("\n")
}

#[test]
fn installed_hook_is_good_in_every_client() {
    for (client, asked) in [
        (CLAUDE, "Bash, Edit, Write, NotebookEdit, MCP tools; it runs WebFetch, WebSearch, Agent without"),
        (&CODEX_HOOK, "Bash, apply_patch, MCP tools; it runs web_search without"),
        (&GEMINI_HOOK, "run_shell_command, replace, write_file, MCP tools; it runs web_fetch"),
    ] {
        let said = judged(client, &[("user.json", &installed(client, &[]))]);
        assert!(said.starts_with("Good ") && said.contains(asked) && said.lines().count() == 1, "{said}");
        assert_eq!(judged(client, &[("user.json", "{}"), ("project.json", "")]), "");
    }
    let commented = installed(&GEMINI_HOOK, &[("{\n", "{ // mine\n")]);
    assert!(judged(&GEMINI_HOOK, &[("user.json", &commented)]).starts_with("Good "));
}

#[test]
fn key_of_hooks_twice_is_bad() {
    let text = installed(CLAUDE, &[]);
    let twice = format!("{},\"hooks\":{{}}}}", text.trim_end().strip_suffix('}').unwrap());
    let events = text.replacen("\"PreToolUse\"", "\"PreToolUse\":[],\"PreToolUse\"", 1);
    for (text, key) in [(twice, "hooks"), (events, "hooks.PreToolUse")] {
        let said = judged(CLAUDE, &[("user.json", &text)]);
        let want =
            format!("Bad Claude Code: user.json has the key {key} twice, and only the last one counts");
        assert!(said.contains(&want), "{said}");
    }
}

#[test]
fn hook_of_permission_requests_is_a_rival() {
    let other = r#"{"hooks":{"PermissionRequest":[{"matcher":"Bash","hooks":[{"type":"command","command":"allow-all"}]}]}}"#;
    let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[])), ("project.json", other)]);
    assert!(said.contains("Warn Claude Code: allow-all of project.json also answers for Bash"), "{said}");
}

#[test]
fn switched_off_hook_is_bad() {
    let on = |client| installed(client, &[]);
    let bad = |client, layers: &[(&str, &str)]| judged(client, layers).contains("Bad ");
    let off = r#"{"disableAllHooks":true}"#;
    for path in ["project.json", "local.json", "managed.json"] {
        let said = judged(CLAUDE, &[("user.json", &on(CLAUDE)), (path, off)]);
        assert!(said.contains(&format!("Bad Claude Code: {path} turns all hooks off")), "{said}");
    }
    let both = installed(CLAUDE, &[("{\n", "{\"disableAllHooks\":true,\n")]);
    assert!(bad(CLAUDE, &[("user.json", &both)]));
    let again = r#"{"disableAllHooks":false}"#;
    assert!(!bad(CLAUDE, &[("user.json", &both), ("local.json", again)]), "the last file decides");
    for only in [r#"{"allowManagedHooksOnly":true}"#, r#"{"strictPluginOnlyCustomization":["hooks"]}"#] {
        assert!(bad(CLAUDE, &[("user.json", &on(CLAUDE)), ("managed.json", only)]), "{only}");
        assert!(!bad(CLAUDE, &[("user.json", &on(CLAUDE)), ("project.json", only)]), "{only}");
    }
    for config in ["[features]\nhooks = false\n", "features.codex_hooks = false\n"] {
        assert!(bad(&CODEX_HOOK, &[("hooks.json", &on(&CODEX_HOOK)), ("config.toml", config)]));
    }
    let gemini = on(&GEMINI_HOOK);
    let command: Value = serde_json::from_str(&gemini).unwrap();
    let command = &command["hooks"]["BeforeTool"][0]["hooks"][0]["command"];
    let listed = format!(r#"{{"hooksConfig":{{"disabled":[{command}]}}}}"#);
    for other in [r#"{"hooksConfig":{"enabled":false}}"#, &listed] {
        assert!(bad(&GEMINI_HOOK, &[("user.json", &gemini), ("project.json", other)]), "{other}");
    }
}

#[test]
fn hook_that_cannot_block_is_bad() {
    for (change, why) in [
        (("|| exit 2", "|| true"), "not placet followed by"),
        (("|| exit 2", "|| exit 2 || true"), "not placet followed by"),
        (("|| exit 2", "|| true || exit 2"), "not placet followed by"),
        (("/usr/bin/placet", "$(other) /usr/bin/placet"), "not placet followed by"),
        ((" || exit 2", ""), "not placet followed by"),
        (("/usr/bin/placet", "echo placet"), "not placet followed by"),
        (("/usr/bin/placet", ": placet"), "not placet followed by"),
        (("/usr/bin/placet", "true placet"), "not placet followed by"),
        (("/usr/bin/placet", "timeout 5 placet"), "not placet followed by"),
        (("/usr/bin/placet", "X=1 placet"), "not placet followed by"),
        (("/usr/bin/placet", "echo"), "not placet followed by"),
        (("50m || exit 2", "50m # || exit 2"), "not placet followed by"),
        (("50m || exit 2", "50m --help || exit 2"), "not placet followed by"),
        (("50m || exit 2", "50m --version || exit 2"), "not placet followed by"),
        (("50m || exit 2", "50m \\\\|| exit 2"), "not placet followed by"),
        (("--wait 50m", "--wait 50x"), "not placet followed by"),
        (("--wait 50m ||", "--wait 50m --fence ||"), "asks nothing"),
        (("\"type\": \"command\"", "\"type\": \"prompt\""), "has the type \"prompt\""),
        (("\"type\": \"command\"", "\"type\": \"http\""), "has the type \"http\""),
        (("\"type\": \"command\"", "\"type\": \"Command\""), "has the type \"Command\""),
        (("--wait 50m", "--wait 1d"), "waits 86400 s"),
        (("--wait 50m", "--wait=2h"), "waits 7200 s"),
        (("\"PostToolUse\"", "\"Stop\""), "no hook of PostToolUse reports how Bash, Edit, Write"),
        (("\"PostToolUseFailure\"", "\"Stop\""), "no hook of PostToolUseFailure reports how Bash"),
        (("\"timeout\": 3300", "\"timeout\": 60"), "after 60 s"),
        (("\"timeout\": 3300", "\"timeout\": 3000"), "after 3000 s"),
        ((",\n            \"timeout\": 3300", ""), "after 600 s"),
        (("--wait 50m", "--wait 2h"), "waits 7200 s"),
        (("\"timeout\": 3300", "\"async\": true, \"timeout\": 3300"), "has \"async\", so"),
        (("\"timeout\": 3300", "\"asyncRewake\": true, \"timeout\": 3300"), "has \"asyncRewake\", so"),
        (("\"timeout\": 3300", "\"if\": \"Bash(git *)\", \"timeout\": 3300"), "has \"if\", so"),
        (("\"timeout\": 3300", "\"timeout\": \"3300\""), "ignores all of"),
        (("{\n", "{\"permissions\":{\"ask\":\"Bash\"},\n"), "ignores all of"),
        (("{\n", "{ // mine\n"), "ignores all of"),
        (("\"PreToolUse\"", "\"Stop\""), "asks nothing"),
        (("^(Bash|Edit|Write|NotebookEdit|mcp__.*)$", "^bash$"), "no tool is asked about"),
        (("^(Bash|Edit|Write|NotebookEdit|mcp__.*)$", "("), "no tool is asked about"),
        (
            ("^(Bash|Edit|Write|NotebookEdit|mcp__.*)$", "Bash|mcp__"),
            "of which Edit, Write, NotebookEdit, MCP tools were",
        ),
    ] {
        let text = installed(CLAUDE, &[change]);
        let said = judged(CLAUDE, &[("user.json", &text)]);
        assert!(said.contains("Bad ") && said.contains(why), "{change:?} {said}");
        let (_, run) = judge(CLAUDE, &[layer("user.json", &text)]);
        assert!(why != "not placet followed by" || run.is_empty(), "doctor would run {run:?}");
    }
    let quick = installed(&GEMINI_HOOK, &[("\"timeout\": 3300000", "\"timeout\": 3300")]);
    assert!(judged(&GEMINI_HOOK, &[("user.json", &quick)]).contains("after 3.3 s"));
}

#[test]
fn hook_that_its_client_skips_is_bad() {
    let limit = "\"timeout\": 3300";
    for (to, why) in [
        ("\"timeout\": 2147484", "a timeout of 2147484 s"),
        ("\"shell\": \"powershell\", \"timeout\": 3300", "has \"shell\""),
        ("\"args\": [\"x\"], \"timeout\": 3300", "has \"args\""),
        ("\"anything\": 1, \"timeout\": 3300", "has \"anything\""),
        ("\"timeout\": 3300 } ], \"when\": [ { \"a\": 1", "has \"when\""),
        ("\"shell\": \"zsh\", \"timeout\": 3300", "because of the form of shell"),
        ("\"async\": null, \"timeout\": 3300", "because of the form of async"),
        ("\"if\": null, \"timeout\": 3300", "because of the form of if"),
        ("\"once\": 5, \"timeout\": 3300", "because of the form of once"),
        ("\"timeout\": null", "because of the form of timeout"),
    ] {
        let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[(limit, to)]))]);
        assert!(said.contains("Bad ") && said.contains(why) && !said.contains("Good "), "{to}: {said}");
    }
    let highest = installed(CLAUDE, &[(limit, "\"timeout\": 2147483")]);
    assert!(judged(CLAUDE, &[("user.json", &highest)]).starts_with("Good "));
    let gemini = |to| installed(&GEMINI_HOOK, &[("\"timeout\": 3300000", to)]);
    let highest = gemini("\"timeout\": 2147483647");
    assert!(judged(&GEMINI_HOOK, &[("user.json", &highest)]).starts_with("Good "));
    let longer = gemini("\"timeout\": 2147483648");
    assert!(judged(&GEMINI_HOOK, &[("user.json", &longer)]).contains("Bad "));
    let report = installed(CLAUDE, &[("\"timeout\": 360", "\"shell\": \"bash\", \"timeout\": 360")]);
    assert!(judged(CLAUDE, &[("user.json", &report)]).contains("has \"shell\""), "also in a reporting hook");
}

#[test]
fn file_that_claude_code_ignores_is_bad() {
    let other = |member: &str| {
        format!(r#""Stop":[{{"hooks":[{{"type":"command","command":"say",{member}}}]}}],"PreToolUse""#)
    };
    for (member, named) in [
        (r#""permissions":[]"#, "permissions"),
        (r#""permissions":null"#, "permissions"),
        (r#""permissions":{"defaultMode":"nope"}"#, "defaultMode"),
        (r#""permissions":{"defaultMode":null}"#, "defaultMode"),
        (r#""permissions":{"allow":[1]}"#, "allow"),
        (r#""cleanupPeriodDays":"x""#, "cleanupPeriodDays"),
        (r#""env":["A=b"]"#, "env"),
        (r#""disableAllHooks":null"#, "disableAllHooks"),
    ] {
        let text = installed(CLAUDE, &[("{\n", &format!("{{{member},\n"))]);
        let said = judged(CLAUDE, &[("user.json", &text)]);
        assert!(
            said.contains(&format!("the form of {named}")) && !said.contains("Good "),
            "{member}: {said}"
        );
    }
    for (member, named) in [(r#""statusMessage":5"#, "statusMessage"), (r#""async":null"#, "async")] {
        let said =
            judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[("\"PreToolUse\"", &other(member))]))]);
        assert!(
            said.contains(&format!("the form of {named}")) && !said.contains("Good "),
            "{member}: {said}"
        );
    }
    for (from, to) in [
        ("\"matcher\": \"^(Bash", "\"matcher\": null, \"x\": \"^(Bash"),
        ("\"PreToolUse\"", "\"Stop\": {}, \"PreToolUse\""),
    ] {
        let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[(from, to)]))]);
        assert!(said.contains("ignores all of") && !said.contains("Good "), "{to}: {said}");
    }
    let fine =
        r#""permissions":{"defaultMode":"plan","allow":["Read"]},"env":{"A":"b"},"cleanupPeriodDays":3,"#;
    let fine =
        installed(CLAUDE, &[("{\n", &format!("{{{fine}\n")), ("\"PreToolUse\"", &other(r#""async":true"#))]);
    assert!(judged(CLAUDE, &[("user.json", &fine)]).starts_with("Good "));
}

#[test]
fn variable_that_leads_to_another_gate_is_bad() {
    for name in ["PLACET_STATE_DIR", "PLACET_URL", "XDG_STATE_HOME", "HOME"] {
        let layer = format!(r#"{{"env":{{"{name}":"/x"}}}}"#);
        let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[])), ("project.json", &layer)]);
        assert!(said.contains(&format!("Bad Claude Code: env of project.json sets {name} for")), "{said}");
        assert_eq!(judged(CLAUDE, &[("project.json", &layer)]), "", "no hook is installed");
    }
    let other = r#"{"env":{"RUST_LOG":"info"}}"#;
    let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[])), ("project.json", other)]);
    assert!(said.starts_with("Good "), "{said}");
}

#[test]
fn command_installed_by_hand_is_good() {
    for (from, to) in [
        ("/usr/bin/placet", "placet"),
        ("/usr/bin/placet", "~/bin/placet --config c.toml"),
        ("/usr/bin/placet", "'/opt/my (own) tools/placet'"),
        ("--wait 50m", "--wait=40m"),
        ("--wait 50m ", ""),
        ("--wait 50m", "--wait 50m --defer"),
    ] {
        let said = judged(CLAUDE, &[("user.json", &installed(CLAUDE, &[(from, to)]))]);
        assert!(said.starts_with("Good ") && said.lines().count() == 1, "{to}: {said}");
    }
}

#[test]
fn missing_tools_are_bad_and_unfenced_reading_a_warning() {
    let all = "^(Bash|Edit|Write|NotebookEdit|mcp__.*)$";
    let narrowed = installed(CLAUDE, &[(all, "*"), (all, "Bash")]);
    let said = judged(CLAUDE, &[("user.json", &narrowed)]);
    assert!(said.contains("Bad Claude Code: no hook of PostToolUse reports how Edit, Write"), "{said}");

    let open = installed(CLAUDE, &[("^(Read|Grep|Glob)$", "^Read$")]);
    let said = judged(CLAUDE, &[("user.json", &open)]);
    assert!(said.contains("Warn Claude Code: Grep, Glob can read") && !said.contains("Bad "), "{said}");
}

#[test]
fn matcher_without_a_tool_advises_exact_names() {
    let all = "^(Bash|Edit|Write|NotebookEdit|mcp__.*)$";
    let (checks, _) = judge(CLAUDE, &[layer("user.json", &installed(CLAUDE, &[(all, "bash")]))]);

    let bad = checks.iter().find(|check| check.found.contains("no tool is asked about")).unwrap();
    assert_eq!(bad.advice, "install it with --tools of exact names (`Bash`), or without --tools");
}

#[test]
fn narrowed_tools_are_a_warning() {
    let all = "^(Bash|Edit|Write|NotebookEdit|mcp__.*)$";
    let few = installed(CLAUDE, &[(all, "Bash"), (all, "Bash"), (all, "Bash")]);

    let said = judged(CLAUDE, &[("user.json", &few)]);

    assert!(said.starts_with("Warn ") && said.contains("it asks about Bash; it runs Edit, Write"), "{said}");
}

#[test]
fn matchers_fit_as_in_each_client() {
    let fits = |client, matcher: &str, tool: &str| matches(client, matcher, tool);
    for (matcher, claude, codex, gemini) in [
        ("Bash", true, true, true),
        ("bash", false, false, false),
        ("Bas", false, false, true),
        ("B.sh", true, true, true),
        ("*", true, true, true),
        ("", true, true, true),
        ("[", false, false, false),
        ("Edit|Bash", true, true, true),
        ("^(?!Edit)", true, true, true),
    ] {
        let all = [CLAUDE, &CODEX_HOOK, &GEMINI_HOOK].map(|client| fits(client, matcher, "Bash"));
        assert_eq!(all, [claude, codex, gemini], "{matcher}");
    }
    assert!(fits(CLAUDE, "Edit, Bash", "Bash") && !fits(CLAUDE, "mcp__fs", "mcp__fs__write"));
}

#[test]
fn hooks_and_rules_that_override_approvals_are_reported() {
    let user = installed(CLAUDE, &[]);
    let other = installed(CLAUDE, &[("--wait 50m", "--wait 10m")]);
    let said = judged(CLAUDE, &[("user.json", &user), ("project.json", &other)]);
    assert!(said.contains("Bad ") && said.contains("two different hooks of placet ask about Bash"), "{said}");
    assert!(!judged(CLAUDE, &[("user.json", &user), ("project.json", &user)]).contains("two different"));

    let format = |matcher: &str| {
        format!(
            r#"{{"hooks":{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[{{"type":"command","command":"fmt"}}]}}]}}}}"#
        )
    };
    let said = judged(CLAUDE, &[("user.json", &user), ("project.json", &format("Edit|Read"))]);
    assert!(said.contains("Warn Claude Code: fmt of project.json also answers for Edit"), "{said}");
    assert!(!judged(CLAUDE, &[("user.json", &user), ("project.json", &format("Read"))]).contains("fmt"));

    let rules =
        r#"{"permissions":{"ask":["Bash(echo:*)","Read"],"deny":["mcp__fs","WebFetch"],"allow":["Bash"]}}"#;
    let said = judged(CLAUDE, &[("user.json", &user), ("managed.json", rules)]);
    assert!(said.contains("approved under Bash(echo:*) (ask in managed.json)"), "{said}");
    assert!(said.contains("refuses what a human approved under mcp__fs (deny in managed.json)"), "{said}");
}
