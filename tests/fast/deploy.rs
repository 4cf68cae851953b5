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
    assert_eq!(serve.listen.map(|address| address.port()), Some(7878));
}

#[test]
fn the_unit_starts_a_gate_and_locks_it_in() {
    let unit = read("placet-gate.service");
    let value = |key: &str| {
        let found = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("placet-gate.service says nothing of {key}"))
    };

    serves(&value("ExecStart").split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    for (key, want) in [
        ("User", "placet"),
        ("StateDirectory", "placet"),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
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
    assert!(
        unit.contains("PLACET_STATE_DIR=/var/lib/placet\n"),
        "the state is where StateDirectory= makes room"
    );
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
    assert!(last_stage.contains("\nUSER 64646\n") && file.contains("--uid 64646"), "it runs as root");
    assert!(last_stage.contains("\nVOLUME /var/lib/placet\n"), "what must survive has no volume");
    assert!(file.contains("PLACET_STATE_DIR=/var/lib/placet"));
    // Every file that the manifest names is there to be built.
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.split('"').next());
    assert!(file.contains(&format!("rust:{}-", version.unwrap())), "another Rust than Cargo.toml asks for");
}
