//! Opening a SQLite database so that what is acknowledged is on disk: WAL, `synchronous=FULL`, one writer.
//!
//! Write transactions start with [`BEGIN`]: a deferred one that reads before it writes fails at once with code 517 when
//! another writer was faster, whatever the busy timeout says.

mod backup;
mod database;
mod turn;
mod words;

pub use self::backup::backup;
pub use self::database::{
    BEGIN, Database, OpenError, is_read_only, open, open_preparing, open_to_read, open_unchanged,
};
pub use self::words::{Words, is_usual};
