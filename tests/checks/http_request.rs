//! Any bytes are a request, the beginning of one, or refused; and it does not matter in which pieces they come.

// The command hpcast is no library: this file of it stands alone.
#[path = "../../crates/cli/src/serve/http.rs"]
mod http;

use http::{MOST_BYTES, Method, Request};

/// Panics if that does not hold; tells whether something was read.
pub fn check(bytes: &[u8]) -> bool {
    match Request::parse(bytes) {
        Ok(Some(request)) => {
            assert!(matches!(request.method, Method::Get | Method::Head | Method::Post));
            assert!(request.path.iter().all(|part| !part.is_empty()));
            for (name, _) in &request.query {
                assert!(request.value(name).is_some());
            }
            let _ = (request.header("host"), request.cookie("a"));
            assert_eq!(Request::parse(&[bytes, b"more"].concat()), Ok(Some(request)), "what follows is not looked at");
            true
        }
        Ok(None) => {
            assert!(bytes.len() < MOST_BYTES, "nobody sends without an end");
            false
        }
        Err(error) => {
            assert!((400..=505).contains(&error.status()));
            false
        }
    }
}
