//! `hpcast serve`, and a plain client of it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::command;

/// A server; it ends with this.
pub struct Server {
    child: Child,
    /// What it has printed: the address of its first page.
    pub url: String,
    pub port: u16,
}

/// What a server has answered.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Server {
    pub fn start(place: &str, options: &[&str]) -> Server {
        let mut words = vec!["serve", place, "--port", "0"];
        words.extend(options);
        let mut child = command(&words).stdout(Stdio::piped()).spawn().expect("hpcast");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut url).expect("an address");
        let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next()?.parse().ok());
        Server { child, port: port.unwrap_or_else(|| panic!("a port in {url}")), url: url.trim().to_owned() }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], self.port))).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream
    }

    /// Sends bytes and reads the whole answer.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        self.try_to_send(bytes).expect("an answer")
    }

    /// The same; nothing if the connection is closed before there is an answer.
    pub fn try_to_send(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // A server that has heard enough may stop listening.
        let _ = stream.write_all(bytes);
        let mut text = Vec::new();
        stream.read_to_end(&mut text).ok()?;
        let text = String::from_utf8(text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    pub fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        self.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n").as_bytes())
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.host())
    }

    /// A page that must be there.
    pub fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    pub fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&self.page(path)).expect("JSON")
    }

    /// As our own pages do.
    pub fn post(&self, path: &str) -> Answer {
        let headers = format!("{}Origin: http://127.0.0.1:{}\r\n", self.host(), self.port);
        self.ask("POST", path, &headers)
    }

    /// Ctrl-C, and the code that it ends with.
    pub fn interrupt(mut self) -> Option<i32> {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A study that is being run; if a test ends before it, it ends, too.
pub struct Study(Child);

impl Study {
    pub fn start(file: &str, out: &str) -> Study {
        let words = ["study", "run", file, "--out", out, "--workers", "1"];
        Study(command(&words).stdout(Stdio::null()).spawn().expect("hpcast"))
    }

    /// Stops it for a while (`STOP`), or has it go on (`CONT`).
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "{name}");
    }

    pub fn finish(mut self) {
        assert!(self.0.wait().expect("a child").success());
    }
}

impl Drop for Study {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Computers may be busy with other tests; who waits in vain is told so after that.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks until the answer is right.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{what} does not happen");
}
