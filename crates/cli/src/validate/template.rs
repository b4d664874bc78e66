//! Texts in which `{column}` stands for the value of a column.

/// Replaces each `{column}`.
pub(super) fn fill<E>(template: &str, mut value: impl FnMut(&str) -> Result<String, E>) -> Result<String, E> {
    let mut filled = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => filled += text,
            Piece::Column(column) => filled += &value(column)?,
        }
    }
    Ok(filled)
}

/// The columns that stand in a template.
pub(super) fn placeholders(template: &str) -> Vec<&str> {
    let column = |piece| match piece {
        Piece::Column(column) => Some(column),
        Piece::Text(_) => None,
    };
    pieces(template).into_iter().filter_map(column).collect()
}

enum Piece<'t> {
    Text(&'t str),
    Column(&'t str),
}

/// Other braces, as in tables of TOML, are text.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        match after.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => {
                pieces.extend([Piece::Text(before), Piece::Column(name)]);
                rest = behind;
            }
            None => {
                pieces.push(Piece::Text(&rest[..=before.len()]));
                rest = after;
            }
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_replaced_and_other_braces_kept() {
        let double = |template: &str| fill(template, |column| Ok::<_, ()>(column.repeat(2))).unwrap();
        assert_eq!(double("--n {N} --grid {P}x{Q}"), "--n NN --grid PPxQQ");
        assert_eq!(double("a = { b = '{N}' } {"), "a = { b = 'NN' } {");
        assert_eq!(double("{{N}} {} {N"), "{NN} {} {N");
        assert_eq!(double(""), "");
        assert_eq!(fill("{N}", |_| Err("no column")), Err("no column"));
        assert_eq!(placeholders("{N} x = { y = 1 } {µ_2}{}"), ["N", "µ_2"]);
    }
}
