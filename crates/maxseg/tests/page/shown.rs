//! What graphs show of a view: ends, heights, bounds, and the address of it.

use super::{LOSSY, REQUESTS, open};

/// A piece of script with `page`, and `panel` by its name.
fn script(body: &str) -> String {
    format!(
        "(() => {{ const page = document.querySelector('.linked').page; \
         const panel = (id) => page.data.panels.find((p) => p.id === id); \
         const graph = (id) => page.graphs.find((g) => g.panel.id === id); {body} }})()"
    )
}

#[test]
fn what_holds_or_happens_at_the_end_is_seen() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let short = tab.number(&script(
        "for (const layer of panel('window').layers) layer.t = layer.t.slice(0, 9); \
         page.draw(); const { place } = graph('window').drawn; \
         const ends = [...document.querySelectorAll('figure[data-panel=window] svg.inner .steps')].map((e) => Number(e.getAttribute('d').match(/H([\\d.]+)$/)?.[1] ?? 0)); \
         return place.width - Math.min(...ends);",
    ));
    assert!(short < 0.2, "a step curve ends {short} px before its graph");
    let bar = tab.value(&script(
        "const spans = panel('findings').rows[0].spans; spans.length = 0; spans.push({ from: page.view.to, to: page.view.to, text: 'reset' }); \
         page.draw(); const { place } = graph('findings').drawn; \
         const box = document.querySelector('figure[data-panel=findings] .bar').getBBox(); return [box.x, box.width, place.width];",
    ));
    let [from, long, width] = [0, 1, 2].map(|n| bar[n].as_f64().unwrap());
    assert!(long >= 2.9 && from + long <= width + 0.1, "{bar}");
}

#[test]
fn a_chosen_range_of_values_follows_the_view() {
    let Some((report, mut tab)) = open(LOSSY, "#t=2..3&window=5000..10000") else { return };
    tab.value("document.querySelector('figure[data-panel=window] .plot').focus(), 0");
    tab.press("-");
    assert!(tab.fragment().contains("window=2500..12500"), "{}", tab.fragment());
    tab.press_shift("ArrowRight");
    assert!(!tab.fragment().contains("window="), "elsewhere the values are others");
    // The next retransmission is seen, however the box lies.
    tab.go_to(&report.url("#t=2..2.1&sequence=0..10"));
    tab.value("document.querySelector('figure[data-panel=sequence] .plot').focus(), 0");
    tab.press("n");
    let seen = tab.value(&script(
        "const { range } = graph('sequence').drawn; const { t, v } = panel('sequence').layers.find((l) => l.kind === 'marks'); \
         const value = v[[...t].indexOf(page.view.at)]; return [range[0] <= value && value <= range[1], page.view.from < page.view.at && page.view.at < page.view.to];",
    ));
    assert_eq!(seen, serde_json::json!([true, true]));
}

#[test]
fn a_window_far_above_is_named_and_shown_on_demand() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let top = script(
        "const layer = panel('window').layers.find((l) => l.is_bound); if (layer.v[0] < 1e9) layer.v = layer.v.map(() => 1e9); \
         page.draw(); return graph('window').drawn.range[1];",
    );
    assert!(tab.number(&top) < 1e9);
    let caption = tab.text_of("figure[data-panel=window] figcaption");
    assert!(caption.contains("up to 1.00 GB, above the graph"), "{caption}");
    let button = "[...document.querySelectorAll('.toolbar button')].find((b) => b.textContent === 'Show windows far above')";
    assert!(!tab.value(&format!("{button}.hidden")).as_bool().unwrap());
    tab.value(&format!("{button}.click(), 0"));
    assert!(tab.number(&top) > 1e9);
    assert_eq!(tab.fragment(), "#bounds=1");
}

#[test]
fn the_address_is_no_condition_and_keeps_the_view_late_in_a_long_connection() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    tab.value(
        "history.replaceState = () => { throw new DOMException('too many', 'SecurityError'); }, 0",
    );
    tab.value("document.querySelector('figure[data-panel=window] .plot').focus(), 0");
    let whole = tab.view();
    for _ in 0..5 {
        tab.press("+");
    }
    let drawn = tab.axis("window", "middle");
    assert!(tab.view().1 - tab.view().0 < 0.04 * (whole.1 - whole.0), "{:?}", tab.view());
    tab.value("(document.querySelector('.linked').page.writeAddress(), 0)");
    tab.press("0");
    assert_ne!(tab.axis("window", "middle"), drawn, "what the browser refuses stops no key");
    let read = tab.value(
        "(() => { const a = new View(0, 1e5), b = new View(0, 1e5); a.show(86400.1234567, 86400.1234587); a.heights.set('x', [1234567890123, 1234567890456]); \
         b.read(a.fragment, ['x']); return [b.from, b.to, ...b.heights.get('x')]; })()",
    );
    let of = |n: usize| read[n].as_f64().unwrap();
    assert!(
        (of(0) - 86_400.123_456_7).abs() < 1e-7 && (of(1) - of(0) - 2e-6).abs() < 1e-7,
        "{read}"
    );
    assert_eq!((of(2), of(3)), (1_234_567_890_123.0, 1_234_567_890_456.0));
}

