//! Requests of HTTP/1.1, as far as pages need them: no bodies, no connections that stay open. Uses no other file of the
//! command, so that `tests/checks` can include it.

/// Longer requests are nobody's who looks at pages.
pub(crate) const MOST_BYTES: usize = 16 << 10;
/// More headers than browsers send.
const MOST_HEADERS: usize = 100;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    /// All of the answer but its body.
    Head,
    Post,
}

/// What somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub method: Method,
    /// The parts of the path between its slashes, without empty ones.
    pub path: Vec<String>,
    /// What stands behind the question mark.
    pub query: Vec<(String, String)>,
    /// Names are in small letters.
    headers: Vec<(String, String)>,
}

/// Why a request cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// It is no HTTP.
    Malformed,
    /// It wants to do something else than to look.
    Method,
    /// It is of another HTTP.
    Version,
    /// It never ends.
    TooLong,
}

impl RequestError {
    /// The status of the answer.
    pub fn status(self) -> u16 {
        match self {
            RequestError::Malformed => 400,
            RequestError::Method => 405,
            RequestError::Version => 505,
            RequestError::TooLong => 431,
        }
    }
}

impl Request {
    /// Reads the beginning of what has been sent; nothing if more has to come.
    pub fn parse(bytes: &[u8]) -> Result<Option<Request>, RequestError> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if bytes.len() >= MOST_BYTES { Err(RequestError::TooLong) } else { Ok(None) };
        };
        if end > MOST_BYTES {
            return Err(RequestError::TooLong);
        }
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| RequestError::Malformed)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(RequestError::Malformed);
        };
        if !version.starts_with("HTTP/") {
            return Err(RequestError::Malformed);
        }
        if !["HTTP/1.1", "HTTP/1.0"].contains(&version) {
            return Err(RequestError::Version);
        }
        let method = match method {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            _ => return Err(RequestError::Method),
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.strip_prefix('/').ok_or(RequestError::Malformed)?;
        let parts = path.split('/').filter(|part| !part.is_empty());
        let path = parts.map(|part| decoded(part, false)).collect::<Option<_>>().ok_or(RequestError::Malformed)?;
        let query = query.split('&').filter(|part| !part.is_empty()).map(pair).collect::<Option<_>>();
        let headers = lines.map(header).collect::<Option<Vec<_>>>().ok_or(RequestError::Malformed)?;
        if headers.len() > MOST_HEADERS {
            return Err(RequestError::TooLong);
        }
        Ok(Some(Request { method, path, query: query.ok_or(RequestError::Malformed)?, headers }))
    }

    /// A header, if it was sent once: two that differ are a trick.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let first = found.next()?;
        found.next().is_none().then_some(first.1.as_str())
    }

    /// A value behind the question mark; the first of that name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A cookie.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.header("cookie")?.split(';').filter_map(|cookie| cookie.trim().split_once('='));
        cookies.filter(|(known, _)| *known == name).map(|(_, value)| value).next()
    }
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let is_sound = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    is_sound.then(|| (name.to_ascii_lowercase(), value.trim().to_owned()))
}

fn pair(part: &str) -> Option<(String, String)> {
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    Some((decoded(name, true)?, decoded(value, true)?))
}

/// A text in which `%41` stands for `A`, and in forms `+` for a blank.
fn decoded(text: &str, is_form: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => 16 * digit(rest.next()?)? + digit(rest.next()?)?,
            b'+' if is_form => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| digit.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<Request>, RequestError> {
        Request::parse(text.as_bytes())
    }

    #[test]
    fn a_request_has_a_path_values_and_headers() {
        let text = "GET /study/3/run/a%2Fb?filter=size%3D1+MiB&empty&x=%C2%B5 HTTP/1.1\r\nHost: localhost:80\r\n\
                    COOKIE: a=1; b = 2;c=3\r\n\r\nrest";
        let request = parsed(text).unwrap().unwrap();
        assert_eq!(request.method, Method::Get);
        assert_eq!(request.path, ["study", "3", "run", "a/b"]);
        assert_eq!(request.value("filter"), Some("size=1 MiB"));
        assert_eq!((request.value("empty"), request.value("x"), request.value("y")), (Some(""), Some("µ"), None));
        assert_eq!(request.header("host"), Some("localhost:80"));
        assert_eq!((request.cookie("a"), request.cookie("c"), request.cookie("d")), (Some("1"), Some("3"), None));
    }

    #[test]
    fn what_is_not_complete_is_waited_for() {
        let whole = "HEAD / HTTP/1.0\r\nA: b\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(parsed(&whole[..end]), Ok(None), "{end}");
        }
        assert_eq!(parsed(whole).unwrap().unwrap().method, Method::Head);
        assert!(parsed(whole).unwrap().unwrap().path.is_empty());
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for (text, error) in [
            ("nonsense\r\n\r\n", RequestError::Malformed),
            ("GET  / HTTP/1.1\r\n\r\n", RequestError::Malformed),
            ("GET http://x/ HTTP/1.1\r\n\r\n", RequestError::Malformed),
            ("GET /%zz HTTP/1.1\r\n\r\n", RequestError::Malformed),
            ("GET /%ff HTTP/1.1\r\n\r\n", RequestError::Malformed),
            ("GET / HTTP/1.1\r\nno colon\r\n\r\n", RequestError::Malformed),
            ("GET / HTTP/1.1\r\n folded: x\r\n\r\n", RequestError::Malformed),
            ("DELETE / HTTP/1.1\r\n\r\n", RequestError::Method),
            ("GET / HTTP/2.0\r\n\r\n", RequestError::Version),
        ] {
            assert_eq!(parsed(text), Err(error), "{text}");
        }
        let many: String = (0..200).map(|number| format!("h{number}: x\r\n")).collect();
        assert_eq!(parsed(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Err(RequestError::TooLong));
        assert_eq!(Request::parse(&[b'a'; MOST_BYTES]), Err(RequestError::TooLong));
    }

    #[test]
    fn a_header_that_comes_twice_is_none() {
        let request = parsed("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n").unwrap().unwrap();
        assert_eq!(request.header("host"), None);
    }
}
