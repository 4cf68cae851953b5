//! Tracks running commands in files next to the database, so that a run survives its gate.
//!
//! Each run has a file named after action and fence, which is locked while it runs (`program::supervisor`). A gate
//! stores the outcomes of an earlier gate's runs, and does not start a second run of an action in progress.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::private;
use crate::program::supervisor::Report;

#[derive(Debug)]
pub(in crate::gate) struct Runs {
    folder: PathBuf,
    /// Held while files are created and read, because a new file is not locked yet.
    looking: Mutex<()>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) fence: u64,
}

#[derive(Debug)]
pub(super) enum State {
    GoesOn,
    Ended(Report),
    /// Its supervisor was killed, so its outcome is unknown.
    Vanished,
}

impl Runs {
    /// The folder next to the database; it is created by the first run.
    pub(in crate::gate) fn of(database: &Path) -> Self {
        Self { folder: database.with_extension("runs"), looking: Mutex::new(()) }
    }

    /// Creates and locks the report file of a new run. Fails while another run of the action is in progress.
    pub(super) fn begin(&self, run: &Run) -> io::Result<File> {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if !run.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(io::Error::other("its id is no name for a file"));
        }
        private::folder(&self.folder)?;
        let others = self.all()?.into_iter().filter(|other| other.id == run.id);
        if others.filter_map(|other| self.state(&other)).any(|state| matches!(state, State::GoesOn)) {
            return Err(io::Error::other("an earlier run of the same action still goes on"));
        }
        let file =
            private::options().create(true).truncate(true).read(true).write(true).open(self.path(run))?;
        file.try_lock()?;
        Ok(file)
    }

    pub(super) fn look(&self) -> io::Result<Vec<(Run, State)>> {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let with_state = |run: Run| self.state(&run).map(|state| (run, state));
        Ok(self.all()?.into_iter().filter_map(with_state).collect())
    }

    #[cfg(test)]
    pub(in crate::gate) fn going_on(&self) -> Vec<String> {
        let going_on = self.look().unwrap().into_iter().filter(|(_, state)| matches!(state, State::GoesOn));
        going_on.map(|(run, _)| run.id).collect()
    }

    /// Deletes the file of a run whose outcome is stored.
    pub(super) fn forget(&self, run: &Run) {
        if let Err(error) = std::fs::remove_file(self.path(run))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, id = run.id, "the report of a run cannot be removed");
        }
    }

    /// `None` if the file was deleted meanwhile.
    fn state(&self, run: &Run) -> Option<State> {
        let mut file = File::open(self.path(run)).ok()?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Some(State::GoesOn),
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, id = run.id, "cannot tell whether a run goes on");
                Some(State::GoesOn)
            }
            Ok(()) => match Report::read(&mut file) {
                Ok(Some(report)) => Some(State::Ended(report)),
                Ok(None) => Some(State::Vanished),
                Err(error) => {
                    tracing::warn!(%error, id = run.id, "the report of a run cannot be read");
                    Some(State::Vanished)
                }
            },
        }
    }

    fn all(&self) -> io::Result<Vec<Run>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let run = |name: &str| {
            let (id, fence) = name.split_once('.')?;
            Some(Run { id: id.to_owned(), fence: fence.parse().ok()? })
        };
        let mut all = Vec::new();
        for entry in entries {
            all.extend(entry?.file_name().to_str().and_then(run));
        }
        Ok(all)
    }

    fn path(&self, run: &Run) -> PathBuf {
        self.folder.join(format!("{}.{}", run.id, run.fence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_run_is_in_progress_and_blocks_another() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs::of(&folder.path().join("gate.db"));
        let run = |fence| Run { id: "a-1".to_owned(), fence };

        let first = runs.begin(&run(1)).unwrap();
        assert!(matches!(runs.look().unwrap()[..], [(_, State::GoesOn)]));
        assert!(runs.begin(&run(2)).is_err(), "two runs of one action");
        assert!(runs.begin(&Run { id: "../a".to_owned(), fence: 1 }).is_err());
        drop(first);

        assert!(matches!(runs.look().unwrap()[..], [(_, State::Vanished)]));
        drop(runs.begin(&run(2)).unwrap());
        runs.forget(&run(1));
        runs.forget(&run(2));
        assert!(runs.look().unwrap().is_empty());
    }
}
