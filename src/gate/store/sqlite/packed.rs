//! Rows that SQLite hands over as one JSON text. It copies each column of each row of an answer, on a thread of its own, and gives each
//! row to ours: of a list of 100,000 rows that was two thirds of the time.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sqlx::error::BoxDynError;

use crate::gate::store::columns::Columns;
use crate::gate::store::rows::{NAMES, PACKED_COLUMNS};

/// Lent where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The values, in the order of [`NAMES`].
#[derive(Deserialize)]
pub(super) struct Packed<'a>(#[serde(borrow)] [&'a RawValue; PACKED_COLUMNS]);

impl<'a> Packed<'a> {
    pub(super) fn several(text: &'a str) -> Result<Vec<Self>, sqlx::Error> {
        serde_json::from_str(text).map_err(damaged)
    }

    fn get<T: Deserialize<'a>>(&self, name: &str) -> Result<T, sqlx::Error> {
        let place = NAMES.iter().position(|column| *column == name);
        let value = place.and_then(|place| self.0.get(place));
        let value = value.ok_or_else(|| sqlx::Error::ColumnNotFound(name.to_owned()))?;
        serde_json::from_str(value.get()).map_err(damaged)
    }
}

fn damaged(error: impl Into<BoxDynError>) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

impl Columns for Packed<'_> {
    fn lent(&self, name: &str) -> Result<Cow<'_, str>, sqlx::Error> {
        self.get(name).map(|Text(text)| text)
    }

    fn maybe_lent(&self, name: &str) -> Result<Option<Cow<'_, str>>, sqlx::Error> {
        let text: Option<Text<'_>> = self.get(name)?;
        Ok(text.map(|Text(text)| text))
    }

    fn int(&self, name: &str) -> Result<i64, sqlx::Error> {
        self.get(name)
    }

    fn maybe_int(&self, name: &str) -> Result<Option<i64>, sqlx::Error> {
        self.get(name)
    }

    /// JSON has no bytes: such a column is not packed.
    fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error> {
        Err(sqlx::Error::ColumnNotFound(name.to_owned()))
    }

    fn flag(&self, name: &str) -> Result<bool, sqlx::Error> {
        self.get(name)
    }
}
