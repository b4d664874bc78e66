//! A small writer of SVG: elements with attributes, and text that fits.

use std::fmt::Write;

use hpcast_platform::draw::escape;

/// Fonts that are on every system; nothing is loaded from outside the file.
const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', sans-serif";
/// Mean width of a character of these fonts, as a share of the font size. Generous, so that estimates err on the wide side.
const CHARACTER: f64 = 0.56;

/// An element that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

impl Element {
    pub fn new(name: &'static str) -> Element {
        Element { name, attributes: String::new(), content: String::new() }
    }

    /// The root: a white page of this size that scales to where it is shown.
    pub fn page(width: f64, height: f64, title: &str) -> Element {
        let size = format!("0 0 {} {}", number(width), number(height));
        let page = Element::new("svg").set("xmlns", "http://www.w3.org/2000/svg");
        page.num("width", width)
            .num("height", height)
            .set("viewBox", &size)
            .set("font-family", FONTS)
            .with(Element::new("title").text(title))
            .with(Element::rect(0.0, 0.0, width, height).set("fill", "white"))
    }

    pub fn rect(x: f64, y: f64, width: f64, height: f64) -> Element {
        Element::new("rect").num("x", x).num("y", y).num("width", width).num("height", height)
    }

    pub fn line(x1: f64, y1: f64, x2: f64, y2: f64) -> Element {
        Element::new("line").num("x1", x1).num("y1", y1).num("x2", x2).num("y2", y2)
    }

    /// A text whose anchor (`start`, `middle`, `end`) is at the point.
    pub fn label(x: f64, y: f64, size: f64, anchor: &str, text: &str) -> Element {
        let label = Element::new("text").num("x", x).num("y", y).num("font-size", size).set("text-anchor", anchor);
        label.text(text)
    }

    /// Sets an attribute.
    pub fn set(mut self, name: &str, value: &str) -> Element {
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(value));
        self
    }

    /// Sets an attribute to a number.
    pub fn num(self, name: &str, value: f64) -> Element {
        self.set(name, &number(value))
    }

    /// Adds text inside.
    pub fn text(mut self, text: &str) -> Element {
        self.content.push_str(&escape(text));
        self
    }

    /// Adds an element inside.
    pub fn with(mut self, child: Element) -> Element {
        self.push(child);
        self
    }

    /// Adds an element inside.
    pub fn push(&mut self, child: Element) {
        if self.name != "text" && child.name != "title" {
            self.content.push('\n');
        }
        let Element { name, attributes, content } = child;
        let _ = match content.is_empty() {
            true => write!(self.content, "<{name}{attributes}/>"),
            false => write!(self.content, "<{name}{attributes}>{content}</{name}>"),
        };
    }

    /// The whole file.
    pub fn document(self) -> String {
        let Element { name, attributes, content } = self;
        format!("<{name}{attributes}>{content}\n</{name}>\n")
    }
}

/// A coordinate with at most two decimals: a hundredth of a pixel is finer than any screen or printer.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Corners of a line or an area, as elements take them.
pub(crate) fn points(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    points.join(" ")
}

/// About how wide a text will be.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * CHARACTER * size
}

/// Breaks a text into lines of at most this width, between words.
pub(crate) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + CHARACTER * size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_nest() {
        let group = Element::new("g").with(Element::line(0.0, 1.5, -0.001, 1.0 / 3.0).set("stroke", "red"));
        assert_eq!(group.document(), "<g>\n<line x1=\"0\" y1=\"1.5\" x2=\"0\" y2=\"0.33\" stroke=\"red\"/>\n</g>\n");
    }

    #[test]
    fn names_cannot_break_the_file() {
        let text = Element::label(0.0, 0.0, 12.0, "start", "a<b> & \"c\"\u{1}").set("id", "\"><script>").document();
        assert!(text.contains(">a&lt;b&gt; &amp; &quot;c&quot; \n</text>"), "{text}");
        assert!(!text.contains("<script>"));
    }

    #[test]
    fn long_titles_break_between_words() {
        assert_eq!(wrap("one two three", 10.0, 45.0), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 10.0, 5.0), ["unbreakable"]);
        assert!(wrap("", 10.0, 5.0).is_empty());
    }
}
