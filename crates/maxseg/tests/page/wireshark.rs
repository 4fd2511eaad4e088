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
    let packet: u64 =
        lost.split_once("at packet ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let count: usize = lost.split_once(": ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let filter =
        lost.split_once("<code class=\"filter\">").unwrap().1.split_once("</code>").unwrap().0;
    let filter = filter.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    let Some(packets) = shown(&filter) else {
        println!("SKIPPED: there is no tshark to take the filters");
        return;
    };
    assert!(packets.contains(&packet), "{filter} shows {packets:?}, not {packet}");
    let resent =
        shown(&format!("(tcp.analysis.retransmission || tcp.analysis.out_of_order) && {filter}"))
            .unwrap();
    assert!(resent.contains(&packet) && resent.len() >= count, "{packet}, {count}: {resent:?}");
    println!("{filter}: {} packets, {} of them sent again", packets.len(), resent.len());
}
