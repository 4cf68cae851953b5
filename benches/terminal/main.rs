//! Measures the waiting time at a terminal: placet, a floor program and other programs, each in its own
//! pseudo-terminal. Prints one Markdown table, the figures of `docs/performance.md`.
//!
//! `cargo bench --bench terminal` measures 10,000 and 100,000 rows in about fifteen minutes. After `--`: `--rows N`
//! measures N rows only, `--quick` checks in a minute that the bench works, `--no-peers` skips other programs, and
//! `--also NAME=PATH` adds another build of placet.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measured, and how far it is"
)]

mod floor;
mod peers;
mod program;
#[path = "../served/mod.rs"]
mod served;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use self::peers::Contestant;
use self::program::{COLUMNS, Cost, LINES, Program};
use self::served::{Gate, percentile};

#[derive(Clone, Copy)]
struct Scale {
    starts: usize,
    keys: usize,
    held: usize,
    idle: Duration,
}

const FULL: Scale = Scale { starts: 5, keys: 60, held: 60, idle: Duration::from_secs(20) };
const QUICK: Scale = Scale { starts: 1, keys: 6, held: 6, idle: Duration::from_secs(2) };

/// Keys that change the whole list.
const LARGE: [(&str, &[&str]); 6] = [
    ("`R`", &["R"]),
    ("a letter of the filter", &["/", "9", "\x1b"]),
    ("sort by risk, by age", &[",", "r", ",", "a"]),
    ("group by agent, by batch", &[",", "g", ",", "b"]),
    ("mark all, stage all, undo", &["*", "x", "u", "*"]),
    ("to the end, to the top", &["G", "g", "g"]),
];

/// A key, and how long it delays the next one.
struct Behind {
    what: &'static str,
    first: &'static [&'static str],
    key: &'static str,
    next: &'static str,
    /// Text on the screen after the next key.
    brings: &'static str,
    back: &'static [&'static str],
}

const HELP: Behind =
    Behind { what: "nothing", first: &[], key: "", next: "?", brings: "HERE: the list", back: &["\x1b"] };
const BEHIND: [Behind; 8] = [
    HELP,
    Behind { what: "`R`", key: "R", ..HELP },
    Behind {
        what: "a letter of the filter",
        first: &["/"],
        key: "9",
        next: "8",
        brings: "/ 98",
        back: &["\x1b"],
    },
    Behind { what: "sort by risk", first: &[","], key: "r", back: &["\x1b", ",", "a"], ..HELP },
    Behind { what: "group by agent", first: &[","], key: "g", back: &["\x1b", ",", "b"], ..HELP },
    Behind { what: "stage all", first: &["*"], key: "x", back: &["\x1b", "u", "*"], ..HELP },
    Behind { what: "undo it", first: &["*", "x"], key: "u", back: &["\x1b", "*"], ..HELP },
    Behind { what: "to the end", key: "G", back: &["\x1b", "g", "g"], ..HELP },
];
/// Delays of the next key in milliseconds: while the first is processed, and while its results arrive.
const LATER: [u64; 7] = [0, 2, 5, 15, 30, 60, 120];

