//! Folders and files that only their owner can read: databases, tokens, logs, drafts. Modes apply on Unix only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Creates a folder and its missing parents with mode 0700. Leaves an existing folder unchanged.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Refuses a folder that another user can write to, because they could replace files and so decide. A missing folder
/// passes. On other systems than Unix every folder passes.
pub fn check_folder(path: &Path) -> Result<(), String> {
    #[cfg(unix)]
    if let Ok(found) = std::fs::metadata(path) {
        use std::os::unix::fs::MetadataExt as _;
        let (us, mode) = (rustix::process::geteuid().as_raw(), found.mode() & 0o7777);
        let wrong = match found.uid() {
            owner if us != 0 && owner != us && owner != 0 => format!("belongs to another user ({owner})"),
            _ if mode & 0o022 != 0 => {
                format!("can be written by others (mode {mode:o}); run `chmod go-w` on it")
            }
            _ => return Ok(()),
        };
        return Err(format!(
            "the state folder {} {wrong}, or set PLACET_STATE_DIR to a new folder, which placet makes for you alone",
            path.display()
        ));
    }
    Ok(())
}

const LINK: &str = "it is a link, and could lead anywhere; remove it";
const NO_FILE: &str = "it is not a file; remove it";

/// Opens a file for appending, created with mode 0600. Outside `/dev`, refuses links, hard links and special files.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.create(true).append(true);
    #[cfg(unix)]
    if !path.starts_with("/dev") {
        // Without NONBLOCK, opening a pipe waits for its reader.
        let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.cast_signed());
    }
    let file = options.open(path).map_err(|error| match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => io::Error::new(error.kind(), LINK),
        Ok(found) if !found.is_file() => io::Error::new(error.kind(), NO_FILE),
        _ => error,
    })?;
    #[cfg(unix)]
    if !path.starts_with("/dev") {
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other(NO_FILE));
        }
        if std::os::unix::fs::MetadataExt::nlink(&found) > 1 {
            return Err(io::Error::other(LINK));
        }
    }
    Ok(file)
}

/// Returns options that create files with mode 0600.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[derive(Debug)]
pub enum ReadError {
    /// A link: anyone who can write its folder can redirect it.
    Link,
    Exposed,
    File(io::Error),
}

/// Reads a secret, not through a link, from a UTF-8 file that only its owner can read. Checks the opened file, so that
/// it cannot be exchanged between check and read.
pub fn read(path: &Path) -> Result<String, ReadError> {
    let named = std::fs::symlink_metadata(path).map_err(ReadError::File)?;
    if named.is_symlink() {
        return Err(ReadError::Link);
    }
    let mut file = File::open(path).map_err(ReadError::File)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let opened = file.metadata().map_err(ReadError::File)?;
        if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
            return Err(ReadError::Link);
        }
        if opened.mode() & 0o077 != 0 {
            return Err(ReadError::Exposed);
        }
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(ReadError::File)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn created_files_are_private() {
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

    #[cfg(unix)]
    #[test]
    fn a_secret_is_read_only_from_a_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let (file, link) = (root.path().join("token"), root.path().join("link"));
        std::fs::write(&file, "t0ken").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();

        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(read(&file), Err(ReadError::Exposed)), "{mode:o}");
        }
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&file).unwrap(), "t0ken");
        assert!(matches!(read(&link), Err(ReadError::Link)));
        assert!(matches!(read(&root.path().join("none")), Err(ReadError::File(_))));
    }

    #[cfg(unix)]
    #[test]
    fn folder_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let told = |mode| {
            std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            check_folder(root.path())
        };

        for mode in [0o700, 0o750, 0o755, 0o2755] {
            assert_eq!(told(mode), Ok(()), "{mode:o}");
        }
        for mode in [0o770, 0o775, 0o777, 0o1777, 0o702, 0o2770] {
            let why = told(mode).unwrap_err();
            assert!(why.contains("chmod go-w") && why.contains(&format!("mode {mode:o}")), "{why}");
        }
        assert_eq!(check_folder(&root.path().join("none")), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn file_is_not_appended_to_through_a_link() {
        use std::io::Write as _;
        let root = tempfile::tempdir().unwrap();
        let (file, link, loose) =
            (root.path().join("file"), root.path().join("link"), root.path().join("loose"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        std::os::unix::fs::symlink(root.path().join("none"), &loose).unwrap();

        append(&file).unwrap().write_all(b"one").unwrap();
        append(&file).unwrap().write_all(b" two").unwrap();
        for link in [&link, &loose] {
            assert!(append(link).unwrap_err().to_string().contains("it is a link"), "{}", link.display());
        }
        let (hard, pipe) = (root.path().join("hard"), root.path().join("pipe"));
        std::fs::hard_link(&file, &hard).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
            .unwrap();
        assert!(append(&hard).unwrap_err().to_string().contains("it is a link"));
        assert!(append(&pipe).unwrap_err().to_string().contains("it is not a file"));

        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one two");
        assert!(!root.path().join("none").exists());
    }
}
