//! Incidents that cost somebody days: the first three lines of what is said name what limits the transfer and what to
//! change (testdata/captures/stories/README.md).

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Lines that are read before anything else.
const LINES: usize = 3;
/// Characters of a terminal's line.
const WIDTH: &str = "80";

fn first_lines(file: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "-q"])
        .arg(file)
        .env("COLUMNS", WIDTH)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().take(LINES).map(str::to_owned).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn the_first_three_lines_name_the_limit_and_the_change() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("testdata/captures/stories");
    let page = std::fs::read_to_string(root.join("docs/stories.md")).unwrap();
    let mut wrong = Vec::new();
    let mut stories = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".label.json") {
            continue;
        }
        stories += 1;
        let label: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let file = label["file"].as_str().unwrap();
        let printed = first_lines(&folder.join(file));
        if !page.contains(&format!("$ maxseg explain {file}\n{}\n```", printed.join("\n"))) {
            wrong.push(format!("{file}: docs/stories.md has other lines: {printed:#?}"));
        }
        let lines = printed.join(" ");
        let told = |words: &str| lines.contains(words);
        let must_say = texts(&label["must_say_first"]);
        wrong.extend(
            must_say
                .iter()
                .filter(|words| !told(words))
                .map(|words| format!("{file}: the first lines do not say {words:?}: {lines}")),
        );
        let must_not = texts(&label["must_not_say"]);
        wrong.extend(
            must_not
                .iter()
                .filter(|words| told(words))
                .map(|words| format!("{file}: the first lines say {words:?}: {lines}")),
        );
    }
    println!("checked {stories} stories");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(stories >= 8, "stories are missing");
}

/// README's example: its lines are 100 columns wide, and the file has a name of its own there.
#[test]
fn the_example_of_the_readme_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let capture = root.join("testdata/captures/d_rwnd.receiver.pcap.gz");
    std::fs::copy(capture, folder.path().join("slow.pcap.gz")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "slow.pcap.gz"])
        .current_dir(folder.path())
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let (shown, _) = printed.split_once("\n\nFindings\n").unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let example = format!("```\n$ maxseg explain slow.pcap.gz\n{shown}\n```\n");
    assert!(readme.contains(&example), "README.md has another example than\n{shown}");
}
