//! For those who do not see the page, or not well: the rules of axe-core (MPL-2.0), which `cargo xtask test` fetches for
//! the test where npm is there and which is no part of anything that is shipped, and some of our own.

use std::path::Path;

use serde_json::{Value, json};

use super::{LOSSY, REQUESTS, Tab, open};

/// Where `cargo xtask test` puts it.
const AXE: &str = "../../target/axe-core/package/axe.min.js";

#[test]
fn controls_have_names_and_values() {
    let Some((_report, mut tab)) = open(REQUESTS, "#at=0.5") else { return };
    let tree = tab.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let of_role = |role: &str| {
        let role = role.to_owned();
        nodes
            .iter()
            .filter(move |node| node["role"]["value"] == role.as_str() && node["ignored"] == false)
    };
    let mut checked = 0;
    for role in ["slider", "button", "link"] {
        for node in of_role(role) {
            let name = node["name"]["value"].as_str().unwrap_or_default();
            assert!(!name.is_empty(), "a {role} without a name: {node:#}");
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
    assert_eq!(of_role("slider").count(), tab.count("figure[data-panel]"));
    let told = tab.value(
        "[...document.querySelectorAll('[role=slider]')].map((e) => e.getAttribute('aria-valuetext'))",
    );
    for text in told.as_array().unwrap() {
        assert!(text.as_str().unwrap().starts_with("0.500 s"), "{text}");
    }
    println!("{checked} controls have names");
}

#[test]
fn axe_finds_nothing_to_mend() {
    let Some(axe) = axe() else { return };
    for name in [LOSSY, REQUESTS] {
        for (width, scheme) in [(1100, "light"), (1100, "dark"), (400, "light")] {
            let Some((report, mut tab)) = open(name, "") else { return };
            tab.set_screen(width, 900, scheme);
            tab.go_to(&report.url("#at=0.5"));
            let violations = violations(&mut tab, &axe, &[]);
            assert!(
                violations.is_empty(),
                "{name}, {width} px, {scheme}:\n{}",
                violations.join("\n")
            );
        }
    }
}

/// The script of axe-core; `None`, and it is said, where it is not there.
pub(super) fn axe() -> Option<String> {
    let axe = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(AXE)).ok();
    if axe.is_none() {
        println!(
            "SKIPPED: axe-core is not there; `cargo xtask test` with CI=true fetches it with npm"
        );
    }
    axe
}

/// The rules that are broken, but for those left out, each with the elements that break it.
pub(super) fn violations(tab: &mut Tab, axe: &str, left_out: &[&str]) -> Vec<String> {
    tab.value(&format!("{axe};0"));
    let rules: serde_json::Map<String, Value> =
        left_out.iter().map(|rule| ((*rule).to_owned(), json!({ "enabled": false }))).collect();
    let tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    let options = json!({ "runOnly": tags, "rules": rules, "resultTypes": ["violations"] });
    let found = tab.value(&format!(
        "axe.run(document, {options})
           .then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | ')))",
    ));
    found.as_array().unwrap().iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}
