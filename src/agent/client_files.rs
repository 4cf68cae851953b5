//! Edits the settings files of agents' clients.

use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::domain::json;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read {path}: {error}")]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {path}: {error}")]
    Write { path: PathBuf, error: io::Error },
}

pub(super) fn read(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::Read { path: path.to_owned(), error }),
    }
}

/// Writes the file atomically. Follows a symbolic link and keeps an existing file's permissions.
pub(super) fn write(path: &Path, text: &str) -> Result<(), FileError> {
    replace(path, text).map_err(|error| FileError::Write { path: path.to_owned(), error })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
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

/// Replaces comments and trailing commas by blanks, so that offsets stay the same.
pub(super) fn plain_json(text: &str) -> String {
    let (mut out, bytes) = (text.as_bytes().to_vec(), text.as_bytes());
    let (mut at, mut comma) = (0, None);
    while let Some(byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let length = match byte {
            b'"' => string_length(rest),
            b'/' if rest.starts_with("//") => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => {
                rest.get(2..).and_then(|rest| rest.find("*/")).map_or(rest.len(), |end| end + 4)
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let is_comment = *byte == b'/' && length > 1;
        match byte {
            _ if is_comment => out.iter_mut().skip(at).take(length).for_each(|byte| *byte = b' '),
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(trailing) = comma.take().and_then(|comma: usize| out.get_mut(comma)) {
                    *trailing = b' ';
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => comma = None,
        }
        at += length;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Returns the ranges of the elements of the list at `list`. `None` if it is another value.
pub(super) fn elements(text: &str, list: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let raw = text.get(list.clone())?;
    let place = |element: &str| {
        let at = list.start + (element.as_ptr() as usize - raw.as_ptr() as usize);
        at..at + element.len()
    };
    Some(json::elements(raw)?.into_iter().map(place).collect())
}

/// The length of the string literal at the start of `text`, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod jsonc_tests {
    use super::plain_json;

    #[test]
    fn comments_and_trailing_commas_become_blanks() {
        let text = "{ // a \"é\"\n \"x\": [1, /* , } */ 2 , /* é */ ],\r\n\"u//\\\"/*\": \",}\", // end\r\n}\n/* open";

        let plain = plain_json(text);

        assert_eq!(plain.len(), text.len());
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"x": [1, 2], "u//\"/*": ",}"}));
        assert_eq!(plain_json(r#"{"a":[1,{}],"b":"/"}"#), r#"{"a":[1,{}],"b":"/"}"#);
        assert_eq!(plain_json("1/2\"a"), "1/2\"a");
    }
}
