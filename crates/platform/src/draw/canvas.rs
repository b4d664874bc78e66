//! A sheet to draw on: SVG elements with few digits, and text that cannot break out.

use std::fmt::Write;

/// A point, in pixels from the upper left corner.
pub type Point = (f64, f64);

/// A straight line.
pub type Line = (Point, Point);

/// SVG elements, in the order in which they cover one another.
#[derive(Debug, Default)]
pub struct Canvas {
    svg: String,
}

/// How a text is set.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// `start`, `middle` or `end` of the text is at the given point.
    pub anchor: &'static str,
    /// Height of the letters, in pixels.
    pub size: f64,
    pub colour: &'static str,
    pub bold: bool,
}

impl Canvas {
    /// What was drawn.
    pub fn into_svg(self) -> String {
        self.svg
    }

    /// Adds finished SVG, moved.
    pub fn place(&mut self, (x, y): Point, drawing: Canvas) {
        let _ = writeln!(self.svg, "<g transform=\"translate({} {})\">", short(x), short(y));
        self.svg += &drawing.svg;
        self.svg += "</g>\n";
    }

    /// Many straight lines of one kind. Where they are not opaque, each is seen through the others.
    pub fn lines(&mut self, lines: &[Line], colour: &str, width: f64, opacity: f64) {
        if lines.is_empty() {
            return;
        }
        let (width, opacity) = (short(width), fine(opacity));
        let _ = writeln!(self.svg, "<g stroke=\"{colour}\" stroke-width=\"{width}\" stroke-opacity=\"{opacity}\">");
        for ((x1, y1), (x2, y2)) in lines {
            let _ = writeln!(self.svg, "<path d=\"M{} {}L{} {}\"/>", short(*x1), short(*y1), short(*x2), short(*y2));
        }
        self.svg += "</g>\n";
    }

    /// A line of dots.
    pub fn dotted(&mut self, (x1, y1): Point, (x2, y2): Point, colour: &str) {
        let d = format!("M{} {}L{} {}", short(x1), short(y1), short(x2), short(y2));
        let _ = writeln!(self.svg, "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"1\" stroke-dasharray=\"1 4\"/>");
    }

    /// A line of dashes, where something is broken.
    pub fn dashed(&mut self, (x1, y1): Point, (x2, y2): Point, colour: &str) {
        let d = format!("M{} {}L{} {}", short(x1), short(y1), short(x2), short(y2));
        let _ = writeln!(self.svg, "<path d=\"{d}\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"4 4\"/>");
    }

    /// A box with round corners around a centre.
    pub fn rounded(&mut self, (x, y): Point, (width, height): Point, radius: f64, fill: &str) {
        let (left, top) = (short(x - width / 2.0), short(y - height / 2.0));
        let (width, height, radius) = (short(width), short(height), short(radius));
        let _ = writeln!(
            self.svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"{fill}\"/>"
        );
    }

    /// A disc.
    pub fn disc(&mut self, (x, y): Point, radius: f64, fill: &str) {
        let (x, y, radius) = (short(x), short(y), short(radius));
        let _ = writeln!(self.svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>");
    }

    /// A circle.
    pub fn ring(&mut self, (x, y): Point, radius: f64, colour: &str, width: f64) {
        let (x, y, radius, width) = (short(x), short(y), short(radius), short(width));
        let _ = writeln!(
            self.svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        );
    }

    /// A bar whose colours change from left to right through these.
    pub fn gradient(&mut self, (left, top): Point, (width, height): Point, colours: &[String]) {
        self.svg += "<linearGradient id=\"load\">";
        for (at, colour) in colours.iter().enumerate() {
            let offset = fine(at as f64 / (colours.len() - 1).max(1) as f64);
            let _ = write!(self.svg, "<stop offset=\"{offset}\" stop-color=\"{colour}\"/>");
        }
        self.svg += "</linearGradient>\n";
        self.rounded((left + width / 2.0, top + height / 2.0), (width, height), 2.0, "url(#load)");
    }

    /// A line of text; the point is on its base line.
    pub fn text(&mut self, at: Point, style: Style, text: &str) {
        self.write(at, style, "", text);
    }

    /// A line of text on top of lines, which it keeps at a distance.
    pub fn text_on_lines(&mut self, at: Point, style: Style, text: &str) {
        self.write(at, style, " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"", text);
    }

    fn write(&mut self, (x, y): Point, style: Style, attributes: &str, text: &str) {
        let (x, y, size) = (short(x), short(y), short(style.size));
        let weight = if style.bold { " font-weight=\"600\"" } else { "" };
        let Style { anchor, colour, .. } = style;
        let _ = writeln!(
            self.svg,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{weight}{attributes}>{}</text>",
            escape(text)
        );
    }

    /// A line of text that reads upwards.
    pub fn turned(&mut self, (x, y): Point, style: Style, text: &str) {
        let _ = write!(self.svg, "<g transform=\"translate({} {}) rotate(-90)\">", short(x), short(y));
        self.text((0.0, 0.0), style, text);
        self.svg += "</g>\n";
    }
}

/// Width of a text, about: half the letters' height each.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// One decimal, if any.
fn short(number: f64) -> String {
    digits(number, 1)
}

/// Two decimals, if any.
fn fine(number: f64) -> String {
    digits(number, 2)
}

fn digits(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text that is safe inside SVG, in elements and attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            // XML has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([3.0, 2.5, -0.04, 10.0, 1.26].map(short), ["3", "2.5", "0", "10", "1.3"]);
    }

    #[test]
    fn text_cannot_break_out() {
        assert_eq!(escape("a<b> & \"c\"\u{0}\u{ffff}"), "a&lt;b&gt; &amp; &quot;c&quot;  ");
    }
}
