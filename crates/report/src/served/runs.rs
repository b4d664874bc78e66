//! The runs of all studies, a screen at a time: filtered, sorted and paged through by whoever serves them.

use hpcast_platform::draw::escape;
use hpcast_units::count;

use crate::html::{LINKED_STYLE, address, head, navigation};

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The number of a study; empty for all.
    pub study: String,
    /// Conditions with commas in between.
    pub filter: String,
    /// The column to sort by; empty for the order of the design.
    pub sort: String,
    /// Whether the largest come first.
    pub descending: bool,
    /// The page, from 0.
    pub page: u64,
}

/// A run in the list.
pub struct RunLine {
    /// The address of its page.
    pub address: String,
    /// The beginning of its key.
    pub key: String,
    /// What stands in the columns.
    pub cells: Vec<String>,
}

/// A column of the list.
pub struct RunColumn {
    /// What it is called.
    pub name: String,
    /// Whether it holds text.
    pub is_text: bool,
    /// Whether the list can be sorted by it.
    pub sorts: bool,
}

/// The list.
pub struct RunsPage {
    /// What was asked for.
    pub selection: Selection,
    /// Numbers and titles of all studies.
    pub studies: Vec<(String, String)>,
    /// What is shown of each run.
    pub columns: Vec<RunColumn>,
    /// The runs of this page.
    pub lines: Vec<RunLine>,
    /// Runs that meet the filter.
    pub found: u64,
    /// Runs on a page.
    pub at_once: u64,
    /// What is wrong with the question.
    pub problem: Option<String>,
}

impl Selection {
    fn address(&self) -> String {
        let (descending, page) = (if self.descending { "1" } else { "" }, self.page.to_string());
        let page = if self.page == 0 { "" } else { &page };
        let values = [
            ("study", self.study.as_str()),
            ("filter", &self.filter),
            ("sort", &self.sort),
            ("descending", descending),
            ("page", page),
        ];
        address("/runs", &values)
    }
}

impl RunColumn {
    fn class(&self) -> &'static str {
        if self.is_text { " class=\"text\"" } else { "" }
    }
}

impl RunsPage {
    /// The page.
    pub fn html(&self) -> String {
        let mut page = head("hpcast: runs", LINKED_STYLE);
        page += &navigation(&[("Studies", "/"), ("Runs", "/runs")]);
        page += "<h1>Runs</h1>\n";
        page += &self.form();
        if let Some(problem) = &self.problem {
            page += &format!("<p class=\"problem\">{}</p>\n", escape(problem));
        }
        page +=
            &format!("<p class=\"note\" id=\"found\">{} runs</p>\n{}{}", count(self.found), self.table(), self.pages());
        page + "</body></html>\n"
    }

    fn form(&self) -> String {
        let Selection { study, filter, sort, descending, .. } = &self.selection;
        let option = |(number, title): &(String, String)| {
            let selected = if number == study { " selected" } else { "" };
            format!("<option value=\"{}\"{selected}>{}</option>", escape(number), escape(title))
        };
        let options: String = self.studies.iter().map(option).collect();
        let kept =
            |name: &str, value: &str| format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escape(value));
        format!(
            "<form class=\"controls\" action=\"/runs\"><label>of <select name=\"study\"><option value=\"\">all studies</option>\
             {options}</select></label><label>only <input name=\"filter\" size=\"40\" value=\"{}\" \
             placeholder=\"nb=256, gflops&gt;1000, status=failed\"></label>{}{}<button>show</button></form>\n",
            escape(filter),
            kept("sort", sort),
            kept("descending", if *descending { "1" } else { "" }),
        )
    }

    fn table(&self) -> String {
        let heads: String = self.columns.iter().map(|column| self.heading(column)).collect();
        let cell = |(text, column): (&String, &RunColumn)| format!("<td{}>{}</td>", column.class(), escape(text));
        let line = |line: &RunLine| {
            let cells: String = line.cells.iter().zip(&self.columns).map(cell).collect();
            let link = format!("<a href=\"{}\">{}</a>", escape(&line.address), escape(&line.key));
            format!("<tr><td class=\"text\">{link}</td>{cells}</tr>\n")
        };
        let lines: String = self.lines.iter().map(line).collect();
        format!(
            "<div class=\"wide\"><table id=\"rows\"><thead><tr><th class=\"text\">run</th>{heads}</tr></thead>\
             <tbody>{lines}</tbody></table></div>\n"
        )
    }

    /// The head of a column sorts by it: rising first, then falling.
    fn heading(&self, column: &RunColumn) -> String {
        let name = escape(&column.name);
        if !column.sorts {
            return format!("<th{}>{name}</th>", column.class());
        }
        let is_sorted = self.selection.sort == column.name;
        let rising = !self.selection.descending;
        let sort = column.name.clone();
        let sorted = Selection { sort, descending: is_sorted && rising, page: 0, ..self.selection.clone() };
        let mark = match (is_sorted, rising) {
            (true, true) => " ▲",
            (true, false) => " ▼",
            _ => "",
        };
        format!("<th{}><a href=\"{}\">{name}{mark}</a></th>", column.class(), escape(&sorted.address()))
    }

    fn pages(&self) -> String {
        let last = self.found.div_ceil(self.at_once.max(1)).saturating_sub(1);
        let page = self.selection.page;
        let link = |text: &str, page: u64| {
            let other = Selection { page, ..self.selection.clone() };
            format!("<a href=\"{}\">{text}</a>", escape(&other.address()))
        };
        let mut links = Vec::new();
        if page > 0 {
            links.extend([link("first", 0), link("back", page - 1)]);
        }
        links.push(format!("page {} of {}", count(page + 1), count(last + 1)));
        if page < last {
            links.extend([link("next", page + 1), link("last", last)]);
        }
        format!("<p class=\"pages\">{}</p>\n", links.join(" "))
    }
}
