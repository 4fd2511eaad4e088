//! Pointing, clicking and drawing a box.

use super::{KEEP_ALIVES, LOSSY, REQUESTS, open};

#[test]
fn pointing_shows_time_values_and_packets_with_their_filter() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    assert!(tab.value("document.querySelector('.readout').hidden").as_bool().unwrap());
    let middle = tab.place("window", 0.5, 0.5);
    tab.pointer("mouseMoved", middle);
    let (from, to) = tab.view();
    let at = tab.at().unwrap();
    // A pixel is a thousandth of the width.
    assert!((at - f64::midpoint(from, to)).abs() < 0.002 * (to - from), "{at} in {from} to {to}");
    let shown = tab.text_of(".readout strong");
    assert!((shown.trim_end_matches(" s").parse::<f64>().unwrap() - at).abs() < 1e-3, "{shown}");
    let values = tab.text_of("figure[data-panel=window] figcaption");
    assert!(values.contains("in flight") && values.contains("kB"), "{values}");
    let limit = tab.text_of("figure[data-panel=limits] .here");
    assert_eq!(limit, "congestion");
    let packets =
        tab.value("[...document.querySelectorAll('.packets li')].map((e) => e.textContent)");
    let packets = packets.as_array().unwrap();
    assert_eq!(packets.len(), 6, "{packets:?}");
    assert!(
        packets.iter().all(|line| line.as_str().unwrap().starts_with("packet ")),
        "{packets:?}"
    );
    let filter = tab.text_of(".near-filter");
    assert!(
        filter.starts_with("frame.number >= ") && filter.contains("tcp.port == 5201"),
        "{filter}"
    );
}

/// Keep-alives and the acknowledgements that answer them, and nothing is said to be missing.
#[test]
fn packets_near_are_all_that_are_near() {
    let Some((_report, mut tab)) = open(KEEP_ALIVES, "#at=2.1265") else { return };
    let listed = tab
        .text("[...document.querySelectorAll('.packets li')].map((e) => e.textContent).join('; ')");
    for frame in 8..=13 {
        assert!(listed.contains(&format!("packet {frame}: ")), "{frame}: {listed}");
    }
    assert!(listed.contains("'s acknowledgement"), "{listed}");
    assert_eq!(tab.count(".readout p.note"), 0, "the page holds all packets");
    let filter = tab.text_of(".near-filter");
    assert!(filter.starts_with("frame.number >= 8 && frame.number <= 13 && ip.addr"), "{filter}");
}

#[test]
fn a_click_keeps_a_time_until_it_is_let_go() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let first = tab.place("sequence", 0.3, 0.5);
    tab.click(first);
    let kept = tab.at().unwrap();
    let elsewhere = tab.place("sequence", 0.8, 0.5);
    tab.pointer("mouseMoved", elsewhere);
    assert_eq!(tab.at(), Some(kept), "the pointer moves, the time stays");
    assert!(tab.fragment().starts_with("#at="), "{}", tab.fragment());
    tab.click(elsewhere);
    tab.pointer("mouseMoved", first);
    assert!(tab.at().unwrap() < kept + 0.1, "a second click lets go");
}

#[test]
fn a_box_zooms_in_every_graph_and_its_axes_keep_their_units() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let whole = tab.view();
    let (from, to) = (tab.place("sequence", 0.25, 0.9), tab.place("sequence", 0.5, 0.1));
    tab.drag(from, to);
    let (begin, end) = tab.view();
    let share = (end - begin) / (whole.1 - whole.0);
    assert!((share - 0.25).abs() < 0.01, "a quarter of the width is shown: {share}");
    for (panel, unit) in
        [("sequence", "B"), ("throughput", "bit/s"), ("round-trip", " ms"), ("window", "B")]
    {
        let words = tab.axis(panel, "end");
        let has_unit = |word: &String| word == "0" || word.contains(unit) || word.contains("bytes");
        assert!(words.len() >= 2 && words.iter().all(has_unit), "{panel}: {words:?}");
        let mut distinct = words.clone();
        distinct.dedup();
        assert_eq!(distinct, words, "{panel}");
        let times = tab.axis(panel, "middle");
        assert!(times.len() >= 3 && times.iter().all(|time| time.ends_with(" s")), "{times:?}");
    }
    let fragment = tab.fragment();
    assert!(fragment.contains("t=") && fragment.contains("sequence="), "{fragment}");
    // Values of the other graphs are those of the stretch that is shown.
    let twice = tab.place("sequence", 0.5, 0.5);
    for count in [1, 2] {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = serde_json::json!({ "type": kind, "x": twice.0, "y": twice.1, "button": "left", "clickCount": count });
            tab.call("Input.dispatchMouseEvent", &event);
        }
    }
    assert_eq!(tab.view(), whole, "a double click shows all");
    assert_eq!(tab.fragment(), "");
}

#[test]
fn requests_and_replies_are_a_ladder() {
    let Some((_report, mut tab)) = open(REQUESTS, "") else { return };
    assert_eq!(tab.axis("ladder", "end"), ["client", "server"]);
    let arrows = |tab: &mut super::Tab, label: &str| {
        let selector = format!("figure[data-panel=ladder] svg.graph [data-layer={label}]");
        tab.text(&format!("document.querySelector('{selector}').getAttribute('d')"))
            .matches('M')
            .count()
    };
    // Each has a shaft and a head. The last request has no reply.
    let (requests, replies) = (arrows(&mut tab, "requests"), arrows(&mut tab, "replies"));
    assert_eq!((requests, replies), (2 * 25, 2 * 24));
    // The server takes 158 ms to its replies: it is busy nearly always.
    let middle = tab.place("ladder", 0.5, 0.1);
    tab.pointer("mouseMoved", middle);
    let caption = tab.text_of("figure[data-panel=ladder] figcaption");
    assert!(caption.contains(" ms"), "{caption}");
}
