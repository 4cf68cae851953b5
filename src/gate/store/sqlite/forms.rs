//! How what a group of writes kept is written: few rows by one statement, which puts them into a view whose triggers do with each
//! what its form says; many by few statements, rows of one form together.

use std::fmt::Write as _;
use std::sync::LazyLock;

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, AssertSqlSafe, SqliteConnection};

use crate::gate::store::rows::integer;

/// A statement that takes rows.
enum Form {
    /// So many in one: how it begins, a row, how it ends.
    Rows([&'static str; 3]),
    /// One; repeated for others.
    Each(&'static str),
}

/// At most so many rows in one statement.
const MOST: usize = 32;

const ACTIONS: Form = Form::Rows([
    "INSERT INTO actions (id, workspace, batch, checkpoint, mission, session, run, tool_call, agent, requested_by, proposer, \
     tool, title, summary, risk, effect, size, digest, status, created_at, expires_at, revision, callback, traceparent) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "",
]);
const PAYLOADS: Form = Form::Rows([
    "INSERT INTO payloads (seq, input, preview, before) VALUES ",
    "((SELECT seq FROM actions WHERE id = ?), ?, ?, ?)",
    "",
]);
const REPLIES: Form = Form::Rows([
    "INSERT INTO replies (workspace, subject, key, fingerprint, body, at, action) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?)",
    "",
]);
const AUDIT: Form = Form::Rows([
    "INSERT INTO audit (workspace, revision, action, kind, at, who, details, hash) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?, ?)",
    "",
]);
const FLOWS: Form = Form::Rows([
    "INSERT INTO flows (workspace, minute, agent, tool, arrived, approved, edited, rejected, gone, executed, failed, unknown) VALUES ",
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    " ON CONFLICT (workspace, minute, agent, tool) DO UPDATE SET \
     arrived = arrived + excluded.arrived, approved = approved + excluded.approved, \
     edited = edited + excluded.edited, rejected = rejected + excluded.rejected, gone = gone + excluded.gone, \
     executed = executed + excluded.executed, failed = failed + excluded.failed, unknown = unknown + excluded.unknown",
]);
const STATES: Form = Form::Rows([
    "INSERT INTO states (workspace, status, actions) VALUES ",
    "(?, ?, ?)",
    " ON CONFLICT (workspace, status) DO UPDATE SET actions = actions + excluded.actions",
]);
const HEADS: Form = Form::Rows([
    "INSERT INTO heads (workspace, revision, pending, hash, pruned) VALUES ",
    "(?, ?, ?, ?, ?)",
    " ON CONFLICT (workspace) DO UPDATE SET revision = excluded.revision, pending = excluded.pending, \
     hash = excluded.hash, pruned = excluded.pruned",
]);

/// More waits of a batch: of whose first action the id is named.
const BATCHES_IN: Form = Form::Rows([
    "INSERT INTO outstanding (workspace, batch, tool, mission, first_seq, pending, low, medium, critical) VALUES ",
    "(?, ?, ?, ?, (SELECT seq FROM actions WHERE id = ?), ?, ?, ?, ?)",
    " ON CONFLICT (workspace, batch) DO UPDATE SET pending = pending + excluded.pending, low = low + excluded.low, \
     medium = medium + excluded.medium, critical = critical + excluded.critical",
]);
const MISSIONS_IN: Form = Form::Rows([
    "INSERT INTO blocked (workspace, mission, pending) VALUES ",
    "(?, ?, ?)",
    " ON CONFLICT (workspace, mission) DO UPDATE SET pending = pending + excluded.pending",
]);
const QUEUES_IN: Form = Form::Rows([
    "INSERT INTO waiting (workspace, agent, tool, pending, high) VALUES ",
    "(?, ?, ?, ?, ?)",
    " ON CONFLICT (workspace, agent, tool) DO UPDATE SET pending = pending + excluded.pending, high = high + excluded.high",
]);

/// Less waits of a batch. Its oldest hands its place on to the next.
const BATCHES_OUT: Form = Form::Each(
    "UPDATE outstanding SET pending = pending - ?, low = low - ?, medium = medium - ?, critical = critical - ?, \
     first_seq = COALESCE((SELECT MIN(a.seq) FROM actions a WHERE a.workspace = ? \
     AND COALESCE(a.batch, a.id) = ? AND a.status = 'pending'), first_seq) \
     WHERE workspace = ? AND batch = ?; \
     DELETE FROM outstanding WHERE workspace = ? AND batch = ? AND pending = 0",
);
const MISSIONS_OUT: Form = Form::Each(
    "UPDATE blocked SET pending = pending - ? WHERE workspace = ? AND mission = ?; \
     DELETE FROM blocked WHERE workspace = ? AND mission = ? AND pending = 0",
);
const QUEUES_OUT: Form = Form::Each(
    "UPDATE waiting SET pending = pending - ?, high = high - ? WHERE workspace = ? AND agent = ? AND tool = ?; \
     DELETE FROM waiting WHERE workspace = ? AND agent = ? AND tool = ? AND pending = 0",
);

/// In the order in which they are written.
const FORMS: [Form; 13] = [
    ACTIONS,
    PAYLOADS,
    BATCHES_IN,
    MISSIONS_IN,
    QUEUES_IN,
    BATCHES_OUT,
    MISSIONS_OUT,
    QUEUES_OUT,
    STATES,
    REPLIES,
    FLOWS,
    AUDIT,
    HEADS,
];
/// The first that names actions, and the first that looks for one among all that wait: what is before them is written before.
const FIRST_COUNT_IN: usize = 2;
const FIRST_COUNT_OUT: usize = 5;

/// At most so many rows are put into the view, with at most so many bytes of payloads: SQLite copies each row there.
const FEW: usize = 32;
const FEW_BYTES: usize = 64 << 10;
/// The fewest rows that are put there. Those that are not used are of no form, so that there are few texts of the statement.
const FEWEST: usize = 8;

/// How many values a row of the view takes, behind its form.
static COLUMNS: LazyLock<usize> = LazyLock::new(|| {
    let values = FORMS.iter().map(|form| form.of(1).matches('?').count());
    values.max().unwrap_or_default()
});

/// The view and its triggers, which a connection has for itself. Each trigger is a form of this file, over the columns of the view.
pub(super) fn view() -> String {
    let mut text = "CREATE TEMP VIEW unwritten AS SELECT NULL AS form".to_owned();
    for nth in 0..*COLUMNS {
        // Writing to a string cannot fail.
        write!(text, ", NULL AS c{nth}").ok();
    }
    for (nth, form) in FORMS.iter().enumerate() {
        let on = "INSTEAD OF INSERT ON unwritten WHEN NEW.form";
        write!(text, "; CREATE TEMP TRIGGER form_{nth} {on} = {nth} BEGIN ").ok();
        for (nth, part) in form.of(1).split('?').enumerate() {
            match nth.checked_sub(1) {
                None => text.push_str(part),
                Some(column) => write!(text, "NEW.c{column}{part}").unwrap_or_default(),
            }
        }
        text.push_str("; END");
    }
    text
}

impl Form {
    /// As it takes so many rows.
    fn of(&self, rows: usize) -> String {
        match self {
            Self::Rows([begin, row, end]) => [begin, vec![*row; rows].join(", ").as_str(), end].concat(),
            Self::Each(statement) => vec![*statement; rows].join("; "),
        }
    }
}

/// A value of a row.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(integer(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(Value::from($value)),*] };
}
pub(super) use values;

pub(super) type Values = Vec<Value>;

/// What is to be written, by its form.
pub(super) type Rows = [Vec<Values>; FORMS.len()];

/// How long the texts are.
fn bytes(rows: &Rows) -> usize {
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    rows.iter().flatten().flatten().map(length).sum()
}

/// Writes it all.
pub(super) async fn write(conn: &mut SqliteConnection, rows: Rows) -> Result<(), sqlx::Error> {
    let mut writing = Writing { conn, statement: String::new(), values: Vec::new() };
    match rows.iter().map(Vec::len).sum() {
        0 => Ok(()),
        few if few <= FEW && bytes(&rows) <= FEW_BYTES => writing.few(few, rows).await,
        _ => writing.many(rows).await,
    }
}

/// Statements of one row each wait until the end, and are then one text.
struct Writing<'c> {
    conn: &'c mut SqliteConnection,
    statement: String,
    values: Values,
}

impl Writing<'_> {
    /// All of them in one statement.
    async fn few(&mut self, count: usize, rows: Rows) -> Result<(), sqlx::Error> {
        let (places, width) = (count.next_power_of_two().max(FEWEST), *COLUMNS + 1);
        let mut values = Vec::with_capacity(places * width);
        for (nth, rows) in rows.into_iter().enumerate() {
            for row in rows {
                let end = values.len() + width;
                values.push(Value::from(nth as u64));
                values.extend(row);
                values.resize(end, Value::Null);
            }
        }
        values.resize(places * width, Value::Null);
        let row = format!("({})", vec!["?"; width].join(", "));
        self.run(format!("INSERT INTO unwritten VALUES {}", vec![row.as_str(); places].join(", ")), values)
            .await
    }

