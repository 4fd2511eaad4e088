//! Where captures for tests are: the folders of `MAXSEG_CAPTURES`, with `:` between them, relative to the
//! repository's root; `testdata/captures` if it is not set. `truth/NAME.json` beside a capture says what
//! another program found in it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

pub mod tcprs;
pub mod tcptrace;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A capture, and what is known of it.
#[derive(Debug)]
pub struct Capture {
    /// Its file name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What tshark says of it.
    pub truth: Option<Value>,
}

impl Capture {
    /// Its bytes.
    ///
    /// # Panics
    /// It cannot be opened.
    pub fn open(&self) -> std::fs::File {
        std::fs::File::open(&self.path).unwrap()
    }
}

/// Every capture, in the order of folders and names. A folder that is not there, or has none, is a fault.
///
/// # Panics
/// At such a fault.
pub fn captures() -> Vec<Capture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = std::env::var("MAXSEG_CAPTURES").unwrap_or_else(|_| "testdata/captures".into());
    let mut captures = Vec::new();
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        let folder = root.join(folder);
        assert!(folder.is_dir(), "there is no {}", folder.display());
        let mut found: Vec<Capture> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| is_capture(path))
            .map(|path| capture(&folder, path))
            .collect();
        assert!(!found.is_empty(), "there is no capture in {}", folder.display());
        found.sort_by(|a, b| a.name.cmp(&b.name));
        captures.append(&mut found);
    }
    captures
}

fn is_capture(path: &Path) -> bool {
    const ENDINGS: [&str; 6] =
        [".pcap", ".pcap.gz", ".pcap.zst", ".pcapng", ".pcapng.gz", ".snoop.gz"];
    let name = path.to_string_lossy();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn capture(folder: &Path, path: PathBuf) -> Capture {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let truth = std::fs::read_to_string(folder.join("truth").join(format!("{name}.json"))).ok();
    let truth = truth.map(|text| serde_json::from_str(&text).unwrap());
    Capture { name, path, truth }
}
