//! How a decision was made.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Via {
    Screen,
    Plain,
    Shell,
    /// A program that reports nothing else.
    #[default]
    Http,
}

impl Via {
    const ALL: [Self; 4] = [Self::Screen, Self::Plain, Self::Shell, Self::Http];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Plain => "plain",
            Self::Shell => "shell",
            Self::Http => "http",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.word() == word)
    }
}
