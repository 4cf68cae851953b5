//! What was exported, on disk: new files that only their owner can read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::private;

/// Writes `report-YYYYMMDD-HHMMSS.json`, local time. Never writes over a file that is there. Fails with a sentence.
pub(super) fn write(folder: &Path, text: &str) -> Result<PathBuf, String> {
    new_file(folder, &format!("report-{}.json", moment()), text)
}

/// Likewise `NAME-YYYYMMDD-HHMMSS.EXTENSION`, one file for each extension.
pub(super) fn write_all(
    folder: &Path,
    name: &str,
    files: &[(&'static str, String)],
) -> Result<Vec<PathBuf>, String> {
    let moment = moment();
    let write =
        |(extension, text): &(&str, String)| new_file(folder, &format!("{name}-{moment}.{extension}"), text);
    files.iter().map(write).collect()
}

fn moment() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

fn new_file(folder: &Path, name: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let written = private::folder(folder)
        .and_then(|()| private::options().write(true).create_new(true).open(&path))
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_report_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();

        let path = write(&root.path().join("state"), "{}\n").unwrap();

        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
