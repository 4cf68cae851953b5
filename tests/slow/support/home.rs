//! A home of its own for every test: configuration, state, and a folder for what executors write.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Home(TempDir);

/// Tools that write their input to a file named after the action. `$OUT` is a folder. What is confirmed is sent at once: the demo is
/// where it is held.
pub(crate) const WRITE_FILE: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.write_note]
executor = "command"
argv = ["sh", "-c", "cat > \"$OUT/$PLACET_ACTION_ID\""]
env = { OUT = "@OUT@" }
risk = "low"
retry = "safe"
[ui]
hold_seconds = 0
"#;

/// A tool that says that it runs, waits for the file `go`, and writes down what it got.
pub(crate) const WAITS_FOR_GO: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.wait]
executor = "command"
argv = ["sh", "-c", "echo >> $OUT/begun; until [ -e $OUT/go ]; do sleep 0.02; done; cat > $OUT/part; mv $OUT/part $OUT/got"]
env = { OUT = "@OUT@" }
"#;

impl Home {
    /// A home whose configuration is `config`, with `@OUT@` replaced by the folder for executors.
    pub(crate) fn with_config(config: &str) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(home.out()).unwrap();
        std::fs::create_dir_all(home.state()).unwrap();
        std::fs::write(home.config(), config.replace("@OUT@", home.out().to_str().unwrap())).unwrap();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path().join("config.toml")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// Where executors write.
    pub(crate) fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    pub(crate) fn env(&self) -> Vec<(String, String)> {
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        vec![
            ("HOME".to_owned(), path(self.path().to_owned())),
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("PLACET_CONFIG".to_owned(), path(self.config())),
            ("PLACET_STATE_DIR".to_owned(), path(self.state())),
            ("TMPDIR".to_owned(), path(self.path().to_owned())),
        ]
    }

    /// A placet without a terminal.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        command.args(args).env_clear().envs(self.env());
        command
    }

    /// Starts placet with nothing on standard input, to be waited for with [`super::ended`].
    pub(crate) fn begin(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs placet to its end, with nothing on standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }
}
