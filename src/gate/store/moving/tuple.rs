//! Encodes SQLite rows as PostgreSQL's `COPY … (FORMAT binary)` does, to compare both sides byte by byte.
//!
//! <https://www.postgresql.org/docs/current/sql-copy.html>, "Binary Format": every field is its length and its bytes;
//! an integer is eight bytes, big-endian; NULL is the length -1.

use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, TypeInfo as _, ValueRef as _};

pub(super) const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
pub(super) const END: &[u8] = &(-1_i16).to_be_bytes();

/// Whether PostgreSQL can hold all text of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    Fit,
    /// Some text contains U+0000 or is not UTF-8.
    Odd,
}

pub(super) fn write(row: &SqliteRow, out: &mut Vec<u8>) -> Result<Texts, sqlx::Error> {
    let mut texts = Texts::Fit;
    let columns = i16::try_from(row.len()).map_err(|error| sqlx::Error::Decode(error.into()))?;
    out.extend(columns.to_be_bytes());
    for column in 0..row.len() {
        let value = row.try_get_raw(column)?;
        if value.is_null() {
            out.extend((-1_i32).to_be_bytes());
            continue;
        }
        let kind = value.type_info().into_owned();
        if kind.name() == "INTEGER" {
            field(&<i64 as Decode<Sqlite>>::decode(value).map_err(sqlx::Error::Decode)?.to_be_bytes(), out)?;
            continue;
        }
        let bytes = <&[u8] as Decode<Sqlite>>::decode(value).map_err(sqlx::Error::Decode)?;
        if kind.name() == "TEXT" && (bytes.contains(&0) || str::from_utf8(bytes).is_err()) {
            texts = Texts::Odd;
        }
        field(bytes, out)?;
    }
    Ok(texts)
}

fn field(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), sqlx::Error> {
    let length = i32::try_from(bytes.len()).map_err(|error| sqlx::Error::Decode(error.into()))?;
    out.extend(length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}
