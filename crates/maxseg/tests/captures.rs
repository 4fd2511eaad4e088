//! `maxseg explain` against what others say of captures: tshark's counts, TCPRS's labels, tcptrace's
//! retransmissions, and what limited a transfer that was made for it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "the contract is to print how much was checked")]

#[path = "captures/commands.rs"]
mod commands;
#[path = "captures/labels.rs"]
mod labels;
#[path = "captures/numbers_agree.rs"]
mod numbers_agree;
#[path = "captures/pairs.rs"]
mod pairs;
#[path = "captures/retransmissions.rs"]
mod retransmissions;
#[path = "captures/simulated.rs"]
mod simulated;
#[path = "captures/simulated_reruns.rs"]
mod simulated_reruns;
#[path = "captures/situations.rs"]
mod situations;
#[path = "captures/spoilt.rs"]
mod spoilt;
#[path = "captures/stories.rs"]
mod stories;
#[path = "captures/truth.rs"]
mod truth;
#[path = "captures/virtual_time.rs"]
mod virtual_time;

use std::path::Path;
use std::process::Command;

use maxseg_testkit::captures::captures;
use serde_json::Value;

/// What `maxseg explain --json` says of a file, whatever its exit code; `None` where it refuses the format.
fn explain(file: &Path) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg"))
        .args(["explain", "--json", "-q"])
        .arg(file)
        .output()
        .unwrap();
    if output.stdout.is_empty() {
        assert_eq!(output.status.code(), Some(1), "{}", file.display());
        return None;
    }
    let document = serde_json::from_slice(&output.stdout);
    Some(document.unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

/// Something was checked where a folder of captures has data in `folder`; where none has, it is said that nothing was.
fn all_or_none(checked: usize, what: &str, folder: &str) {
    let captures = captures();
    let mut parents = captures.iter().filter_map(|capture| capture.path.parent());
    if parents.any(|parent| parent.join(folder).is_dir()) {
        assert!(checked > 0, "there is {folder}/, and none of it was checked");
    } else {
        println!("SKIPPED: no folder of captures has {what} ({folder}/); see MAXSEG_CAPTURES");
    }
}

/// The two directions of every connection, with the connection's number and who sends to whom.
fn directions(document: &Value) -> Vec<(u64, &str, &str, &Value)> {
    let connections = document["connections"].as_array().unwrap();
    let both = connections.iter().flat_map(|connection| {
        let id = connection["id"].as_u64().unwrap();
        let (client, server) =
            (connection["client"].as_str().unwrap(), connection["server"].as_str().unwrap());
        [(id, client, server, &connection["forward"]), (id, server, client, &connection["reverse"])]
    });
    both.collect()
}
