//! The program around the pure core: terminal, loop, effects, shutdown, other programs.

mod caught;
pub(crate) mod clock;
pub(crate) mod decoder;
mod editor;
pub(crate) mod effects;
pub(crate) mod environment;
pub(crate) mod input;
pub(crate) mod os;
mod pages;
pub(crate) mod run;
pub(crate) mod shutdown;
pub(crate) mod terminal;
pub(crate) mod width_safe_backend;
pub(crate) mod words;
