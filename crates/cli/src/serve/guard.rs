//! Who may look: everybody on this computer, or whoever has the token.

use std::io::Read;
use std::net::IpAddr;

use super::http::{Method, Request};
use super::response::Response;
use crate::failure::Failure;

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// Decides who may look.
pub(super) enum Guard {
    /// Only this computer can connect, and all its users are trusted. Its browser may be tricked by pages of others, whose
    /// names lead here.
    Local,
    /// Others can connect.
    Token {
        token: String,
        /// Other servers on this computer have cookies of their own.
        cookie: String,
    },
}

impl Guard {
    /// For a server at that port that trusts whoever can connect, or one that does not.
    pub fn new(trusts: bool, port: u16) -> Result<Guard, Failure> {
        if trusts {
            return Ok(Guard::Local);
        }
        Ok(Guard::Token { token: random_token()?, cookie: format!("hpcast-{port}") })
    }

    /// What must stand behind the address of the first page.
    pub fn query(&self) -> String {
        match self {
            Guard::Local => String::new(),
            Guard::Token { token, .. } => format!("?token={token}"),
        }
    }

    /// Why the request is not answered, if it is not.
    pub fn refuses(&self, request: &Request) -> Option<Response> {
        let is_known = match self {
            Guard::Local => request.header("host").is_some_and(names_this_computer),
            Guard::Token { token, cookie } => {
                let given = [request.value("token"), request.cookie(cookie)];
                given.into_iter().flatten().any(|given| is_equal(given, token))
            }
        };
        match self {
            Guard::Local if !is_known => Some(Response::refusal(
                421,
                "this server answers to `localhost` only; use the address that it has printed",
            )),
            Guard::Token { .. } if !is_known => {
                Some(Response::refusal(401, "open the address that `hpcast serve` has printed, with its token"))
            }
            _ if request.method == Method::Post && !is_of_our_pages(request) => {
                Some(Response::refusal(403, "only pages of this server may ask for that"))
            }
            _ => None,
        }
    }

    /// Whoever has come with the token in the address needs it only once.
    pub fn admits(&self, request: &Request, response: Response) -> Response {
        match self {
            Guard::Token { token, cookie } if request.value("token").is_some() => {
                response.with("Set-Cookie", format!("{cookie}={token}; HttpOnly; SameSite=Strict; Path=/"))
            }
            _ => response,
        }
    }
}

fn random_token() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN_BYTES];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| Failure::input(format!("cannot draw a token from /dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes the same time wherever two texts differ, so that nobody can find out a token letter by letter.
fn is_equal(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
}

/// Whether a header `Host` names this computer; the port may be that of a tunnel.
fn names_this_computer(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Browsers say which page has sent a request.
fn is_of_our_pages(request: &Request) -> bool {
    let origin = request.header("origin").and_then(|origin| origin.split_once("://"));
    origin.is_some_and(|(_, host)| Some(host) == request.header("host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str, headers: &str) -> Request {
        Request::parse(format!("{line} HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap().unwrap()
    }

    fn status(guard: &Guard, line: &str, headers: &str) -> u16 {
        guard.refuses(&request(line, headers)).map_or(200, |response| response.status)
    }

    #[test]
    fn names_of_others_that_lead_here_are_refused() {
        for host in ["localhost:8420", "127.0.0.1:9", "[::1]:80", "LOCALHOST", "127.1.2.3:1"] {
            assert_eq!(status(&Guard::Local, "GET /", &format!("Host: {host}\r\n")), 200, "{host}");
        }
        for host in ["evil.example:8420", "localhost.evil.example", "10.0.0.1", ""] {
            assert_eq!(status(&Guard::Local, "GET /", &format!("Host: {host}\r\n")), 421, "{host}");
        }
        assert_eq!(status(&Guard::Local, "GET /", ""), 421);
    }

    fn with_token() -> Guard {
        match Guard::new(false, 80) {
            Ok(guard @ Guard::Token { .. }) => guard,
            _ => panic!("anybody can connect"),
        }
    }

    #[test]
    fn others_need_the_token() {
        let guard = with_token();
        let token = guard.query();
        assert_eq!(token.len(), "?token=".len() + 2 * TOKEN_BYTES);
        let secret = token.trim_start_matches("?token=");
        assert_eq!(status(&guard, "GET /", "Host: x\r\n"), 401);
        assert_eq!(status(&guard, &format!("GET /{token}0"), ""), 401);
        assert_eq!(status(&guard, &format!("GET /{token}"), ""), 200);
        assert_eq!(status(&guard, "GET /", &format!("Cookie: x=1; hpcast-80={secret}\r\n")), 200);
        assert_eq!(status(&guard, "GET /", &format!("Cookie: hpcast-81={secret}\r\n")), 401);
        let answer = guard.admits(&request(&format!("GET /{token}"), ""), Response::style(""));
        let said = String::from_utf8(answer.bytes(false)).unwrap();
        assert!(
            said.contains(&format!("Set-Cookie: hpcast-80={secret}; HttpOnly; SameSite=Strict; Path=/\r\n")),
            "{said}"
        );
        assert_ne!(with_token().query(), token);
    }

    #[test]
    fn only_our_pages_start_something() {
        let post = |headers: &str| status(&Guard::Local, "POST /x", headers);
        assert_eq!(post("Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), 200);
        assert_eq!(post("Host: localhost:1\r\nOrigin: http://evil.example\r\n"), 403);
        assert_eq!(post("Host: localhost:1\r\nOrigin: http://localhost:2\r\n"), 403);
        assert_eq!(post("Host: localhost:1\r\n"), 403);
    }
}
