//! A home per test: configuration, state, and a folder for executors' output.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Home(TempDir);

/// A tool that writes its input to a file named after the action, in `$OUT`. Undo send is off, so submissions leave at once.
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

/// A tool that announces its start, waits for the file `go`, and writes its input.
pub(crate) const WAITS_FOR_GO: &str = r#"
[gate]
listen = "127.0.0.1:0"
[gate.tools.wait]
executor = "command"
argv = ["sh", "-c", "echo >> $OUT/begun; until [ -e $OUT/go ]; do sleep 0.02; done; cat > $OUT/part; mv $OUT/part $OUT/got"]
env = { OUT = "@OUT@" }
"#;

impl Home {
    /// Makes a home with the configuration `config`; `@OUT@` is replaced by the executors' folder.
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

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_placet"));
        command.args(args).env_clear().envs(self.env());
        command
    }

    /// Starts placet without standard input. Wait for it with [`super::ended`].
    pub(crate) fn begin(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs placet to its end without standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }
}
