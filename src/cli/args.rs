//! Argument types that several commands share: ids, words from a fixed set, values completed at run time.

use clap::builder::{ArgExt, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, ValueEnum};

/// Values that `placet` itself completes. Written on an argument as `add = Completed::Ids`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Completed {
    Sources,
    Filters,
    Ids,
}

impl ArgExt for Completed {}

#[derive(Debug, ClapArgs)]
pub struct DatabaseArg {
    /// The database: sqlite:PATH or postgres://USER@HOST/NAME [default: the one in the configuration]
    #[arg(long, global = true, value_name = "URL")]
    pub database: Option<String>,
}

/// Parses an id and trims white space, which copying may add.
pub(super) fn id(text: &str) -> Result<String, &'static str> {
    let id = text.trim();
    if id.is_empty() { Err("it is empty") } else { Ok(id.to_owned()) }
}

/// Parses one of these words. Each has a value and an optional help text.
pub(super) fn one_of<T>(
    known: impl IntoIterator<Item = (&'static str, T, &'static str)>,
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let value = |(word, _, help): &(&'static str, T, &'static str)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    };
    let known: Vec<_> = known.into_iter().collect();
    let values: Vec<_> = known.iter().map(value).collect();
    PossibleValuesParser::new(values).try_map(move |given| {
        let meant = known.iter().find(|(word, ..)| *word == given);
        meant.map(|(_, meant, _)| meant.clone()).ok_or("it is none of the words")
    })
}
