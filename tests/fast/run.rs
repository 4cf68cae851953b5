//! `tests/run` with a fake cargo.

use std::process::Command;

/// Returns the lines after cargo's output, and the exit code.
fn ran(said: &str, status: &str) -> (Vec<String>, Option<i32>) {
    const CARGO: &str = r#"cargo() { printf '%s\n' "$SAID"; return "$STATUS"; }; export -f cargo; tests/run"#;
    let mut bash = Command::new("bash");
    bash.args(["-c", CARGO]).current_dir(env!("CARGO_MANIFEST_DIR")).env("SAID", said).env("STATUS", status);
    let output = bash.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let after = text.strip_prefix(&format!("{said}\n\n")).unwrap();
    (after.lines().map(str::to_owned).collect(), output.status.code())
}

#[test]
fn test_command_ends_with_skipped_tests_and_one_line() {
    let said =
        "test a::good ... ok\nSKIPPED b::away: no server\ntest c::bad ... FAILED\ntest d::worse ... FAILED";

    assert_eq!(
        ran(said, "101"),
        (vec!["SKIPPED b::away: no server".to_owned(), "FAILED: c::bad d::worse".to_owned()], Some(101))
    );
    let said = "test a::good ... ok\ntest result: ok. 7 passed; 0 failed; 1 ignored\ntest result: ok. 5 passed; 0 failed";
    assert_eq!(ran(said, "0"), (vec!["12 passed, 0 failed".to_owned()], Some(0)));
    let (lines, status) = ran("error: could not compile `placet`", "101");
    assert_eq!((lines[0].as_str(), status), ("FAILED: error: could not compile `placet`", Some(101)));
}
