//! Detects which runs are alive, by one locked file per run. The kernel releases the lock whenever a process ends, but
//! not while it is suspended. A heartbeat would need constant writes and block a crashed run's draft until a timeout.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// A running process. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) id: String,
    folder: PathBuf,
    _locked: File,
}

impl Owner {
    /// Creates the file of this run and removes those of ended runs.
    pub(super) fn announce(folder: &Path) -> io::Result<Self> {
        private::folder(folder)?;
        sweep(folder);
        let id = uuid::Uuid::new_v4().simple().to_string();
        // The file is locked before it is renamed, so no other run sees it unlocked under its final name.
        let draft = folder.join(format!(".{id}"));
        let locked = create(&draft)?;
        locked.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        })?;
        std::fs::rename(&draft, folder.join(&id))?;
        Ok(Self { id, folder: folder.to_owned(), _locked: locked })
    }

    /// Returns whether the run `id` is alive; true for this run.
    pub(super) fn is_alive(&self, id: &str) -> bool {
        id == self.id || is_locked(&self.folder.join(id))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Dropping the handle releases the lock. If the file cannot be removed, the next run sweeps it.
        let _ = std::fs::remove_file(self.folder.join(&self.id));
    }
}

fn create(path: &Path) -> io::Result<File> {
    private::options().create_new(true).write(true).open(path)
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes the files of ended runs. A file that cannot be removed does no harm, because it is not locked.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let unnamed = entry.file_name().to_string_lossy().starts_with('.');
        if !unnamed && !is_locked(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_is_alive_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let one = Owner::announce(folder.path()).unwrap();
        let two = Owner::announce(folder.path()).unwrap();

        let id = two.id.clone();
        assert!(one.is_alive(&id) && two.is_alive(&one.id) && one.is_alive(&one.id));
        drop(two);

        assert!(!one.is_alive(&id));
    }

    #[test]
    fn file_of_a_crashed_run_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("crashed"), "").unwrap();

        let owner = Owner::announce(folder.path()).unwrap();

        assert!(!owner.is_alive("crashed"));
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [owner.id.as_str()]);
    }
}
