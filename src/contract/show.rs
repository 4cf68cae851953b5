//! The layout of a tool's input for review: labels, order, tables, units, and whether approving can be undone. Values
//! are shown as written, and fields not named here follow.

use serde::Deserialize;

/// The layout of a tool's input; empty for an unknown tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Showing {
    pub fields: Vec<Field>,
    pub reversible: Option<Reversible>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    /// If `None`, the key is the label.
    pub label: Option<String>,
    pub unit: Option<Unit>,
    pub form: Form,
    pub language: Option<Language>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    Value,
    /// A paragraph, also if it is short.
    Text,
    /// A list of objects with these columns. Other members of an element follow below.
    Table(Vec<Field>),
}

/// The language of a text, which determines its colours. It comes from the tool's definition or the type of a value,
/// never from the text, because an agent wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Json,
    Diff,
    Markdown,
    Yaml,
    Sql,
    Shell,
    Python,
    /// Code with the comments and strings of C.
    Code,
}

/// A number's unit. The number is shown as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Shown after the number: `minutes`.
    Word(String),
    /// The value of the field with this key, such as a currency.
    Of(String),
    /// Smallest units of the currency next to it, else hundredths: `1250` is also shown as `12.50`.
    Cents,
    /// Between 0 and 1: `0.82` is also shown as `82 %`.
    Share,
}

/// Whether the effect of approving can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reversible {
    No,
    Yes,
    /// By hand in the target, with instructions.
    ByHand(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileField {
    field: String,
    label: Option<String>,
    unit: Option<String>,
    #[serde(default, rename = "as")]
    form: FileForm,
    language: Option<Language>,
    #[serde(default)]
    columns: Vec<FileField>,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum FileForm {
    #[default]
    Value,
    Text,
    Table,
}

impl From<FileField> for Field {
    fn from(file: FileField) -> Self {
        let form = match file.form {
            FileForm::Value => Form::Value,
            FileForm::Text => Form::Text,
            FileForm::Table => Form::Table(file.columns.into_iter().map(Self::from).collect()),
        };
        let unit = file.unit.as_deref().map(Unit::parse);
        Self { key: file.field, label: file.label, unit, form, language: file.language }
    }
}

impl Unit {
    fn parse(text: &str) -> Self {
        let hole = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match (text, hole) {
            (_, Some(key)) => Self::Of(key.to_owned()),
            ("cents", _) => Self::Cents,
            ("share", _) => Self::Share,
            (word, _) => Self::Word(word.to_owned()),
        }
    }
}

impl Reversible {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match (text, text.strip_prefix("by hand: ")) {
            ("no", _) => Some(Self::No),
            ("yes", _) => Some(Self::Yes),
            (_, Some(how)) if !how.is_empty() => Some(Self::ByHand(how.to_owned())),
            _ => None,
        }
    }
}
