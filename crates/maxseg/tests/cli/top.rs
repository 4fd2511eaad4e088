//! `maxseg top` on a terminal of its own (`script` of util-linux), whose screen is read as a user sees it.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::kernel::wait_until;
use super::{maxseg, stderr, stdout};

/// The program on a terminal of 80 columns and 24 rows.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    output: ChildStdout,
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

/// So many pieces of output may come before what is waited for: a screen is drawn anew each second.
const PIECES: usize = 2000;

impl Terminal {
    /// Runs `maxseg` with these arguments.
    fn run(arguments: &str) -> Self {
        Self::of_kind("xterm-256color", arguments)
    }

    /// The same on a terminal of this kind.
    fn of_kind(term: &str, arguments: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_maxseg");
        let command = format!("stty cols 80 rows 24; exec '{program}' {arguments}");
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command", &command, "/dev/null"])
            .env("TERM", term)
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (keys, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, output, screen: vt100::Parser::new(24, 80, 0), bytes: Vec::new() }
    }

    /// Reads until the screen has this text.
    fn wait_for(&mut self, text: &str) -> String {
        for _ in 0..PIECES {
            let shown = self.screen.screen().contents();
            if shown.contains(text) {
                return shown;
            }
            assert!(self.read() > 0, "the program ended without {text:?}:\n{shown}");
        }
        panic!("no {text:?} on the screen:\n{}", self.screen.screen().contents());
    }

    fn read(&mut self) -> usize {
        let mut piece = [0; 4096];
        let length = self.output.read(&mut piece).unwrap();
        self.screen.process(&piece[..length]);
        self.bytes.extend(&piece[..length]);
        length
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Reads to the end: the exit code, and whether the terminal was left as it had been.
    fn end(mut self) -> (Option<i32>, bool) {
        while self.read() > 0 {}
        let left_screen = self.bytes.windows(8).any(|part| part == b"\x1b[?1049l");
        let is_cursor_shown = !self.screen.screen().hide_cursor();
        (self.child.wait().unwrap().code(), left_screen && is_cursor_shown)
    }

    /// The number of the program itself.
    fn pid(&self) -> i32 {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        std::fs::read_to_string(children).unwrap().trim().parse().unwrap()
    }
}

fn kill(pid: i32, signal: &str) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn keys_change_the_screen_and_q_gives_the_terminal_back() {
    let mut terminal = Terminal::run("top --interval '100 ms'");
    terminal.wait_for("3 Listening");
    terminal.wait_for("sorted by payload");
    terminal.press(">");
    terminal.wait_for("sorted by received");
    terminal.press("?");
    terminal.wait_for("choose a column");
    terminal.press("x3");
    terminal.wait_for("accept queue");
    terminal.press("q");
    assert_eq!(terminal.end(), (Some(0), true));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for signal in ["-INT", "-TERM"] {
        let mut terminal = Terminal::run("top");
        terminal.wait_for("sorted by payload");
        kill(terminal.pid(), signal);
        assert_eq!(terminal.end(), (Some(0), true), "{signal}");
    }
}

#[test]
fn what_a_killed_program_recorded_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sockets.pcapng");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let end = client.local_addr().unwrap();
    let port = end.port();
    let file = path.display();
    let mut terminal =
        Terminal::run(&format!("top --port {port} --interval '100 ms' --record '{file}'"));
    terminal.wait_for(&end.to_string());
    // The second look was recorded before it is on the screen: then the columns have rates.
    terminal.wait_for(" 0 ");
    kill(terminal.pid(), "-KILL");
    while terminal.read() > 0 {}
    drop((client, listener));
    let mut terminal = Terminal::run(&format!("top --open '{file}'"));
    let shown = terminal.wait_for("sample 1 of ");
    assert!(shown.contains(&end.to_string()), "{shown}");
    terminal.press("}");
    let shown = terminal.wait_for(&end.to_string());
    assert!(shown.contains("recording, stopped"), "{shown}");
    terminal.press("q");
    assert_eq!(terminal.end(), (Some(0), true));
}

