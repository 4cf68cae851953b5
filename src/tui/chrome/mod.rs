//! The parts around the features: header, status line, help, palette, theme, clipboard.

pub(crate) mod copy;
pub(crate) mod empty;
pub(crate) mod find_command;
pub(crate) mod header;
pub(crate) mod hints;
pub(crate) mod leave;
pub(crate) mod overlay;
pub(crate) mod pen;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod theme;
pub(crate) mod window;
pub(crate) mod words;
