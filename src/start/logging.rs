//! The log: a file, because the screen belongs to the inbox, or standard error for a gate without a screen.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

use crate::cli::gate::LogFormat;
use crate::private;

/// Lines that wait for the disk; further ones are dropped.
const BUFFERED_LINES: usize = 8_192;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(PathBuf),
    Stderr,
}

impl Target {
    /// The target of `--log`, else `file`. `-` is standard error; a file of that name is `./-`.
    pub(super) fn of(named: Option<&Path>, file: &Path) -> Self {
        match named {
            Some(dash) if dash.as_os_str() == "-" => Self::Stderr,
            Some(named) => Self::File(named.to_owned()),
            None => Self::File(file.to_owned()),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Stderr => f.write_str("standard error"),
        }
    }
}

pub(super) fn start(path: &Path) -> anyhow::Result<WorkerGuard> {
    start_at(&Target::File(path.to_owned()), LogFormat::Text)
}

/// Starts logging. `RUST_LOG` sets the filter; the default is `info` for placet. Dropping the guard writes the
/// remaining lines.
pub(super) fn start_at(target: &Target, format: LogFormat) -> anyhow::Result<WorkerGuard> {
    let lines = NonBlockingBuilder::default().buffered_lines_limit(BUFFERED_LINES);
    let (writer, guard) = match target {
        Target::File(path) => lines.finish(open(path)?),
        Target::Stderr => lines.finish(std::io::stderr()),
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,placet=info"));
    let log = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).with_env_filter(filter);
    let started = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))?;
    Ok(guard)
}

pub(super) fn folder_of(path: &Path) -> anyhow::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    private::folder(folder).with_context(|| {
        format!("cannot create the folder {}; set PLACET_STATE_DIR to a folder of yours", folder.display())
    })
}

fn open(path: &Path) -> anyhow::Result<File> {
    folder_of(path)?;
    private::append(path).with_context(|| {
        format!(
            "cannot write the log {}; set PLACET_LOG or PLACET_STATE_DIR to a place of yours",
            path.display()
        )
    })
}
