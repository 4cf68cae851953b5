//! The real binary in a pseudo-terminal, with its screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::LIMIT;
use super::home::Home;

/// Maximum wait for placet to read a key before the next one is sent.
const UNREAD: Duration = Duration::from_secs(5);

/// A screen is finished after this long without output.
const CALM: Duration = Duration::from_millis(400);

/// Rows and columns that show a terminal without a size.
const UNSIZED: (NonZeroU16, NonZeroU16) = (NonZeroU16::new(30).unwrap(), NonZeroU16::new(100).unwrap());

pub(crate) struct Pty {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    writer: Box<dyn Write + Send>,
    ended: mpsc::Receiver<ExitStatus>,
    end: Option<ExitStatus>,
    pub(crate) pid: u32,
    master: Box<dyn MasterPty + Send>,
}

struct Seen {
    parser: vt100::Parser,
    /// All bytes, for what the screen does not show.
    bytes: Vec<u8>,
}

impl Pty {
    /// Starts placet with `args` in a terminal of `columns` by `rows`; of 0 by 0, it has no size.
    pub(crate) fn start(home: &Home, (columns, rows): (u16, u16), args: &[&str]) -> Self {
        Self::start_with(home, (columns, rows), args, &[])
    }

    pub(crate) fn start_with(
        home: &Home,
        (columns, rows): (u16, u16),
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Self {
        let binary = [&[env!("CARGO_BIN_EXE_placet")], args].concat();
        Self::spawn(home, (columns, rows), &binary, env)
    }

    /// Starts a command line that ends in placet.
    pub(crate) fn spawn(
        home: &Home,
        (columns, rows): (u16, u16),
        argv: &[&str],
        env: &[(&str, &str)],
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(argv[0]);
        command.args(&argv[1..]);
        command.env_clear();
        for (name, value) in
            home.env().iter().map(|(n, v)| (n.as_str(), v.as_str())).chain(env.iter().copied())
        {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let sides = NonZeroU16::new(rows).zip(NonZeroU16::new(columns));
        let (rows, columns) = sides.unwrap_or(UNSIZED);
        let parser = vt100::Parser::new(rows, columns, 0);
        let seen = Arc::new((Mutex::new(Seen { parser, bytes: Vec::new() }), Condvar::new()));
        let (mut reader, shared) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(n @ 1..) = reader.read(&mut chunk) {
                let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
                seen.parser.process(&chunk[..n]);
                seen.bytes.extend_from_slice(&chunk[..n]);
                shared.1.notify_all();
            }
        });
        let pid = child.process_id().unwrap();
        let (tell, ended) = mpsc::channel();
        std::thread::spawn(move || drop(tell.send(child.wait().unwrap())));
        Self { seen, writer: pair.master.take_writer().unwrap(), ended, end: None, pid, master: pair.master }
    }

    /// Presses keys at the pace of a quick typist, because placet ignores faster keys as a paste. Waits until each key was
    /// read, so that a busy machine does not bundle them. An escape sequence is one key.
    pub(crate) fn send(&mut self, keys: &str) {
        let mut rest = keys;
        while !rest.is_empty() {
            let sequence = rest
                .strip_prefix("\x1b[")
                .and_then(|it| it.find(|c: char| c.is_ascii_alphabetic() || c == '~'));
            let length =
                sequence.map_or_else(|| rest.chars().next().map_or(0, char::len_utf8), |end| end + 3);
            let (key, after) = rest.split_at(length);
            self.writer.write_all(key.as_bytes()).unwrap();
            self.writer.flush().unwrap();
            self.wait_read();
            std::thread::park_timeout(Duration::from_millis(60));
            rest = after;
        }
    }

    /// Waits until all sent bytes are read, or the process has ended or stopped reading.
    fn wait_read(&mut self) {
        let started = Instant::now();
        while self.unread() > 0 && started.elapsed() < UNREAD && !self.has_ended() {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Returns the number of sent bytes that are unread.
    pub(crate) fn unread(&self) -> u64 {
        self.slave().and_then(|slave| rustix::io::ioctl_fionread(&slave).ok()).unwrap_or_default()
    }

    fn slave(&self) -> Option<OwnedFd> {
        let name = self.master.tty_name()?;
        open(name, OFlags::NOCTTY, Mode::empty()).ok()
    }

    /// Returns true if the terminal is in line mode with echo, as for a shell.
    pub(crate) fn is_cooked(&self) -> bool {
        let modes = tcgetattr(self.slave().unwrap()).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Lets it do so.
    pub(crate) fn cook(&self) {
        let slave = self.slave().unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    }

    /// Sends bytes at once, like a terminal's reply.
    pub(crate) fn answer(&mut self, bytes: &str) {
        self.writer.write_all(bytes.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    pub(crate) fn screen(&self) -> String {
        self.seen.0.lock().unwrap().parser.screen().contents()
    }

    /// Returns the screen as SVG after a moment without output.
    pub(crate) fn picture(&self, light: bool) -> String {
        let mut seen = self.seen.0.lock().unwrap();
        loop {
            let before = seen.bytes.len();
            seen = self.seen.1.wait_timeout(seen, CALM).unwrap().0;
            if seen.bytes.len() == before {
                return super::svg::of(seen.parser.screen(), light);
            }
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().bytes.clone()
    }

    pub(crate) fn is_full_screen(&self) -> bool {
        self.seen.0.lock().unwrap().parser.screen().alternate_screen()
    }

    pub(crate) fn wait(&self, text: &str) {
        self.wait_for(&format!("{text:?} on the screen"), |screen| screen.contains(text));
    }

    pub(crate) fn wait_gone(&self, text: &str) {
        self.wait_for(&format!("{text:?} gone from the screen"), |screen| !screen.contains(text));
    }

    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let started = Instant::now();
        let mut seen = self.seen.0.lock().unwrap();
        loop {
            let screen = seen.parser.screen().contents();
            if wanted(&screen) {
                return;
            }
            let left = LIMIT.checked_sub(started.elapsed());
            let Some(left) = left else { panic!("never happened: {what}; the screen:\n{screen}\n") };
            seen = self.seen.1.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Kills placet with SIGKILL. It may have ended already.
    pub(crate) fn kill_9(&self) {
        drop(
            std::process::Command::new("kill")
                .args(["-9", &self.pid.to_string()])
                .stderr(Stdio::null())
                .status(),
        );
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        if let Ok(status) = self.ended.try_recv() {
            self.end = Some(status);
        }
        self.end.is_some()
    }

    pub(crate) fn wait_end(&mut self) -> u32 {
        if let Some(status) = &self.end {
            return status.exit_code();
        }
        match self.ended.recv_timeout(LIMIT) {
            Ok(status) => status.exit_code(),
            Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => {
                panic!("it does not end; the screen:\n{}\n", self.screen())
            }
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        self.kill_9();
    }
}
