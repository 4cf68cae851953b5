//! Plain words for PostgreSQL's errors.

use crate::gate::tls::{TlsFault, tls_fault};

/// Classes and codes of <https://www.postgresql.org/docs/current/errcodes-appendix.html>. The sentences name no tables,
/// so clients may read them.
const USUAL: [(&[&str], &str); 12] = [
    (&["53100"], "the disk of the database server is full; make room there"),
    (
        &["53300"],
        "the database server takes no more connections; raise its max_connections, or run fewer gates",
    ),
    (&["57P01", "57P02", "57P03"], "the database server is stopping or starting; wait until it is up"),
    (&["25006"], "the database server only reads; name the one that writes"),
    (&["28P01"], "the database server refuses the password or the user; check both"),
    (
        &["28000"],
        "the database server refuses the user, or connections from here, or those without TLS; see its pg_hba.conf, and sslmode in the URL",
    ),
    (&["3D000"], "the database server has no such database; create it, or name another"),
    (
        &["42P01", "3F000"],
        "there is no gate in it, or none for this user; run `placet gate migrate` as the owner of the database",
    ),
    (
        &["42501"],
        "the database server refuses this user a right; run `placet gate migrate` as the owner of the database, and give the user rights \
         on the tables of the schema placet",
    ),
    (&["40001", "40P01"], "other gates were faster many times; try again"),
    (
        &["55P03"],
        "somebody has held a lock in the database for a long time; look for a transaction that does not end",
    ),
    (
        &["57014"],
        "the database server ended the statement; give the gate's user a longer statement_timeout there",
    ),
];
/// Also used for SQLite: an I/O error does not tell which database it is from.
const AWAY: &str = "the database cannot be reached; is its server up, and is the address right?";
const SILENT: &str = "the database server does not answer, or its network does not; try again";
/// Also the error of a proxy without a server: it accepts the connection and closes it.
const STRANGE: &str = "what answers there does not speak as PostgreSQL does; is the database server up, and is the address right?";
const NO_TLS: &str =
    "the database server does not speak TLS; set ssl = on there, or ask for less with sslmode in the URL";
const NOT_AGREED: &str = "TLS with the database server did not come about; look at sslmode, sslrootcert, sslcert and sslkey in its URL";
const UNTRUSTED: &str = "the certificate of the database server has no signer that is trusted here; name the signer's file as sslrootcert in the URL";
const OTHER_NAME: &str =
    "the certificate of the database server is for another name; use a name that it is for in the URL";
const OUTDATED: &str = "the certificate of the database server has expired or is not valid yet; renew it, or set this clock right";
const UNFIT: &str =
    "the certificate of the database server is not one for a server, or is damaged; make another one";
/// Poolers use one code (08P01) for almost all errors. With `pooler = true` only the refusal of a session setting
/// cannot occur.
const POOLER: &str = "a pooler before the database server refuses the settings of a session; set pooler = true in [gate.postgres]";
const NO_PASSAGE: &str = "a pooler before the database server lets nothing through, or what answers is no PostgreSQL server; is the pooler \
     paused (then `RESUME` in its console), and is the server behind it up?";
const BUSY: &str = "no connection to the database was to be had in time: it is away, or busy; try again";

pub(in crate::gate::store) fn usual(error: &sqlx::Error) -> Option<&'static str> {
    match error {
        sqlx::Error::Database(error) => {
            let code = error.code()?;
            if code == "08P01" {
                let is_setting = error.message().contains("startup parameter");
                return Some(if is_setting { POOLER } else { NO_PASSAGE });
            }
            USUAL.iter().find(|(codes, _)| codes.contains(&code.as_ref())).map(|(_, words)| *words)
        }
        sqlx::Error::Tls(error) if error.to_string().contains("does not support TLS") => Some(NO_TLS),
        sqlx::Error::Tls(_) => Some(NOT_AGREED),
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => Some(SILENT),
        sqlx::Error::Io(error) if let Some(fault) = tls_fault(error) => Some(match fault {
            TlsFault::Signer => UNTRUSTED,
            TlsFault::Name => OTHER_NAME,
            TlsFault::Dates => OUTDATED,
            TlsFault::Certificate => UNFIT,
            TlsFault::Agreement => NOT_AGREED,
        }),
        sqlx::Error::Io(_) => Some(AWAY),
        sqlx::Error::Protocol(_) => Some(STRANGE),
        sqlx::Error::PoolTimedOut => Some(BUSY),
        _ => None,
    }
}

pub(in crate::gate::store) fn is_usual(words: &str) -> bool {
    const OTHERS: [&str; 12] = [
        AWAY, STRANGE, SILENT, BUSY, POOLER, NO_PASSAGE, NO_TLS, NOT_AGREED, UNTRUSTED, OTHER_NAME, OUTDATED,
        UNFIT,
    ];
    USUAL.iter().any(|(_, usual)| *usual == words) || OTHERS.contains(&words)
}

#[cfg(test)]
mod tests {
    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;

    /// An error of PgBouncer 1.18.
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct OfPooler(&'static str);

    impl DatabaseError for OfPooler {
        fn message(&self) -> &str {
            self.0
        }
        fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
            Some("08P01".into())
        }
        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }
        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }
        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }
        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    #[test]
    fn only_a_refused_setting_recommends_the_pooler_mode() {
        let words = |said| usual(&sqlx::Error::Database(Box::new(OfPooler(said)))).unwrap();

        for said in [
            "unsupported startup parameter: search_path",
            "unsupported startup parameter in options: search_path",
        ] {
            assert!(words(said).contains("pooler = true"), "{said}");
        }
        for said in [
            "query_wait_timeout",
            "client_login_timeout (server down)",
            "server_login_retry",
            "database \"gate\" is paused",
            "pgbouncer cannot connect to server",
        ] {
            assert!(!words(said).contains("pooler = true"), "{said}");
            assert!(words(said).contains("paused"), "{said}");
            assert!(is_usual(words(said)), "{said}");
        }
    }
}
