//! Tests of the configuration file: defaults of all keys, and advice for all mistakes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::paths::Paths;
use super::{Auth, Config, Executor, Notify, SourceKind, ThemeChoice, TokenFrom};

const EXAMPLE: &str = include_str!("../../config.example.toml");

fn paths() -> Paths {
    let state = PathBuf::from("/state");
    Paths { config: "c.toml".into(), config_named: false, log: state.join("placet.log"), state }
}

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, &paths()).map_err(|error| error.to_string())
}

/// Enables examples, which are commented out by `#` without a space.
fn with_examples() -> String {
    let lines = EXAMPLE.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_has_the_defaults() {
    assert_eq!(parse(EXAMPLE), parse(""));
}

#[test]
fn commented_examples_are_valid() {
    let config = parse(&with_examples()).unwrap();

    let kinds: Vec<_> = config.sources.iter().map(|source| source.kind.word()).collect();
    assert_eq!(kinds, SourceKind::words());
    assert_eq!(config.sources[0].token, Some(TokenFrom::Env("PLACET_TOKEN".to_owned())));
    assert_eq!(config.sources[4].auth, Auth::Basic { user: "kim".to_owned() });
    assert_eq!(config.sources[5].auth, Auth::Header { name: "X-API-Key".to_owned() });
    assert!(matches!(config.gate.tools["create_ticket"].executor, Executor::Http { .. }));
    assert!(matches!(config.gate.tools["write_note"].executor, Executor::Command { .. }));
    let secret = TokenFrom::File("/etc/placet/callback.secret".into());
    assert_eq!(config.gate.callbacks["orchestrator"].secret, secret);
}

#[test]
fn the_example_documents_every_key() {
    let table_of = |broken: &str| {
        let error = parse(broken).unwrap_err();
        let known = error.split("unknown field `zz`").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        let names: Vec<String> = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        assert!(!names.is_empty(), "{error}");
        names
    };
    let example = with_examples();
    for broken in [
        "zz=1",
        "[reviewer]\nzz=1",
        "[[source]]\nzz=1",
        "[ui]\nzz=1",
        "[[filter]]\nzz=1",
        "[watch]\nzz=1",
        "[[notify]]\nzz=1",
        "[mcp.x]\nzz=1",
        "[gate]\nzz=1",
        "[gate.limits]\nzz=1",
        "[gate.approvals]\nzz=1",
        "[gate.proxy]\nzz=1",
        "[gate.proxy.groups.x]\nzz=1",
        "[gate.tools.x]\nzz=1",
        "[gate.tools.x.preview]\nzz=1",
        "[gate.callbacks.x]\nurl=\"https://h\"\nzz=1",
    ] {
        for key in table_of(broken) {
            let documented =
                [format!("{key} ="), format!("[{key}"), format!("[gate.{key}"), format!("`{key}`")];
            let told = documented.iter().any(|it| example.contains(it.as_str()));
            assert!(told, "{key} ({broken}) is not in config.example.toml");
        }
    }
}

#[test]
fn an_mcp_tool_is_either_open_or_gated() {
    let config = parse("[mcp.fs]\nopen = [\"a\"]\ngated = [\"b\"]").unwrap();
    assert!(config.mcp["fs"].open.contains("a") && config.mcp["fs"].gated.contains("b"));

    let both = parse("[mcp.fs]\nopen = [\"a\"]\ngated = [\"a\"]").unwrap_err();
    assert!(both.contains("in open and in gated"), "{both}");
    assert!(parse("[mcp.\"f.s\"]").unwrap_err().contains("letters, digits"));
}

/// Only the proxy may identify people, and it must not grant admin rights.
#[test]
fn a_proxy_needs_trust_and_a_secret() {
    const PROXIES: &str = "[gate]\ntrusted_proxies = [\"10.0.0.1\"]\n";
    const WHO: &str = "[gate.proxy]\nidentity_header = \"X-User\"\ngroups_header = \"X-Groups\"\n";
    const SECRET: &str = "secret_header = \"X-Secret\"\nsecret_env = \"S\"\n";
    const GROUP: &str = "[gate.proxy.groups.a]\nworkspaces = [\"w\"]\nscopes = [\"read\"]\n";
    let whole = parse(&[PROXIES, WHO, SECRET, GROUP].concat()).unwrap().gate.proxy.unwrap();
    assert_eq!((whole.identity_header.as_str(), whole.groups["a"].scopes.len()), ("x-user", 1));

    let with = |secret: &str, group: &str| [PROXIES, WHO, secret, group].concat();
    let group = |workspaces: &str, scopes: &str| {
        with(SECRET, &format!("[gate.proxy.groups.a]\nworkspaces = [{workspaces}]\nscopes = [{scopes}]\n"))
    };
    for (wrong, said) in [
        ([WHO, SECRET, GROUP].concat(), "name its address in gate.trusted_proxies"),
        (with("", GROUP), "give secret_header and one of secret_env"),
        (with("secret_env = \"S\"\n", GROUP), "give secret_header and one of"),
        (with("secret_header = \"X-S\"\n", GROUP), "give secret_header and one of"),
        (with(&format!("{SECRET}secret_file = \"f\"\n"), GROUP), "give secret_header and one of"),
        (with(SECRET, ""), "nobody could do anything"),
        ([PROXIES, "[gate.proxy]\n", SECRET, GROUP].concat(), "identity_header is missing"),
        (with("secret_header = \"x-USER\"\nsecret_env = \"S\"\n", GROUP), "is named twice"),
        (with("secret_header = \"Authorization\"\nsecret_env = \"S\"\n", GROUP), "means something else"),
        (with("secret_header = \"X Y\"\nsecret_env = \"S\"\n", GROUP), "is no name of a header"),
        (
            group("\"w\"", "\"read\", \"admin\""),
            "gate.proxy.groups.a: the scope admin is given to nobody by a proxy",
        ),
        (group("\"w\"", "\"write\""), "\"write\" is no scope"),
        (group("\"w\"", ""), "name its scopes"),
        (group("", "\"read\""), "name its workspaces"),
        (group("\"*\"", "\"read\""), "name its workspaces"),
        (with(SECRET, &GROUP.replace("groups.a", "groups.\"a|b\"")), "without `|`"),
        (with(SECRET, &GROUP.replace("groups.a", "groups.\" a\"")), "blanks around"),
        (with(SECRET, &GROUP.replace("groups.a", "groups.\"a,b\"")), "only LDAP names have commas"),
    ] {
        let message = parse(&wrong).unwrap_err();
        assert!(message.contains(said), "{said}: {message}");
    }
    let everybody = "[gate.proxy]\nidentity_header = \"X-User\"\n";
    let all = GROUP.replace("groups.a", "groups.\"*\"");
    assert!(parse(&[PROXIES, everybody, SECRET, &all].concat()).is_ok());
    let nobody = parse(&[PROXIES, everybody, SECRET, GROUP].concat()).unwrap_err();
    assert!(nobody.contains("nobody could do anything"), "{nobody}");
}

#[test]
fn required_approvals_are_limited() {
    let config = parse("[gate.approvals]\ncritical = 2\n[gate.tools.t]\napprovals = 5").unwrap().gate;
    assert_eq!((config.approvals.each(), config.tools["t"].approvals), ([1, 1, 1, 2], 5));

    for (wrong, said) in [
        ("[gate.approvals]\nhigh = 0", "gate.approvals.high is 0"),
        ("[gate.approvals]\nlow = 6", "gate.approvals.low is 6"),
        ("[gate.tools.t]\napprovals = 6", "line 1, gate.tools.t: approvals is 6; it is the number of people"),
    ] {
        let message = parse(wrong).unwrap_err();
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn keys_of_another_source_kind_are_refused() {
    let source = |kind: &str, more: &str| {
        parse(&format!("[[source]]\nname=\"s\"\nkind=\"{kind}\"\nurl=\"http://h\"\n{more}"))
    };

    for (kind, more, said) in [
        ("gate", "namespace=\"n\"", "namespace belongs to sources of kind warden"),
        ("warden", "workspace=\"w\"", "workspace belongs to sources of kind gate and praxiom"),
        ("confused-ai", "tenant=\"t\"", "tenant belongs to sources of kind dendrux"),
        ("gate", "risk={refund=\"spicy\"}", "it is low, medium, high or critical"),
        ("gate", "user=\"kim\"", "give one of token_env, token_file and token_command with it"),
        ("gate", "token_env=\"T\"\nuser=\"k\"\ntoken_header=\"X\"", "give one of user and token_header"),
    ] {
        let message = source(kind, more).unwrap_err();
        assert!(message.contains(said), "{message}");
    }
    assert!(source("dendrux", "agent=\"a\"\ntenant=\"t\"").is_ok());
}

#[test]
fn a_gate_can_have_several_urls() {
    let source =
        |kind: &str, url: &str| parse(&format!("[[source]]\nname=\"s\"\nkind=\"{kind}\"\nurl={url}"));
    let urls = |url: &str| {
        let config = source("gate", url).unwrap();
        config.sources[0].urls().map(str::to_owned).collect::<Vec<_>>()
    };

    assert_eq!(urls("\"http://a/\""), ["http://a"]);
    assert_eq!(urls("[\"https://a/\", \"https://b:1\"]"), ["https://a", "https://b:1"]);
    for (kind, url, said) in [
        ("gate", "[]", "url is an empty list"),
        ("gate", "[\"http://a\", \"ftp://b\"]", "must start with http://"),
        ("gate", "[\"http://a\", \"http://u:p@b\"]", "must not carry a user or password"),
        ("gate", "[\"http://a\", \"http://a/\"]", "url has \"http://a\" twice"),
        ("gate", "3", "url is a text, or for a gate a list of texts"),
        ("warden", "[\"http://a\", \"http://b\"]", "only a gate can have several URLs"),
    ] {
        let message = source(kind, url).unwrap_err();
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn an_unknown_key_names_its_line_and_a_suggestion() {
    let message = parse("[watch]\npoll_secnds = 3\n").unwrap_err();

    assert!(message.contains("c.toml") && message.contains("line 2"), "{message}");
    assert!(message.contains("did you mean `poll_seconds`?"), "{message}");
}

#[test]
fn every_mistake_has_advice() {
    let source = |rest: &str| format!("[[source]]\nname = \"a\"\nkind = \"gate\"\n{rest}");
    for (text, says) in [
        (source("url = \"ftp://x\""), "must start with http://"),
        (source("url = \"http://u:p@x\""), "must not carry a user or password"),
        (source("url = \"http://x\"\ntoken_env = \"A\"\ntoken_file = \"b\""), "give one of token_env"),
        (
            source("url = \"http://x\"") + "\n" + &source("url = \"http://y\""),
            "source \"a\": two have this name",
        ),
        ("[[source]]\nname=\"A b\"\nkind=\"gate\"\nurl=\"http://x\"".to_owned(), "made of a-z, 0-9 and -"),
        ("[[source]]\nname=\"p\"\nkind=\"praxiom\"\nurl=\"http://x\"".to_owned(), "needs a workspace"),
        ("[gate.tools.x]\nexecutor = \"http\"".to_owned(), "gate.tools.x: executor \"http\" needs url"),
        (
            "[gate.tools.x]\nrisk = \"hihg\"".to_owned(),
            "line 1, gate.tools.x: Unknown risk \"hihg\": use low, medium, high or critical",
        ),
        ("[gate.tools.x]\neffect = \"read\"".to_owned(), "is not gated"),
        ("[watch]\npoll_seconds = 0".to_owned(), "line 2, watch.poll_seconds must be 1 to 3600"),
        ("[watch]\npoll_seconds = 3601".to_owned(), "watch.poll_seconds must be 1 to 3600"),
        ("[reviewer]\nreasons = [\" \"]".to_owned(), "reviewer.reasons has \" \"; a reason is one line"),
        ("[ui]\nhold_seconds = 61".to_owned(), "ui.hold_seconds must be 0 to 60"),
        (
            "[watch.queue.\"a b\"]\ntarget_minutes = 0".to_owned(),
            "line 2, watch.queue.\"a b\".target_minutes must be 1 to 10080",
        ),
        ("[watch]\nstale_seconds = 0".to_owned(), "watch.stale_seconds must be 1 to 86400"),
        ("[watch]\nstale_seconds = 86401".to_owned(), "watch.stale_seconds must be 1 to 86400"),
        (
            "[gate.tools.x]\ntimeout_seconds = 0".to_owned(),
            "gate.tools.x: timeout_seconds must be 1 to 86400",
        ),
        (
            "[gate.tools.x]\ntimeout_seconds = 9223372036854775807".to_owned(),
            "timeout_seconds must be 1 to 86400",
        ),
        (
            "[gate.tools.x]\nexpires_after_seconds = 31536001".to_owned(),
            "expires_after_seconds must be 1 to 31536000",
        ),
    ] {
        let message = parse(&text).unwrap_err();
        assert!(message.contains(says), "{text}\ngave\n{message}");
    }
}

#[test]
fn every_mistake_of_the_gate_has_advice() {
    for (text, says) in [
        ("[gate]\nlisten = \"here\"".to_owned(), "invalid socket address"),
        (
            "[gate]\ndenied = [\"x\"]\n\n[gate.tools.y]\n[gate.tools.x]".to_owned(),
            "line 5, gate.tools.x: this",
        ),
        (
            "[gate]\ndenied = [\"fs.*\"]\n\n[gate.tools.\"*\"]\n[gate.tools.\"fs.r*\"]".to_owned(),
            "line 5, gate.tools.fs.r*: \"fs.*\" in gate.denied covers it",
        ),
        (
            "\n[gate.tools.x]\nrisk = \"low\"\nretry = \"safe\"\nenv = {}".to_owned(),
            "line 2, gate.tools.x: env",
        ),
        ("[gate]\ntls_cert = \"c.pem\"".to_owned(), "gate.tls_cert and gate.tls_key go together"),
        ("[gate]\nhosts = [\"https://x\"]".to_owned(), "gate.hosts: \"https://x\" is no name of a host"),
        ("[gate]\nhosts = [\"x:80\"]".to_owned(), "without a port"),
        (
            "[gate]\ntrusted_proxies = [\"10.0.0.0/33\"]".to_owned(),
            "gate.trusted_proxies: \"10.0.0.0/33\" is neither",
        ),
        (
            "[gate.tools.x]\npreview = { item_fields = [\"a\"] }".to_owned(),
            "preview.item_fields needs preview.items",
        ),
        ("[gate]\ntools.x.executor = \"http\"".to_owned(), "line 2, gate.tools.x: "),
    ] {
        let message = parse(&text).unwrap_err();
        assert!(message.contains(says), "{text}\ngave\n{message}");
    }
}

#[test]
fn every_callback_mistake_has_advice() {
    for (text, says) in [
        (
            "\n[gate.callbacks.c]\nurl = \"https://h\"".to_owned(),
            "line 2, gate.callbacks.c: give one of secret_env",
        ),
        (
            "[gate.callbacks.c]\nurl = \"https://u:p@h\"\nsecret_env = \"S\"".to_owned(),
            "must not carry a user or password",
        ),
        ("[gate.callbacks.c]\nurl = \"h\"\nsecret_env = \"S\"".to_owned(), "url must start with http://"),
        (
            "[gate.callbacks.\"a b\"]\nurl = \"https://h\"\nsecret_env = \"S\"".to_owned(),
            "its name is 1 to 100 of A-Z",
        ),
        ("[gate.tools]\ny = {}\nx = { argv = [] }".to_owned(), "line 3, gate.tools.x: "),
    ] {
        let message = parse(&text).unwrap_err();
        assert!(message.contains(says), "{text}\ngave\n{message}");
    }
}

#[test]
fn every_database_mistake_has_advice() {
    for (text, says) in [
        ("database = \"mysql:x\"", "is neither sqlite:PATH nor postgres://"),
        ("database = \"postgres://me:x@h/p\"", "holds a password"),
        ("database = \"postgres://h/p?password=x\"", "holds a password"),
        ("database = \"postgres://me@h\"", "names no database"),
        ("database = \"postgres://h/p?sslmodus=x\"", "has the option \"sslmodus\""),
        ("postgres.connections = 1", "is not from 2 to 1000"),
        ("postgres = { password_env = \"A\", password_file = \"b\" }", "give one of password_env"),
        ("postgres.listen_url = \"postgres://me:x@h/p\"", "listen_url: the database's URL holds"),
    ] {
        let message = parse(&format!("[gate]\n{text}")).unwrap_err();
        assert!(message.contains(says), "{text}\ngave\n{message}");
    }
}

const MISTAKES: &str = r#"
[reviewer]
reasons = [""]
nmae = "kim"

[[source]]
name = "A b"
kind = "gate"
url = "http://x"

[[source]]
name = "good"
kind = "gate"
url = "ftp://x"

[[source]]
kind = "gate"
url = "http://x"

[ui]
theme = "drak"
hold_seconds = 100000
glyphs = "thick"

[watch]
poll_seconds = 0
targets = [
  1,
  2,
]
target_minutes = 0

[[notify]]
on = ["frist"]
to = "bell"

[gate]
workspace = ""
hosts = ["x:80", "y:80"]
[gate.tools.a]
executor = "http"
[gate.tools.b]
risk = "hihg"
"#;

#[test]
fn all_mistakes_are_reported_together() {
    let message = parse(MISTAKES).unwrap_err();

    for says in [
        "c.toml has 1",
        "did you mean `name`?",
        "reviewer.reasons",
        "source \"A b\"",
        "source \"good\": url",
        "missing field `name`",
        "ui.theme: Unknown theme \"drak\"",
        "ui.hold_seconds",
        "unknown variant `thick`",
        "watch.poll_seconds must be 1 to 3600",
        "unknown field `targets`",
        "watch.target_minutes must be",
        "notify rule 1",
        "gate.workspace: the name of a workspace",
        "\"x:80\"",
        "\"y:80\"",
        "gate.tools.a: executor",
        "gate.tools.b: Unknown risk",
    ] {
        assert_eq!(message.matches(says).count(), 1, "{says} in:\n{message}");
    }
    let lines: Vec<_> = message.lines().filter(|line| line.starts_with("- ")).collect();
    assert!(message.contains(&format!("has {} mistakes", lines.len())), "{message}");
    // In the order of the file, each with its line.
    let at = |line: &str| line.split("line ").nth(1)?.split([',', ' ']).next()?.parse::<usize>().ok();
    let lines: Vec<usize> = lines.iter().map(|line| at(line).unwrap_or_else(|| panic!("{line}"))).collect();
    assert_eq!(lines, [3, 4, 7, 14, 16, 21, 22, 23, 26, 27, 31, 33, 38, 39, 39, 40, 42], "{message}");
}

#[test]
fn mistakes_are_in_file_order_whatever_names_their_place() {
    let text = "\
[gate]
hosts = [\"a b\"]
[watch.queue.\"x.y z\"]
target_minutes = 3
[[filter]]
name = \"f\"
text = \"\"
[[source]]
name = \"s\"
token_env = \"T\"
[ui]
theme = \"t\"
[gate.proxy]
secret_header = \"x\"
[mcp.fs]
open = []
broken = [
";
    let ordered = super::in_file_order(
        [
            "of no place",
            "mcp.fs has it",
            "gate.proxy.secret_header: b",
            "gate.proxy: c",
            "ui.theme: cannot read it",
            "source \"s\": token_env is not set",
            "source \"s\": it is wrong",
            "line 7, of a line",
            "filter \"f\": colour",
            "watch.queue.\"x.y z\".target_minutes must be 1 to 2",
            "gate.hosts: a",
        ]
        .map(str::to_owned)
        .to_vec(),
        text,
    );

    let lines = ordered.iter().map(|mistake| mistake.split([',', ':']).next().unwrap_or_default());
    let lines = lines.collect::<Vec<_>>().join("|");
    let want = "line 2|line 4|line 6|line 7|line 9|line 10|line 12|line 13|line 14|line 15|of no place";
    assert_eq!(lines, want, "{ordered:?}");
}

#[test]
fn only_the_default_port_may_move() {
    let may_move = |text: &str| parse(text).map(|config| (config.gate.listen.port(), config.gate.may_move));

    assert_eq!(may_move(""), Ok((7878, true)));
    assert_eq!(may_move("[gate]\nlisten = \"127.0.0.1:7878\""), Ok((7878, false)));
    assert_eq!(may_move("[gate]\nlisten = \"127.0.0.1:9\""), Ok((9, false)));
}

#[test]
fn valid_parts_next_to_a_mistake_are_kept() {
    let (config, mistakes) = Config::parse_what_is_right(MISTAKES, &paths());

    assert!(mistakes.len() > 10, "{mistakes:?}");
    assert!(config.sources.is_empty() && config.gate.hosts.is_empty());
    let text = "[[source]]\nname = \"s\"\nkind = \"gate\"\nurl = \"http://h\"\nzz = 1\n[ui]\nhold_seconds = 7\nyy = [\n1]\n";
    let (config, mistakes) = Config::parse_what_is_right(text, &paths());
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    assert_eq!((config.sources.len(), config.ui.hold.as_secs()), (1, 7));
}

#[test]
fn paths_can_be_moved() {
    let env: BTreeMap<&str, PathBuf> =
        [("PLACET_CONFIG", "/a.toml".into()), ("PLACET_STATE_DIR", "/s".into())].into();

    let moved = Paths::find(None, |name| env.get(name).cloned()).unwrap();

    assert_eq!((moved.config, moved.config_named), ("/a.toml".into(), true));
    assert_eq!((moved.state.clone(), moved.log), ("/s".into(), PathBuf::from("/s/placet.log")));
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_refused() {
    use secrecy::ExposeSecret as _;
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, " secret\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();

    let exposed = TokenFrom::File(path.clone()).read().unwrap_err().to_string();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();

    assert!(exposed.contains("chmod 600"), "{exposed}");
    assert_eq!(TokenFrom::File(path).read().unwrap().expose_secret(), "secret");
}

#[test]
fn a_theme_is_a_name_or_a_file() {
    let theme = |name: &str| parse(&format!("[ui]\ntheme = {name:?}")).map(|config| config.ui.theme);

    assert_eq!(theme("auto"), Ok(ThemeChoice::Auto));
    assert_eq!(theme("mine.toml"), Ok(ThemeChoice::File("mine.toml".into())));
    assert_eq!(theme("/etc/placet/theme"), Ok(ThemeChoice::File("/etc/placet/theme".into())));
    let error = theme("drak").unwrap_err();
    assert!(
        error.contains(
            "line 2, ui.theme: Unknown theme \"drak\". Did you mean \"dark\"? Themes: terminal, auto"
        ),
        "{error}"
    );
}

#[test]
fn source_texts_are_highlighted_by_default() {
    assert!(parse("").unwrap().ui.highlight);
    assert!(!parse("[ui]\nhighlight = false").unwrap().ui.highlight);
}

#[test]
fn a_notification_command_needs_its_setting() {
    let notify = |text: &str| parse(&format!("[ui]\n{text}")).map(|config| config.ui.notify);

    assert_eq!(notify("notify = \"off\""), Ok(Notify::Off));
    let command = vec!["notify-send".to_owned(), "placet".to_owned()];
    let both = "notify = \"command\"\nnotify_command = [\"notify-send\", \"placet\"]";
    assert_eq!(notify(both), Ok(Notify::Command(command)));
    assert!(notify("notify = \"command\"").unwrap_err().contains("names none"));
    assert!(notify("notify_command = [\"x\"]").unwrap_err().contains("only"));
    assert!(notify("notify = \"osc8\"").unwrap_err().contains("did you mean `osc9`?"));
}

#[test]
fn workspace_names_are_checked_in_every_table() {
    let long = "w".repeat(129);
    let tables = |name: &str| {
        [
            format!("[gate]\nworkspace = {name:?}"),
            format!(
                "[[source]]\nname = \"s\"\nkind = \"gate\"\nurl = \"http://127.0.0.1\"\nworkspace = {name:?}"
            ),
            format!(
                "[gate]\ntrusted_proxies = [\"127.0.0.1\"]\n[gate.proxy]\nidentity_header = \"X-User\"\nsecret_header = \"X-Secret\"\n\
                 secret_env = \"S\"\n[gate.proxy.groups.\"*\"]\nworkspaces = [{name:?}]\nscopes = [\"read\"]"
            ),
        ]
    };
    for table in tables("büro 7") {
        assert!(parse(&table).is_ok(), "{table}: {:?}", parse(&table).err());
    }
    for name in ["", "a\nb", &long] {
        for table in tables(name) {
            assert!(parse(&table).unwrap_err().contains("1 to 128 characters"), "{table}");
        }
    }
}

mod notify;

#[test]
fn a_password_in_a_url_is_never_reported() {
    for config in [
        "[[source]]\nname = \"a\"\nkind = \"gate\"\nurl = \"https://u:hidden@h\"\n",
        "[[source]]\nname = \"a\"\nkind = \"gate\"\nurl = \"https://u:hidden@h\n",
        "[[source]]\nname = \"a\"\nkind = \"gate\"\nurl = [\n'https://u:hidden@h',\n'x' 'y']\n",
        "[[source]]\nname = \"a\"\nkind = \"gate\"\nadress = 'https://u:hidden@h'\nurl = 7\n",
        "[gate]\ndatabase = \"mysql://u:hidden@h/n\"\n",
        "[gate]\ndatabase = \"postgres://u:hidden@h/n\"\n",
        "[gate]\nlisten = \"https://u:hidden@h\"\n",
        "[[notify]]\non = [\"new\"]\nto = \"webhook\"\nurl = \"https://u:hidden@h\"\n",
        "[gate.callbacks.c]\nurl = \"https://u:hidden@h\"\nsecret_file = \"s\"\n",
        "[gate]\nallow_targets = [\"https://u:hidden@h\"]\n[gate.tools.t]\nexecutor = \"htttp\"\nurl = \"https://u:hidden@h\"\n",
    ] {
        let paths = Paths::find(None, |_| Some("/nowhere".into())).unwrap();
        if let Err(error) = Config::parse(config, &paths) {
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }
}
