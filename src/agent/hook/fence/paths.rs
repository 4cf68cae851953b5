//! Paths as commands write them.

use std::path::{Component, Path, PathBuf};

pub(super) fn file_uri(name: &str) -> Option<&str> {
    let (scheme, rest) = name.split_once(':')?;
    scheme.eq_ignore_ascii_case("file").then_some(rest)
}

pub(super) fn regex(pattern: &str) -> String {
    // Longer patterns come first.
    let parts = [
        (r"\*\*/", "(.*/)?"),
        (r"\*\*", ".*"),
        (r"\*", "[^/]*"),
        (r"\?", "[^/]"),
        (r"\{", "("),
        (r"\}", ")"),
        (",", "|"),
        (r"\[", "["),
        (r"\]", "]"),
    ];
    let escaped = fancy_regex::escape(pattern).into_owned();
    format!("^{}$", parts.iter().fold(escaped, |text, (glob, regex)| text.replace(glob, regex)))
}

/// Removes `.` and `..` without resolving links.
pub(super) fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
        whole
    })
}

/// Resolves all links of the existing part of the path.
pub(super) fn resolved(path: &Path) -> PathBuf {
    path.ancestors()
        .find_map(|folder| Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?)))
        .map_or_else(|| path.to_owned(), |path| lexical(&path))
}
