//! Options that name a file to be written: names that are not UTF-8, `-`, folders that cannot be written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::{command, maxseg, small, stderr, stdout};

/// `o\xff`, a file name that is not UTF-8.
const NAME: &[u8] = b"o\xff";

#[test]
fn names_that_are_not_utf_8_work() {
    let cases: [(&[&str], &str); 5] = [
        (&["run", "slow-tunnel", "--set", "until.time=1 s", "--engine", "sim"], "--out"),
        (&["run", "slow-tunnel", "--set", "until.time=1 s", "--engine", "sim"], "--pcap"),
        (
            &["run", "slow-tunnel", "--set", "until.time=1 s", "--axis", "sender.mss=536,600"],
            "--svg",
        ),
        (&["demo", "-q"], "--report"),
        (&["man", "run"], "--out"),
    ];
    for (arguments, option) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(NAME));
        let output = command(arguments).arg(option).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{arguments:?} {option}: {said}");
        if arguments[0] == "man" {
            assert!(!output.status.success() || path.exists());
        } else {
            assert!(output.status.success(), "{arguments:?} {option}: {said}");
            assert!(path.exists(), "{arguments:?} {option}");
        }
    }
}

#[test]
fn inputs_that_are_not_utf_8_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(NAME));
    std::fs::write(&path, "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n").unwrap();
    for arguments in [
        &["run"][..],
        &["check"],
        &["explain"],
        &["capture", "--read"],
        &["lab", "import"],
        &["run", "slow-tunnel", "--set"],
        &["calc", "bdp"],
    ] {
        let output = command(arguments).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=2)) && !said.contains("panicked"), "{arguments:?}: {said}");
        let errors = said.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(errors, usize::from(code != Some(0)), "{arguments:?}: {said}");
    }
}

#[test]
fn an_option_that_writes_a_file_refuses_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let small = small(&[]);
    let cases: [(&[&str], &str); 7] = [
        (&small, "--svg"),
        (&small, "--out"),
        (&["run", "slow-tunnel", "--engine", "sim"], "--pcap"),
        (&["demo"], "--report"),
        (&["explain", "x.pcap"], "--report"),
        (&["explain", "x.pcap"], "--scenario"),
        (&["lab", "import", "x.mn"], "--out"),
    ];
    for (arguments, option) in cases {
        let output =
            command(arguments).args([option, "-"]).current_dir(folder.path()).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {option}: {said}");
        assert!(stdout(&output).is_empty(), "{arguments:?} {option}");
        assert!(said.contains(&format!("error: {option} writes a ")), "{said}");
        assert!(said.contains(&format!("hint: for example {option} ")), "{said}");
        assert!(!folder.path().join("-").exists(), "{arguments:?} {option} wrote a file called -");
    }
}

#[test]
fn errors_of_files_are_in_words_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tunnel.pcapng"), "").unwrap();
    std::fs::write(folder.path().join("campus.mn"), "{}").unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["capture", "--read", "tunel.pcapng"], "hint: did you mean `tunnel.pcapng`?"),
        (&["explain", "tunel.pcapng"], "hint: did you mean `tunnel.pcapng`?"),
        (&["lab", "import", "campu.mn"], "hint: did you mean `campus.mn`?"),
        (&["lab", "import", "nothing-like-it.mn"], "hint: "),
        (&["run", "slow-tunnel", "--out", "campus.mn"], "hint: "),
    ];
    for (arguments, hint) in cases {
        let output = command(arguments).current_dir(folder.path()).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(hint), "{arguments:?}: {said}");
        assert!(!said.contains("os error"), "{arguments:?}: {said}");
    }
}

#[test]
fn capture_refuses_what_captures_nothing() {
    let cases: [(&[&str], &str); 3] = [
        (&["capture", "--port", "0"], "--port 443"),
        (&["capture", "--buffer", "1 B"], "--buffer \"256 MiB\""),
        (&["capture", "--duration", "0 s"], "--duration \"10 s\""),
    ];
    for (arguments, hint) in cases {
        let output = maxseg(arguments);
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {said}");
        assert!(said.contains("hint: ") && said.contains(hint), "{arguments:?}: {said}");
    }
}

#[test]
fn explain_of_an_unknown_link_type_alone_fails() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("strange.pcap");
    // pcap: magic, version 2.4, zone, accuracy, snap length 65535, link type 147 (DLT_USER0); a record of 4 bytes.
    let header: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 147];
    let record: [u32; 5] = [1, 0, 4, 4, 0xdead_beef];
    let words = header.iter().chain(&record).flat_map(|word| word.to_le_bytes());
    std::fs::write(&file, words.collect::<Vec<u8>>()).unwrap();
    for form in [&[][..], &["--json"], &["--csv"]] {
        let output = maxseg(&[&["explain", file.to_str().unwrap()][..], form].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("link type 147 is not supported") && said.contains("hint: "),
            "{said}"
        );
    }
}

/// `maxseg … --report FILE | head` has its file.
#[test]
fn files_are_written_though_the_reader_has_gone() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let capture = root.join("testdata/captures/d_rwnd.receiver.pcap.gz").display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (&["explain", &capture, "--json"], "--report"),
        (&["explain", &capture, "--csv"], "--report"),
        (&["explain", &capture, "--json"], "--scenario"),
        (&["advise", "slow-tunnel", "--json"], "--report"),
        #[cfg(feature = "lab")]
        (&["path", "127.0.0.1", "--pings", "2"], "--scenario"),
        #[cfg(not(feature = "lab"))]
        (&["explain", &capture], "--report"),
    ];
    for (arguments, option) in cases {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(arguments);
        let output = command.arg(option).arg(&file).stdout(writer).output().unwrap();
        assert!(file.exists(), "{arguments:?} {option}: {}", stderr(&output));
    }
    let pipe = command(&["advise", "/dev/stdin"]).stdin(std::process::Stdio::piped()).output();
    let said = stderr(&pipe.unwrap());
    assert!(said.contains("is a pipe or a device") && said.contains("hint:"), "{said}");
}