    async fn many(&mut self, rows: Rows) -> Result<(), sqlx::Error> {
        let several = rows[0].len() > 1;
        for (nth, (form, rows)) in FORMS.iter().zip(rows).enumerate() {
            if (nth == FIRST_COUNT_IN && several) || (nth == FIRST_COUNT_OUT && !rows.is_empty()) {
                self.end().await?;
            }
            self.put(form, rows).await?;
        }
        self.end().await
    }

    /// In parts of which each is a power of two: so there are few texts of a statement, and each is prepared once.
    async fn put(&mut self, form: &Form, rows: Vec<Values>) -> Result<(), sqlx::Error> {
        let mut rows = rows.into_iter();
        while rows.len() > 1 {
            let part = MOST.min(1 << rows.len().ilog2());
            self.run(form.of(part), rows.by_ref().take(part).flatten().collect()).await?;
        }
        if let Some(row) = rows.next() {
            if !self.statement.is_empty() {
                self.statement.push_str("; ");
            }
            self.statement.push_str(&form.of(1));
            self.values.extend(row);
        }
        Ok(())
    }

    async fn end(&mut self) -> Result<(), sqlx::Error> {
        if self.statement.is_empty() {
            return Ok(());
        }
        let (statement, values) = (std::mem::take(&mut self.statement), std::mem::take(&mut self.values));
        self.run(statement, values).await
    }

    async fn run(&mut self, statement: String, values: Values) -> Result<(), sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        arguments.reserve(values.len(), 0);
        for value in values {
            let added = match value {
                Value::Null => arguments.add(None::<i64>),
                Value::Int(value) => arguments.add(value),
                Value::Text(value) => arguments.add(value),
                Value::Bytes(value) => arguments.add(value),
            };
            added.map_err(sqlx::Error::Encode)?;
        }
        sqlx::query_with(AssertSqlSafe(statement), arguments).execute(&mut *self.conn).await?;
        Ok(())
    }
}
