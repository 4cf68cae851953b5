//! `placet doctor`: checks files, the gate on this machine and the terminal, then the sources.

use std::path::Path;

use crate::agent::hook;
use crate::cli::doctor::{self, DoctorArgs, Findings};
use crate::cli::{self, Exit, input};
use crate::config::paths::Paths;
use crate::config::{CallbackConfig, Config, ProxyConfig};
use crate::domain::Check;
use crate::inbox::notify;
use crate::journal::Journal;
use crate::private;
use crate::text;
use crate::tui;

use super::embedded::{Embedded, OnGateEnd};
use super::{agents, headless, logging};

/// Bytes of free space below which it warns.
const LITTLE_ROOM: u64 = 200 << 20;
const GIVE: &str =
    "give it to the gate; it does not start without (an environment variable is that of the gate's process)";

pub(super) async fn run(paths: &Paths, args: &DoctorArgs) -> anyhow::Result<Exit> {
    let mut findings = Findings::new(args);
    let config = match configuration(paths) {
        Ok(config) => config,
        Err(wrong) => {
            findings.here(vec![*wrong])?;
            findings.end()?;
            return Ok(Exit::Usage);
        }
    };
    // Reports an unknown source before any check.
    if !config.sources.is_empty() {
        doctor::chosen(config.sources.clone(), args)?;
    }
    if let Err(found) = private::check_folder(&paths.state) {
        findings.here(vec![Check::bad("state folder", found, "until then placet does nothing with it")])?;
        return findings.end();
    }
    let log = logging::start(&paths.log);
    let mut checks = vec![configured(paths, &config)];
    checks.extend(log.as_ref().err().map(|error| {
        Check::bad(
            "log",
            format!("{error:#}"),
            "move it away, or set PLACET_LOG; until then placet does not start",
        )
    }));
    checks.extend(agents::check(&config));
    checks.extend(config.gate.proxy.as_ref().map(|proxy| login(proxy, config.gate.trusted_proxies.len())));
    checks.extend(config.gate.callbacks.iter().map(|(name, it)| callback(name, it)));
    checks.extend(state(&paths.state));
    checks.push(journal(&paths.journal()).await);
    checks.extend(tui::check_host(
        config.ui.keyboard,
        |name| std::env::var(name).ok(),
        tui::check_terminal(tui::StartView::Inbox),
    ));
    let undelivered = notify::Undelivered::beside(&paths.journal());
    checks.extend(notify::look(&config.notify, &undelivered, cli::moment).await);
    // Runs before doctor starts a gate, because hooks need one that is already running.
    if let Ok(folder) = std::env::current_dir() {
        checks.extend(hook::check(&folder, &input::variable).await);
    }
    let (gate, embedded) = gate(&config).await;
    checks.extend(gate);
    findings.here(checks)?;
    // With the reviewer's name, so that checks can report it.
    let sources = headless::named(&config, embedded.as_ref());
    let looked = match doctor::chosen(sources, args) {
        Ok(sources) => doctor::run(&mut findings, &sources).await,
        Err(unknown) => Err(unknown.into()),
    };
    if let Some(embedded) = embedded {
        embedded.close().await;
    }
    looked?;
    findings.end()
}

fn configuration(paths: &Paths) -> Result<Config, Box<Check>> {
    let read = || -> anyhow::Result<Config> {
        let config = Config::load(paths)?;
        tui::check_keys(&config)?;
        tui::check_filters(&config)?;
        tui::check_theme(&config)?;
        crate::gate::check(&config.gate)?;
        Ok(config)
    };
    let advice = "correct it; `placet config example` prints every key";
    read().map_err(|error| Box::new(Check::bad("configuration", format!("{error:#}"), advice)))
}

fn configured(paths: &Paths, config: &Config) -> Check {
    let path = paths.config.display();
    let found = match config.sources.len() {
        _ if !paths.config.exists() => format!("none at {path}; the defaults apply"),
        0 => format!("{path}; no sources in it, so the gate on this machine"),
        1 => format!("{path}, 1 source"),
        n => format!("{path}, {n} sources"),
    };
    Check::good("configuration", found)
}

fn login(proxy: &ProxyConfig, addresses: usize) -> Check {
    let ProxyConfig { identity_header, secret_header, groups, .. } = proxy;
    let groups: Vec<_> = groups.keys().map(String::as_str).collect();
    let found = format!(
        "the gate takes who somebody is from {identity_header}, with the secret in {secret_header}, from {}; groups: {}",
        text::count(addresses, "trusted network"),
        groups.join(", ")
    );
    match proxy.secret.read() {
        Ok(_) => Check::good("proxy login", found),
        Err(error) => {
            Check::warn("proxy login", format!("{found}; its secret cannot be read here: {error}"), GIVE)
        }
    }
}

/// Checks a callback's secret. Its format was validated with the configuration, if readable.
fn callback(name: &str, callback: &CallbackConfig) -> Check {
    match callback.secret.read() {
        Ok(_) => Check::good("callback", format!("{name}: its secret can be used")),
        Err(error) => {
            Check::warn("callback", format!("{name}: its secret cannot be read here: {error}"), GIVE)
        }
    }
}

