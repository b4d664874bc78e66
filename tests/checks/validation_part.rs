//! Any text is a part of the validation or a list of errors that can be printed; whatever a part names stands in its file.

// The command hpcast is no library: these two files of it stand alone.
#[path = "../../crates/cli/src/validate/part.rs"]
#[allow(dead_code, reason = "a part is only read here, not run")]
mod part;
#[path = "../../crates/cli/src/validate/template.rs"]
#[allow(dead_code, reason = "a part is only read here, not run")]
mod template;

use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    match part::Part::parse(&Source::new("part.toml", text)) {
        Err(errors) => {
            assert!(errors.to_string().contains("error"));
            false
        }
        Ok(part) => {
            assert!(!part.lines.is_empty());
            let columns = part.columns();
            // Without a table nothing but the column that is usual is asked for.
            assert!(part.table.is_some() || columns.iter().all(|(column, _)| *column == part.value.text));
            for (column, key) in columns {
                assert!(part.error(key, column, "").render(false).contains("part.toml"));
            }
            for line in &part.lines {
                assert!(line.recipe.machine.is_some() != line.recipe.platform.is_some());
                assert!(line.recipe.hpl.iter().all(|words| part::unsuited(&words.text).is_none()));
            }
            true
        }
    }
}
