//! What every page has: it is one file, asks for no other, and can be read without its script.
//!
//! Text gets into a page by `maud`, which escapes every value but its own `Markup`; `PreEscaped` has constants only, or
//! numbers in a style sheet and JSON in which no tag can begin.

use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("report.css");
const CHART_STYLE: &str = include_str!("chart/chart.css");
const TABLE_SCRIPT: &str = include_str!("table.js");
/// Nothing is loaded, whatever a page contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A page with this title above its body.
pub(super) fn whole_page(title: &str, body: &Markup) -> String {
    page_with(title, body, "", "")
}

/// Likewise, with more style and script than every page has.
pub(super) fn page_with(title: &str, body: &Markup, style: &str, script: &str) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(CHART_STYLE)) (PreEscaped(style)) }
            }
            body {
                main { h1 { (title) } (body) }
                // As XML it is well-formed too.
                script { (PreEscaped("\n//<![CDATA[\n")) (PreEscaped(TABLE_SCRIPT)) (PreEscaped(script)) (PreEscaped("//]]>\n")) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// The sentence that a reader looks for; nothing where it is empty.
pub(super) fn lead(sentence: &str) -> Markup {
    html! { @if !sentence.is_empty() { p.lead { (sentence) } } }
}

/// A paragraph.
pub(super) fn prose(text: &str) -> Markup {
    html! { p.prose { (text) } }
}

/// Lines of a list; nothing where there is none.
pub(super) fn list(lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { ul { @for line in lines { li { (line) } } } } }
}

/// Likewise below a heading.
pub(super) fn titled_list(title: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { h2 { (title) } (list(lines)) } }
}

/// Terms, each with what is to be said of it.
pub(super) fn facts<T: AsRef<str>, F: AsRef<str>>(facts: &[(T, F)]) -> Markup {
    html! { dl { @for (term, fact) in facts { dt { (term.as_ref()) } dd { (fact.as_ref()) } } } }
}
