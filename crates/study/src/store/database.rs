//! SQLite and PostgreSQL behind one face: the same statements, with `$1`, `$2`, ... in the order of their values.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Whole(i64),
    Number(f64),
    Text(String),
}

/// What a column of an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Number,
    Text,
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is no store, or cannot be read or written.
    #[error("{}: {problem}; check the file and the folder that it is in", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        problem: String,
    },
    /// There is no room.
    #[error("{}: the disk is full; free some space and run it again: what is finished is kept", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Nobody answers, or not as expected.
    #[error("the database {server} {problem}; check that PostgreSQL runs there and that you may use it")]
    Server {
        /// Its address, without a password.
        server: String,
        /// What PostgreSQL says.
        problem: String,
    },
    /// It was written by a hpcast that knows more.
    #[error("{place} was written by a newer hpcast (its format is {found}, this one knows {known}); use that one")]
    Newer {
        /// The store.
        place: String,
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// There is no store.
    #[error("there is no study in {}; name the folder that `hpcast study run --out` has filled", path.display())]
    Absent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Something in it cannot be read.
    #[error("{what} in the store cannot be read ({problem}); run the study again into another folder")]
    Damaged {
        /// What it is.
        what: String,
        /// Why.
        problem: String,
    },
    /// There is no such study or run.
    #[error("{0}")]
    Unknown(String),
}

/// A connection.
pub(super) enum Database {
    Sqlite { connection: rusqlite::Connection, path: PathBuf },
    Postgres { client: Box<postgres::Client>, server: String, prepared: HashMap<String, postgres::Statement> },
}

impl Database {
    /// Opens a file, which is made if it is not there.
    pub fn file(path: &Path) -> Result<Database, StoreError> {
        let wrong = |error: rusqlite::Error| sqlite_error(path, &error);
        let connection = rusqlite::Connection::open(path).map_err(wrong)?;
        connection.busy_timeout(PATIENCE).map_err(wrong)?;
        connection.set_prepared_statement_cache_capacity(64);
        // What is committed survives a crash of the program at once, and one of the system once it is checkpointed.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(wrong)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(wrong)?;
        Ok(Database::Sqlite { connection, path: path.into() })
    }

    /// Connects to `postgres://user@host/database`.
    pub fn server(url: &str) -> Result<Database, StoreError> {
        let server = without_password(url);
        let client = postgres::Client::connect(url, postgres::NoTls)
            .map_err(|error| StoreError::Server { server: server.clone(), problem: problem(&error) })?;
        Ok(Database::Postgres { client: Box::new(client), server, prepared: HashMap::new() })
    }

    /// What it is called in messages.
    pub fn place(&self) -> String {
        match self {
            Database::Sqlite { path, .. } => path.display().to_string(),
            Database::Postgres { server, .. } => server.clone(),
        }
    }

    /// Several statements without values.
    pub fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        match self {
            Database::Sqlite { connection, path } => {
                connection.execute_batch(sql).map_err(|error| sqlite_error(path, &error))
            }
            Database::Postgres { client, server, .. } => {
                client.batch_execute(sql).map_err(|error| server_error(server, &error))
            }
        }
    }

    /// A statement that changes something.
    pub fn execute(&mut self, sql: &str, values: &[Cell]) -> Result<u64, StoreError> {
        match self {
            Database::Sqlite { connection, path } => {
                let wrong = |error: rusqlite::Error| sqlite_error(path, &error);
                let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
                Ok(statement.execute(rusqlite::params_from_iter(values)).map_err(wrong)? as u64)
            }
            Database::Postgres { client, server, prepared } => {
                let wrong = |error: postgres::Error| server_error(server, &error);
                let statement = statement(client, prepared, sql).map_err(wrong)?;
                client.execute(&statement, &references(values)).map_err(wrong)
            }
        }
    }

    /// A question whose answer has columns of these kinds.
    pub fn query(&mut self, sql: &str, values: &[Cell], kinds: &[Kind]) -> Result<Vec<Vec<Cell>>, StoreError> {
        match self {
            Database::Sqlite { connection, path } => {
                let wrong = |error: rusqlite::Error| sqlite_error(path, &error);
                let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
                let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(wrong)?;
                let mut found = Vec::new();
                while let Some(row) = rows.next().map_err(wrong)? {
                    let cells = kinds.iter().enumerate().map(|(place, kind)| from_sqlite(row, place, *kind));
                    found.push(cells.collect::<Result<_, _>>().map_err(wrong)?);
                }
                Ok(found)
            }
            Database::Postgres { client, server, prepared } => {
                let wrong = |error: postgres::Error| server_error(server, &error);
                let statement = statement(client, prepared, sql).map_err(wrong)?;
                let rows = client.query(&statement, &references(values)).map_err(wrong)?;
                let cells = |row: &postgres::Row| {
                    kinds.iter().enumerate().map(|(place, kind)| from_postgres(row, place, *kind)).collect()
                };
                rows.iter().map(cells).collect::<Result<_, _>>().map_err(wrong)
            }
        }
    }

    /// Does all of it, or nothing.
    pub fn together<T>(&mut self, act: impl FnOnce(&mut Database) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // SQLite would otherwise read first and find out later that somebody else has written.
        self.batch(if matches!(self, Database::Sqlite { .. }) { "BEGIN IMMEDIATE" } else { "BEGIN" })?;
        match act(self) {
            Ok(result) => self.batch("COMMIT").map(|()| result),
            Err(error) => {
                // What went wrong first is what matters.
                let _ = self.batch("ROLLBACK");
                Err(error)
            }
        }
    }

    /// Makes what is committed survive a crash of the system, too.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        match self {
            Database::Sqlite { connection, path } => {
                let settled = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                settled.map_err(|error| sqlite_error(path, &error))
            }
            Database::Postgres { .. } => Ok(()),
        }
    }
}

