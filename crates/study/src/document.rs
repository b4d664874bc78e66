//! Machine and model files as runs see them: with all changes made, and with what they refer to.

use std::path::Path;
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostic, Source};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::key_path::KeyPath;

/// Keys of machine files whose values name other files.
const NAMING_FILES: [&str; 3] = ["network.file", "placement.rank-file", "placement.allocation"];

/// A file that a run reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What people call it.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Files that it names, by the name that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<(String, String)>,
}

/// The SHA-256 of a document, in hexadecimal: the same inputs have the same, whatever they are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub String);

impl Fingerprint {
    /// Of several texts, which stay apart from each other.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Fingerprint {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Fingerprint(hexadecimal(&hash.finalize()))
    }

    /// Of a file's content.
    pub fn of_bytes(content: &[u8]) -> Fingerprint {
        Fingerprint(hexadecimal(&Sha256::digest(content)))
    }

    /// Enough of it to tell people's runs apart.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

impl Document {
    /// Of its content.
    pub fn fingerprint(&self) -> Fingerprint {
        let files = self.files.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]);
        Fingerprint::of(std::iter::once(self.text.as_str()).chain(files))
    }
}

/// A TOML file that can be changed.
#[derive(Clone, Debug)]
pub struct Original {
    source: Arc<Source>,
    table: Table,
    files: Vec<(String, String)>,
}

impl Original {
    /// Reads a file and those that it names.
    pub fn read(path: &Path) -> Result<Original, Diagnostic> {
        let source = Source::read(path)?;
        let table: Table = source.text.parse().map_err(|error: toml::de::Error| {
            let message = format!("this is not TOML: {}", error.message());
            let place = error.span().unwrap_or(0..0);
            Diagnostic::error(message, "a line is `key = value` or `[section]`").at(&source, place)
        })?;
        let files = named_files(&table, path.parent().unwrap_or(Path::new("")));
        Ok(Original { source, table, files })
    }

    /// Its values.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// As it is, to the byte.
    pub fn unchanged(&self) -> Document {
        self.document(self.source.text.clone())
    }

    /// With other values.
    pub fn changed(&self, table: &Table) -> Document {
        if *table == self.table { self.unchanged() } else { self.document(table.to_string()) }
    }

    fn document(&self, text: String) -> Document {
        Document { name: self.source.name.clone(), text, files: self.files.clone() }
    }
}

/// Files that a table names and that are there; what is wrong with others is said when the file is used.
fn named_files(table: &Table, folder: &Path) -> Vec<(String, String)> {
    let read = |key: &&str| {
        let key: KeyPath = key.parse().ok()?;
        let Some(Value::String(name)) = key.get(table) else { return None };
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        Some((name.clone(), text))
    };
    NAMING_FILES.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_apart() {
        assert_ne!(Fingerprint::of(["ab", "c"]), Fingerprint::of(["a", "bc"]));
        assert_eq!(Fingerprint::of(["ab", "c"]), Fingerprint::of(["ab", "c"]));
        assert_eq!(Fingerprint::of(["x"]).short().len(), 12);
    }

    #[test]
    fn files_come_with_those_that_they_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.toml");
        std::fs::write(folder.path().join("n.graph"), "0 1").unwrap();
        std::fs::write(&path, "# a comment\n[network]\nfile = 'n.graph'\n").unwrap();
        let original = Original::read(&path).unwrap();
        let document = original.unchanged();
        assert_eq!(document.files, [("n.graph".to_owned(), "0 1".to_owned())]);
        assert!(document.text.starts_with("# a comment"));
        let mut table = original.table().clone();
        assert_eq!(original.changed(&table), document);
        table.insert("name".into(), "x".into());
        assert_ne!(original.changed(&table).fingerprint(), document.fingerprint());
        let renamed = Document { name: "other".into(), ..document.clone() };
        assert_eq!(renamed.fingerprint(), document.fingerprint());
    }
}
