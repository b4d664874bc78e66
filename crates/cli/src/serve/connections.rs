//! Connections: each has a thread of its own, there are only so many, and none may take long.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::http::{Method, Request, RequestError};
use super::response::Response;

/// Connections at a time. Browsers open some that they may need later.
const MOST: usize = 128;
/// A request must have come by then, however slowly.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Somebody who does not read is waited for so long.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// Who still sends after the answer is listened to for so long, since otherwise the answer might be lost.
const LINGER: Duration = Duration::from_millis(500);

/// Answers requests until the program ends.
pub(super) fn serve(listener: &TcpListener, answer: impl Fn(&Request) -> Response + Send + Sync + 'static) {
    let answer = Arc::new(answer);
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // Who has hung up already, or a moment without free files, is no reason to stop.
        let Ok(stream) = stream else {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST {
            open.fetch_sub(1, Ordering::SeqCst);
            // There is nobody to wait until it is read: some will only see that the connection is closed.
            let _ = stream.set_nonblocking(true);
            let busy = Response::refusal(503, "too many connections; try again in a few seconds");
            let _ = (&stream).write(&busy.bytes(true));
            continue;
        }
        let place = Place(open.clone());
        let answer = answer.clone();
        let thread = std::thread::Builder::new().name("connection".into());
        // Without a thread the place is free again, and the stream is closed.
        let _ = thread.spawn(move || {
            let _place = place;
            // Who goes away needs no answer.
            let _ = attend(&stream, &*answer);
        });
    }
}

/// One of the places for connections; it is free again when this is gone, whatever happens.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn attend(stream: &TcpStream, answer: &impl Fn(&Request) -> Response) -> std::io::Result<()> {
    stream.set_write_timeout(Some(WRITE_TIME))?;
    let (response, has_body) = match read(stream)? {
        Some(Ok(request)) => (answer(&request), request.method != Method::Head),
        Some(Err(error)) => {
            (Response::refusal(error.status(), "pages are asked for with GET or HEAD of HTTP/1.1"), true)
        }
        None => return Ok(()),
    };
    let mut output = stream;
    output.write_all(&response.bytes(has_body))?;
    stream.shutdown(Shutdown::Write)?;
    linger(stream);
    Ok(())
}

/// The request, or what is wrong with it; nothing if nobody asks for anything.
fn read(mut stream: &TcpStream) -> std::io::Result<Option<Result<Request, RequestError>>> {
    let start = Instant::now();
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let left = REQUEST_TIME.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(length) => bytes.extend(&part[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        match Request::parse(&bytes) {
            Ok(Some(request)) => return Ok(Some(Ok(request))),
            Ok(None) => {}
            Err(error) => return Ok(Some(Err(error))),
        }
    }
}

/// Waits for the other side to close.
fn linger(mut stream: &TcpStream) {
    let (start, mut part) = (Instant::now(), [0; 4096]);
    while let Some(left) = LINGER.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
        if stream.set_read_timeout(Some(left)).is_err() || !matches!(stream.read(&mut part), Ok(1..)) {
            return;
        }
    }
}
