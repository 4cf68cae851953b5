//! Opens SQLite databases so that acknowledged writes are on disk: WAL, `synchronous=FULL`, one writer.
//!
//! Begin write transactions with [`BEGIN`]. A deferred one that reads before it writes fails at once with code 517 if
//! another writer was faster, despite the busy timeout.

mod backup;
mod database;
mod turn;
mod words;

pub use self::backup::backup;
pub use self::database::{BEGIN, Database, OpenError, is_read_only, open, open_to_read, open_unchanged};
pub use self::words::{Words, is_usual};
