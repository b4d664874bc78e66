//! What plots have in common: a page with a title and small print, and areas with axes.

use crate::scale::Scale;
use crate::svg::{Element, number, points, text_width, wrap};

pub(crate) const WIDTH: f64 = 760.0;
pub(crate) const MARGIN: f64 = 16.0;
pub(crate) const SMALL: f64 = 12.0;
const TITLE: f64 = 16.0;
/// Room of a label on the horizontal and the vertical axis.
const LABEL: (f64, f64) = (58.0, 34.0);
/// Width of what stands before a name in a legend, and of a name before it is broken.
pub(crate) const KEY: f64 = 22.0;
const NAME: f64 = 170.0;
/// From an area's bottom to below the name of its horizontal axis.
const BELOW: f64 = 58.0;

/// Where an area of a plot is on the page.
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    /// An area between the labels of its vertical axis, which end at `left`, and a legend of this width.
    pub fn between(left: f64, legend: f64, top: f64, height: f64) -> Area {
        Area { left, top, width: WIDTH - left - MARGIN - 8.0 - legend, height }
    }

    pub fn x(&self, scale: &Scale, value: f64) -> Option<f64> {
        scale.position(value).map(|position| self.left + position * self.width)
    }

    pub fn y(&self, scale: &Scale, value: f64) -> Option<f64> {
        scale.position(value).map(|position| self.top + (1.0 - position) * self.height)
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// How many labels fit its horizontal axis.
    pub fn room_across(&self) -> usize {
        (self.width / LABEL.0) as usize
    }

    /// The grid in its background.
    pub fn grid(&self, x: &Scale, y: &Scale) -> Element {
        let mut grid = Element::new("g").set("stroke", "#ddd");
        for tick in x.ticks.iter().filter(|tick| tick.label.is_some()) {
            let Some(place) = self.x(x, tick.value) else { continue };
            grid.push(Element::line(place, self.top, place, self.bottom()));
        }
        for tick in y.ticks.iter().filter(|tick| tick.label.is_some()) {
            let Some(place) = self.y(y, tick.value) else { continue };
            grid.push(Element::line(self.left, place, self.left + self.width, place));
        }
        grid
    }

    /// Both axes with their names and a frame around the area. An axis without a name has no labels either: another area
    /// below has the same one.
    pub fn axes(&self, x: (Option<&str>, &Scale), y: (&str, &Scale)) -> Element {
        self.axes_of_row(x, y, true)
    }

    /// The same in a row of areas that share the vertical axis, of which only the first has labels.
    pub fn axes_of_row(&self, x: (Option<&str>, &Scale), y: (&str, &Scale), is_first: bool) -> Element {
        let mut axes = Element::new("g").num("font-size", SMALL).set("fill", "#333");
        let frame = Element::rect(self.left, self.top, self.width, self.height);
        axes.push(frame.set("fill", "none").set("stroke", "#333"));
        self.push_horizontal(&mut axes, x.0, x.1);
        if is_first {
            self.push_vertical(&mut axes, y.0, y.1);
        }
        axes
    }

    /// A frame with a horizontal axis only.
    pub fn time_axis(&self, name: &str, scale: &Scale) -> Element {
        let mut axes = Element::new("g").num("font-size", SMALL).set("fill", "#333");
        self.push_horizontal(&mut axes, Some(name), scale);
        axes
    }

    fn push_horizontal(&self, axes: &mut Element, name: Option<&str>, scale: &Scale) {
        let bottom = self.bottom();
        for tick in &scale.ticks {
            let Some(place) = self.x(scale, tick.value) else { continue };
            axes.push(Element::line(place, bottom, place, bottom + tick_length(&tick.label)).set("stroke", "#333"));
            if let (Some(label), Some(_)) = (&tick.label, name) {
                // The last one must not leave the page.
                let place = place.min(WIDTH - text_width(label, SMALL) / 2.0 - 2.0);
                axes.push(Element::label(place, bottom + 8.0 + SMALL, SMALL, "middle", label));
            }
        }
        if let Some(name) = name {
            let middle = self.left + self.width / 2.0;
            axes.push(Element::label(middle, bottom + 38.0, SMALL + 1.0, "middle", &with_unit(name, scale)));
        }
    }

    fn push_vertical(&self, axes: &mut Element, name: &str, scale: &Scale) {
        for tick in &scale.ticks {
            let Some(place) = self.y(scale, tick.value) else { continue };
            let length = tick_length(&tick.label);
            axes.push(Element::line(self.left - length, place, self.left, place).set("stroke", "#333"));
            if let Some(label) = &tick.label {
                axes.push(Element::label(self.left - 9.0, place + 0.35 * SMALL, SMALL, "end", label));
            }
        }
        let (across, down) = (MARGIN + SMALL, self.top + self.height / 2.0);
        let turned = format!("rotate(-90 {} {})", number(across), number(down));
        let label = Element::label(across, down, SMALL + 1.0, "middle", &with_unit(name, scale));
        axes.push(label.set("transform", &turned));
    }
}

