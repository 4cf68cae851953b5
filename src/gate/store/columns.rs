//! A database row as plain values, for both databases.

use std::borrow::Cow;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// Columns by name. `maybe_…` may be NULL. `lent` borrows text, for rows that are read by the thousand.
pub(crate) trait Columns {
    fn lent(&self, name: &str) -> Result<Cow<'_, str>, sqlx::Error>;
    fn maybe_lent(&self, name: &str) -> Result<Option<Cow<'_, str>>, sqlx::Error>;

    fn text(&self, name: &str) -> Result<String, sqlx::Error> {
        self.lent(name).map(Cow::into_owned)
    }

    fn maybe_text(&self, name: &str) -> Result<Option<String>, sqlx::Error> {
        Ok(self.maybe_lent(name)?.map(Cow::into_owned))
    }

    fn int(&self, name: &str) -> Result<i64, sqlx::Error>;
    fn maybe_int(&self, name: &str) -> Result<Option<i64>, sqlx::Error>;
    fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error>;

    fn bytes(&self, name: &str) -> Result<Vec<u8>, sqlx::Error> {
        self.maybe_bytes(name)?.ok_or_else(|| sqlx::Error::ColumnNotFound(name.to_owned()))
    }

    fn flag(&self, name: &str) -> Result<bool, sqlx::Error>;
}

macro_rules! columns_of {
    ($row:ty) => {
        impl Columns for $row {
            fn lent(&self, name: &str) -> Result<Cow<'_, str>, sqlx::Error> {
                self.try_get(name).map(Cow::Borrowed)
            }

            fn maybe_lent(&self, name: &str) -> Result<Option<Cow<'_, str>>, sqlx::Error> {
                let text: Option<&str> = self.try_get(name)?;
                Ok(text.map(Cow::Borrowed))
            }

            fn int(&self, name: &str) -> Result<i64, sqlx::Error> {
                self.try_get(name)
            }

            fn maybe_int(&self, name: &str) -> Result<Option<i64>, sqlx::Error> {
                self.try_get(name)
            }

            fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error> {
                self.try_get(name)
            }

            fn flag(&self, name: &str) -> Result<bool, sqlx::Error> {
                self.try_get(name)
            }
        }
    };
}

columns_of!(SqliteRow);
columns_of!(PgRow);