#[test]
fn a_rate_is_a_mean_over_what_can_be_seen_and_finer_when_zoomed() {
    let Some((_report, mut tab)) = open(LOSSY, "") else { return };
    let shortest = |view: &str| {
        script(&format!(
            "const [layer] = panel('throughput').layers; const {{ from, to }} = page.view.whole; \
             layer.t = Float64Array.from({{ length: 2001 }}, (_, n) => from + n / 2000 * (to - from)); layer.v = layer.t.map((t) => t % 2); \
             page.view.show({view}); page.draw(); const {{ t }} = graph('throughput').planned.layers[0]; \
             return Math.min(...[...t].slice(1, -2).map((at, n) => [...t][n + 2] - at).filter((s) => s > 0));"
        ))
    };
    let (whole, zoomed) = (tab.number(&shortest("0, 1e9")), tab.number(&shortest("2, 2.2")));
    assert!(whole > 2.0 * zoomed, "{whole} s of the whole, {zoomed} s of a piece");
    // Of a pause between two transfers nothing is a mean.
    let means = tab.value(
        "(() => { const { t, v } = means({ t: [0, 1, 2, 12, 13], v: [8, 4, 0, 6, 0] }, 2); return [t, v]; })()",
    );
    assert_eq!(means, serde_json::json!([[0, 2, 12, 13], [6, 0, 6, 0]]));
    let left_over = tab.value(
        "(() => { const { t, v } = means({ t: [0, 1, 2, 3], v: [2, 2, 5, 5] }, 2); return [t, v]; })()",
    );
    assert_eq!(
        left_over,
        serde_json::json!([[0, 3], [3, 3]]),
        "no short interval with its own rate"
    );
}

#[test]
fn words_of_axes_are_whole_and_segments_as_high_as_their_bytes() {
    let Some((report, mut tab)) = open(LOSSY, "") else { return };
    tab.set_screen(400, 800, "light");
    tab.go_to(&report.url("#t=2..3&sequence=1234567.1..1234567.2"));
    let cut = tab.value(
        "[...document.querySelectorAll('svg.graph .tick[text-anchor=end]')].filter((e) => e.getBoundingClientRect().left < e.ownerSVGElement.getBoundingClientRect().left).map((e) => e.textContent)",
    );
    assert_eq!(cut.as_array().unwrap().len(), 0, "{cut}");
    let lefts =
        tab.number(&script("return new Set(page.graphs.map((g) => g.drawn.place.left)).size;"));
    assert!((lefts - 1.0).abs() < 0.1, "all plots begin below each other");
    let words = tab.text(
        "axisWords([1, 1.0000002, 1.0000004], 'time').concat(axisWords([0, 500, 1000], 'time')).join()",
    );
    assert_eq!(words, "1.0000000 s,1.0000002 s,1.0000004 s,0,500 s,1000 s");
    tab.go_to(&report.url("#t=2..2.05"));
    let path = tab.text(
        "document.querySelector('figure[data-panel=sequence] svg.graph [data-layer=segments]').getAttribute('d')",
    );
    assert!(path.contains('V'), "{path}");
}

/// SACK blocks stand between what is acknowledged and what was sent, and are told with their packet; times are those of the capture.
#[test]
fn sack_blocks_are_drawn_and_named() {
    let Some((report, mut tab)) = open(LOSSY, "") else { return };
    let faults = tab.value(&script(
        "const layers = panel('sequence').layers; const sacks = layers.find((l) => l.label === 'SACK'); \
         const acks = layers.find((l) => l.label === 'acknowledged'); \
         const below = [...sacks.t].filter((t, n) => sacks.v[n] < acks.v[firstFrom(acks.t, t)]).length; \
         return [sacks.t.length > 50, below, sacks.bytes.every((b) => b > 0), document.querySelectorAll('[data-layer=SACK]').length > 0];",
    ));
    assert_eq!(faults, serde_json::json!([true, 0, true, true]));
    tab.value(&script(
        "const { t } = panel('sequence').layers.find((l) => l.label === 'SACK'); \
         page.change((view) => { view.show(t[0] - 1e-5, t[0] + 1e-5); view.pin(t[0]); }); return 0;",
    ));
    let packets = tab.text_of(".packets");
    assert!(packets.contains("SACK from byte "), "{packets}");
    let day = tab.text_of(".time-of-day");
    let page = std::fs::read_to_string(report.file()).unwrap();
    assert!(day.ends_with(" UTC") && page.contains(&day[..17]), "{day} is not when it began");
}

#[test]
fn both_directions_have_a_graph_where_both_carry_data() {
    let Some((_report, mut tab)) = open(REQUESTS, "") else { return };
    let title = tab.text_of("figure[data-panel=sequence-back] .graph-title");
    assert_eq!(title, "Time-sequence graph of the other direction, from the client");
    let ends = tab.value(&script(
        "const of = (id, label) => panel(id).layers.find((l) => l.label === label); \
         const last = (l) => l.v[l.v.length - 1] + l.bytes[l.v.length - 1]; \
         const back = of('sequence-back', 'segments'); \
         page.change((view) => { view.show(back.t[5] - 1e-4, back.t[5] + 1e-4); view.pin(back.t[5]); }); \
         return last(back) === last(of('sequence-back', 'acknowledged'));",
    ));
    assert_eq!(ends, true, "all requests are acknowledged");
    assert!(tab.text_of(".packets").contains("segment from the client's byte "));
}