#[test]
fn once_is_the_list() {
    let output = maxseg(&["top", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["connections"].is_array());
    let output = maxseg(&["top", "--once", "--port", "1"]);
    assert_eq!(stdout(&output), "no TCP connections match\n");
}

#[test]
fn without_a_terminal_it_records_and_the_lists_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sockets.pcapng");
    let file = path.to_str().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _client = std::net::TcpStream::connect(address).unwrap();
    let port = address.port().to_string();
    let record = ["top", "--record", file, "--interval", "100 ms", "--port", &port];
    let mut child = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(record)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let samples = || {
        let listed = maxseg(&["connections", "--open", file, "--json", "--limit", "1"]);
        let text = stdout(&listed);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    wait_until("three samples", || path.exists() && samples().len() >= 3);
    kill(child.id().try_into().unwrap(), "-TERM");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(said.starts_with("recording to "), "{said}");

    let documents = samples();
    let connection = &documents[0]["connections"][0];
    assert_eq!(
        (&documents[0]["interval_s"], &connection["state"]),
        (&Value::Null, &"established".into())
    );
    assert!(documents[1]["interval_s"].as_f64().is_some_and(|seconds| seconds > 0.05));
    let csv = stdout(&maxseg(&["connections", "--open", file, "--csv", "--columns", "state"]));
    assert!(csv.starts_with("time_s,state\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * documents.len(), "both ends in each sample: {csv}");
    let whole = stdout(&maxseg(&["connections", "--open", file, "--whole"]));
    let head = format!(" UTC, {} samples", documents.len());
    assert!(whole.lines().next().unwrap().ends_with(&head), "{whole}");
    let whole = stdout(&maxseg(&["connections", "--open", file, "--whole", "--json"]));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["connections"].as_array().unwrap().len(), 2, "each end once: {whole:#}");
    assert!(whole["interval_s"].as_f64().is_some_and(|seconds| seconds > 0.15), "{whole:#}");
    let shown = maxseg(&["top", "--open", file]);
    assert_eq!(shown.status.code(), Some(2));
    assert!(stderr(&shown).contains("maxseg connections --open FILE"), "{}", stderr(&shown));
}

#[test]
fn without_a_terminal_there_is_a_hint() {
    let output = maxseg(&["top"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("maxseg top --once"), "{}", stderr(&output));
}

/// Commands that move the cursor would be shown as characters there.
#[test]
fn a_terminal_without_a_screen_is_told_so() {
    let mut terminal = Terminal::of_kind("dumb", "top");
    let shown = terminal.wait_for("maxseg top --once");
    assert!(shown.contains("no screen (TERM=dumb)"), "{shown}");
    assert!(!terminal.bytes.contains(&0x1b), "{:?}", String::from_utf8_lossy(&terminal.bytes));
    assert_eq!(terminal.end().0, Some(2));
}

#[test]
fn a_recording_ends_by_itself_after_its_duration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sockets.pcapng");
    let file = path.to_str().unwrap();
    let record = ["top", "--record", file, "--interval", "100 ms", "--duration", "250 ms"];
    let output = maxseg(&[&record[..], &["--port", "1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lists = stdout(&maxseg(&["connections", "--open", file, "--json"]));
    assert!(lists.lines().count() >= 2, "the first and the last: {lists}");
    let short = maxseg(&["top", "--record", file, "--duration", "0 s"]);
    assert_eq!(short.status.code(), Some(2));
    assert!(stderr(&short).contains("--duration is shorter than 100 ms"), "{}", stderr(&short));
    let mut terminal = Terminal::run("top --port 1 --interval '100 ms' --duration '300 ms'");
    terminal.wait_for("maxseg top");
    assert_eq!(terminal.end(), (Some(0), true));
}

#[test]
fn other_files_are_no_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "what was here before").unwrap();
    for option in ["--open", "--record"] {
        let mut terminal = Terminal::run(&format!("top {option} '{}'", path.display()));
        terminal.wait_for("not a recording of sockets");
        assert_eq!(terminal.end().0, Some(1), "{option}");
        assert_eq!(read(&path), "what was here before");
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A terminal that is closed while nothing tells the program of it: reading from it gives nothing, at once.
#[test]
fn a_terminal_that_is_gone_ends_it() {
    let closes = "import fcntl, os, struct, subprocess, sys, termios\n\
                  master, terminal = os.openpty()\n\
                  fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('4H', 24, 80, 0, 0))\n\
                  child = subprocess.Popen([sys.argv[1], 'top'], stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)\n\
                  os.close(terminal)\n\
                  shown = 0\n\
                  while shown < 200: shown += len(os.read(master, 65536))\n\
                  os.close(master)\n\
                  sys.exit(child.wait())\n";
    let done = Command::new("python3")
        .args(["-c", closes, env!("CARGO_BIN_EXE_maxseg")])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
}
