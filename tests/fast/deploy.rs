//! The files in `assets/deploy` start a gate of this version.

use std::fs;
use std::path::Path;

use clap::Parser as _;
use placet::for_tests::{Args, Command, GateCommand};

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/deploy").join(name)).unwrap()
}

/// Parses a command line as placet does.
fn serves(words: &[String]) {
    let args = Args::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let Some(Command::Gate(GateCommand::Serve(serve))) = args.command else {
        panic!("{words:?} does not serve a gate")
    };
    assert_eq!(serve.log.as_deref(), Some(Path::new("-")), "the log is not collected");
    assert!(serve.behind_proxy);
}

#[test]
fn units_start_a_sandboxed_gate() {
    let (alone, several) = (read("placet-gate.service"), read("placet-gate@.service"));
    locks_in(&alone);
    locks_in(&several);
    assert!(alone.contains("PLACET_STATE_DIR=/var/lib/placet\n"), "the state is in StateDirectory=");
    assert!(alone.contains("\nStateDirectory=placet\n") && alone.contains("--listen 127.0.0.1:7878 "));
    assert!(several.contains("PLACET_STATE_DIR=/var/lib/placet/%i\n"), "each instance has its own state");
    assert!(several.contains("\nStateDirectory=placet/%i\n"));
    let sandbox = |unit: &str| unit.split_once("# Tools with executor").unwrap().1.to_owned();
    assert_eq!(sandbox(&alone), sandbox(&several));
}

fn locks_in(unit: &str) {
    let value = |key: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("a unit lacks {key}"))
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
fn container_serves_without_root() {
    let file = read("Containerfile");
    let json = |key: &str| -> Vec<String> {
        let line = file.lines().rev().find_map(|line| line.strip_prefix(key));
        serde_json::from_str(line.unwrap_or_else(|| panic!("no {key}")).trim()).unwrap()
    };
    let last_stage = file.rsplit("\nFROM ").next().unwrap();

    serves(&[json("ENTRYPOINT"), json("CMD")].concat());
    assert!(json("CMD").contains(&"0.0.0.0:7878".to_owned()));
    assert!(last_stage.contains("\nUSER 64646\n") && file.contains("--uid 64646"), "it runs as root");
    assert!(last_stage.contains("\nVOLUME /var/lib/placet\n"), "the state has no volume");
    assert!(file.contains("PLACET_STATE_DIR=/var/lib/placet"));
    // The image builds with the minimum Rust version of the manifest.
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.split('"').next());
    assert!(file.contains(&format!("rust:{}-", version.unwrap())), "not the Rust version of Cargo.toml");
}

#[test]
fn proxy_streams_events_and_retries_no_writes() {
    let nginx = read("nginx.conf");
    let set = |line: &str| nginx.lines().any(|found| found.trim() == line);

    for line in
        ["proxy_buffering off;", "gzip off;", "proxy_read_timeout 75s;", "proxy_set_header Host $http_host;"]
    {
        assert!(set(line), "{line}");
    }
    let next = nginx.lines().find_map(|line| line.trim().strip_prefix("proxy_next_upstream "));
    assert!(!next.unwrap().contains("non_idempotent"), "a POST that may have arrived is retried");
}

#[test]
fn composed_gates_share_a_migrated_database() {
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
