//! G16: the inbox on a real terminal, killed repeatedly. It keeps all it showed as saved, sends nothing twice, keeps valid
//! receipts, and learns every outcome by reading.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use placet::for_tests::{Fields, INBOX, SCREEN, review_words};

use super::support::agent;
use super::support::chance::Chance;
use super::support::eventually;
use super::support::gate::Gate;
use super::support::home::{Home, WRITE_FILE};
use super::support::pty::Pty;
use super::support::witness;

const SIZE: (u16, u16) = (100, 30);
const ROWS: usize = 6;
const EDITOR: &str = "sh -c 'echo THE EDITOR RUNS; read line'";
/// A typed text older than this must be saved.
const SAVED: Duration = Duration::from_millis(1_200);
/// Delay in which a new sheet ignores keys.
const GUARD: Duration = Duration::from_millis(400);

struct World {
    gate_home: Home,
    gate: Gate,
    home: Home,
    chance: Chance,
    ids: BTreeMap<String, String>,
    owed: Owed,
    kills: u32,
}

/// The saved state on screen before the last kill.
#[derive(Default)]
struct Owed {
    /// Title → letter in the decision column.
    letters: BTreeMap<String, char>,
    /// Number of later keys that may have changed a decision.
    behind: usize,
    /// Text in an open form: the form's key, the action's title, and the text.
    text: Option<(&'static str, String, String)>,
}

/// Returns the list's rows: title, letter, and whether the cursor is on it.
fn rows(screen: &str) -> Vec<(String, char, bool)> {
    let row = |line: &str| {
        let list: String = line.chars().take(50).collect();
        let number = list.split_whitespace().find_map(|word| word.strip_prefix("row-"))?;
        // An edited row shows its new title.
        let title = format!("row-{}", number.split(|c: char| !c.is_ascii_digit()).next()?);
        // `*` and blank mean undecided.
        let mark = list.chars().skip(1).take(2).find(|mark| !mark.is_whitespace()).unwrap_or(' ');
        let letter = if mark == '*' || mark == ' ' { '.' } else { mark };
        Some((title, letter, list.starts_with('>')))
    };
    screen.lines().filter_map(row).collect()
}

fn is_saved(screen: &str) -> bool {
    !screen.contains("saving ") && !screen.contains("NOT SAVED")
}

impl World {
    fn new(seed: u64) -> Self {
        let gate_home = Home::with_config(WRITE_FILE);
        let gate = Gate::serve(&gate_home, &[]);
        let home = Home::with_config(&format!(
            "[ui]\nhold_seconds = 0\nhints = false\nglyphs = \"ascii\"\n[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\n\
             token_file = \"{}\"\n",
            gate.address.url,
            gate_home.state().join("owner.token").display()
        ));
        let (chance, ids, owed) = (Chance::new(seed), BTreeMap::new(), Owed::default());
        Self { gate_home, gate, home, chance, ids, owed, kills: 0 }
    }

    fn pending(&self) -> Vec<String> {
        let path = "/api/pending-actions?status=pending&limit=100";
        let address = &self.gate.address;
        let listed = agent::request(address, &address.owner_token, "GET", path, "").body;
        let items = Fields::of(&listed).unwrap().raw("items").unwrap().to_owned();
        let is_listed = |(_, id): &(&String, &String)| items.contains(id.as_str());
        self.ids.iter().filter(is_listed).map(|(title, _)| title.clone()).collect()
    }

    fn start(&mut self, env: &[(&str, &str)]) -> Pty {
        for _ in self.pending().len()..ROWS {
            let title = format!("row-{}", self.ids.len() + 1);
            let body = format!(
                r#"{{"toolName":"write_note","workspaceId":"default","toolInput":{{"title":"{title}"}}}}"#
            );
            self.ids.insert(title, agent::propose(&self.gate.address, &body));
        }
        let inbox = Pty::start_with(&self.home, SIZE, &[], &[env, &[("EDITOR", EDITOR)]].concat());
        // Submissions of the killed inbox may still be arriving.
        eventually("every pending action is listed", || {
            let rows = rows(&inbox.screen());
            let listed = |title: &String| rows.iter().any(|row| row.0 == *title);
            (!rows.is_empty() && self.pending().iter().all(listed)).then_some(())
        });
        inbox
    }

    /// Checks that the inbox restored what the last one showed as saved.
    fn check(&mut self, inbox: &mut Pty) {
        let owed = std::mem::take(&mut self.owed);
        let (mut otherwise, mut left) = (0, BTreeMap::new());
        for (title, letter) in owed.letters {
            match (agent::status(&self.gate.address, &self.ids[&title]).as_str(), letter) {
                ("pending", _) => drop(left.insert(title, letter)),
                ("rejected", 'X') | ("approved" | "running" | "executed", 'A' | 'E') => {}
                _ => otherwise += 1,
            }
        }
        assert!(otherwise <= owed.behind, "{otherwise} were not decided as shown");
        inbox.wait_for(&format!("{left:?} is staged again, but for {}", owed.behind), |screen| {
            let rows = rows(screen);
            let is = |title: &String, letter| rows.iter().any(|row| row.0 == *title && row.1 == letter);
            left.iter().filter(|(title, letter)| !is(title, **letter)).count() <= owed.behind
        });
        if let Some((key, title, text)) = owed.text {
            go_to(inbox, &title);
            inbox.send(key);
            inbox.wait(&text);
            inbox.send("\x1b");
            inbox.wait_gone("Esc closes");
            inbox.wait_gone("[close]");
        }
        self.settled_by_reading();
    }