fn sqlite_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full { path: path.into() },
        // Also who only reads needs a little room, for the file that readers and writers share.
        _ if error.sqlite_error().map(|error| error.extended_code) == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            StoreError::Full { path: path.into() }
        }
        Some(rusqlite::ErrorCode::NotADatabase) => {
            StoreError::File { path: path.into(), problem: "it is no store of hpcast".into() }
        }
        _ => StoreError::File { path: path.into(), problem: error.to_string() },
    }
}

fn server_error(server: &str, error: &postgres::Error) -> StoreError {
    StoreError::Server { server: server.into(), problem: problem(error) }
}

/// What PostgreSQL says, and why.
fn problem(error: &postgres::Error) -> String {
    let said = match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string),
    };
    format!("says: {said}")
}

/// An address that can be shown: a password may stand before the host, or among the options.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "of the given address".into() };
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => rest.into(),
    };
    let Some((place, options)) = rest.split_once('?') else { return format!("{scheme}://{rest}") };
    let shown: Vec<&str> = options.split('&').filter(|option| !option.starts_with("password=")).collect();
    let mark = if shown.is_empty() { "" } else { "?" };
    format!("{scheme}://{place}{mark}{}", shown.join("&"))
}

fn statement(
    client: &mut postgres::Client,
    prepared: &mut HashMap<String, postgres::Statement>,
    sql: &str,
) -> Result<postgres::Statement, postgres::Error> {
    if let Some(statement) = prepared.get(sql) {
        return Ok(statement.clone());
    }
    let statement = client.prepare(sql)?;
    prepared.insert(sql.to_owned(), statement.clone());
    Ok(statement)
}

fn references(values: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn from_sqlite(row: &rusqlite::Row<'_>, place: usize, kind: Kind) -> rusqlite::Result<Cell> {
    Ok(match kind {
        Kind::Whole => row.get::<_, Option<i64>>(place)?.map_or(Cell::Null, Cell::Whole),
        Kind::Number => row.get::<_, Option<f64>>(place)?.map_or(Cell::Null, Cell::Number),
        Kind::Text => row.get::<_, Option<String>>(place)?.map_or(Cell::Null, Cell::Text),
    })
}

fn from_postgres(row: &postgres::Row, place: usize, kind: Kind) -> Result<Cell, postgres::Error> {
    Ok(match kind {
        Kind::Whole => row.try_get::<_, Option<i64>>(place)?.map_or(Cell::Null, Cell::Whole),
        Kind::Number => row.try_get::<_, Option<f64>>(place)?.map_or(Cell::Null, Cell::Number),
        Kind::Text => row.try_get::<_, Option<String>>(place)?.map_or(Cell::Null, Cell::Text),
    })
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::ValueRef;
        let value = match self {
            Cell::Null => ValueRef::Null,
            Cell::Whole(number) => ValueRef::Integer(*number),
            Cell::Number(number) => ValueRef::Real(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        };
        Ok(rusqlite::types::ToSqlOutput::Borrowed(value))
    }
}

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Cell::Null => Ok(IsNull::Yes),
            Cell::Whole(number) => number.to_sql(kind, out),
            Cell::Number(number) => number.to_sql(kind, out),
            Cell::Text(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT].contains(kind)
    }

    to_sql_checked!();
}

impl Cell {
    pub fn optional(text: Option<&str>) -> Cell {
        text.map_or(Cell::Null, |text| Cell::Text(text.into()))
    }

    pub fn text(self) -> String {
        match self {
            Cell::Text(text) => text,
            Cell::Whole(number) => number.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Null => String::new(),
        }
    }

    pub fn whole(&self) -> Option<i64> {
        if let Cell::Whole(number) = self { Some(*number) } else { None }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(number) => Some(*number),
            Cell::Whole(number) => Some(*number as f64),
            _ => None,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        // Seeds use all 64 bits; they come back as they were.
        Cell::Whole(number as i64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("postgres://me:secret@host/db"), "postgres://me@host/db");
        assert_eq!(without_password("postgres://host/db"), "postgres://host/db");
        assert_eq!(without_password("postgres://me@host/db?password=secret"), "postgres://me@host/db");
        assert_eq!(without_password("postgres://h/db?a=1&password=secret&b=2"), "postgres://h/db?a=1&b=2");
    }

    #[test]
    fn values_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::file(&folder.path().join("x.sqlite")).unwrap();
        database.batch("CREATE TABLE t (a BIGINT, b DOUBLE PRECISION, c TEXT)").unwrap();
        let row = [Cell::from(u64::MAX), Cell::from(0.1), Cell::from("x")];
        database.execute("INSERT INTO t (a, b, c) VALUES ($1, $2, $3)", &row).unwrap();
        let kinds = [Kind::Whole, Kind::Number, Kind::Text];
        assert_eq!(database.query("SELECT a, b, c FROM t", &[], &kinds).unwrap(), [row]);
        let failed: Result<(), _> = database.together(|database| {
            database.execute("INSERT INTO t (a) VALUES ($1)", &[Cell::Null])?;
            Err(StoreError::Unknown("no".into()))
        });
        assert!(failed.is_err());
        assert_eq!(database.query("SELECT a FROM t", &[], &[Kind::Whole]).unwrap().len(), 1);
    }

    #[test]
    fn other_files_are_no_stores() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sqlite");
        std::fs::write(&path, "this is a text, and a long one, too").unwrap();
        let error = Database::file(&path).err().unwrap().to_string();
        assert!(error.contains("it is no store of hpcast"), "{error}");
    }
}
