//! How often a newcomer used what the hints speak of, in a small text file beside the journal: `<journal>.hints`. Losing it
//! costs some hints that are shown again, so that nothing about it is ever in the way.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::state::{Journal, Learned};

/// No such file is longer. Bytes.
const MOST: u64 = 64 * 1024;

impl Journal {
    /// Keeps this for the next start. Another inbox may have written meanwhile; the last one stands.
    pub fn learn(&self, learned: &Learned) -> io::Result<()> {
        let path = beside(&self.path);
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
        for (name, times) in learned {
            writeln!(file, "{name} {times}")?;
        }
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Nothing when there is no such file, or it is something else.
    pub(super) fn learned(&self) -> Learned {
        let mut text = String::new();
        let read = std::fs::File::open(beside(&self.path))
            .and_then(|file| file.take(MOST).read_to_string(&mut text));
        if read.is_err() {
            return Learned::default();
        }
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.filter_map(|(name, times)| Some((name.to_owned(), times.parse().ok()?))).collect()
    }
}

fn beside(journal: &Path) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(".hints");
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_learned_is_there_at_the_next_start_and_anything_else_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Journal::open(&path).await.unwrap();
        assert_eq!(journal.learned(), Learned::default());

        let learned = Learned::from([("approve".to_owned(), 2), ("undo".to_owned(), 1)]);
        journal.learn(&learned).unwrap();
        assert_eq!(journal.restore().await.unwrap().learned, learned);

        std::fs::write(beside(&path), b"\xff\xfe").unwrap();
        assert_eq!(journal.learned(), Learned::default());
        std::fs::write(beside(&path), "approve many\n\nundo 1\n").unwrap();
        assert_eq!(journal.learned(), Learned::from([("undo".to_owned(), 1)]));
    }
}