fn tick_length(label: &Option<String>) -> f64 {
    if label.is_some() { 6.0 } else { 3.0 }
}

/// Where an area begins whose vertical axis has these labels.
pub(crate) fn left_of(y: &Scale) -> f64 {
    let labels = y.ticks.iter().filter_map(|tick| tick.label.as_deref());
    let widest = labels.map(|label| text_width(label, SMALL)).fold(0.0, f64::max);
    MARGIN + 2.0 * SMALL + widest + 8.0
}

/// How many labels fit a vertical axis.
pub(crate) fn room_down(height: f64) -> usize {
    (height / LABEL.1) as usize
}

/// The name of an axis with the unit of its labels.
fn with_unit(name: &str, scale: &Scale) -> String {
    match scale.unit {
        Some(unit) => format!("{name} ({unit})"),
        None => name.into(),
    }
}

/// Names beside an area, from its top down.
pub(crate) struct Legend {
    left: f64,
    y: f64,
}

impl Legend {
    /// How much room these names take; none takes none.
    pub fn width<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
        let lines = names.flat_map(|name| wrap(name, SMALL, NAME));
        lines.map(|line| text_width(&line, SMALL)).reduce(f64::max).map_or(0.0, |widest| KEY + 8.0 + widest)
    }

    pub fn beside(area: &Area) -> Legend {
        Legend { left: area.left + area.width + 14.0, y: area.top + SMALL }
    }

    /// A name, behind what it is the name of: drawn from a left end and around a middle.
    pub fn add(&mut self, page: &mut Page, name: &str, key: impl FnOnce(f64, f64) -> Vec<Element>) {
        key(self.left, self.y - 0.35 * SMALL).into_iter().for_each(|element| page.push(element));
        self.remark(page, name);
    }

    /// What is to be said of the names above.
    pub fn remark(&mut self, page: &mut Page, text: &str) {
        for line in wrap(text, SMALL, NAME) {
            page.push(Element::label(self.left + KEY + 8.0, self.y, SMALL, "start", &line).set("fill", "#222"));
            self.y += 1.25 * SMALL;
        }
        self.y += 0.45 * SMALL;
    }
}

/// A line of a plot, with a name that shows under the pointer.
pub(crate) fn line(corners: &[(f64, f64)], colour: &str, name: &str) -> Element {
    let line = Element::new("polyline").set("points", &points(corners)).set("fill", "none").set("stroke", colour);
    line.num("stroke-width", 2.0).set("stroke-linejoin", "round").with(Element::new("title").text(name))
}

/// A page that is as high as what is on it.
pub(crate) struct Page {
    title: String,
    heading: Vec<String>,
    content: Vec<Element>,
}

impl Page {
    pub fn new(title: &str) -> Page {
        Page { title: title.into(), heading: wrap(title, TITLE, WIDTH - 2.0 * MARGIN), content: Vec::new() }
    }

    /// Where the first area begins.
    pub fn top(&self) -> f64 {
        MARGIN + self.heading.len() as f64 * 1.3 * TITLE + 14.0
    }

    pub fn push(&mut self, element: Element) {
        self.content.push(element);
    }

    pub fn extend(&mut self, elements: impl IntoIterator<Item = Element>) {
        self.content.extend(elements);
    }

    /// The file, with paragraphs of small print under the lowest area.
    pub fn svg(self, lowest: &Area, paragraphs: &[String]) -> String {
        let bottom = lowest.bottom() + BELOW;
        let lines = paragraphs.iter().flat_map(|text| wrap(text, SMALL - 1.0, WIDTH - 2.0 * MARGIN));
        let lines: Vec<String> = lines.collect();
        let height = bottom + lines.len() as f64 * 1.3 * SMALL + MARGIN / 2.0;
        let mut page = Element::page(WIDTH, height, &self.title);
        for (line, text) in self.heading.iter().enumerate() {
            let y = MARGIN + (line as f64 * 1.3 + 1.0) * TITLE;
            page.push(Element::label(MARGIN, y, TITLE, "start", text).set("font-weight", "bold").set("fill", "#222"));
        }
        self.content.into_iter().for_each(|element| page.push(element));
        for (line, text) in lines.iter().enumerate() {
            let y = bottom + line as f64 * 1.3 * SMALL;
            page.push(Element::label(MARGIN, y, SMALL - 1.0, "start", text).set("fill", "#666"));
        }
        page.document()
    }
}
