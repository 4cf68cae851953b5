//! What stands in `assets/deploy` starts a gate of this version.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use placet::for_tests::{Args, Command, GateCommand};

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/deploy").join(name)).unwrap()
}

/// Reads an invocation as placet itself does.
fn serves(words: &[String]) {
    let args = Args::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let Some(Command::Gate { command: GateCommand::Serve(serve) }) = args.command else {
        panic!("{words:?} does not serve a gate")
    };
    assert_eq!(serve.log.as_deref(), Some(Path::new("-")), "a log that nobody collects");
    assert!(serve.behind_proxy);
}

#[test]
fn the_units_start_a_gate_and_lock_it_in() {
    let (alone, several) = (read("placet-gate.service"), read("placet-gate@.service"));
    locks_in(&alone);
    locks_in(&several);
    assert!(
        alone.contains("PLACET_STATE_DIR=/var/lib/placet\n"),
        "the state is where StateDirectory= makes room"
    );
    assert!(alone.contains("\nStateDirectory=placet\n") && alone.contains("--listen 127.0.0.1:7878 "));
    assert!(several.contains("PLACET_STATE_DIR=/var/lib/placet/%i\n"), "each has a state of its own");
    assert!(several.contains("\nStateDirectory=placet/%i\n"));
    let sandbox = |unit: &str| unit.split_once("# Tools with executor").unwrap().1.to_owned();
    assert_eq!(sandbox(&alone), sandbox(&several));
}

fn locks_in(unit: &str) {
    let value = |key: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("a unit says nothing of {key}"))
    };

    serves(&value("ExecStart").split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    for (key, want) in [
        ("User", "placet"),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
        ("TimeoutStopSec", "75"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("ProtectKernelModules", "yes"),
        ("ProtectControlGroups", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
        ("RestrictNamespaces", "yes"),
        ("RestrictSUIDSGID", "yes"),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("SystemCallFilter", "@system-service"),
    ] {
        assert_eq!(value(key), want, "{key}");
    }
}

#[test]
fn the_container_serves_without_being_root() {
    let file = read("Containerfile");
    let json = |key: &str| -> Vec<String> {
        let line = file.lines().rev().find_map(|line| line.strip_prefix(key));
        serde_json::from_str(line.unwrap_or_else(|| panic!("no {key}")).trim()).unwrap()
    };
    let last_stage = file.rsplit("\nFROM ").next().unwrap();

    serves(&[json("ENTRYPOINT"), json("CMD")].concat());
    assert!(json("CMD").contains(&"0.0.0.0:7878".to_owned()));
    assert!(last_stage.contains("\nUSER 64646\n") && file.contains("--uid 64646"), "it runs as root");
    assert!(last_stage.contains("\nVOLUME /var/lib/placet\n"), "what must survive has no volume");
    assert!(file.contains("PLACET_STATE_DIR=/var/lib/placet"));
    // Every file that the manifest names is there to be built.
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.split('"').next());
    assert!(file.contains(&format!("rust:{}-", version.unwrap())), "another Rust than Cargo.toml asks for");
}

#[test]
fn proxy_sends_events_on_and_no_write_twice() {
    let nginx = read("nginx.conf");
    let set = |line: &str| nginx.lines().any(|found| found.trim() == line);

    for line in
        ["proxy_buffering off;", "gzip off;", "proxy_read_timeout 75s;", "proxy_set_header Host $http_host;"]
    {
        assert!(set(line), "{line}");
    }
    let next = nginx.lines().find_map(|line| line.trim().strip_prefix("proxy_next_upstream "));
    assert!(!next.unwrap().contains("non_idempotent"), "a POST that may have arrived goes nowhere else");
}

#[test]
fn composed_gates_share_a_database_that_is_migrated_first() {
    let compose = read("compose.yaml");

    for line in [
        "condition: service_completed_successfully",
        "stop_grace_period: 75s",
        "- postgres://placet@db/placet",
    ] {
        assert!(compose.lines().any(|found| found.trim() == line), "{line}");
    }
    assert_eq!(compose.matches("<<: *gate").count(), 3);
    assert!(!compose.contains("POSTGRES_PASSWORD:"), "a password in the file");
}
