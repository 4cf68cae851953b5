//! The server and its database before use: is it suitable, and are its tables those of this version?

use std::fmt;
use std::io::ErrorKind;

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _, SqlSafeStr as _};

use super::conn::PATIENCE;
use super::pool::SETTINGS;
use crate::config::secret::SecretError;
use crate::config::{PostgresConfig, TokenFrom};
use crate::gate::audit::hex;
use crate::gate::store::words;

const MIGRATIONS: [&str; 1] = [include_str!("../../../../assets/migrations/gate-postgres/0001_gate.sql")];

const OLDEST: i32 = 150_000;

/// Read as text and with qualified names, as a pooler requires.
const ABOUT: &str = "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding, \
     current_setting('transaction_read_only') = 'on' AS read_only, to_regclass('placet._sqlx_migrations') IS NOT NULL AS there, \
     EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('placet')) AS occupied, \
     to_regclass('placet.moving') IS NOT NULL AS half_moved";
const APPLIED: &str =
    "SELECT encode(checksum, 'hex') AS checksum FROM placet._sqlx_migrations ORDER BY version";

/// Gates migrate one after the other; the number is arbitrary. An existing schema is not created again, because `IF NOT
/// EXISTS` would still need the right to create one.
const LOCK: &str = "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(123581321345589); \
     DO $$ BEGIN IF to_regnamespace('placet') IS NULL THEN CREATE SCHEMA placet; END IF; END $$";

#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error("the database URL cannot be read: {0}")]
    Url(sqlx::Error),
    #[error("the password of the database: {0}")]
    Password(SecretError),
    #[error("cannot open the database {place}: {}", words(error))]
    Open { place: String, error: sqlx::Error },
    #[error(
        "a file that the URL of the database {place} names as sslrootcert, sslcert or sslkey cannot be read: {error}"
    )]
    File { place: String, error: std::io::Error },
    #[error(
        "the tables in the database {place} were not made by this version of placet; delete them (DROP SCHEMA placet CASCADE) and start \
         again without what is in them, or run the version that made them"
    )]
    OtherVersion { place: String },
    #[error(
        "there is no gate in the database {place}; run `placet gate migrate` as its owner, not by way of a pooler"
    )]
    NoGate { place: String },
    #[error(
        "the database {place} has the encoding {encoding}, which cannot hold every text; create it with UTF8"
    )]
    Encoding { place: String, encoding: String },
    #[error(
        "a gate is being moved to the database {place}, and the move is not finished; run the same `placet gate move` again, which goes \
         on with it"
    )]
    HalfMoved { place: String },
    #[error("the database {place} only reads; name the server that writes")]
    ReadOnly { place: String },
    #[error("the server of the database {place} is PostgreSQL {}; it must be 15 or newer", version / 10_000)]
    TooOld { place: String, version: i32 },
}

pub(in crate::gate::store) struct Server {
    options: PgConnectOptions,
    password: Option<SecretString>,
    /// The database for error messages, without a password.
    pub(in crate::gate::store) place: String,
}

/// Leaves out the connect options, which contain the password.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("place", &self.place).finish_non_exhaustive()
    }
}