#[tokio::main]
async fn main() {
    // Cargo passes `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let has = |name: &str| given.iter().any(|arg| arg == name);
    let values = |name: &str| -> Vec<String> {
        given.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1].clone()).collect()
    };
    if let Some(rows) = values("--floor").first() {
        return floor::run(rows.parse().unwrap(), has("--dressed")).unwrap();
    }
    rustls::crypto::ring::default_provider().install_default().ok();
    let scale = if has("--quick") { QUICK } else { FULL };
    let asked: Vec<usize> = values("--rows").iter().map(|rows| rows.parse().unwrap()).collect();
    let sizes = match (asked.is_empty(), has("--quick")) {
        (false, _) => asked,
        (true, true) => vec![200],
        (true, false) => vec![10_000, 100_000],
    };
    let mut builds = vec![("placet".to_owned(), env!("CARGO_BIN_EXE_placet").to_owned())];
    let also = values("--also");
    let also = also.iter().map(|named| named.split_once('=').expect("--also takes NAME=PATH"));
    builds.extend(also.map(|(name, path)| (name.to_owned(), path.to_owned())));
    let (mut rows, mut large, mut behind) = (String::new(), String::new(), String::new());
    for size in sizes {
        let folder = served::folder();
        let (others, missing) =
            if has("--no-peers") { (Vec::new(), Vec::new()) } else { peers::peers(folder.path(), size) };
        for name in &missing {
            eprintln!("{name} is not installed: it is left out");
        }
        eprintln!("== {size} rows: filling a gate");
        let gate = Gate::serve();
        gate.client.fill(0, size, 64).await;
        let contestants = [false, true]
            .into_iter()
            .map(|dressed| floor_program(size, dressed))
            .chain(builds.iter().flat_map(|build| placets(&gate, build, size)))
            .chain(others);
        for contestant in contestants {
            eprintln!("== {size} rows: {}", contestant.name);
            rows.push_str(&measure(&contestant, size, &scale));
        }
        for build in &builds {
            eprintln!("== {size} rows: keys of {}", build.0);
            let placet = &placets(&gate, build, size)[0];
            large.push_str(&large_keys(placet, size, &scale));
            behind.push_str(&keys_behind(placet, size));
        }
    }
    println!(
        "{}\n{rows}\n| program | rows | key, with its last byte, and the longest, ms |\n|---|---|---|\n{large}\n\
        | program | rows | behind this key | the next one p50/longest ms |\n|---|---|---|---|\n{behind}",
        head()
    );
}

fn floor_program(rows: usize, dressed: bool) -> Contestant {
    let this = std::env::current_exe().unwrap().display().to_string();
    let (name, how) = if dressed { ("floor, dressed", "--dressed") } else { ("floor", "--plain") };
    let floor = Contestant::new(name, &[&this, "--floor", &rows.to_string(), how], "outage number 0");
    Contestant { all: Some(format!("{rows} pending")), ..floor }
}

/// Without syntax highlighting; with the preview and without.
fn placets(gate: &Gate, (name, path): &(String, String), rows: usize) -> Vec<Contestant> {
    let folder = gate.folder.path().join(format!("inbox-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let config = format!(
        "[[source]]\nname = \"gate\"\nkind = \"gate\"\nurl = \"{}\"\ntoken_file = \"{}\"\n[ui]\nhighlight = false\nhints = false\nhold_seconds = 0\n",
        gate.client.url(0),
        owner_token(gate, &folder)
    );
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let env = [("PLACET_CONFIG", folder.join("config.toml")), ("PLACET_STATE_DIR", folder.clone())];
    let env: Vec<(String, String)> =
        env.into_iter().map(|(name, value)| (name.to_owned(), value.display().to_string())).collect();
    let placet = Contestant {
        env,
        all: Some(format!("{rows} to decide")),
        ..Contestant::new(name, &[path], "outage number")
    };
    let alone = Contestant { name: format!("{name}, no preview"), first: &["p"], ..placet.clone() };
    vec![placet, alone]
}

/// Writes the token to a file with private permissions.
fn owner_token(gate: &Gate, folder: &Path) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let file = folder.join("token");
    std::fs::write(&file, &gate.client.owner).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file.display().to_string()
}

fn start(of: &Contestant) -> (Program, [Option<Duration>; 3]) {
    let mut program = Program::start(&of.argv, &of.env);
    let first = program.when(|screen| !screen.trim().is_empty());
    let data = program.when(|screen| screen.contains(&of.row));
    let all = of.all.as_ref().map(|all| program.when(|screen| screen.replace(',', "").contains(all)));
    if data.is_none() || all == Some(None) {
        eprintln!("{}: it never showed its rows\n{}", of.name, program.screen());
    }
    (program, [first, data, all.unwrap_or(data)])
}

