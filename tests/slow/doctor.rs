//! `placet doctor` as a process.

use std::process::Output;

use placet::for_tests::{Fields, json};

use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn served() -> (Home, Gate) {
    let home = Home::with_config(WRITE_FILE);
    let gate = Gate::serve(&home, &[]);
    let token = home.state().join("owner.token");
    let config = std::fs::read_to_string(home.config()).unwrap();
    let (url, token) = (&gate.address.url, token.display());
    let source =
        format!("[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{url}\"\ntoken_file = \"{token}\"\n");
    std::fs::write(home.config(), source + &config).unwrap();
    (home, gate)
}

#[test]
fn checks_are_reported_with_an_exit_code() {
    let (home, gate) = served();

    let well = home.run(&["doctor"]);

    let text = stdout(&well);
    assert_eq!(well.status.code(), Some(0), "{text}");
    for line in [
        "this machine\n",
        "  ok     configuration  ",
        "  ok     state folder   ",
        "  ok     list           0 pending",
    ] {
        assert!(text.contains(line), "{line:?} in {text}");
    }
    assert!(text.contains(&format!("team (gate, {})", gate.address.url)), "{text}");
    assert!(!text.contains('\u{1b}'), "no escape codes into a pipe");
    let token = std::fs::read_to_string(home.state().join("owner.token")).unwrap();
    assert!(!text.contains(token.trim()));

    gate.kill_9();
    let ill = home.run(&["doctor", "--source", "team"]);
    let text = stdout(&ill);
    assert_eq!(ill.status.code(), Some(1), "{text}");
    assert!(text.contains("WRONG  list           it cannot be reached"), "{text}");
    assert!(text.contains("do: check `url`") && text.contains("1 wrong"), "{text}");

    let json = stdout(&home.run(&["doctor", "--json"]));
    let told = Fields::of(json.trim()).unwrap();
    assert_eq!((told.number("version"), told.number("bad")), (Some(1), Some(1)));
    let checks = json::elements(told.raw("checks").unwrap()).unwrap();
    let bad = checks
        .iter()
        .filter_map(|check| Fields::of(check))
        .find(|it| it.text("verdict").unwrap().as_raw() == "bad");
    let bad = bad.unwrap();
    assert_eq!(bad.text("source").unwrap().as_raw(), "team");
    assert!(bad.text("advice").is_some());
}

#[test]
fn log_that_is_a_link_is_wrong() {
    let home = Home::with_config("");
    std::fs::create_dir_all(home.state()).unwrap();
    std::os::unix::fs::symlink("/nowhere/else", home.state().join("placet.log")).unwrap();

    let told = home.run(&["doctor"]);

    assert_eq!(told.status.code(), Some(1), "{}", stdout(&told));
    assert!(
        stdout(&told).contains("WRONG  log") && stdout(&told).contains("it is a link"),
        "{}",
        stdout(&told)
    );
}

#[test]
fn invalid_configuration_and_unknown_source_exit_with_2() {
    let home = Home::with_config("[[source]]\nname = \"x\"\nkind = \"gate\"\nurl = \"ftp://x\"\n");
    let broken = home.run(&["doctor"]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(stdout(&broken).contains("WRONG  configuration"), "{}", stdout(&broken));
    assert!(stdout(&broken).contains("do: correct it"), "{}", stdout(&broken));

    let (home, _gate) = served();
    assert_eq!(home.run(&["doctor", "--source", "tean"]).status.code(), Some(2));
}

#[test]
fn doctor_checks_the_local_gate_without_a_configuration() {
    let home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");

    let output = home.run(&["doctor"]);

    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("  ok     gate           not running; it would listen on http://127.0.0.1:"),
        "{text}"
    );
    assert!(text.contains("gate (gate, http://127.0.0.1:"), "{text}");
}
