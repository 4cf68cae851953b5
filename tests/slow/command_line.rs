//! The command line as scripts use it, and its error messages.

use std::process::Output;

use placet::for_tests::{Fields, json};

use super::support::agent;
use super::support::eventually;
use super::support::gate::{Address, Gate};
use super::support::home::{Home, WRITE_FILE};

const INPUT: &str = r#"{"title":"from a shell","price":1.10}"#;

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", stderr(output)))
}

fn served() -> (Home, Gate) {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let config = std::fs::read_to_string(home.config()).unwrap();
    let source = format!(
        "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n",
        gate.address.url,
        home.state().join("owner.token").display()
    );
    std::fs::write(home.config(), source + &config).unwrap();
    (home, gate)
}

fn propose(home: &Home, input: &str) -> String {
    let file = home.path().join("input.json");
    std::fs::write(&file, input).unwrap();
    let token = home.state().join("agent.token");
    let args = [
        "propose",
        "write_note",
        "--mission",
        "m",
        "--json",
        "--input",
        file.to_str().unwrap(),
        "--token-file",
    ];
    let output = home.run(&[&args[..], &[token.to_str().unwrap()]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    Fields::of(stdout(&output).trim()).unwrap().text("pending_action_id").unwrap().as_raw().to_owned()
}

#[test]
fn script_lists_shows_decides_and_sees_the_result() {
    let (home, _gate) = served();
    let (first, second) = (propose(&home, INPUT), propose(&home, r#"{"title":"no"}"#));

    let listed = stdout(&home.run(&["list", "--json"]));
    let items = Fields::of(listed.trim()).unwrap().raw("items").and_then(json::elements).unwrap().len();
    let shown = stdout(&home.run(&["show", &first, "--json"]));
    let decided = home.run(&[
        "decide",
        "--approve",
        &first,
        "--reject",
        &second,
        "--reason",
        "no need",
        "--follow",
        "--json",
    ]);

    assert_eq!(items, 2);
    assert!(shown.contains(&format!("\"toolInput\":{INPUT}")), "{shown}");
    assert!(shown.contains("\"digest\":\"sha256:"), "{shown}");
    assert_eq!(code(&decided), 0, "{}", stderr(&decided));
    let reply = stdout(&decided);
    assert!(
        reply.contains(r#""approved":1,"rejected":1,"skipped":0"#)
            && reply.contains(r#""status":"executed""#),
        "{reply}"
    );
    assert_eq!(std::fs::read_to_string(home.out().join(&first)).unwrap(), INPUT);
    assert!(stdout(&home.run(&["list"])).contains("nothing is pending"));
}

#[test]
fn exit_codes_distinguish_skipped_and_refused() {
    let (home, gate) = served();
    let id = propose(&home, INPUT);
    let reply = agent::request(
        &gate.address,
        &gate.address.owner_token,
        "POST",
        &format!("/api/pending-actions/{id}/reject"),
        "{}",
    );
    assert_eq!(reply.status, 200, "{}", reply.body);

    let settled = home.run(&["decide", "--approve", &id]);
    let unknown = home.run(&["decide", "--approve", "no-such-id"]);

    assert_eq!(code(&settled), 3);
    assert!(stdout(&settled).contains("skipped, rejected by owner"), "{}", stdout(&settled));
    assert_eq!(code(&unknown), 3);
    assert!(
        stdout(&unknown)
            .contains("no-such-id  skipped, no such action, or decided and no longer in the source"),
        "{}",
        stdout(&unknown)
    );
}

#[test]
fn decision_on_changed_content_is_refused() {
    let (home, _gate) = served();
    let id = propose(&home, INPUT);
    let decisions = home.path().join("decisions.json");
    let digest = "0".repeat(64);
    std::fs::write(
        &decisions,
        format!(r#"[{{"id":"{id}","decision":"approve","digest":"sha256:{digest}"}}]"#),
    )
    .unwrap();

    let refused = home.run(&["decide", "--from", decisions.to_str().unwrap()]);

    assert_eq!(code(&refused), 1);
    assert!(stderr(&refused).contains("changed since you looked"), "{}", stderr(&refused));
    assert!(stdout(&home.run(&["list"])).contains("1 pending"));
}

#[test]
fn a_dry_run_sends_nothing() {
    let (home, _gate) = served();
    let id = propose(&home, INPUT);

    let dry = home.run(&["decide", "--approve", &id, "--dry-run"]);

    assert_eq!(code(&dry), 0);
    assert!(stdout(&dry).contains("nothing was sent"), "{}", stdout(&dry));
    assert!(stdout(&home.run(&["list"])).contains("1 pending"));
}

#[test]
fn propose_wait_exits_with_the_decisions_code() {
    let (home, gate) = served();
    let waiting = |home: &Home| {
        let token = home.state().join("agent.token");
        let args =
            ["propose", "write_note", "--mission", "w", "--input", "-", "--wait", "25", "--token-file"];
        let mut command = home.command(&[&args[..], &[token.to_str().unwrap()]].concat());
        let mut child =
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), INPUT.as_bytes()).unwrap();
        child
    };
    let child = waiting(&home);
    let id = eventually("the proposal is pending", || {
        let reply = agent::request(
            &gate.address,
            &gate.address.owner_token,
            "GET",
            "/api/pending-actions?status=pending",
            "",
        );
        let items = Fields::of(&reply.body)?.raw("items")?;
        Some(Fields::of(json::elements(items)?.first()?)?.text("id")?.as_raw().to_owned())
    });

    let rejected = home.run(&["decide", "--reject", &id, "--reason", "too dear"]);
    let output = child.wait_with_output().unwrap();

    assert_eq!(code(&rejected), 0, "{}", stderr(&rejected));
    assert_eq!(code(&output), 6, "{}", stdout(&output));
    let said = stdout(&output);
    assert!(said.starts_with(&format!("queued {id} at {}; nothing runs until", gate.address.url)), "{said}");
    assert!(said.contains("rejected by owner: too dear"), "{said}");
}

#[test]
fn propose_wait_reports_a_missing_scope_before_sending() {
    let (home, gate) = served();
    let only =
        ["gate", "token", "create", "--scopes", "propose", "--subject", "ci", "--workspace", "default"];
    let token = home.path().join("ci.token");
    std::fs::write(&token, stdout(&home.run(&only))).unwrap();
    std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let input = home.path().join("input.json");
    std::fs::write(&input, INPUT).unwrap();
    let args = [
        "propose",
        "write_note",
        "--input",
        input.to_str().unwrap(),
        "--token-file",
        token.to_str().unwrap(),
    ];
    let pending = || {
        let path = "/api/pending-actions?status=pending";
        let reply = agent::request(&gate.address, &gate.address.owner_token, "GET", path, "");
        json::elements(Fields::of(&reply.body).unwrap().raw("items").unwrap()).unwrap().len()
    };

    for more in [&["--wait", "1"][..], &["--wait", "1", "--workspace", "default", "--json"]] {
        let waited = home.run(&[&args[..], more].concat());

        assert_eq!((code(&waited), stdout(&waited).as_str()), (2, ""), "{}", stderr(&waited));
        assert!(
            stderr(&waited).contains("lacks the scope `read`; nothing was proposed"),
            "{}",
            stderr(&waited)
        );
    }
    assert_eq!(pending(), 0);

    let queued = home.run(&args);
    assert_eq!((code(&queued), pending()), (0, 1), "{}", stderr(&queued));
}

#[test]
fn commands_use_the_local_gate_without_a_configuration() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let file = home.path().join("input.json");
    std::fs::write(&file, INPUT).unwrap();

    let args = ["propose", "write_note", "--mission", "m", "--input", file.to_str().unwrap()];
    // A token in the environment is for another gate.
    let proposed = home.command(&args).env("PLACET_TOKEN", "of-another-gate").output().unwrap();
    let listed = home.run(&["list"]);

    assert_eq!(code(&proposed), 0, "{}", stderr(&proposed));
    let place = format!(" in {}, no gate is running;", home.state().join("gate.db").display());
    assert!(stdout(&proposed).contains(&place), "{}", stdout(&proposed));
    assert!(
        stdout(&listed).contains("from a shell") && stdout(&listed).contains("1 pending"),
        "{}",
        stdout(&listed)
    );
}

#[test]
fn placet_url_applies_to_proposing_not_deciding() {
    let (team, gate) = served();
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let input = home.path().join("input.json");
    std::fs::write(&input, INPUT).unwrap();
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("PLACET_URL", &gate.address.url);
        command.env("PLACET_TOKEN_FILE", team.state().join("agent.token")).output().unwrap()
    };

    let proposed = run(&["propose", "write_note", "--input", input.to_str().unwrap()]);
    let listed = run(&["list"]);
    let doctor = run(&["doctor"]);

    assert_eq!(code(&proposed), 0, "{}", stderr(&proposed));
    assert!(stdout(&proposed).contains(&format!(" at {};", gate.address.url)), "{}", stdout(&proposed));
    assert!(stdout(&listed).contains("nothing is pending"), "{}", stdout(&listed));
    assert!(
        stdout(&doctor).contains(&format!("use the gate at {}", gate.address.url)),
        "{}",
        stdout(&doctor)
    );
}

#[test]
fn every_failure_says_what_to_do() {
    let broken = Home::with_config("[watch]\npoll_secnds = 3\n");
    let unreachable =
        Home::with_config("[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n");
    let blocked = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    std::fs::remove_dir(blocked.state()).unwrap();
    std::fs::write(blocked.state(), "a file where the folder should be").unwrap();
    let absent = "[gate.tools.x]\nexecutor = \"command\"\nargv = [\"/no/such/program\"]\n";
    let remote = "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:9\"\n";
    let (lacking, remote) = (Home::with_config(absent), Home::with_config(&format!("{remote}{absent}")));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().to_string();
    let served = Home::with_config("");
    let configured = Home::with_config(&format!("[gate]\nlisten = \"{port}\"\n"));

    for (output, want, says) in [
        (broken.run(&["list"]), 2, "did you mean `poll_seconds`?"),
        (broken.run(&["config", "check"]), 2, "line 2"),
        (broken.run(&["--config", "/nowhere.toml", "list"]), 2, "cannot read the configuration"),
        (unreachable.run(&["list"]), 5, "team"),
        (blocked.run(&["list"]), 1, "PLACET_STATE_DIR"),
        (served.run(&["gate", "serve", "--listen", &port]), 1, "end it, or give another --listen"),
        (configured.run(&["list"]), 1, "end it, or give `listen` in [gate] another port"),
        (served.run(&["gate", "serve", "--listen", "0.0.0.0:0"]), 1, "--behind-proxy"),
        (lacking.run(&["gate", "serve", "--listen", "127.0.0.1:0"]), 2, "line 1, gate.tools.x: the program"),
        (lacking.run(&["list"]), 2, "line 1, gate.tools.x: the program"),
        (lacking.run(&["config", "check"]), 2, "line 1, gate.tools.x: the program"),
        (remote.run(&["config", "check"]), 2, "line 5, gate.tools.x: the program"),
        // Remote sources do not need the program here.
        (remote.run(&["list"]), 5, "team"),
        (served.run(&[]), 2, "terminal"),
        (served.run(&["demo"]), 2, "terminal"),
        (served.run(&["decide"]), 2, "nothing to decide"),
        (unreachable.run(&["show", "x"]), 5, "team"),
        (unreachable.run(&["decide", "--approve", "x"]), 5, "team"),
        (served.run(&["frobnicate"]), 2, "unrecognized subcommand"),
    ] {
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains(says), "wanted {says:?} in: {said}");
        assert_eq!(code(&output), want, "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[test]
fn gate_with_a_certificate_is_listed_over_tls() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let cert = fixtures.join("tls.cert.pem");
    let home = Home::with_config(&format!(
        "[gate]\nlisten = \"127.0.0.1:0\"\nhosts = [\"localhost\"]\ntls_cert = {cert:?}\ntls_key = \"key.pem\"\n"
    ));
    let key = home.path().join("key.pem");
    std::fs::copy(fixtures.join("tls.key.pem"), &key).unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let gate = Gate::serve(&home, &[]);
    let url = &gate.address.url;
    let team = Home::with_config(&format!(
        "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = {url:?}\ntoken_file = {:?}\nca_file = {cert:?}\n",
        home.state().join("owner.token")
    ));

    let listed = team.run(&["list"]);
    let inside = home.run(&["list"]);

    assert!(url.starts_with("https://localhost:"), "{url}");
    assert_eq!(Address::of_embedded(&home).url, *url);
    assert_eq!(code(&listed), 0, "{}", stderr(&listed));
    assert!(stderr(&inside).contains("name it in a [[source]]"), "{}", stderr(&inside));
}

#[test]
fn database_takes_one_gate() {
    let home = Home::with_config(WRITE_FILE);
    let _first = Gate::serve(&home, &[]);

    let second = home.run(&["gate", "serve"]);

    assert_eq!(code(&second), 1);
    assert!(stderr(&second).contains("another placet serves"), "{}", stderr(&second));
}

#[test]
fn tokens_are_created_listed_and_revoked() {
    let (home, gate) = served();
    let token = stdout(&home.run(&[
        "gate",
        "token",
        "create",
        "--scopes",
        "read",
        "--subject",
        "kim",
        "--workspace",
        "default",
    ]));
    let list =
        |token: &str| agent::request(&gate.address, token.trim(), "GET", "/api/pending-actions", "").status;
    assert_eq!(list(&token), 200);

    let listed = stdout(&home.run(&["gate", "token", "list"]));
    let line = listed.lines().find(|line| line.contains("kim")).unwrap();
    let revoked = home.run(&["gate", "token", "revoke", line.split_whitespace().next().unwrap()]);

    assert!(!listed.contains(token.trim()));
    assert_eq!(code(&revoked), 0, "{}", stderr(&revoked));
    eventually("the token is useless", || (list(&token) == 401).then_some(()));
}

#[test]
fn local_gate_works_without_system_certificates() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let mut command = home.command(&["list"]);

    let output =
        command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent").output().unwrap();

    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn mistakes_say_what_to_do() {
    let home = Home::with_config(WRITE_FILE);
    let banana = home.run(&["propose", "write_note", "--input", "-", "--risk", "banana"]);
    assert_eq!(code(&banana), 2);
    assert!(stderr(&banana).contains("possible values: low, medium, high, critical"), "{}", stderr(&banana));

    let database = home.state().join("gate.db");
    std::fs::write(&database, vec![7; 8192]).unwrap();
    let damaged = home.run(&["gate", "serve"]);
    assert_eq!(code(&damaged), 1);
    assert!(stderr(&damaged).contains("restore a backup"), "{}", stderr(&damaged));

    std::fs::remove_file(home.config()).unwrap();
    let missing = home.run(&["list"]);
    assert_eq!(code(&missing), 2);
    assert!(
        stderr(&missing).contains("create it (`placet config example` prints one"),
        "{}",
        stderr(&missing)
    );
}

#[test]
fn prune_exports_deleted_actions_and_keeps_the_audit_valid() {
    let (home, gate) = served();
    let id = propose(&home, INPUT);
    home.run(&["decide", "--reject", &id]);
    let heads = home.path().join("heads");
    std::fs::write(&heads, stdout(&home.run(&["gate", "audit", "head"]))).unwrap();
    let export = home.path().join("pruned.jsonl");
    let prune = |args: &[&str]| home.run(&[&["gate", "prune"], args].concat());

    let off = prune(&[]);
    let pruned = prune(&["--before", "2999-01-01T00:00:00Z", "--export", export.to_str().unwrap()]);
    let again = prune(&["--before", "1d", "--export", export.to_str().unwrap()]);
    let verified = home.run(&["gate", "audit", "verify", "--heads", heads.to_str().unwrap()]);

    assert_eq!(code(&off), 2);
    assert!(
        stderr(&off).contains("gate.keep_settled is off; say what to prune with --before"),
        "{}",
        stderr(&off)
    );
    assert_eq!(code(&pruned), 0, "{}", stderr(&pruned));
    assert!(stdout(&pruned).starts_with("pruned: 1 action that was settled before"), "{}", stdout(&pruned));
    assert!(std::fs::read_to_string(&export).unwrap().contains(&format!(r#""toolInput":{INPUT}"#)));
    assert_eq!(code(&again), 1, "an export is not overwritten");
    assert!(stderr(&again).contains("it must not be there yet"), "{}", stderr(&again));
    assert_eq!((code(&verified), agent::get(&gate.address, &id).status), (0, 404), "{}", stdout(&verified));
}

#[test]
fn people_read_local_times_and_short_ids() {
    let (home, _gate) = served();
    let (first, second) = (propose(&home, INPUT), propose(&home, r#"{"title":"no"}"#));
    let run = |args: &[&str]| {
        let output = home.command(args).env("TZ", "XYZ-5").output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let columns = ["list", "--sort", "age", "--columns", "id,created"];
    let cells = |text: &str| -> Vec<String> {
        text.lines()
            .skip(1)
            .take(2)
            .flat_map(|line| line.split([' ', ',']).filter(|it| !it.is_empty()))
            .map(str::to_owned)
            .collect()
    };
    let utc = cells(&run(&[&columns[..], &["--csv"]].concat()));
    let [_, at, _, _] = utc.as_slice() else { panic!("{utc:?}") };
    assert_eq!([&utc[0], &utc[2]], [&first, &second], "CSV has whole ids");
    // The zone of this POSIX string is five hours ahead of UTC.
    let hour = (at[11..13].parse::<u32>().unwrap() + 5) % 24;
    let local = format!("{hour:02}{}", &at[13..16]);

    let listed = run(&columns);
    let in_utc = run(&[&columns[..], &["--utc"]].concat());
    let shown = run(&["show", &first]);

    // Since midnight there, the day may stand before the time.
    let shorts = cells(&listed)
        .into_iter()
        .filter(|cell| first.starts_with(cell.as_str()) || second.starts_with(cell.as_str()));
    let shorts: Vec<String> = shorts.collect();
    assert!(shorts.len() == 2 && shorts.iter().all(|it| (13..36).contains(&it.len())), "{listed}");
    assert!(listed.contains(&local) && !listed.contains(at.as_str()), "{local}: {listed}");
    assert!(in_utc.contains(at.as_str()), "{at}: {in_utc}");
    assert!(shown.lines().any(|line| line.starts_with("created ") && line.ends_with(&local)), "{shown}");
    run(&["decide", "--reject", &shorts[0]]);
    let logged = run(&["log"]);
    assert!(logged.contains(&shorts[0][..13]) && !logged.contains(&first), "{logged}");
    assert!(run(&["log", "--utc"]).contains(&format!("{}T", &at[..10])));
}

#[test]
fn id_loses_blanks_and_says_its_odd_characters() {
    let (home, _gate) = served();
    let id = propose(&home, INPUT);
    let from = |id: &str| {
        let file = home.path().join("from.json");
        std::fs::write(&file, format!(r#"[{{"id":"{id}","decision":"reject"}}]"#)).unwrap();
        home.run(&["decide", "--dry-run", "--from", file.to_str().unwrap()])
    };

    for output in [home.run(&["show", &format!(" {id}\r")]), from(&format!("{id}\\r\\n"))] {
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    for (typed, shown) in [(format!("{id}\u{200b}"), "⟦U+200B⟧"), (format!("{}…", &id[..8]), "⟦… U+2026⟧")]
    {
        for output in [home.run(&["show", &typed]), home.run(&["claim", &typed])] {
            let said = stderr(&output);
            assert!(
                code(&output) == 2 && said.contains(shown) && said.contains("it has odd characters"),
                "{said}"
            );
        }
        let output = from(&typed);
        let said = stdout(&output);
        assert!(said.contains(shown) && said.contains("its id has odd characters"), "{said}");
        assert_eq!(code(&output), 3, "an id that does not exist is skipped: {said}");
    }
}

#[test]
fn unique_id_prefix_is_enough() {
    let (home, _gate) = served();
    let (first, second) = (propose(&home, INPUT), propose(&home, r#"{"title":"no"}"#));
    let common = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
    let (short, both) = (&first[..=common], &first[..common]);

    let shown = home.run(&["show", short]);
    let several = home.run(&["decide", "--approve", both]);
    let nobody = home.run(&["show", "nobody"]);
    let empty = home.run(&["show", ""]);
    let from = home.path().join("from.json");
    std::fs::write(&from, format!(r#"[{{"id":"{short}","decision":"reject"}}]"#)).unwrap();
    let from = home.run(&["decide", "--from", from.to_str().unwrap(), "--dry-run"]);
    let cut = home.run(&["list", "--limit", "1"]);
    let line = stdout(&home.run(&["list", "--line"]));
    let decided = home.run(&["decide", "--reject", short]);
    let over = home.run(&["show", short]);

    assert!(code(&shown) == 0 && stdout(&shown).contains(&first), "{}", stderr(&shown));
    let said = stderr(&several);
    assert!(code(&several) == 2 && said.contains(&first) && said.contains(&second), "{said}");
    assert!(
        code(&nobody) == 1 && stderr(&nobody).contains("No action id starts with \"nobody\""),
        "{}",
        stderr(&nobody)
    );
    assert_eq!(code(&empty), 2, "{}", stdout(&empty));
    assert!(
        code(&from) == 3 && stdout(&from).contains("0 reject"),
        "a file needs whole ids: {}",
        stdout(&from)
    );
    assert!(stdout(&cut).contains("1 of 2 pending"), "{}", stdout(&cut));
    assert!(line.starts_with("2 pending, oldest "), "{line}");
    assert!(code(&decided) == 0 && stdout(&decided).contains(&first), "{}", stderr(&decided));
    assert!(stdout(&over).contains("rejected"), "settled actions are found, too: {}", stderr(&over));
}
