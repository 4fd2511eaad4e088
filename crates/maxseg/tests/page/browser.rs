//! Chromium without a window, driven over its `DevTools` protocol through a pair of pipes: messages are JSON, each with a
//! NUL behind it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A browser that does not answer for so long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Messages that say what a page asks for or complains about.
const NOTED: [&str; 3] =
    ["Network.requestWillBeSent", "Runtime.consoleAPICalled", "Log.entryAdded"];

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A running browser; it ends with this.
pub(super) struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    last: u64,
    /// Requests of pages and what they write to the console, since the last look.
    noted: Vec<Value>,
    /// What it keeps on disk.
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it; `None`, and it is said, where none is installed.
    pub(super) fn start() -> Option<Self> {
        let is_there = |name: &&&str| {
            Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };
        let Some(name) = NAMES.iter().find(is_there) else {
            println!("SKIPPED: there is no {} to show the page", NAMES.join(", "));
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // It reads requests from descriptor 3 and writes answers to descriptor 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", name])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-extensions", "--force-prefers-reduced-motion"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                let answer =
                    serde_json::from_slice(message.trim_ascii_end().strip_suffix(&[0]).unwrap());
                if sender.send(answer.unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        Some(Self { process, requests, answers, last: 0, noted: Vec::new(), _profile: profile })
    }

    fn send(&mut self, method: &str, parameters: &Value, session: Option<&str>) -> u64 {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).unwrap();
        self.last
    }

    /// The first message of which `wanted` holds; others are of no interest.
    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.answers.recv_timeout(PATIENCE).expect("the browser answers");
            if wanted(&message) {
                return message;
            }
            let is_failure = message["method"] == "Runtime.exceptionThrown";
            assert!(!is_failure, "the page's script fails: {message:#}");
            let method = message["method"].as_str().unwrap_or_default();
            if NOTED.contains(&method) {
                self.noted.push(message);
            }
        }
    }

    fn call(&mut self, method: &str, parameters: &Value, session: Option<&str>) -> Value {
        let id = self.send(method, parameters, session);
        let answer = self.wait(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// Opens a tab.
    pub(super) fn open_tab(mut self) -> Tab {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }), None);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", &attach, None);
        let session = session["sessionId"].as_str().unwrap().to_owned();
        let mut tab = Tab { browser: self, session };
        tab.call("Page.enable", &json!({}));
        for domain in ["Runtime.enable", "Network.enable", "Log.enable"] {
            tab.call(domain, &json!({}));
        }
        tab
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A tab, and the browser that is its own.
pub(super) struct Tab {
    browser: Browser,
    session: String,
}

impl Tab {
    pub(super) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let session = self.session.clone();
        self.browser.call(method, parameters, Some(&session))
    }

    /// The size of the screen in pixels, and whether the reader prefers `light` or `dark`.
    pub(super) fn set_screen(&mut self, width: u32, height: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Loads a page and runs its script.
    pub(super) fn go_to(&mut self, url: &str) {
        // A new fragment alone loads nothing.
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.browser.wait(|message| message["method"] == "Page.loadEventFired");
        self.call("Page.navigate", &json!({ "url": url }));
        self.browser.wait(|message| message["method"] == "Page.loadEventFired");
    }

    /// What pages asked for beside this one, and wrote to the console, since the last call.
    pub(super) fn complaints(&mut self, url: &str) -> Vec<String> {
        // What was written before is told before the answer.
        self.value("0");
        let is_own = |message: &Value| {
            let asked = message["params"]["request"]["url"].as_str().unwrap_or_default();
            asked == url || asked == "about:blank"
        };
        let noted = std::mem::take(&mut self.browser.noted);
        noted.iter().filter(|message| !is_own(message)).map(Value::to_string).collect()
    }

    /// The value of an expression, in JSON.
    pub(super) fn value(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", &parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result:#}");
        result["result"]["value"].clone()
    }

    pub(super) fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    pub(super) fn number(&mut self, expression: &str) -> f64 {
        let value = self.value(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// How many elements a selector finds.
    pub(super) fn count(&mut self, selector: &str) -> usize {
        self.value(&format!("document.querySelectorAll({}).length", json!(selector)))
            .as_u64()
            .map_or(0, |count| usize::try_from(count).unwrap())
    }

    /// The text of the first element that a selector finds.
    pub(super) fn text_of(&mut self, selector: &str) -> String {
        self.text(&format!("document.querySelector({}).textContent", json!(selector)))
    }

    /// Presses a key: `Tab`, `ArrowLeft`, `+`.
    pub(super) fn press(&mut self, key: &str) {
        self.press_with(key, 0);
    }

    /// Presses Enter as a button understands it.
    pub(super) fn press_enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13 });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Likewise with Shift.
    pub(super) fn press_shift(&mut self, key: &str) {
        self.press_with(key, 8);
    }

    fn press_with(&mut self, key: &str, modifiers: u32) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "modifiers": modifiers, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// A point of the screen within a graph's plot: shares of its width and height.
    pub(super) fn place(&mut self, panel: &str, across: f64, down: f64) -> (f64, f64) {
        let selector = json!(format!("figure[data-panel={panel}] svg.graph .field"));
        let rectangle = self.value(&format!(
            "(() => {{ const e = document.querySelector({selector}); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()"
        ));
        let side = |n: usize| rectangle[n].as_f64().unwrap();
        (side(0) + across * side(2), side(1) + down * side(3))
    }

    /// Moves, presses or releases the pointer.
    pub(super) fn pointer(&mut self, kind: &str, (x, y): (f64, f64)) {
        let is_move = kind == "mouseMoved";
        let button = if is_move { "none" } else { "left" };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": u8::from(!is_move) });
        self.call("Input.dispatchMouseEvent", &event);
    }

    pub(super) fn click(&mut self, place: (f64, f64)) {
        self.pointer("mousePressed", place);
        self.pointer("mouseReleased", place);
    }

    /// Draws a box.
    pub(super) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.pointer("mousePressed", from);
        let event =
            json!({ "type": "mouseMoved", "x": to.0, "y": to.1, "button": "left", "buttons": 1 });
        self.call("Input.dispatchMouseEvent", &event);
        self.pointer("mouseReleased", to);
    }

    /// What is shown: the view of the page's graphs.
    pub(super) fn view(&mut self) -> (f64, f64) {
        let view = self.value("(() => { const v = document.querySelector('.linked').page.view; return [v.from, v.to]; })()");
        (view[0].as_f64().unwrap(), view[1].as_f64().unwrap())
    }

    /// The time that is looked at.
    pub(super) fn at(&mut self) -> Option<f64> {
        self.value("document.querySelector('.linked').page.view.at").as_f64()
    }

    /// The view in the address, which is written a moment after a change.
    pub(super) fn fragment(&mut self) -> String {
        self.text("(() => { const { page } = document.querySelector('.linked'); if (page.timer) page.writeAddress(); return location.hash; })()")
    }

    /// The words of an axis of a graph: of its values, or of its times.
    pub(super) fn axis(&mut self, panel: &str, anchor: &str) -> Vec<String> {
        let selector =
            json!(format!("figure[data-panel={panel}] svg.graph .tick[text-anchor={anchor}]"));
        let words = self.value(&format!(
            "[...document.querySelectorAll({selector})].map((e) => e.textContent)"
        ));
        words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    }
}
