//! Explains SQLite errors in plain words.

use std::fmt;

use sqlx::error::DatabaseError;

/// Primary result codes of <https://sqlite.org/rescode.html>.
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const READ_ONLY: u32 = 8;
const IO: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANNOT_OPEN: u32 = 14;
const NO_DATABASE: u32 = 26;

#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(pub &'a sqlx::Error);

/// Common errors. The texts name no file or table, so clients may see them.
const USUAL: [(&[u32], &str); 6] = [
    (&[BUSY, LOCKED], "another program has locked it; end that program, or try again when it is done"),
    (
        &[READ_ONLY],
        "it is read-only; check who may write the file, and whether its disk is mounted read-only",
    ),
    (&[FULL], "the disk is full; make room"),
    (&[CANNOT_OPEN], "the file cannot be opened; check that it and its folder are yours"),
    (&[CORRUPT], "the file is damaged (database disk image is malformed)"),
    (&[NO_DATABASE], "the file is not a database"),
];

/// Whether the text is one of `USUAL` and so contains no details of the database.
pub fn is_usual(words: &str) -> bool {
    USUAL.iter().any(|(_, usual)| *usual == words)
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // PostgreSQL codes have five characters and can be numeric.
        let code =
            |error: &dyn DatabaseError| error.code().filter(|code| code.len() < 5)?.parse::<u32>().ok();
        let code = self.0.as_database_error().and_then(code);
        let code = code.map(|code| code & 0xff);
        let usual = code.and_then(|code| USUAL.iter().find(|(codes, _)| codes.contains(&code)));
        match (usual, code) {
            (Some((_, words)), _) => f.write_str(words),
            (None, Some(IO)) => write!(f, "the disk failed or is full ({})", self.0),
            (None, _) => self.0.fmt(f),
        }
    }
}