fn measure(of: &Contestant, rows: usize, scale: &Scale) -> String {
    let mut started = Vec::new();
    let mut program = None;
    for _ in 0..scale.starts {
        let (running, times) = start(of);
        started.push(times);
        program = Some(running);
    }
    let Some(program) = program else { return String::new() };
    for key in of.first {
        program.press(key);
    }
    program.press(of.keys.0);
    let (before, moves) = (program.used(), scale.keys.min(usize::from(LINES) * 2 / 3));
    let costs: Vec<_> = (0..moves).map(|_| program.press(of.keys.0)).collect();
    let pressed = program.used();
    let mut times: Vec<Duration> = costs.iter().map(|cost| cost.last).collect();
    times.sort_unstable();
    let lag = program.hold(of.keys.0, scale.held).last;
    let scrolled: Vec<_> = (0..scale.keys / 3).map(|_| program.press(of.keys.0)).collect();
    let rests = program.used();
    std::thread::park_timeout(scale.idle);
    let idle = program.used();
    let seconds = scale.idle.as_secs_f64();
    let (sleeps, cpu) = idle.since(&rests);
    let bytes = |costs: &[Cost]| costs.iter().map(|cost| cost.bytes).sum::<usize>() / costs.len().max(1);
    format!(
        "| {} | {rows} | {} | {} | {} | {:.1}/{:.1} | {:.2} | {} | {} | {:.0} | {} | {:.1} | {:.2} | {:.0} |\n",
        of.name,
        median(&started, 0),
        median(&started, 1),
        median(&started, 2),
        percentile(&times, 50),
        percentile(&times, 95),
        pressed.since(&before).1.as_secs_f64() * 1_000.0 / f64::from(moves as u32),
        bytes(&costs),
        bytes(&scrolled),
        lag.as_secs_f64() * 1_000.0,
        idle.bytes - rests.bytes,
        f64::from(u32::try_from(sleeps).unwrap()) / seconds,
        cpu.as_secs_f64() / seconds * 100.0,
        program.memory(),
    )
}

fn median(started: &[[Option<Duration>; 3]], nth: usize) -> String {
    let mut times: Vec<Duration> = started.iter().filter_map(|times| times[nth]).collect();
    times.sort_unstable();
    times
        .get(times.len() / 2)
        .map_or_else(|| "-".to_owned(), |time| format!("{:.0}", time.as_secs_f64() * 1_000.0))
}

fn large_keys(of: &Contestant, rows: usize, scale: &Scale) -> String {
    let (program, _) = start(of);
    program.press("j");
    let mut lines = String::new();
    for (what, keys) in LARGE {
        let mut worst = Duration::ZERO;
        let mut times = Vec::new();
        for _ in 0..scale.starts {
            for key in keys {
                let cost = program.press(key);
                worst = worst.max(cost.last);
                times.push(cost.last);
            }
        }
        times.sort_unstable();
        writeln!(
            lines,
            "| {} | {rows} | {what}: p50 {:.1}, longest {:.1} |",
            of.name,
            percentile(&times, 50),
            worst.as_secs_f64() * 1_000.0
        )
        .unwrap();
    }
    lines
}

fn keys_behind(of: &Contestant, rows: usize) -> String {
    let (mut program, _) = start(of);
    program.press("j");
    let mut lines = String::new();
    for Behind { what, first, key, next, brings, back } in BEHIND {
        let mut times = Vec::new();
        for later in LATER.map(Duration::from_millis) {
            for key in first {
                program.press(key);
            }
            times.push(program.press_behind(key, later, next, brings));
            for key in back {
                program.press(key);
            }
        }
        times.sort_unstable();
        let (median, longest) = (percentile(&times, 50), percentile(&times, 100));
        writeln!(lines, "| {} | {rows} | {what} | {median:.1}/{longest:.1} |", of.name).unwrap();
    }
    lines
}

fn head() -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok();
        let text =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        text.lines().next().unwrap_or("not installed").to_owned()
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "Measured on {} in a terminal of {COLUMNS}x{LINES}; {cores} cores{}; {}; {}; {}; {}.\n\n\
        | program | rows | first paint ms | data ms | all ms | key→last byte p50/p95 ms | CPU a key ms | bytes a move | bytes a scroll | lag after held keys ms | idle bytes | wakeups/s | idle CPU % | RSS MB |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        said("date", &["-u", "+%Y-%m-%d"]),
        model.replace('\t', ""),
        said(env!("CARGO_BIN_EXE_placet"), &["--version"]),
        said("tig", &["--version"]),
        said("fzf", &["--version"]),
        said("neomutt", &["-v"]),
    )
}
