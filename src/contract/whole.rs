//! Whole numbers in JSON. Some libraries write them as `1000000.0`.

use serde::de::{Deserialize as _, Deserializer, Error, Unexpected};
use serde_json::Value;

pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let given = Value::deserialize(from)?;
    let wrong = || {
        D::Error::invalid_value(Unexpected::Other(&given.to_string()), &"a whole number that is not negative")
    };
    given.as_u64().or_else(|| whole(given.as_f64()?)).ok_or_else(wrong)
}

/// Deserializes optional seconds. Values above the maximum become the maximum.
pub fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match Option::<Value>::deserialize(from)? {
        Some(far) if far.as_f64().is_some_and(|far| far >= END) => Ok(Some(u64::MAX)),
        Some(given) => number(given).map(Some).map_err(D::Error::custom),
        None => Ok(None),
    }
}

/// 2^64, the first value above `u64::MAX`.
const END: f64 = 18_446_744_073_709_551_616.0;

fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..END).contains(&number)).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    #[derive(Debug, serde::Deserialize)]
    struct Body {
        #[serde(deserialize_with = "super::number")]
        must: u64,
        #[serde(default, deserialize_with = "super::seconds")]
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
        for far in ["18446744073709551616", "1e30", "1e308"] {
            assert_eq!(read(&format!(r#"{{"must":0,"may":{far}}}"#)), Some((0, Some(u64::MAX))), "{far}");
        }
        for wrong in ["1.5", "-1", "-1e30", "\"1\"", "true"] {
            assert_eq!(read(&format!(r#"{{"must":0,"may":{wrong}}}"#)), None, "{wrong}");
        }
    }
}
