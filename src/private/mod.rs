//! Folders and files that only their owner can read: databases, tokens, logs, drafts. Elsewhere than on Unix the system's
//! own rules for a user's folders must do.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the folder and what is missing above it, with mode 0700. One that is there is left as it is.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Options that give a file that they create mode 0600.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_made_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let (deep, file) = (root.path().join("a/b"), root.path().join("a/b/c"));

        folder(&deep).unwrap();
        folder(&deep).unwrap();
        options().create_new(true).write(true).open(&file).unwrap();

        for path in [root.path().join("a"), deep, file] {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
        }
    }
}
