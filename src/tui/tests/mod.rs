//! Keys in; screens, state and effects out. No terminal, no clock, no sleeping.

mod bulk;
mod copying;
mod deciding;
pub(super) mod desk;
mod editing;
mod effects;
mod groups;
mod holding;
mod keys;
mod leaving;
mod merging;
mod paused;
mod plain;
mod previews;
mod queue;
mod reading;
mod reasons;
mod reviewing;
mod screens;
mod sending;
mod settling;
mod sheets;
mod starting;
mod terminal;
mod triage;
mod unknown;
mod window;
