//! Keys in; screens, state and effects out. No terminal, no clock, no sleeping.

mod deciding;
mod desk;
mod screens;
