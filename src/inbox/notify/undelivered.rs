//! Records which rules could not deliver their last notice, in a text file next to the journal (`<journal>.notify`),
//! for `placet doctor`. Errors are ignored, because losing the file only loses a warning.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::contract::time;
use crate::domain::Timestamp;

const MOST: u64 = 64 * 1024;

#[derive(Clone, Debug)]
pub struct Undelivered(PathBuf);

/// The time, and the reason in a sentence.
pub(super) type Failure = (Timestamp, String);

impl Undelivered {
    pub fn beside(journal: &Path) -> Self {
        let mut path = journal.as_os_str().to_owned();
        path.push(".notify");
        Self(PathBuf::from(path))
    }

    /// Records the result of a notice. Reads and writes files.
    pub(super) fn note(&self, rule: &str, failed: Option<&str>, now: Timestamp) {
        let mut failures = self.read();
        let changed = match failed {
            Some(why) => {
                failures.insert(rule.to_owned(), (now, why.split_whitespace().collect::<Vec<_>>().join(" ")));
                true
            }
            None => failures.remove(rule).is_some(),
        };
        if changed && let Err(error) = self.write(&failures) {
            tracing::debug!(%error, "cannot keep which notices were not delivered");
        }
    }

    /// Returns failures by the rule's name in messages; empty if the file is missing or is something else.
    pub(super) fn read(&self) -> BTreeMap<String, Failure> {
        let mut text = String::new();
        let file = std::fs::File::open(&self.0);
        if file.and_then(|file| file.take(MOST).read_to_string(&mut text)).is_err() {
            return BTreeMap::new();
        }
        let line = |line: &str| {
            let mut parts = line.splitn(3, '\t');
            let (rule, at, why) = (parts.next()?, time::read(parts.next()?)?, parts.next()?);
            Some((rule.to_owned(), (at, why.to_owned())))
        };
        text.lines().filter_map(line).collect()
    }

    fn write(&self, failures: &BTreeMap<String, Failure>) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(self.0.parent().unwrap_or(Path::new(".")))?;
        for (rule, (at, why)) in failures {
            writeln!(file, "{rule}\t{}\t{why}", time::write(*at))?;
        }
        file.persist(&self.0).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_kept_until_a_notice_gets_through() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Undelivered::beside(&folder.path().join("journal.db"));
        let now = Timestamp::from_millis(1_795_348_800_000);
        kept.note("rule 1", None, now);
        assert!(kept.read().is_empty());

        kept.note("rule 1", Some("HTTP\t410"), now);
        kept.note("rule 2", Some("no answer"), now);
        kept.note("rule 2", None, now);

        assert_eq!(kept.read(), BTreeMap::from([("rule 1".to_owned(), (now, "HTTP 410".to_owned()))]));
        std::fs::write(&kept.0, b"\xff\xfe").unwrap();
        assert!(kept.read().is_empty());
    }
}