    fn settled_by_reading(&self) {
        eventually("every submission is settled", || {
            let log = self.home.run(&["log", "--json", "--limit", "100000"]);
            let log = String::from_utf8(log.stdout).unwrap();
            (!log.contains(r#""outcome":"unknown""#)).then_some(())
        });
        let verified = self.home.run(&["log", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }

    fn round(&mut self, nth: u32) {
        let points: Vec<&str> = INBOX.iter().chain(&SCREEN).copied().collect();
        // Two of seven rounds are killed at a named point, the others at a random time.
        let point = (nth.is_multiple_of(7) || nth % 7 == 4).then(|| *self.chance.of(&points));
        let env: Vec<_> = point.iter().map(|point| ("PLACET_KILL_AT", *point)).collect();
        if point == Some("reconcile.middle") {
            // The inbox may die before its first frame, so the next round checks what is owed.
            let mut inbox = Pty::start_with(&self.home, SIZE, &[], &env);
            self.die(&mut inbox, 300);
            return;
        }
        let mut inbox = self.start(&env);
        self.check(&mut inbox);
        self.stage(&mut inbox);
        match (point, nth % 7) {
            (Some(point), _) if SCREEN.contains(&point) => terminate(&inbox),
            (Some(_), _) | (None, 5) => submit(&mut inbox),
            (None, 1) => self.go_on(&mut inbox),
            (None, 2) => self.type_text(&mut inbox),
            (None, 3) => {
                inbox.send("E");
                inbox.wait("THE EDITOR RUNS");
            }
            (None, _) => terminate(&inbox),
        }
        let longest = if point.is_some() { 2_000 } else { self.chance.below(200) };
        self.die(&mut inbox, longest);
    }

    fn die(&mut self, inbox: &mut Pty, longest: u64) {
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(longest) && !inbox.has_ended() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        inbox.kill_9();
        inbox.wait_end();
        self.kills += 1;
    }

    /// Presses random keys and waits until all is saved.
    fn stage(&mut self, inbox: &mut Pty) {
        for _ in 0..self.chance.below(7) {
            let key = *self.chance.of(&["a", "a", "x", "j", "k", "u", "U"]);
            inbox.send(key);
        }
        // Keys are handled in order, so all are handled when the help opens.
        inbox.send("?");
        inbox.wait("- Help -");
        inbox.send("\x1b");
        inbox.wait_gone("- Help -");
        inbox.wait_for("everything is saved", is_saved);
        self.owed.letters = rows(&inbox.screen()).into_iter().map(|row| (row.0, row.1)).collect();
    }

    /// Presses more keys without waiting for the save.
    fn go_on(&mut self, inbox: &mut Pty) {
        for _ in 0..=self.chance.below(4) {
            let key = *self.chance.of(&["a", "x", "u", "U", "j"]);
            self.owed.behind += usize::from(key != "j");
            inbox.send(key);
        }
    }

    /// Types into a form and waits longer than the save interval.
    fn type_text(&mut self, inbox: &mut Pty) {
        let listed = rows(&inbox.screen());
        let title = self.chance.of(&listed).0.clone();
        go_to(inbox, &title);
        let (key, open) = *self.chance.of(&[("X", "Exclude, because"), ("e", "Edit before approving")]);
        inbox.send(key);
        inbox.wait(open);
        let text = format!("zz{}", self.chance.below(1_000_000));
        inbox.send(&text);
        inbox.wait(&text);
        let shown = Instant::now();
        eventually("the text is on screen for a second", || (shown.elapsed() > SAVED).then_some(()));
        if self.chance.below(2) == 0 {
            inbox.send("qq");
        }
        self.owed.text = Some((key, title, text));
    }
}

fn go_to(inbox: &mut Pty, title: &str) {
    let listed = rows(&inbox.screen());
    let to = listed.iter().position(|row| row.0 == title).unwrap();
    let at = listed.iter().position(|row| row.2).unwrap();
    inbox.send(&if to > at { "j".repeat(to - at) } else { "k".repeat(at - to) });
    inbox.wait_for("the cursor is there", |screen| rows(screen).iter().any(|row| row.0 == title && row.2));
}

fn submit(inbox: &mut Pty) {
    if !inbox.screen().contains("staged ") {
        return;
    }
    inbox.send("S");
    let (press, count) = (review_words::press("y"), review_words::type_count("#", "Enter"));
    let (before, after) = count.split_once('#').unwrap();
    let asked = |screen: &str| {
        let (_, rest) = screen.split_once(before)?;
        rest.split_once(after).map(|(count, _)| count.to_owned())
    };
    inbox.wait_for("the sheet asks", |screen| screen.contains(&press) || asked(screen).is_some());
    let shown = Instant::now();
    eventually("the sheet takes keys", || (shown.elapsed() > GUARD).then_some(()));
    match asked(&inbox.screen()) {
        Some(count) => inbox.send(&format!("{count}\r")),
        None => inbox.send("y"),
    }
}

fn terminate(inbox: &Pty) {
    let pid = rustix::process::Pid::from_raw(inbox.pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

#[test]
fn g16_killed_inbox_keeps_saved_work_and_sends_once() {
    let long = std::env::var_os("PLACET_LONG").is_some();
    let seed: u64 = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2_026);
    println!("PLACET_SEED={seed}");
    std::thread::scope(|scope| {
        for nth in 0..2 {
            scope.spawn(move || {
                let mut world = World::new(seed + nth);
                for round in 0..if long { 250 } else { 7 } {
                    world.round(round);
                    if round % 50 == 49 {
                        println!("world {nth}: {} kills", world.kills);
                    }
                }
                let mut last = world.start(&[]);
                world.check(&mut last);
                let decided = witness::decided_once(&world.gate_home, &world.home);
                assert!(decided > 0, "no decision was sent");
                println!("world {nth}: {} kills, {decided} decisions", world.kills);
            });
        }
    });
}
