//! Arguments of `placet demo`.

use std::path::Path;

use clap::Args as ClapArgs;

use super::args::one_of;
use crate::config::{Density, Glyphs, ThemeChoice};

/// Try the inbox on a throw-away gate with a realistic queue
#[derive(Debug, ClapArgs)]
pub struct DemoArgs {
    /// Plain mode, lines of text for screen readers
    #[arg(long)]
    pub plain: bool,
    /// auto, terminal, dark, light, high-contrast, colour-blind, colour-blind-light, or a file [default: auto]
    #[arg(long, value_parser = |name: &str| ThemeChoice::named(name, Path::new("")), value_name = "NAME|FILE")]
    pub theme: Option<ThemeChoice>,
    /// Which marks and rules are drawn [default: unicode]
    #[arg(long, value_parser = one_of([("unicode", Glyphs::Unicode, ""), ("ascii", Glyphs::Ascii, "")]))]
    pub glyphs: Option<Glyphs>,
    /// Lines of the list for one action [default: compact]
    #[arg(long, value_parser = one_of([("compact", Density::Compact, "One"), ("comfortable", Density::Comfortable, "Two")]))]
    pub density: Option<Density>,
}
