//! Bad input of every kind ends in one error with its place and a hint: the cases of testdata/bad-inputs.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use maxseg_testkit::sampled;
use serde::Deserialize;

/// A hop to which `appended` is added.
const HOP: &str = "[[hop]]\nname = \"radio\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n";
/// Longer messages fill more than a screen.
const LONGEST: usize = 2_500;
/// A program that has not ended by then hangs: generous, for a busy machine and a debug build.
const PATIENCE: Duration = Duration::from_secs(120);
/// Of the sample, one case in so many: each starts the program.
const SAMPLED: u64 = 4;
/// What Rust and its libraries say of errors, and users should not have to read.
const RUST: [&str; 12] = [
    "panicked",
    "RUST_BACKTRACE",
    "(os error",
    "invalid digit",
    "invalid type",
    "unknown variant",
    "unknown field",
    "expected struct",
    "expected one of",
    "ParseIntError",
    "Utf8Error",
    "invalid utf-8",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// In texts, `\xHH` is a byte.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Arguments; `check bad.toml` unless given. `{captures}` is testdata/captures.
    args: Option<Vec<String>>,
    /// The file that `text` is written to; `bad.toml` unless given.
    file: Option<String>,
    /// The file's text.
    text: Option<String>,
    /// The file's text behind a plain hop.
    appended: Option<String>,
    /// A piece that follows the text so many times, and what ends it.
    repeated: Option<(String, usize, String)>,
    /// Standard input.
    stdin: Option<String>,
    /// The exit code.
    exit: i32,
    /// A part of the error.
    says: String,
    /// A part of the place.
    place: String,
    /// A part of the hint.
    hint: String,
}

/// What a run left.
struct Ended {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

#[test]
fn every_bad_input_ends_in_one_error_with_its_place_and_a_hint() {
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
    let cases = sampled("bad inputs", cases, SAMPLED);
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(fault) = case.check() {
                        faults.lock().unwrap().push(format!("{name}: {fault}"));
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().unwrap();
    faults.sort();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Every case with the name of its file and its number there, from 1.
fn cases() -> Vec<(String, Case)> {
    let mut files: Vec<PathBuf> = fs::read_dir(testdata("bad-inputs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let of_file = |file: &PathBuf| {
        let cases: Cases = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        cases.case.into_iter().enumerate().map(move |(n, case)| (format!("{name} {}", n + 1), case))
    };
    files.iter().flat_map(of_file).collect()
}

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder)
}

/// `text` with every `\xHH` as a byte.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split("\\x");
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend(part[2..].bytes());
            }
            None => bytes.extend(format!("\\x{part}").bytes()),
        }
    }
    bytes
}

impl Case {
    fn check(&self) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        self.write_file(folder.path());
        let Ended { code, stdout, stderr } = self.run(folder.path())?;
        let told = String::from_utf8(stderr).map_err(|_| "bytes that are not UTF-8".to_owned())?;
        let count = |beginning: &str| told.lines().filter(|l| l.starts_with(beginning)).count();
        let hint = told.split("\nhint: ").nth(1).unwrap_or_default();
        let is_raw = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        let rules = [
            (code == Some(self.exit), "the exit code"),
            (stdout.is_empty(), "something on standard output"),
            (count("error: ") == 1, "not one error"),
            (count("hint: ") == 1, "not one hint"),
            (!hint.contains("--help"), "a hint that only points to --help"),
            (told.contains(&self.says), "the error's text"),
            (told.contains(&self.place), "the place"),
            (hint.contains(&self.hint), "the hint's text"),
            (told.chars().count() < LONGEST, "the length"),
            (!told.contains(is_raw), "a raw control character"),
            (!RUST.iter().any(|words| told.contains(words)), "words of Rust"),
        ];
        let broken: Vec<&str> =
            rules.iter().filter(|(kept, _)| !kept).map(|(_, rule)| *rule).collect();
        if broken.is_empty() {
            return Ok(());
        }
        let told: String = told.chars().take(600).collect();
        Err(format!("{} (exit {code:?})\n{}", broken.join(", "), told.escape_debug()))
    }

    fn write_file(&self, folder: &Path) {
        let text = match (&self.text, &self.appended) {
            (Some(text), _) => text.clone(),
            (None, Some(appended)) => format!("{HOP}{appended}"),
            (None, None) => return,
        };
        let mut content = bytes(&text);
        if let Some((piece, times, end)) = &self.repeated {
            content.extend(piece.repeat(*times).bytes());
            content.extend(end.bytes());
        }
        let file = folder.join(self.file.as_deref().unwrap_or("bad.toml"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    /// Runs the program in `folder`; kills it, which is a fault, when it does not end.
    fn run(&self, folder: &Path) -> Result<Ended, String> {
        let default = ["check".to_owned(), "bad.toml".to_owned()];
        let captures = testdata("captures").display().to_string();
        let arguments = self.args.as_deref().unwrap_or(&default).iter();
        let arguments =
            arguments.map(|text| OsString::from_vec(bytes(&text.replace("{captures}", &captures))));
        let mut child = Command::new(env!("CARGO_BIN_EXE_maxseg"))
            .args(arguments)
            .current_dir(folder)
            .env_remove("MAXSEG_LAB")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let (Some(mut stdin), Some(text)) = (child.stdin.take(), &self.stdin) {
            // A program that does not read it closes the pipe.
            let _ = stdin.write_all(&bytes(text));
        }
        ended(child)
    }
}

fn ended(mut child: Child) -> Result<Ended, String> {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (to, from) = mpsc::channel();
    let readers = thread::spawn(move || {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        err.read_to_end(&mut stderr).unwrap();
        out.read_to_end(&mut stdout).unwrap();
        let _ = to.send((stdout, stderr));
    });
    let Ok((stdout, stderr)) = from.recv_timeout(PATIENCE) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return Err("it does not end".to_owned());
    };
    readers.join().unwrap();
    let code = child.wait().unwrap().code();
    Ok(Ended { code, stdout, stderr })
}
