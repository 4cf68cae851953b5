//! Rows that SQLite returns as one JSON text. Otherwise the driver copies each column on its own thread and sends each
//! row to ours, which was two thirds of the time for 100,000 rows.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sqlx::error::BoxDynError;

use crate::gate::store::action_fields::LIGHT;
use crate::gate::store::columns::Columns;

/// Borrowed unless it contains escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The values, in the order of [`LIGHT`].
#[derive(Deserialize)]
pub(super) struct Packed<'a>(#[serde(borrow)] [&'a RawValue; LIGHT.len()]);

impl<'a> Packed<'a> {
    pub(super) fn several(text: &'a str) -> Result<Vec<Self>, sqlx::Error> {
        serde_json::from_str(text).map_err(damaged)
    }

    fn get<T: Deserialize<'a>>(&self, name: &str) -> Result<T, sqlx::Error> {
        let place = LIGHT.iter().position(|column| *column == name);
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

    /// JSON has no bytes, so such a column is not packed.
    fn maybe_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, sqlx::Error> {
        Err(sqlx::Error::ColumnNotFound(name.to_owned()))
    }

    fn flag(&self, name: &str) -> Result<bool, sqlx::Error> {
        self.get(name)
    }
}
