//! Shared by all features: messages, commands, keys, layout, the model, and the router.

pub(crate) mod command;
pub(crate) mod dispatch;
pub(crate) mod draw;
pub(crate) mod intent;
pub(crate) mod job;
pub(crate) mod keymap;
pub(crate) mod layout;
pub(crate) mod loaded;
pub(crate) mod model;
pub(crate) mod msg;
pub(crate) mod router;
pub(crate) mod settings;
