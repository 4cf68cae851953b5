//! A row of a database as plain values, whichever database it came from.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// Columns by their names. `maybe_…`: it may be NULL.
pub(crate) trait Columns {
    fn text(&self, name: &str) -> Result<String, sqlx::Error>;
    fn maybe_text(&self, name: &str) -> Result<Option<String>, sqlx::Error>;
    fn int(&self, name: &str) -> Result<i64, sqlx::Error>;
    fn maybe_int(&self, name: &str) -> Result<Option<i64>, sqlx::Error>;
    fn bytes(&self, name: &str) -> Result<Vec<u8>, sqlx::Error>;
    fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error>;
}

macro_rules! columns_of {
    ($row:ty) => {
        impl Columns for $row {
            fn text(&self, name: &str) -> Result<String, sqlx::Error> {
                self.try_get(name)
            }

            fn maybe_text(&self, name: &str) -> Result<Option<String>, sqlx::Error> {
                self.try_get(name)
            }

            fn int(&self, name: &str) -> Result<i64, sqlx::Error> {
                self.try_get(name)
            }

            fn maybe_int(&self, name: &str) -> Result<Option<i64>, sqlx::Error> {
                self.try_get(name)
            }

            fn bytes(&self, name: &str) -> Result<Vec<u8>, sqlx::Error> {
                self.try_get(name)
            }

            fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error> {
                self.try_get(name)
            }
        }
    };
}

columns_of!(SqliteRow);
columns_of!(PgRow);
