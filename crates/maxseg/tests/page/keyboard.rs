//! The keyboard, and the view in the address.

use super::{LOSSY, open};

/// Presses Tab until a graph has the focus; gives how often.
fn tab_to(tab: &mut super::Tab, panel: &str) -> usize {
    let is_there = format!(
        "document.activeElement === document.querySelector('figure[data-panel={panel}] .plot')"
    );
    (1..200)
        .find(|_| {
            tab.press("Tab");
            tab.value(&is_there).as_bool().unwrap()
        })
        .unwrap_or_else(|| panic!("Tab does not reach {panel}"))
}

#[test]
fn graphs_are_reached_in_order_and_moved_with_keys() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let order: Vec<usize> =
        ["sequence", "limits", "findings", "throughput", "round-trip", "window"]
            .map(|panel| tab_to(&mut tab, panel))
            .to_vec();
    assert!(
        order[1..].iter().all(|steps| *steps <= 2),
        "a graph, its table, the next graph: {order:?}"
    );
    let whole = tab.view();
    tab.press("ArrowRight");
    let middle = f64::midpoint(whole.0, whole.1);
    let at = tab.at().unwrap();
    assert!(at > middle && at < middle + 0.02 * (whole.1 - whole.0), "{at}");
    let told = tab.text("document.activeElement.getAttribute('aria-valuetext')");
    assert!(told.contains(" s, ") && told.contains("in flight"), "{told}");
    tab.press("+");
    let zoomed = tab.view();
    assert!((zoomed.1 - zoomed.0) < 0.51 * (whole.1 - whole.0) && zoomed.0 < at && at < zoomed.1);
    tab.press_shift("ArrowRight");
    assert!(tab.view().0 > zoomed.0, "Shift moves the view");
    tab.press("-");
    tab.press("-");
    assert_eq!(tab.view(), whole);
    tab.press("+");
    tab.press("Escape");
    assert_eq!(tab.at(), None, "Esc lets go of the time first");
    tab.press("Escape");
    assert_eq!(tab.view(), whole, "and then shows all");
    assert_eq!(tab.fragment(), "");
}

#[test]
fn keys_go_from_retransmission_to_retransmission() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    tab_to(&mut tab, "sequence");
    let mut times = Vec::new();
    for _ in 0..3 {
        tab.press("n");
        times.push(tab.at().unwrap());
        let packets = tab.text_of(".packets");
        assert!(packets.contains("retransmitted from byte"), "{packets}");
    }
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    tab.press("p");
    assert_eq!(tab.at(), Some(times[1]));
    let before = tab.at().unwrap();
    tab.press(".");
    assert!(tab.at().unwrap() > before, "the next packet");
    let packets = tab.text_of(".packets");
    assert!(packets.contains(", window "), "what acknowledges tells its window: {packets}");
    tab.press("Home");
    let packets = tab.text_of(".packets");
    assert!(packets.contains("client's SYN") && packets.contains("server's SYN, ACK"), "{packets}");
}

#[test]
fn a_link_shows_what_its_sender_saw() {
    let Some((report, mut tab)) = open(LOSSY, "#t=2..3&at=2.5&window=0..20000") else { return };
    assert_eq!(tab.view(), (2.0, 3.0));
    assert_eq!(tab.at(), Some(2.5));
    let words = tab.axis("window", "end");
    assert_eq!(words.last().map(String::as_str), Some("20 kB"), "{words:?}");
    // What is no view does no harm.
    tab.go_to(&report.url("#t=nonsense&at=&window=5..1&else=7"));
    assert!(tab.view().1 > 7.0);
    // A link of the page shows its time.
    tab.value("document.querySelector('.look a').click()");
    assert!(tab.fragment().starts_with("#t="), "{}", tab.fragment());
    assert!(tab.at().is_some());
    // The reader sees them, and lets go of the time wherever the focus is.
    let top = "document.querySelector('.linked').getBoundingClientRect().top";
    assert!(tab.number(top).abs() < 2.0, "the graphs come into view");
    assert_eq!(tab.text("document.activeElement.className"), "plot");
    tab.value("document.activeElement.blur(), 0");
    tab.press("Escape");
    assert_eq!(tab.at(), None);
    // The same link again, from above.
    tab.value("window.scrollTo(0, 0), document.querySelector('.look a').click()");
    assert!(tab.number(top).abs() < 2.0 && tab.at().is_some());
}
