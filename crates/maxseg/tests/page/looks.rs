//! Sizes and colours, as the browser computes them.

use serde_json::Value;

use super::{LOSSY, REQUESTS, Tab, open};

#[test]
fn marks_can_be_seen_and_told() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    for kind in ["dots", "marks"] {
        let width = tab.number(&format!(
            "parseFloat(getComputedStyle(document.querySelector('svg.inner .layer.{kind}')).strokeWidth)"
        ));
        assert!(width >= 3.0, "{kind}: {width} px");
    }
    let shortest = tab.number(
        "Math.min(...[...document.querySelectorAll('svg.inner .bar')].map((e) => e.getBBox().width))",
    );
    assert!(shortest >= 3.0, "{shortest} px");
    // Every name of a row stands left of its bars, every entry of a legend has points.
    let rows = tab.axis("findings", "end");
    assert_eq!(rows, ["loss"]);
    let empty = tab.number("document.querySelector('.linked').page.data.panels.flatMap((p) => p.layers).filter((l) => l.t.length === 0).length");
    assert!(empty.abs() < 0.5, "{empty} layers have nothing to show");
}

/// The colours that each name of a layer or a limit has, in all graphs.
fn colors(tab: &mut Tab) -> Value {
    tab.value(
        "(() => { const colors = {}; for (const e of document.querySelectorAll('svg.inner .layer, svg.inner .bar')) {
           const name = e.getAttribute('style'); (colors[name] ??= new Set()).add(getComputedStyle(e).stroke); }
         return Object.fromEntries(Object.entries(colors).map(([k, v]) => [k, [...v]])); })()",
    )
}

#[test]
fn a_colour_means_the_same_in_every_graph_and_is_another_in_the_dark() {
    let Some((report, mut tab)) = open(LOSSY, "") else { return };
    let light = colors(&mut tab);
    let retransmitted = tab.value(
        "[...document.querySelectorAll('[data-layer=retransmitted]')].map((e) => getComputedStyle(e).stroke)",
    );
    let limit = tab
        .text("getComputedStyle(document.querySelector('figure[data-panel=limits] .bar')).stroke");
    let share = tab.text("getComputedStyle(document.querySelector('svg.limits rect')).fill");
    let list = retransmitted.as_array().unwrap();
    assert!(list.len() >= 2 && list.iter().all(|color| color == &list[0]), "{list:?}");
    assert_eq!(
        (&Value::from(limit.clone()), limit),
        (&list[0], share),
        "loss has one colour, as limit and as packet"
    );
    tab.set_screen(1100, 900, "dark");
    tab.go_to(&report.url(""));
    let dark = colors(&mut tab);
    for (name, color) in light.as_object().unwrap() {
        assert_eq!(color.as_array().unwrap().len(), 1, "{name}: {color}");
        assert_ne!(color, &dark[name], "{name}");
    }
}

#[test]
fn a_telephone_shows_all_of_it() {
    for name in [LOSSY, REQUESTS] {
        let Some((report, mut tab)) = open(name, "") else { return };
        tab.set_screen(400, 800, "light");
        tab.go_to(&report.url("#at=1"));
        let width = tab.number("document.documentElement.scrollWidth");
        assert!(width <= 400.0, "{name} is {width} px wide");
        let font = tab.number("Math.min(...[...document.querySelectorAll('svg.graph text')].map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))");
        assert!(font >= 11.0, "{font} px");
        // No two words of an axis of times overlap, and none is cut off.
        let overlaps = tab.value(
            "[...document.querySelectorAll('svg.graph')].flatMap((svg) => { const box = svg.getBoundingClientRect();
               const words = [...svg.querySelectorAll('.tick[text-anchor=middle]')].map((e) => e.getBoundingClientRect());
               return words.filter((r, n) => r.right > box.right + 1 || (n > 0 && r.left < words[n - 1].right)).map((r) => r.left); })",
        );
        assert_eq!(overlaps.as_array().unwrap().len(), 0, "{overlaps}");
        // However little is shown: two times at least, which say where they are.
        for view in ["#t=0.62..0.9", "#t=1.1014..1.163429"] {
            tab.go_to(&report.url(view));
            let off = tab.value(
                "(() => { const { graphs: [graph], view } = document.querySelector('.linked').page;
                   const words = [...graph.svg.querySelectorAll('.tick[text-anchor=middle]')];
                   const marks = [...graph.svg.querySelectorAll('.grid')].map((e) => e.getAttribute('d')).filter((d) => d.endsWith('v5'));
                   const times = marks.map((d) => view.from + (parseFloat(d.slice(1)) - graph.drawn.place.left) / graph.drawn.place.width * view.span);
                   return words.length < 2 ? ['too few'] : words.filter((word, n) => Math.abs(parseFloat(word.textContent) * (word.textContent.endsWith('ms') ? 1e-3 : 1) - times[n]) > 0.003 * view.span).map((word) => word.textContent); })()",
            );
            assert_eq!(off.as_array().unwrap().len(), 0, "{name} {view}: {off}");
        }
        let size = tab.number("Math.min(...[...document.querySelectorAll('button')].filter((e) => e.offsetParent !== null).map((e) => e.getBoundingClientRect().height))");
        assert!(size >= 24.0, "WCAG 2.2, target size: {size} px");
    }
}
