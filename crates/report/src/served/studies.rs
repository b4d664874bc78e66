//! All studies of a store or of a folder.

use hpcast_platform::draw::escape;

use super::Standing;
use crate::html::{LINKED_STYLE, head, navigation};

/// A study in the list.
pub struct StudyLine {
    /// The address of its page.
    pub address: String,
    /// What people call it.
    pub title: String,
    /// What one wants to know.
    pub question: String,
    /// Its folder or store, and what tells it from others there.
    pub place: String,
    /// How far it is.
    pub standing: Standing,
    /// When a run has ended last, UTC, ISO 8601; empty if none has.
    pub changed: String,
}

/// The list.
pub struct StudiesPage {
    /// What is served.
    pub place: String,
    /// The studies.
    pub studies: Vec<StudyLine>,
    /// Places that cannot be read, and why.
    pub problems: Vec<(String, String)>,
}

impl StudiesPage {
    /// The page; it asks for its list again at the address `/studies`.
    pub fn html(&self) -> String {
        format!(
            "{}{}<h1>Studies</h1>\n<p class=\"question\">{}</p>\n<div data-follow=\"/studies\">{}</div>\n\
             <script src=\"/served.js\"></script></body></html>\n",
            head("hpcast: studies", LINKED_STYLE),
            navigation(&[("Studies", "/"), ("Runs", "/runs")]),
            escape(&self.place),
            self.list(),
        )
    }

    /// The list alone.
    pub fn list(&self) -> String {
        let mut text = String::new();
        if self.studies.is_empty() {
            text += "<p class=\"note\">There is no study here yet: <code>hpcast study run</code> makes one.</p>\n";
        } else {
            let lines: String = self.studies.iter().map(line).collect();
            text += &format!(
                "<div class=\"wide\"><table class=\"studies\"><thead><tr><th class=\"text\">study</th><th class=\"text\">runs</th>\
                 <th class=\"text\">last change</th></tr></thead><tbody>{lines}</tbody></table></div>\n"
            );
        }
        for (place, problem) in &self.problems {
            text += &format!("<p class=\"problem\">{}: {}</p>\n", escape(place), escape(problem));
        }
        text
    }
}

fn line(study: &StudyLine) -> String {
    format!(
        "<tr><td class=\"text\"><a href=\"{}\">{}</a><p>{}</p><p class=\"note\">{}</p></td><td class=\"text\">{}</td>\
         <td class=\"text\">{}</td></tr>\n",
        escape(&study.address),
        escape(&study.title),
        escape(&study.question),
        escape(&study.place),
        study.standing.html(),
        escape(&study.changed.replace('T', " ").replace('Z', " UTC")),
    )
}
