//! Arguments that are one of several words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// An id, without the blanks around it that copying leaves.
pub(super) fn id(text: &str) -> Result<String, &'static str> {
    let id = text.trim();
    if id.is_empty() { Err("it is empty") } else { Ok(id.to_owned()) }
}

/// One of these words, each with what it means and what `--help` says of it, if anything.
pub(super) fn one_of<T, const N: usize>(
    known: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let value = |(word, _, help): &(&'static str, T, &'static str)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    };
    let values: Vec<_> = known.iter().map(value).collect();
    PossibleValuesParser::new(values).try_map(move |given| {
        let meant = known.iter().find(|(word, ..)| *word == given);
        meant.map(|(_, meant, _)| meant.clone()).ok_or("it is none of the words")
    })
}
