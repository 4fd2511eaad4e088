//! Filters of the page in Wireshark's own words: tshark takes them, and they show what the page says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{LOSSY, Report, capture};

/// The numbers of the packets of a capture that a display filter shows; `None` without tshark.
fn shown(file: &Path, filter: &str) -> Option<Vec<u64>> {
    let tshark = Command::new("tshark")
        .arg("-r")
        .arg(file)
        .args(["-Y", filter, "-T", "fields", "-e", "frame.number"])
        .output()
        .ok()?;
    assert!(tshark.status.success(), "{filter}: {}", String::from_utf8_lossy(&tshark.stderr));
    let text = String::from_utf8(tshark.stdout).unwrap();
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

/// The page alone says what limited the transfer, at which packet it lost most, and the filter for it.
#[test]
fn a_stranger_finds_the_loss_and_its_packets() {
    let report = Report::of(LOSSY);
    let page = std::fs::read_to_string(report.file()).unwrap();
    let section = page.split_once("<h2>Where to look</h2>").unwrap().1;
    let section = section.split_once("</dl>").unwrap().0;
    let of = |term: &str| {
        section.split_once(&format!("<dt>{term}</dt>")).unwrap().1.split_once("</dd>").unwrap().0
    };
    assert!(of("limited by").contains("congestion for 100%"), "{section}");
    let lost = of("most lost");
    let number = |behind: &str| -> u64 {
        lost.split_once(behind).unwrap().1.split(' ').next().unwrap().parse().unwrap()
    };
    let (sent, count, again) =
        (number("flight of packets "), number("): "), number("sent again, in packets "));
    let filters: Vec<String> = lost
        .split("<code class=\"filter\">")
        .skip(1)
        .map(|rest| rest.split_once("</code>").unwrap().0)
        .map(|filter| filter.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
        .collect();
    let [first, repaired] = filters.as_slice() else { panic!("two filters: {filters:?}") };
    let Some((packets, resent)) =
        shown(&capture(LOSSY), first).zip(shown(&capture(LOSSY), repaired))
    else {
        println!("SKIPPED: there is no tshark to take the filters");
        return;
    };
    assert_eq!(packets.first(), Some(&sent), "{first} shows {packets:?}");
    assert_eq!(resent.first(), Some(&again), "{repaired} shows {resent:?}");
    assert!(resent.len() as u64 >= count, "{count}: {resent:?}");
    println!("{first}: {} packets; {repaired}: {}", packets.len(), resent.len());
}

/// What `maxseg` prints.
fn printed(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_maxseg")).args(arguments).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {talk}");
    output.stdout
}

/// Its filter shows the packets of a connection and no others: where ports were used again, and where a file has the same packets at
/// another interface.
#[test]
fn the_filter_of_a_connection_shows_its_packets_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, simulated] = ["path.toml", "run.pcapng"].map(|name| folder.path().join(name));
    let text = "[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nerrors = { rate = \"1%\", per = \"packet\", model = \"uniform\" }\n[until]\ntime = \"1 s\"\n";
    std::fs::write(&scenario, text).unwrap();
    let [scenario_name, simulated_name] = [&scenario, &simulated].map(|it| it.to_str().unwrap());
    printed(&["run", scenario_name, "--engine", "sim", "--pcap", simulated_name, "-q"]);
    let reused = capture("situations/port-reuse.sender.pcap.gz");
    let cases = [(&reused, vec![], 3), (&simulated, vec!["--interface", "sender"], 1)];
    for (file, more, connections) in cases {
        let arguments = [&["explain", file.to_str().unwrap(), "--json"], more.as_slice()].concat();
        let document: Value = serde_json::from_slice(&printed(&arguments)).unwrap();
        let all = document["connections"].as_array().unwrap();
        assert_eq!(all.len(), connections);
        for one in all {
            let filter = one["wireshark_filter"].as_str().unwrap();
            let Some(frames) = shown(file, filter) else {
                println!("SKIPPED: there is no tshark to take the filters");
                return;
            };
            let packets = |way: &str| one[way]["packets"].as_u64().unwrap();
            assert_eq!(frames.len() as u64, packets("forward") + packets("reverse"), "{filter}");
        }
    }
}
