//! The pictures in `docs/screens`, drawn from the program's terminal output on the demo's queue. A test fails if a picture
//! is out of date; `PLACET_WRITE_PICTURES=1` redraws them.

use std::path::PathBuf;

use placet::for_tests::json;

use super::job::confirm;
use super::support::agent;
use super::support::gate::{Address, Gate};
use super::support::home::Home;
use super::support::pty::Pty;

const CONFIG: &str = include_str!("../../assets/demo/config.toml");
const QUEUE: &str = include_str!("../../assets/demo/queue.json");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/screens")
}

const COLOURS: [(&str, &str); 2] = [("COLORTERM", "truecolor"), ("LANG", "C.UTF-8")];

fn at_work(home: &Home, size: (u16, u16)) -> Pty {
    in_terminal(home, size, &COLOURS)
}

fn in_terminal(home: &Home, size: (u16, u16), variables: &[(&str, &str)]) -> Pty {
    let mut inbox = Pty::start_with(home, size, &[], variables);
    inbox.wait("Nothing is pending");
    let address = Address::of_embedded(home);
    let proposals = json::elements(QUEUE).unwrap();
    for proposal in &proposals {
        agent::propose(&address, proposal);
    }
    inbox.wait(&format!("{} to decide", proposals.len()));
    inbox.send("R");
    inbox.send("ggj");
    inbox.wait_for("the first action is read", |screen| {
        ["▌  │ SUP-2214", ">  | SUP-2214"].iter().any(|row| screen.contains(row))
    });
    inbox
}

/// Reads an action in full, stages an approval and an exclusion, and waits until the next action is read.
fn stage_two(inbox: &mut Pty) {
    inbox.send("z");
    inbox.wait("  read   1-");
    inbox.send("z");
    inbox.wait("4 left");
    inbox.send("ax");
    inbox.wait("staged 1 approve");
    inbox.wait("1 exclude");
    inbox.wait_gone("unread   1-");
}

/// Replaces ids and dates, which differ in each run.
fn without_ids(line: &str) -> String {
    let is_id = |text: &str| {
        let parts: Vec<_> = text.split('-').map(str::len).collect();
        parts == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    };
    let is_date = |text: &str| {
        let form = |byte: u8| if byte.is_ascii_digit() { 'd' } else { byte.into() };
        text.bytes().map(form).eq("dddd-dd-dd dd:dd:dd".chars())
    };
    let mut line = line.to_owned();
    for (length, is, instead) in [
        (36, &is_id as &dyn Fn(&str) -> bool, "01a1c0de-0000-7000-8000-000000000000"),
        (19, &is_date, "2026-11-24 17:08:00"),
    ] {
        let at = (0..line.len()).find(|at| line.get(*at..at + length).is_some_and(is));
        if let Some(at) = at {
            line.replace_range(at..at + length, instead);
        }
    }
    line
}

/// Replaces the header's clock, too.
fn timeless(picture: &str) -> String {
    let is_clock = |text: &str| {
        let digits: Vec<_> = text.split(':').collect();
        digits.len() == 2 && digits.iter().all(|it| it.len() == 2 && it.bytes().all(|b| b.is_ascii_digit()))
    };
    let lines = picture.lines().map(|line| {
        let text = line.strip_suffix("</text>").unwrap_or_default();
        let (before, last) = text.split_at(text.len().saturating_sub("17:08".len()));
        if is_clock(last) { format!("{before}17:08</text>") } else { without_ids(line) }
    });
    lines.map(|line| line + "\n").collect()
}

fn holds(name: &str, inbox: &Pty, light: bool) {
    let now = timeless(&inbox.picture(light));
    let path = folder().join(format!("{name}.svg"));
    if std::env::var_os("PLACET_WRITE_PICTURES").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        return std::fs::write(path, now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == now, "{name} is out of date: {}", difference(&kept, &now));
}

/// Returns the first differing line, and the command that redraws the pictures.
fn difference(kept: &str, now: &str) -> String {
    let (was, is) = kept.lines().zip(now.lines()).find(|(was, is)| was != is).unwrap_or_default();
    format!("{was}\nis now\n{is}\nPLACET_WRITE_PICTURES=1 cargo test --test slow pictures")
}

fn home(theme: &str) -> Home {
    Home::with_config(&format!("{CONFIG}\n[ui]\ntheme = \"{theme}\"\nhints = false\n"))
}

