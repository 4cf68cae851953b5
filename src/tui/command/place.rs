//! Where a command can be given, and what it is for.

/// Where a command can be given. A key may mean two things only in places that are never open together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Everywhere, also in sheets and forms.
    Anywhere,
    /// The list and the preview.
    Inbox,
    List,
    Preview,
    /// While a search of the preview is typed.
    Search,
    Edit,
    Reason,
    Review,
    Report,
    Settle,
    Links,
    Help,
    Palette,
    Quit,
    /// The line in which a filter is written, and the choice of a saved one.
    Filter,
    /// The figures of all queues. Nothing is decided there.
    Watch,
}

/// What a command is for: the headings of help, README and man page, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    Decide,
    Submit,
    Move,
    Find,
    Look,
    View,
    /// Only in sheets and forms.
    Sheet,
    Program,
}

impl Place {
    /// What a reader calls it, for help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::List => "the list",
            Self::Preview => "the preview",
            Self::Search => "searching in the preview",
            Self::Edit => "the edit form",
            Self::Reason => "the field for a reason",
            Self::Review => "the review sheet",
            Self::Report => "the report",
            Self::Settle => "the settling sheet",
            Self::Links => "the links of an action",
            Self::Quit => "leaving",
            Self::Help => "the help",
            Self::Palette => "the palette",
            Self::Filter => "the filter line",
            Self::Watch => "the watch view",
            Self::Inbox | Self::Anywhere => "everywhere",
        }
    }

    /// Both may be open at once, so that one key cannot mean two things.
    pub fn overlaps(self, other: Self) -> bool {
        use Place as P;
        self == other
            || self == P::Anywhere
            || other == P::Anywhere
            || matches!((self, other), (P::Inbox, P::List | P::Preview) | (P::List | P::Preview, P::Inbox))
    }
}

impl Group {
    pub const ALL: [Self; 8] = [
        Self::Decide,
        Self::Submit,
        Self::Move,
        Self::Find,
        Self::Look,
        Self::View,
        Self::Sheet,
        Self::Program,
    ];

    /// The heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Submit => "submit",
            Self::Move => "move",
            Self::Find => "find",
            Self::Look => "look closer",
            Self::View => "views",
            Self::Sheet => "in a sheet or form",
            Self::Program => "placet itself",
        }
    }
}
