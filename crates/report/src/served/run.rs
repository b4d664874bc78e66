//! All that is known of a run, and a place for pictures of it.

use hpcast_platform::draw::escape;

use crate::html::{LINKED_STYLE, head, lines, navigation};

/// A run.
pub struct RunPage {
    /// Its address.
    pub address: String,
    /// The address and the title of its study.
    pub study: (String, String),
    /// The levels of its factors.
    pub levels: Vec<(String, String)>,
    /// Whether it has found something, so that it can be done again.
    pub is_drawable: bool,
    /// What is known of it, in the order in which it is shown.
    pub facts: Vec<(String, String)>,
    /// Files that it has read, and its report: titles and texts.
    pub files: Vec<(String, String)>,
}

impl RunPage {
    /// The page; pictures are asked for below its address.
    pub fn html(&self) -> String {
        let (study, title) = &self.study;
        let levels: Vec<String> = self.levels.iter().map(|(name, level)| format!("{name} {level}")).collect();
        let levels = levels.join(", ");
        let heading = if levels.is_empty() { "A run" } else { &levels };
        let mut page = head(&format!("{title}: {heading}"), LINKED_STYLE);
        page += &navigation(&[("Studies", "/"), (title, study)]);
        page += &format!("<h1>{}</h1>\n<p class=\"question\">A run of {}</p>\n", escape(heading), escape(title));
        if self.is_drawable {
            page += &pictures(&self.address);
        } else {
            page += "<p class=\"problem\">This run has failed: there is nothing to draw.</p>\n";
        }
        page += "<h2>What is known of it</h2>\n<div class=\"wide\"><table class=\"facts\"><tbody>";
        for (name, value) in &self.facts {
            page += &format!(
                "<tr><th class=\"text\">{}</th><td class=\"text\">{}</td></tr>\n",
                escape(name),
                escape(value)
            );
        }
        page += "</tbody></table></div>\n";
        for (title, text) in &self.files {
            page += &format!("<details><summary>{}</summary><pre>{}</pre></details>\n", escape(title), lines(text));
        }
        page + "<script src=\"/served.js\"></script></body></html>\n"
    }
}

fn pictures(address: &str) -> String {
    format!(
        "<h2>What happened in it</h2>\n<div id=\"pictures\" data-address=\"{}\">\
         <p>Runs keep no pictures: the same command is run again to draw what every rank did, and the load of the links. \
         <button id=\"draw\" disabled>run it again and draw it</button></p><div id=\"drawn\"></div></div>\n",
        escape(address)
    )
}
