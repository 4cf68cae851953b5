//! Other list programs, if they are installed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Clone, Debug)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    /// Pressed once after all rows are loaded.
    pub(crate) first: &'static [&'static str],
    /// Down and up by one row.
    pub(crate) keys: (&'static str, &'static str),
    /// On the screen when a row is shown.
    pub(crate) row: String,
    /// On the screen when all rows are loaded.
    pub(crate) all: Option<String>,
}

impl Contestant {
    pub(crate) fn new(name: &str, argv: &[&str], row: &str) -> Self {
        Self {
            name: name.to_owned(),
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            env: Vec::new(),
            first: &[],
            keys: ("j", "k"),
            row: row.to_owned(),
            all: None,
        }
    }
}

pub(crate) fn peers(folder: &Path, rows: usize) -> (Vec<Contestant>, Vec<&'static str>) {
    type Make = fn(&Path, usize) -> Contestant;
    let all: [(&str, Make); 3] = [("tig", tig), ("fzf", fzf), ("neomutt", neomutt)];
    let (here, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| is_installed(name));
    (
        here.into_iter().map(|(_, make)| make(folder, rows)).collect(),
        missing.into_iter().map(|it| it.0).collect(),
    )
}

fn is_installed(name: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn title(nth: usize) -> String {
    format!("Escalate outage number {nth} in the EU region")
}

fn tig(folder: &Path, rows: usize) -> Contestant {
    let place = folder.join("repository");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&place).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    std::fs::create_dir_all(&place).unwrap();
    assert!(git(&["init", "-q", "-b", "main"]).status().unwrap().success());
    let mut history = String::new();
    for nth in 0..rows {
        let title = title(rows - 1 - nth);
        write!(
            history,
            "commit refs/heads/main\ncommitter agent <agent@localhost> {} +0000\ndata {}\n{title}\nM 100644 inline file\ndata {}\n{nth:06}\n",
            1_700_000_000 + nth,
            title.len(),
            6,
        )
        .unwrap();
    }
    let file = folder.join("history");
    std::fs::write(&file, history).unwrap();
    let import = git(&["fast-import", "--quiet"]).stdin(std::fs::File::open(&file).unwrap()).status();
    assert!(import.unwrap().success());
    let go = format!("cd {} && exec tig", place.display());
    Contestant::new("tig", &["sh", "-c", &go], "Escalate outage number")
}

fn fzf(folder: &Path, rows: usize) -> Contestant {
    let file = folder.join("lines");
    let lines: String = (0..rows).map(|nth| title(nth) + "\n").collect();
    std::fs::write(&file, lines).unwrap();
    let go = format!("exec fzf --preview 'echo {{}}' < {}", file.display());
    let fzf = Contestant::new("fzf", &["sh", "-c", &go], "Escalate outage number");
    Contestant { keys: ("\x10", "\x0e"), all: Some(format!("{rows}/{rows}")), ..fzf }
}

fn neomutt(folder: &Path, rows: usize) -> Contestant {
    let (file, settings) = (folder.join("mailbox"), folder.join("muttrc"));
    let mut mails = String::new();
    for nth in 0..rows {
        write!(
            mails,
            "From agent@localhost Mon Jan  1 00:00:00 2024\nFrom: agent@localhost\nSubject: {}\nMessage-ID: <{nth}@localhost>\n\nCheckout fails.\n\n",
            title(nth)
        )
        .unwrap();
    }
    std::fs::write(&file, mails).unwrap();
    std::fs::write(&settings, format!("set folder = {}\nset header_cache = \"\"\n", folder.display()))
        .unwrap();
    let (file, settings) = (file.display().to_string(), settings.display().to_string());
    let arguments = ["neomutt", "-n", "-F", &settings, "-R", "-f", &file];
    Contestant::new("neomutt", &arguments, "Escalate outage")
}
