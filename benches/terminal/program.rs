//! Runs a program in a pseudo-terminal and measures it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

pub(crate) const COLUMNS: u16 = 160;
pub(crate) const LINES: u16 = 45;
/// Silence after which a key's output counts as complete.
const QUIET: Duration = Duration::from_millis(120);
/// Time after which a key counts as drawing nothing.
const NOTHING: Duration = Duration::from_secs(2);
/// Interval of a held key.
const REPEAT: Duration = Duration::from_millis(33);
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Queries of programs to the terminal, and answers.
const ANSWERS: [(&[u8], &[u8]); 6] = [
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[>c", b"\x1b[>41;354;0c"),
    (b"\x1b[>0c", b"\x1b[>41;354;0c"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b]11;?", b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\"),
    (b"\x1b[?u", b"\x1b[?0u"),
];

struct Chunk {
    at: Instant,
    bytes: Vec<u8>,
}

type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

pub(crate) struct Program {
    came: Arc<(Mutex<Vec<Chunk>>, Condvar)>,
    writer: Writer,
    child: Box<dyn Child + Send + Sync>,
    _master: Box<dyn MasterPty + Send>,
    began: Instant,
    parser: vt100::Parser,
    /// Chunks given to the parser.
    read: usize,
    /// Arrival of the last of them.
    read_at: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Time to the last byte.
    pub(crate) last: Duration,
    pub(crate) bytes: usize,
}

/// Resources used so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// Voluntary context switches and processor time by thread.
    threads: HashMap<OsString, (u64, Duration)>,
    pub(crate) bytes: usize,
}

impl Used {
    /// Context switches and processor time since `before`. Does not include threads that ended.
    pub(crate) fn since(&self, before: &Self) -> (u64, Duration) {
        self.threads.iter().fold((0, Duration::ZERO), |(sleeps, cpu), (thread, now)| {
            let then = before.threads.get(thread).copied().unwrap_or_default();
            (sleeps + now.0.saturating_sub(then.0), cpu + now.1.saturating_sub(then.1))
        })
    }
}

impl Program {
    pub(crate) fn start(argv: &[String], env: &[(String, String)]) -> Self {
        let size = PtySize { rows: LINES, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(&argv[0]);
        command.args(&argv[1..]);
        command.env("TERM", "xterm-256color");
        for (name, value) in env {
            command.env(name, value);
        }
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer: Writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let came = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (theirs, answers) = (Arc::clone(&came), Arc::clone(&writer));
        std::thread::spawn(move || {
            let mut chunk = vec![0; 65_536];
            while let Ok(n @ 1..) = reader.read(&mut chunk) {
                let bytes = chunk[..n].to_vec();
                for (asked, answer) in ANSWERS {
                    if bytes.windows(asked.len()).any(|part| part == asked) {
                        drop(answers.lock().unwrap_or_else(PoisonError::into_inner).write_all(answer));
                    }
                }
                theirs.0.lock().unwrap().push(Chunk { at: Instant::now(), bytes });
                theirs.1.notify_all();
            }
        });
        let began = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        let parser =
            vt100::Parser::new(NonZeroU16::new(LINES).unwrap(), NonZeroU16::new(COLUMNS).unwrap(), 0);
        Self { came, writer, child, _master: pair.master, began, parser, read: 0, read_at: began }
    }

    /// Returns the time since the start at which the screen satisfied `wanted`.
    pub(crate) fn when(&mut self, wanted: impl Fn(&str) -> bool) -> Option<Duration> {
        let since = Instant::now();
        if wanted(&self.parser.screen().contents()) {
            return Some(self.read_at - self.began);
        }
        loop {
            let mut came = self.came.0.lock().unwrap();
            while came.len() == self.read {
                let left = LIMIT.checked_sub(since.elapsed())?;
                came = self.came.1.wait_timeout(came, left).unwrap().0;
            }
            let fresh: Vec<(Instant, Vec<u8>)> =
                came[self.read..].iter().map(|chunk| (chunk.at, chunk.bytes.clone())).collect();
            drop(came);
            for (at, bytes) in fresh {
                (self.read, self.read_at) = (self.read + 1, at);
                self.parser.process(&bytes);
                if wanted(&self.parser.screen().contents()) {
                    return Some(at - self.began);
                }
            }
        }
    }

    pub(crate) fn screen(&mut self) -> String {
        let came = self.came.0.lock().unwrap();
        came[self.read..].iter().for_each(|chunk| self.parser.process(&chunk.bytes));
        self.read = came.len();
        self.parser.screen().contents()
    }

    fn send(&self, keys: &str) -> Instant {
        let mut writer = self.writer.lock().unwrap();
        let at = Instant::now();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
        at
    }

    pub(crate) fn press(&self, key: &str) -> Cost {
        let before = self.came.0.lock().unwrap().len();
        let sent = self.send(key);
        self.rest(before, sent)
    }

    /// Presses a key `times` times and measures from the last press.
    pub(crate) fn hold(&self, key: &str, times: usize) -> Cost {
        let before = self.came.0.lock().unwrap().len();
        let mut sent = Instant::now();
        for _ in 0..times {
            sent = self.send(key);
            std::thread::park_timeout(REPEAT);
        }
        self.rest(before, sent)
    }

    /// Presses `key`, and `next` after a delay. Returns the time until the screen contains `brings`.
    pub(crate) fn press_behind(&mut self, key: &str, after: Duration, next: &str, brings: &str) -> Duration {
        self.screen();
        self.send(key);
        std::thread::park_timeout(after);
        let sent = self.send(next);
        let shown = self.when(|screen| screen.contains(brings)).map(|since| self.began + since);
        shown.map_or(LIMIT, |shown| shown.saturating_duration_since(sent))
    }

    fn rest(&self, before: usize, sent: Instant) -> Cost {
        let mut came = self.came.0.lock().unwrap();
        loop {
            let last = came.get(before..).and_then(<[_]>::last).map_or(sent, |chunk| chunk.at);
            let limit = if came.len() > before { QUIET } else { NOTHING };
            let Some(left) = limit.checked_sub(last.max(sent).elapsed()) else { break };
            came = self.came.1.wait_timeout(came, left.max(Duration::from_millis(1))).unwrap().0;
        }
        let fresh = &came[before..];
        let last = fresh.last().map_or(Duration::ZERO, |chunk| chunk.at.saturating_duration_since(sent));
        Cost { last, bytes: fresh.iter().map(|chunk| chunk.bytes.len()).sum() }
    }

    pub(crate) fn used(&self) -> Used {
        let mut used = Used {
            bytes: self.came.0.lock().unwrap().iter().map(|chunk| chunk.bytes.len()).sum(),
            ..Used::default()
        };
        let folder = format!("/proc/{}/task", self.child.process_id().unwrap_or_default());
        for task in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let number = |word: Option<&str>| word.and_then(|word| word.trim().parse().ok()).unwrap_or(0);
            let sleeps = number(field(&read("status"), "voluntary_ctxt_switches:"));
            let cpu = Duration::from_nanos(number(read("schedstat").split(' ').next()));
            used.threads.insert(task.file_name(), (sleeps, cpu));
        }
        used
    }

    /// Resident memory in MB.
    pub(crate) fn memory(&self) -> f64 {
        let status = format!("/proc/{}/status", self.child.process_id().unwrap_or_default());
        let status = std::fs::read_to_string(status).unwrap_or_default();
        let kb = field(&status, "VmRSS:").and_then(|size| size.trim().trim_end_matches(" kB").parse().ok());
        kb.unwrap_or(0.0) / 1_000.0
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