fn migrator() -> Migrator {
    let numbered = (1..).zip(MIGRATIONS).map(|(version, sql)| {
        Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(numbered.collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate::store) struct Found {
    tables: Tables,
    /// A move into it began and is not finished.
    pub(in crate::gate::store) half_moved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tables {
    Missing,
    Ours,
    Other,
}

impl Server {
    /// Reads the password. Blocks, because it may come from a command.
    pub(in crate::gate::store) fn new(url: &str, config: &PostgresConfig) -> Result<Self, PostgresError> {
        let password = config.password.as_ref().map(TokenFrom::read).transpose();
        Self::with(url, password.map_err(PostgresError::Password)?)
    }

    pub(super) fn at(&self, url: &str) -> Result<Self, PostgresError> {
        Self::with(url, self.password.clone())
    }

    fn with(url: &str, password: Option<SecretString>) -> Result<Self, PostgresError> {
        let mut options: PgConnectOptions = url.parse().map_err(PostgresError::Url)?;
        if let Some(password) = &password {
            options = options.password(password.expose_secret());
        }
        let (host, port) = (options.get_host(), options.get_port());
        let place = format!("{} on {host}:{port}", options.get_database().unwrap_or("of the user's name"));
        let options = options.application_name("placet gate").extra_float_digits(None);
        Ok(Self { options, password, place })
    }

    /// Returns the connect options for work. A pooler refuses session settings.
    pub(super) fn options(&self, pooler: bool) -> PgConnectOptions {
        let options = self.options.clone();
        if pooler { options } else { options.options(SETTINGS) }
    }

    pub(in crate::gate::store) fn failed(&self, error: sqlx::Error) -> PostgresError {
        let place = self.place.clone();
        let on_a_socket = self.options.get_socket().is_some() || self.options.get_host().starts_with('/');
        match error {
            // A network does not report this: it is one of the files for TLS.
            sqlx::Error::Io(error)
                if !on_a_socket
                    && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) =>
            {
                PostgresError::File { place, error }
            }
            error => PostgresError::Open { place, error },
        }
    }

    /// Checks that server and database suit a gate, to `write` or only to read, and returns the contents.
    pub(in crate::gate::store) async fn look(
        &self,
        conn: &mut PgConnection,
        write: bool,
    ) -> Result<Found, PostgresError> {
        let place = || self.place.clone();
        let failed = |error| self.failed(error);
        let about = sqlx::raw_sql(ABOUT).fetch_one(&mut *conn).await.map_err(failed)?;
        let version = about.try_get("version").map_err(failed)?;
        if version < OLDEST {
            return Err(PostgresError::TooOld { place: place(), version });
        }
        if write && about.try_get("read_only").map_err(failed)? {
            return Err(PostgresError::ReadOnly { place: place() });
        }
        let encoding: String = about.try_get("encoding").map_err(failed)?;
        if encoding != "UTF8" {
            return Err(PostgresError::Encoding { place: place(), encoding });
        }
        let half_moved = about.try_get("half_moved").map_err(failed)?;
        let tables = if about.try_get("there").map_err(failed)? {
            self.applied(conn).await?
        } else if about.try_get("occupied").map_err(failed)? {
            Tables::Other
        } else {
            Tables::Missing
        };
        Ok(Found { tables, half_moved })
    }

    async fn applied(&self, conn: &mut PgConnection) -> Result<Tables, PostgresError> {
        let rows = sqlx::raw_sql(APPLIED).fetch_all(conn).await.map_err(|error| self.failed(error))?;
        let applied: sqlx::Result<Vec<String>> = rows.iter().map(|row| row.try_get("checksum")).collect();
        let applied = applied.map_err(|error| self.failed(error))?;
        let ours = migrator().iter().map(|migration| hex(&migration.checksum)).eq(applied);
        Ok(if ours { Tables::Ours } else { Tables::Other })
    }

    /// Fails unless the tables are complete and of this version.
    pub(super) async fn is_up_to_date(&self, pooler: bool, write: bool) -> Result<(), PostgresError> {
        let mut conn = self.connect(pooler).await?;
        let found = self.whole(self.look(&mut conn, write).await?)?;
        conn.close().await.ok();
        self.compare(found)
    }

    fn whole(&self, found: Found) -> Result<Found, PostgresError> {
        if found.half_moved {
            return Err(PostgresError::HalfMoved { place: self.place.clone() });
        }
        Ok(found)
    }

    fn compare(&self, Found { tables, .. }: Found) -> Result<(), PostgresError> {
        let place = self.place.clone();
        match tables {
            Tables::Missing => Err(PostgresError::NoGate { place }),
            Tables::Ours => Ok(()),
            Tables::Other => Err(PostgresError::OtherVersion { place }),
        }
    }

    /// Creates the tables if they are missing. A role that only reads and writes rows need not own existing tables.
    pub(super) async fn migrate(&self) -> Result<(), PostgresError> {
        let mut conn = self.connect(false).await?;
        let found = self.whole(self.look(&mut conn, true).await?)?;
        self.migrate_from(&mut conn, found).await?;
        conn.close().await.ok();
        Ok(())
    }

    /// Creates the tables if `found` lacks them.
    pub(in crate::gate::store) async fn migrate_from(
        &self,
        conn: &mut PgConnection,
        found: Found,
    ) -> Result<(), PostgresError> {
        match self.compare(found) {
            Err(PostgresError::NoGate { .. }) => self.make_tables(conn).await,
            compared => compared,
        }
    }

    async fn make_tables(&self, conn: &mut PgConnection) -> Result<(), PostgresError> {
        let failed = |error| self.failed(error);
        let mut tx = conn.begin_with("BEGIN").await.map_err(failed)?;
        tx.execute(LOCK).await.map_err(failed)?;
        // Not `run`: with it the compiler cannot prove that this future is `Send`.
        match migrator().set_locking(false).run_direct(None, &mut *tx, false).await {
            Ok(()) => tx.commit().await.map_err(failed),
            Err(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                Err(failed(error))
            }
            // Another gate created tables meanwhile.
            Err(_) => Err(PostgresError::OtherVersion { place: self.place.clone() }),
        }
    }

    pub(in crate::gate::store) async fn connect(&self, pooler: bool) -> Result<PgConnection, PostgresError> {
        let connecting = tokio::time::timeout(PATIENCE, self.options(pooler).connect()).await;
        connecting.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(|error| self.failed(error))
    }
}
