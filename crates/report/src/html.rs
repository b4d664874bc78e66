//! What pages have in common.

use hpcast_platform::draw::escape;

/// The style of pages that come from a server.
pub(crate) const LINKED_STYLE: &str = "<link rel=\"stylesheet\" href=\"/style.css\">";

/// The beginning of a page; `style` is an element.
pub(crate) fn head(title: &str, style: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{}</title>\n{style}</head><body>\n",
        escape(title)
    )
}

/// Links to other pages.
pub(crate) fn navigation(links: &[(&str, &str)]) -> String {
    let link = |(name, address): &(&str, &str)| format!("<a href=\"{}\">{}</a>", escape(address), escape(name));
    format!("<nav>{}</nav>\n", links.iter().map(link).collect::<Vec<_>>().join(" "))
}

/// A text of several lines.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// An address with values that are asked for; empty ones are left out.
pub(crate) fn address(path: &str, values: &[(&str, &str)]) -> String {
    let given = values.iter().filter(|(_, value)| !value.is_empty());
    let parts: Vec<String> = given.map(|(name, value)| format!("{name}={}", percent(value))).collect();
    if parts.is_empty() { path.to_owned() } else { format!("{path}?{}", parts.join("&")) }
}

/// A text as addresses take it.
fn percent(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_addresses_stay_apart() {
        assert_eq!(address("/runs", &[("filter", "a=1 & b>2"), ("sort", "")]), "/runs?filter=a%3D1%20%26%20b%3E2");
        assert_eq!(address("/runs", &[]), "/runs");
        assert_eq!(percent("µ"), "%C2%B5");
    }

    #[test]
    fn foreign_text_stays_text() {
        assert!(head("<script>", "").contains("<title>&lt;script&gt;</title>"));
        assert_eq!(navigation(&[("a & b", "/\"")]), "<nav><a href=\"/&quot;\">a &amp; b</a></nav>\n");
        assert_eq!(lines("a <\nb"), "a &lt;\nb");
    }
}
