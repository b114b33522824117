//! Chromium without a window, over its debugging protocol: pages as people see and use them.
//!
//! The protocol goes through two pipes, messages end with a zero byte, and each page has a session.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What opens pages.
pub const CHROMIUM: &str = "chromium";

/// A browser with one page. It ends when it is dropped.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Of the page.
    session: Value,
    calls: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// CSS pixels.
    pub width: u32,
    /// CSS pixels.
    pub height: u32,
    /// Whether the system asks for dark colours.
    pub dark: bool,
    /// Whether it is a phone.
    pub phone: bool,
}

impl Browser {
    /// Whether there is one on this machine.
    pub fn is_installed() -> bool {
        let version = Command::new(CHROMIUM).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    }

    /// Starts it.
    ///
    /// # Panics
    /// As all functions here: when the browser does not do what is asked for.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("there is a folder for temporary files");
        // The protocol is spoken on the files 3 and 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .args([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--remote-debugging-pipe", "--no-first-run"])
            // Nothing of the browser's own talks to anybody, and no page could.
            .args(["--disable-background-networking", "--disable-extensions"])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let to = process.stdin.take().expect("it is piped");
        let from = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut browser = Self {
            process,
            to,
            from,
            session: Value::Null,
            calls: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Loads a file, and returns what happened meanwhile.
    ///
    /// # Panics
    /// See [`start`](Self::start).
    pub fn open(&mut self, file: &Path, view: View) -> Vec<Value> {
        let colours = if view.dark { "dark" } else { "light" };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": view.width,
                "height": view.height,
                "deviceScaleFactor": if view.phone { 3 } else { 1 },
                "mobile": view.phone,
            }),
        );
        let features = json!([
            { "name": "prefers-color-scheme", "value": colours },
            // Scrolling is over when it has begun.
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
        self.events.clear();
        // Spaces and the like; the rest of a path may stand in an address as it is.
        let path = file
            .to_string_lossy()
            .replace('%', "%25")
            .replace(' ', "%20");
        self.call("Page.navigate", &json!({ "url": format!("file://{path}") }));
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let message = self.message();
            self.events.push(message);
        }
        std::mem::take(&mut self.events)
    }

    /// The value of an expression of JavaScript on the page.
    ///
    /// # Panics
    /// See [`start`](Self::start).
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let arguments = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &arguments);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Presses the tabulator key.
    ///
    /// # Panics
    /// See [`start`](Self::start).
    pub fn press_tab(&mut self) {
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({
                "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9,
            });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// Calls a method of the protocol.
    fn call(&mut self, method: &str, arguments: &Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut request = json!({ "id": id, "method": method, "params": arguments });
        if !self.session.is_null() {
            request["sessionId"] = self.session.clone();
        }
        let bytes = format!("{request}\0");
        self.to
            .write_all(bytes.as_bytes())
            .expect("the browser reads");
        loop {
            let message = self.message();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from
            .read_until(0, &mut bytes)
            .expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&bytes).expect("its messages are JSON")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
