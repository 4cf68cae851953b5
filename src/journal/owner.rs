//! Who is running: one locked file a run, so that a crash is seen at once.
//!
//! The kernel lets go of the lock in the moment a run ends, however it ends, and never while it is merely suspended. A
//! heartbeat would need a write every few seconds and still leave a draft out of reach for a while after a crash.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// One run. Its file goes with it.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) id: String,
    folder: PathBuf,
    _locked: File,
}

impl Owner {
    /// Announces this run, and removes what runs before it left.
    pub(super) fn announce(folder: &Path) -> io::Result<Self> {
        private::folder(folder)?;
        sweep(folder);
        let id = uuid::Uuid::new_v4().simple().to_string();
        // Locked before it gets its name: nobody ever sees the name unlocked while this run lives.
        let draft = folder.join(format!(".{id}"));
        let locked = create(&draft)?;
        locked.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        })?;
        std::fs::rename(&draft, folder.join(&id))?;
        Ok(Self { id, folder: folder.to_owned(), _locked: locked })
    }

    /// Whether the run `id`, this one included, still goes on.
    pub(super) fn is_alive(&self, id: &str) -> bool {
        id == self.id || is_locked(&self.folder.join(id))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The lock goes with the file handle; a file left behind is swept by the next run.
        let _ = std::fs::remove_file(self.folder.join(&self.id));
    }
}

fn create(path: &Path) -> io::Result<File> {
    private::options().create_new(true).write(true).open(path)
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Removes the files of runs that are gone. What cannot be removed does no harm: it is not locked.
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
    fn a_run_is_alive_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let one = Owner::announce(folder.path()).unwrap();
        let two = Owner::announce(folder.path()).unwrap();

        let id = two.id.clone();
        assert!(one.is_alive(&id) && two.is_alive(&one.id) && one.is_alive(&one.id));
        drop(two);

        assert!(!one.is_alive(&id));
    }

    #[test]
    fn a_file_that_a_crash_left_is_no_run_and_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("crashed"), "").unwrap();

        let owner = Owner::announce(folder.path()).unwrap();

        assert!(!owner.is_alive("crashed"));
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [owner.id.as_str()]);
    }
}
