//! Small text files beside the journal: `<journal>.hints` counts how often each command was used, and
//! `<journal>.filters` holds the saved filters, one per line. When several inboxes write a file, the last write wins.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::state::{Journal, KeptFilter, Learned};

/// The maximum number of bytes read from such a file.
const MOST: u64 = 64 * 1024;
const HINTS: &str = ".hints";
const FILTERS: &str = ".filters";

impl Journal {
    pub fn learn(&self, learned: &Learned) -> io::Result<()> {
        let lines: Vec<_> = learned.iter().map(|(name, times)| format!("{name} {times}")).collect();
        self.write_beside(HINTS, &lines)
    }

    /// Returns an empty map if the file is missing or unreadable: the only harm is that some hints are shown again.
    pub(super) fn learned(&self) -> Learned {
        let text = read_beside(&self.path, HINTS).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.filter_map(|(name, times)| Some((name.to_owned(), times.parse().ok()?))).collect()
    }

    /// Replaces the saved filters. Names and filters must contain neither tabs nor line breaks.
    pub fn keep_filters(&self, filters: &[KeptFilter]) -> io::Result<()> {
        let lines: Vec<_> = filters.iter().map(|(name, text)| format!("{name}\t{text}")).collect();
        self.write_beside(FILTERS, &lines)
    }

    fn write_beside(&self, ending: &str, lines: &[String]) -> io::Result<()> {
        let path = beside(&self.path, ending);
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
        for line in lines {
            writeln!(file, "{line}")?;
        }
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

pub fn kept_filters(journal: &Path) -> Vec<KeptFilter> {
    let text = read_beside(journal, FILTERS).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn read_beside(journal: &Path, ending: &str) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(beside(journal, ending))?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn learned_hints_are_restored_and_unreadable_ones_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Journal::open(&path).await.unwrap();
        assert_eq!(journal.learned(), Learned::default());

        let learned = Learned::from([("approve".to_owned(), 2), ("undo".to_owned(), 1)]);
        journal.learn(&learned).unwrap();
        assert_eq!(journal.restore().await.unwrap().learned, learned);

        std::fs::write(beside(&path, HINTS), b"\xff\xfe").unwrap();
        assert_eq!(journal.learned(), Learned::default());
        std::fs::write(beside(&path, HINTS), "approve many\n\nundo 1\n").unwrap();
        assert_eq!(journal.learned(), Learned::from([("undo".to_owned(), 1)]));
    }

    #[tokio::test]
    async fn saved_filters_are_restored() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db")).await.unwrap();
        let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let filters = vec![named("my money", "tool:refund -'a b'"), named("late", "age:>1h")];

        journal.keep_filters(&filters).unwrap();
        assert_eq!(journal.restore().await.unwrap().filters, filters);
        journal.keep_filters(&[]).unwrap();
        assert_eq!(journal.restore().await.unwrap().filters, []);
    }
}
