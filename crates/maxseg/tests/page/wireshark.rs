//! Filters of the page in Wireshark's own words: tshark takes them, and they show what the page says.

use std::process::Command;

use super::{LOSSY, Report, capture};

/// The numbers of the packets of a capture that a display filter shows; `None` without tshark.
fn shown(filter: &str) -> Option<Vec<u64>> {
    let tshark = Command::new("tshark")
        .arg("-r")
        .arg(capture(LOSSY))
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
    let Some((packets, resent)) = shown(first).zip(shown(repaired)) else {
        println!("SKIPPED: there is no tshark to take the filters");
        return;
    };
    assert_eq!(packets.first(), Some(&sent), "{first} shows {packets:?}");
    assert_eq!(resent.first(), Some(&again), "{repaired} shows {resent:?}");
    assert!(resent.len() as u64 >= count, "{count}: {resent:?}");
    println!("{first}: {} packets; {repaired}: {}", packets.len(), resent.len());
}