#[test]
fn pictures_of_a_reviewers_day_are_current() {
    for (columns, rows) in [(80, 24), (100, 30), (160, 45)] {
        let home = home("dark");
        let mut inbox = at_work(&home, (columns, rows));
        stage_two(&mut inbox);
        holds(&format!("main-{columns}x{rows}"), &inbox, false);
        inbox.send("s");
        inbox.wait("Press y to send");
        holds(&format!("review-{columns}x{rows}"), &inbox, false);
        inbox.send("\x1b");
        inbox.wait_gone("Press y to send");
    }
}

#[test]
fn pictures_of_sheets_are_current() {
    let home = home("dark");
    let mut inbox = at_work(&home, (100, 30));
    let opens = [
        ("?", "help", "Esc"),
        ("e", "edit", "nothing is sent from here"),
        (":", "palette", "Esc"),
        ("1", "places", "Tools"),
        ("/", "filter", "words  'exact"),
    ];
    for (key, name, shows) in opens {
        inbox.send(key);
        inbox.wait(shows);
        holds(&format!("{name}-100x30"), &inbox, false);
        inbox.send("\x1b");
        inbox.wait("a approve");
    }
    inbox.send("/tool:update_linear_issue\rjd");
    inbox.wait("Before (-)");
    holds("diff-100x30", &inbox, false);
}

#[test]
fn pictures_of_the_watch_view_are_current() {
    // Larger sizes show events, whose times differ.
    for (columns, rows) in [(80, 24), (100, 30)] {
        let home = home("dark");
        let mut inbox = at_work(&home, (columns, rows));
        inbox.send("gw");
        inbox.wait("STARTING");
        holds(&format!("watch-{columns}x{rows}"), &inbox, false);
    }
}

#[test]
fn picture_of_an_empty_inbox_is_current() {
    let gate_home = Home::with_config("[gate]\nlisten = \"127.0.0.1:0\"\n");
    let gate = Gate::serve(&gate_home, &[]);
    let home = Home::with_config(&format!(
        "{CONFIG}\n[ui]\ntheme = \"dark\"\n[[source]]\nname = \"team\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n",
        gate.address.url,
        gate_home.state().join("owner.token").display()
    ));
    let inbox = Pty::start_with(&home, (100, 30), &[], &COLOURS);
    inbox.wait("Nothing is pending");
    inbox.wait("● team");
    holds("empty-100x30", &inbox, false);
}

#[test]
fn pictures_on_a_light_background_are_current() {
    let home = home("light");
    let mut inbox = at_work(&home, (100, 30));
    stage_two(&mut inbox);
    holds("main-100x30-light", &inbox, true);
}

#[test]
fn pictures_of_an_actions_life_are_current() {
    let home = home("dark");
    let mut inbox = at_work(&home, (100, 30));
    // Zoomed, so that the id fits on one line.
    for tab in ["[Diff]", "[Raw]", "[Context]"] {
        inbox.send("]");
        inbox.wait(tab);
    }
    inbox.send("z");
    inbox.wait_gone("▾");
    holds("context-100x30", &inbox, false);
    inbox.send("z]]");
    inbox.wait("[Rendered]");
    inbox.send("axs");
    confirm(&mut inbox);
    inbox.wait("1 approved · 1 rejected · 0 skipped");
    inbox.wait("1 ran");
    holds("sent-100x30", &inbox, false);
    inbox.send("gr");
    inbox.wait("ran");
    holds("report-100x30", &inbox, false);
    inbox.send("\x1bgh");
    inbox.wait("SUP-2214");
    holds("history-100x30", &inbox, false);
}

#[test]
fn pictures_of_other_terminals_are_current() {
    for (name, variables) in [
        ("main-100x30-16-colours", [("TERM", "xterm"), ("LANG", "C.UTF-8")]),
        ("main-100x30-no-colour", [("NO_COLOR", "1"), ("LANG", "C.UTF-8")]),
        ("main-100x30-ascii", [("TERM", "xterm"), ("LANG", "C")]),
    ] {
        let home = home("auto");
        let mut inbox = in_terminal(&home, (100, 30), &variables);
        stage_two(&mut inbox);
        holds(name, &inbox, false);
    }
}

#[test]
fn pictures_of_large_screens_are_current() {
    let home = Home::with_config(&format!(
        "{CONFIG}\n[ui]\ntheme = \"dark\"\nhints = false\ndensity = \"comfortable\"\n"
    ));
    let mut inbox = at_work(&home, (220, 50));
    stage_two(&mut inbox);
    inbox.wait("Posts this morning");
    holds("comfortable-220x50", &inbox, false);
}
