//! A real Chromium that does what people do. It is told by the DevTools protocol: JSON with a zero byte at the end of each
//! message, over two pipes (`--remote-debugging-pipe`).

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Folder;

/// An answer comes by then.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser with one page; it ends with this.
pub struct Chromium {
    child: Child,
    input: File,
    messages: Receiver<Value>,
    session: Value,
    sent: u64,
    /// What has gone wrong in pages.
    pub complaints: Vec<String>,
    _folder: Folder,
}

/// Where it is installed.
fn program() -> Option<&'static str> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    places.into_iter().find(|place| Path::new(place).is_file())
}

impl Chromium {
    pub fn start(name: &str) -> Option<Chromium> {
        let Some(program) = program() else {
            eprintln!("skipped: Chromium is not installed");
            return None;
        };
        let folder = Folder::new(name);
        let (input, output) = (folder.path("in"), folder.path("out"));
        let made = Command::new("mkfifo").args([&input, &output]).status();
        assert!(made.is_ok_and(|made| made.success()), "pipes");
        // The shell gives it the pipes as the files 3 and 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$PIPE_IN\" 4>\"$PIPE_OUT\"", program])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1200,900"])
            .args(["--remote-debugging-pipe", &format!("--user-data-dir={}", folder.path("data"))])
            .env("PIPE_IN", &input)
            .env("PIPE_OUT", &output)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let input = OpenOptions::new().write(true).open(&input).expect("a pipe");
        let output = File::open(&output).expect("a pipe");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let complaints = Vec::new();
        let mut chromium =
            Chromium { child, input, messages, session: Value::Null, sent: 0, complaints, _folder: folder };
        let target = chromium.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        chromium.session = chromium.call("Target.attachToTarget", attach)["sessionId"].clone();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            chromium.call(domain, json!({}));
        }
        Some(chromium)
    }

    /// Has something done, and waits until it is.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("Chromium listens");
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let heard = self.messages.recv_timeout(left).unwrap_or_else(|_| panic!("{method} is not answered"));
            if heard["id"] == self.sent {
                assert!(heard.get("error").is_none(), "{method}: {heard}");
                return heard["result"].clone();
            }
            self.note(&heard);
        }
    }

    /// Keeps what goes wrong in a page: exceptions, and what its policy forbids.
    fn note(&mut self, event: &Value) {
        let (method, said) = (event["method"].as_str().unwrap_or_default(), event["params"].to_string());
        let is_error = method == "Log.entryAdded" && event["params"]["entry"]["level"] == "error";
        if method == "Runtime.exceptionThrown" || (is_error && !said.contains("favicon.ico")) {
            self.complaints.push(said);
        }
    }

    /// Opens a page.
    pub fn open(&mut self, address: &str) {
        let answer = self.call("Page.navigate", json!({ "url": address }));
        assert!(answer.get("errorText").is_none(), "{address}: {answer}");
        self.wait_for("document.readyState === 'complete'");
    }

    /// What an expression is in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    pub fn text(&mut self, selector: &str) -> String {
        self.value(&format!("document.querySelector({selector:?}).textContent")).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(expression) != true {
            assert!(start.elapsed() < PATIENCE, "it never comes to `{expression}`");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn mouse(&mut self, what: &str, (x, y): (f64, f64), buttons: u32) {
        let button = if what == "mouseMoved" { "none" } else { "left" };
        let event = json!({ "type": what, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Points at a place of the window.
    pub fn point_at(&mut self, place: (f64, f64)) {
        self.mouse("mouseMoved", place, 0);
    }

    /// Draws a rectangle.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from, 0);
        self.mouse("mousePressed", from, 1);
        self.mouse("mouseMoved", to, 1);
        self.mouse("mouseReleased", to, 0);
    }

    /// Clicks on an element.
    pub fn click(&mut self, selector: &str) {
        let place = self.place_of(selector);
        self.drag(place, place);
    }

    /// The middle of an element, which is scrolled to where it can be seen.
    fn place_of(&mut self, selector: &str) -> (f64, f64) {
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{ block: 'center' }}); \
             const box = element.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        ));
        let number = |at: usize| place[at].as_f64().unwrap_or_else(|| panic!("{selector} is not there"));
        (number(0), number(1))
    }

    /// Writes into a field, in place of what is there.
    pub fn write(&mut self, selector: &str, text: &str) {
        self.click(selector);
        self.value(&format!("document.querySelector({selector:?}).select()"));
        self.call("Input.insertText", json!({ "text": text }));
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
