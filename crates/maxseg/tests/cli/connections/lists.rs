//! Several lists, and those of a file.

use super::{document, maxseg, pair, stderr, stdout};

#[test]
fn lists_that_follow_each_other_have_their_times() {
    let pair = pair();
    let watch = ["connections", "--watch", "100 ms", "--count", "2", "--port", &pair.ports()];
    let columns = ["--csv", "--columns", "state,local,remote"];
    let table = stdout(&maxseg(&[&watch[..], &columns].concat()));
    let (header, rows) = table.split_once('\n').unwrap();
    assert_eq!(header, "time_s,state,local,remote", "{table}");
    // Other connections may have the same ports.
    let ends = format!(",established,{},", pair.client.local_addr().unwrap());
    let time = |row: &str| row.split_once(&ends).map(|(time, _)| time.parse::<f64>().unwrap());
    let times: Vec<f64> = rows.lines().filter_map(time).collect();
    assert!(matches!(times[..], [first, then] if then > first), "{table}");
    let text = stdout(&maxseg(&watch));
    assert_eq!(text.lines().filter(|line| line.ends_with(" UTC")).count(), 2, "{text}");
}

#[test]
fn a_state_has_the_name_that_ss_prints_as_well() {
    let pair = pair();
    let listed = |state: &str| {
        let output = maxseg(&["connections", "--json", "--port", &pair.ports(), "--state", state]);
        pair.rows(&document(&output)).len()
    };
    assert_eq!(["established", "estab", "syn-recv"].map(listed), [2, 2, 0]);
}

#[test]
fn a_file_has_no_processes_to_choose_by() {
    let refused = maxseg(&["connections", "--from-dump", "sockets.bin", "--process", "nginx"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("does not go with --process"), "{}", stderr(&refused));
}
