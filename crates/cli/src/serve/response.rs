//! Answers, with what every one of them says to browsers: nothing comes from elsewhere, nobody else may show it.

use hpcast_report::served;

/// What browsers are told: scripts, styles and data come from this server alone; pages of others do not frame ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// An answer.
pub(super) struct Response {
    pub status: u16,
    kind: &'static str,
    body: Vec<u8>,
    /// More headers.
    more: Vec<(&'static str, String)>,
}

impl Response {
    fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status: 200, kind, body: body.into(), more: Vec::new() }
    }

    pub fn html(page: String) -> Response {
        Response::new("text/html; charset=utf-8", page)
    }

    pub fn json(value: &serde_json::Value) -> Response {
        Response::new("application/json", value.to_string())
    }

    pub fn svg(picture: impl Into<Vec<u8>>) -> Response {
        Response::new("image/svg+xml", picture)
    }

    pub fn script(text: &str) -> Response {
        Response::new("text/javascript; charset=utf-8", text)
    }

    pub fn style(text: &str) -> Response {
        Response::new("text/css; charset=utf-8", text)
    }

    /// A short page that says what is wrong.
    pub fn problem(status: u16, message: &str) -> Response {
        Response { status, ..Response::html(served::problem(reason(status), message)) }
    }

    /// For those who may not see even the style.
    pub fn refusal(status: u16, message: &str) -> Response {
        let text = format!("{}: {message}\n", reason(status));
        Response { status, ..Response::new("text/plain; charset=utf-8", text) }
    }

    pub fn with(mut self, name: &'static str, value: String) -> Response {
        self.more.push((name, value));
        self
    }

    /// As it is sent; without its body if only the rest was asked for.
    pub fn bytes(&self, has_body: bool) -> Vec<u8> {
        let mut text = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len()
        );
        for (name, value) in &self.more {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        if has_body {
            bytes.extend(&self.body);
        }
        bytes
    }
}

/// What a status means.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad request",
        401 => "Token needed",
        403 => "Forbidden",
        404 => "Not found",
        405 => "Method not allowed",
        408 => "Request too slow",
        421 => "Wrong host",
        431 => "Request too long",
        503 => "Busy",
        505 => "Version not supported",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_say_what_they_are() {
        let answer = Response::problem(404, "<b>").with("Set-Cookie", "a=b".into());
        let whole = String::from_utf8(answer.bytes(true)).unwrap();
        assert!(whole.starts_with("HTTP/1.1 404 Not found\r\n"), "{whole}");
        assert!(whole.contains("\r\nSet-Cookie: a=b\r\n") && whole.contains("&lt;b&gt;"), "{whole}");
        let (head, body) = whole.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        assert_eq!(String::from_utf8(answer.bytes(false)).unwrap(), format!("{head}\r\n\r\n"));
    }
}