fn state(folder: &Path) -> Vec<Check> {
    const WHAT: &str = "state folder";
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    let path = folder.display();
    if let Err(error) = tempfile::NamedTempFile::new_in(there) {
        let found = format!("{path}: nothing can be written there: {error}");
        let advice = "make it yours and writable; PLACET_STATE_DIR moves it";
        return vec![Check::bad(WHAT, found, advice)];
    }
    let found = if there == folder { path.to_string() } else { format!("{path}, not made yet") };
    let mut checks = vec![Check::good(WHAT, found)];
    if let Ok(disk) = rustix::fs::statvfs(there) {
        let left = disk.f_bavail.saturating_mul(disk.f_frsize);
        if left < LITTLE_ROOM {
            let found = format!("{} MiB left on its disk", left >> 20);
            checks.push(Check::warn("room", found, "free some: without it nothing can be decided"));
        }
    }
    checks
}

async fn journal(path: &Path) -> Check {
    const WHAT: &str = "journal";
    if !path.exists() {
        return Check::good(WHAT, "none yet: nothing was decided here");
    }
    match Journal::open(path).await {
        Ok(journal) => {
            journal.close().await;
            Check::good(WHAT, "is intact")
        }
        Err(error) => Check::bad(WHAT, error.to_string(), "until then nothing can be decided from here"),
    }
}

/// Checks the gate on this machine if no source is configured: attaches to it, or starts it for the check.
async fn gate(config: &Config) -> (Option<Check>, Option<Embedded>) {
    const WHAT: &str = "gate";
    match Embedded::unless_configured(config, OnGateEnd::Nobody).await {
        Ok(None) => (None, None),
        Ok(Some(embedded)) => {
            let url = &embedded.note.url;
            let found = if embedded.is_serving() {
                format!("not running; it would listen on {url}")
            } else {
                format!("process {} listens on {url}", embedded.note.pid)
            };
            let moved = embedded.note.other_port(&config.gate).is_some();
            let elsewhere = || format!("{found}, not on {}", config.gate.listen);
            let advice = "give agents this address, or set `listen` in [gate] to a free port";
            let check = if moved { Check::warn(WHAT, elsewhere(), advice) } else { Check::good(WHAT, found) };
            (Some(check), Some(embedded))
        }
        Err(error) => {
            let advice = "look at placet.log in the state folder";
            (Some(Check::bad(WHAT, format!("{error:#}"), advice)), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Verdict;

    fn verdicts(checks: &[Check]) -> Vec<(&'static str, Verdict)> {
        checks.iter().map(|check| (check.what, check.verdict)).collect()
    }

    #[test]
    fn a_missing_state_folder_is_fine_if_creatable() {
        let folder = tempfile::tempdir().unwrap();
        let state_folder = folder.path().join("deep/er");

        let checks = state(&state_folder);

        assert_eq!(verdicts(&checks)[0], ("state folder", Verdict::Good));
        assert!(checks[0].found.ends_with("not made yet"), "{}", checks[0].found);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(verdicts(&state(&file)), [("state folder", Verdict::Bad)]);
    }

    #[tokio::test]
    async fn a_damaged_journal_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        assert_eq!(journal(&path).await.verdict, Verdict::Good);
        assert!(!path.exists());

        std::fs::write(&path, vec![7_u8; 4_096]).unwrap();

        let told = journal(&path).await;
        assert_eq!(told.verdict, Verdict::Bad);
        assert!(told.found.contains("damaged"), "{}", told.found);
    }

    #[tokio::test]
    async fn gate_on_another_port_is_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let state = folder.path().to_owned();
        let (file, log) = (state.join("config.toml"), state.join("placet.log"));
        let paths = Paths { config: file, config_named: false, state, log };
        let mut config = Config::parse("", &paths).unwrap();
        config.gate.listen = taken.local_addr().unwrap();

        let (told, embedded) = gate(&config).await;
        embedded.unwrap().close().await;
        let told = told.unwrap();

        assert_eq!(told.verdict, Verdict::Warn);
        assert!(
            told.found.starts_with("not running; it would listen on http://127.0.0.1:"),
            "{}",
            told.found
        );
        assert!(told.found.ends_with(&format!(", not on {}", config.gate.listen)), "{}", told.found);
    }

    #[tokio::test]
    async fn databases_of_another_version_are_reported_with_advice() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_owned();
        let (file, log) = (state.join("config.toml"), state.join("placet.log"));
        let paths = Paths { config: file, config_named: false, state, log };
        let config = Config::parse("[gate]\nlisten = \"127.0.0.1:0\"\n", &paths).unwrap();
        for path in [&paths.journal(), &config.gate.database] {
            let other = crate::sqlite::open(path, &["CREATE TABLE t (a TEXT) STRICT"]).await.unwrap();
            other.close().await;
        }

        let told = [journal(&paths.journal()).await, gate(&config).await.0.unwrap()];

        for Check { verdict, found, .. } in told {
            assert_eq!(verdict, Verdict::Bad, "{found}");
            assert!(found.contains("not written by this version of placet; move it away"), "{found}");
        }
    }
}
