//! The clients' own settings files, which placet changes when somebody asks for it.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes the file as a whole or not at all. A link stays one; an old file's permissions stay.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = target.metadata() {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
