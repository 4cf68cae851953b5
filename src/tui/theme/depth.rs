//! How many colours there are to choose from.

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The reviewer wants none (`NO_COLOR`).
    None,
    /// The sixteen with names, which look as the reviewer has set up their terminal.
    Names,
    Indexed,
    Full,
}

impl Depth {
    /// By what the environment says; an empty `NO_COLOR` says nothing, as its convention has it.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        if variable("NO_COLOR").is_some_and(|it| !it.is_empty()) {
            Self::None
        } else if term == "dumb" || term.starts_with("linux") {
            Self::Names
        } else if matches!(variable("COLORTERM").as_deref(), Some("truecolor" | "24bit"))
            || term.ends_with("-direct")
        {
            Self::Full
        } else if term.contains("256color") {
            Self::Indexed
        } else {
            Self::Names
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let depth = |variables: &[(&str, &str)]| {
            Depth::of(|name| {
                variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };

        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::Full);
        assert_eq!(depth(&[("TERM", "screen-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Names);
        assert_eq!(depth(&[("TERM", "linux"), ("COLORTERM", "truecolor")]), Depth::Names);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "")]), Depth::Indexed);
        assert_eq!(depth(&[]), Depth::Names);
    }
}
