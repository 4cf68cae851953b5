use super::*;

const KILLED: How = How { limit: Duration::from_secs(2), late: Late::Killed, bare: false };

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

#[tokio::test]
async fn a_program_gets_its_input_and_its_failure_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("got");
    run(&sh(&format!("cat > {}", file.display())), b"placet: 3 pending", KILLED).await.unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "placet: 3 pending");

    assert!(run(&sh("exit 3"), b"x", KILLED).await.unwrap_err().to_string().contains('3'));
    assert!(run(&["no-such-program-here".to_owned()], b"x", KILLED).await.is_err());
    run(&sh("exit 0"), &vec![b'x'; 200_000], KILLED).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hanging_program_is_given_up() {
    let error = run(&sh("sleep 60"), b"", KILLED).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(error.to_string(), "sh took longer than 2 seconds");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn children_are_killed_with_their_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("child");
    // The helper holds no file of this process, so only the kill ends it.
    let script = format!(
        "sleep 600 </dev/null >/dev/null 2>&1 & echo $! > {0}.new; mv {0}.new {0}; wait",
        file.display()
    );
    let (argv, how) = (sh(&script), How { limit: Duration::from_mins(1), ..KILLED });
    {
        let running = run(&argv, b"", how);
        tokio::pin!(running);
        let started = async {
            while !file.exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut running => panic!("it ended by itself"),
            started = tokio::time::timeout(Duration::from_secs(20), started) => started.unwrap(),
        }
    }
    let helper: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    let is_gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{helper}/stat"));
        // It may be a zombie that no process has reaped.
        stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
    };
    let gone = async {
        while !is_gone() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.unwrap();
}

#[tokio::test]
async fn a_bare_program_gets_only_listed_variables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("env");
    let foreign = std::env::vars().map(|(name, _)| name).find(|name| !BARE.contains(&name.as_str())).unwrap();
    assert!(!["PWD", "SHLVL", "_"].contains(&foreign.as_str()), "a shell makes those by itself");

    run(&sh(&format!("env > {}", file.display())), b"", How { bare: true, ..KILLED }).await.unwrap();

    let found = std::fs::read_to_string(file).unwrap();
    assert!(found.contains("PATH=") && !found.contains(&format!("{foreign}=")), "{found}");
    let made = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names = found.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name));
    let stray: Vec<_> = names.filter(|name| !BARE.contains(name) && !made.contains(name)).collect();
    assert!(stray.is_empty(), "{stray:?}");
}

#[tokio::test]
async fn a_program_does_not_see_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("env");
    // Cargo sets both for each test.
    for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        assert!(std::env::var_os(name).is_some());
    }
    keep_secret("CARGO_PKG_NAME".to_owned());

    run(&sh(&format!("env > {}", file.display())), b"", KILLED).await.unwrap();

    let found = std::fs::read_to_string(file).unwrap();
    assert!(found.contains("CARGO_PKG_VERSION=") && !found.contains("CARGO_PKG_NAME="), "{found}");
}
