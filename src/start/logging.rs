//! The log: a file, because the screen belongs to the inbox.

use std::path::Path;

use anyhow::Context as _;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

/// Lines wait here for the disk; when it is too slow they are dropped, never waited for.
const BUFFERED_LINES: usize = 8_192;

/// Starts logging to `path`. `RUST_LOG` chooses what, `info` of our own by default. Keep the guard: dropping it writes what is left.
pub(super) fn start(path: &Path) -> anyhow::Result<WorkerGuard> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| {
            format!(
                "cannot create the folder {}; set PLACET_STATE_DIR to a folder of yours",
                folder.display()
            )
        })?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).with_context(|| {
        format!(
            "cannot write the log {}; set PLACET_LOG or PLACET_STATE_DIR to a place of yours",
            path.display()
        )
    })?;
    let (writer, guard) = tracing_appender::non_blocking::NonBlockingBuilder::default()
        .buffered_lines_limit(BUFFERED_LINES)
        .finish(file);
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,placet=info"));
    let started =
        tracing_subscriber::fmt().with_writer(writer).with_ansi(false).with_env_filter(filter).try_init();
    started.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))?;
    Ok(guard)
}
