//! What lies over everything else for a moment. What is beneath stays as it is, and goes on being answered.

use tui_textarea::TextArea;

#[derive(Clone, Debug)]
pub enum Overlay {
    /// `at` is the first line on screen.
    Help(Finder),
    /// `at` is the chosen row.
    Palette(Finder),
}

/// Something that is narrowed by typing.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    pub area: TextArea<'static>,
    pub at: usize,
}

impl Finder {
    pub fn with(text: &str) -> Self {
        let mut finder = Self::default();
        finder.area.insert_str(text);
        finder
    }

    /// What is typed, on one line.
    pub fn text(&self) -> String {
        self.area.lines().join(" ")
    }
}

impl Overlay {
    pub fn finder(&self) -> &Finder {
        match self {
            Self::Help(finder) | Self::Palette(finder) => finder,
        }
    }

    pub fn finder_mut(&mut self) -> &mut Finder {
        match self {
            Self::Help(finder) | Self::Palette(finder) => finder,
        }
    }
}
