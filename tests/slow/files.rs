//! G33: only the owner can read or write what placet writes, under any umask.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::support::agent;
use super::support::eventually;
use super::support::gate::Address;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;

const NONE: [PathBuf; 0] = [];

/// Returns all files and folders below `folder` that others have rights to.
fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // SQLite's temporary files may disappear.
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        if found.permissions().mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if found.is_dir() {
            open.extend(open_to_others(&path));
        }
    }
    open
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn under<'a>(umask: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    const BINARY: &str = env!("CARGO_BIN_EXE_placet");
    [&["sh", "-c", umask, BINARY], args].concat()
}

fn run(home: &Home, argv: &[&str]) {
    let mut command = std::process::Command::new(argv[0]);
    let output = command.args(&argv[1..]).env_clear().envs(home.env()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{argv:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn g33_written_files_are_private_under_any_umask() {
    for umask in ["umask 022; exec \"$0\" \"$@\"", "umask 000; exec \"$0\" \"$@\""] {
        let home = Home::with_config(WRITE_FILE);
        // Placet creates its state folder; its temporary files go to another folder than the test's.
        std::fs::remove_dir(home.state()).unwrap();
        let temporary = home.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let temporary_name = temporary.to_str().unwrap().to_owned();
        let env = [("EDITOR", "sh -c 'echo THE EDITOR RUNS; read line'"), ("TMPDIR", &temporary_name)];
        let mut inbox = Pty::spawn(&home, (100, 30), &under(umask, &[]), &env);
        inbox.wait("placet propose");
        let address = Address::of_embedded(&home);
        for title in ["one", "two"] {
            agent::propose(
                &address,
                &format!(
                    r#"{{"toolName":"write_note","workspaceId":"default","toolInput":{{"title":"{title}"}}}}"#
                ),
            );
        }
        inbox.wait("  read   1-");
        inbox.send("a");
        inbox.wait("staged ");
        inbox.send("E");
        inbox.wait("THE EDITOR RUNS");

        assert_eq!(open_to_others(&home.state()), NONE, "{umask}");
        assert_eq!(names(&temporary).len(), 1, "the editor's file");
        assert_eq!(open_to_others(&temporary), NONE, "{umask}");

        inbox.send("\r");
        inbox.wait("Edit before approving");
        inbox.send("\x1b");
        inbox.wait_gone("Edit before approving");
        let file = |name: &str| home.state().join(name).to_str().unwrap().to_owned();
        run(&home, &under(umask, &["gate", "backup", &file("backup.db")]));
        run(&home, &under(umask, &["log", "export", "--to", &file("receipts.jsonl")]));
        run(&home, &under(umask, &["gate", "pause"]));
        let made = names(&home.state());
        for name in ["gate.db", "gate.json", "journal.db", "owner.token", "agent.token", "placet.log"] {
            assert!(made.iter().any(|made| made == name), "{name}: {made:?}");
        }
        for walked in ["gate.db-wal", "journal.db-wal", "journal.db.runs", "backup.db", "receipts.jsonl"] {
            assert!(made.iter().any(|made| made == walked), "{walked}: {made:?}");
        }
        assert_eq!(open_to_others(&home.state()), NONE, "{umask}");
        assert_eq!(std::fs::metadata(home.state()).unwrap().permissions().mode() & 0o077, 0, "{umask}");
        inbox.kill_9();
        inbox.wait_end();
        assert_eq!(open_to_others(&home.state()), NONE, "{umask}, after a crash");
    }
}

#[test]
fn g33_readable_or_linked_files_are_refused() {
    let home = Home::with_config("");
    let (token, link) = (home.path().join("token"), home.path().join("link"));
    std::fs::write(&token, "t0ken-canary").unwrap();
    std::os::unix::fs::symlink(&token, &link).unwrap();
    let told = |file: &Path| {
        let source =
            "[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"http://127.0.0.1:1\"\ntoken_file = ";
        std::fs::write(home.config(), format!("{source}\"{}\"\n", file.display())).unwrap();
        let output = home.run(&["list"]);
        assert_eq!(output.status.code(), Some(5), "no request was made");
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(told(&token).contains("can be read by others; run: chmod 600"), "{}", told(&token));
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(told(&link).contains("is a symbolic link"), "{}", told(&link));
    assert!(!told(&token).contains("token file"), "{}", told(&token));

    for (name, args) in [("journal.db", &["log"][..]), ("gate.db", &["gate", "pause"])] {
        let place = home.state().join(name);
        eventually("the old files are gone", || {
            for end in ["", "-wal", "-shm"] {
                drop(std::fs::remove_file(home.state().join(format!("{name}{end}"))));
            }
            (!place.exists()).then_some(())
        });
        let elsewhere = home.path().join(name);
        std::fs::write(&elsewhere, "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
        let refused = home.run(args);
        assert_ne!(refused.status.code(), Some(0));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("is a symbolic link; a database is never opened through one"), "{said}");
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"");
    }
}
