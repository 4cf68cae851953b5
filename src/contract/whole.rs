//! Whole numbers as JSON has them: `1000000.0` is one, too, and some libraries write it so.

use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// A whole number that is not negative.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_any(Whole)
}

/// The same where it may be left out, or be null.
pub fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    from.deserialize_option(Optional)
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Beyond, u64 ends.
        const END: f64 = 18_446_744_073_709_551_616.0;
        if number.fract() == 0.0 && (0.0..END).contains(&number) {
            return Ok(number as u64);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }
}

struct Optional;

impl<'de> Visitor<'de> for Optional {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Whole.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<u64>, D::Error> {
        number(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    #[derive(Debug, serde::Deserialize)]
    struct Body {
        #[serde(deserialize_with = "super::number")]
        must: u64,
        #[serde(default, deserialize_with = "super::optional")]
        may: Option<u64>,
    }

    fn read(text: &str) -> Option<(u64, Option<u64>)> {
        serde_json::from_str(text).ok().map(|Body { must, may }| (must, may))
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        assert_eq!(read(r#"{"must":1000000.0,"may":1e3}"#), Some((1_000_000, Some(1_000))));
        assert_eq!(read(r#"{"must":18446744073709551615}"#), Some((u64::MAX, None)));
        assert_eq!(read(r#"{"must":0,"may":null}"#), Some((0, None)));
        for wrong in ["1.5", "-1", "-1.0", "18446744073709551616", "1e300", "\"1\"", "true", "null"] {
            assert_eq!(read(&format!(r#"{{"must":{wrong}}}"#)), None, "{wrong}");
        }
    }
}
