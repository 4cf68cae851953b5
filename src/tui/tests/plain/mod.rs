//! Plain mode: lines in, lines out. No terminal, no clock, no sleeping.

mod figures;
mod guards;
mod talk;
mod words;
