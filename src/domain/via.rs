//! How a decision was made.

/// How a decision was made, as the client that sent it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Via {
    Screen,
    /// Plain mode.
    Plain,
    /// A command, such as `placet decide`.
    Shell,
    /// A program that says nothing else.
    #[default]
    Http,
}

impl Via {
    const ALL: [Self; 4] = [Self::Screen, Self::Plain, Self::Shell, Self::Http];

    /// The word on the wire and in storage.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Plain => "plain",
            Self::Shell => "shell",
            Self::Http => "http",
        }
    }

    /// Returns `None` for any other word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.word() == word)
    }
}
