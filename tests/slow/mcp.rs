//! `placet mcp` as a process. Real clients and servers are in `tests/reach`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use super::support::home::Home;
use super::support::{ended, eventually};

/// Returns whether the process has ended; its parent may not have collected it.
fn is_gone(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// A server that ignores SIGTERM and the end of its input, with a helper process.
const STUBBORN: &str =
    "trap '' TERM; (while :; do sleep 1; done) & echo \"$$ $!\"; while :; do sleep 1; done";

#[test]
fn killed_proxy_leaves_no_server_behind() {
    let home = Home::with_config("");
    let mut command = home.command(&["mcp", "--", "sh", "-c", STUBBORN]);
    let mut proxy = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let ids: Vec<&str> = said.split_whitespace().collect();
    assert!(ids.len() == 2 && !ids.iter().any(|id| is_gone(id)), "{said}");

    proxy.kill().unwrap();
    proxy.wait().unwrap();

    eventually("the server and its helper are gone", || ids.iter().all(|id| is_gone(id)).then_some(()));
}

#[test]
fn server_that_ends_by_itself_is_named_with_its_status() {
    let home = Home::with_config("");
    let server = |argv: &[&str]| {
        let mut command = home.command(&[&["mcp", "--"], argv].concat());
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut proxy = command.spawn().unwrap();
        drop(proxy.stdin.as_mut().unwrap().write_all(b"{}\n"));
        let output = ended(proxy);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };

    let (code, said) = server(&["sh", "-c", "exit 4"]);
    assert!(
        code == Some(1) && said.contains("the MCP server sh ended with exit status: 4"),
        "{code:?} {said}"
    );
    let (code, said) = server(&["/nowhere/server"]);
    assert!(code == Some(2) && said.contains("\"/nowhere/server\" does not exist"), "{code:?} {said}");
}
