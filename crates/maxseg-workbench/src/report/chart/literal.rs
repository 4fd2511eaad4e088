//! Colours written out: outside browsers (librsvg, Inkscape, pandoc) custom properties of CSS are not known, and what is filled
//! with one is black.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A rule: its selector, and what stands in its braces.
type Rule<'a> = (&'a str, &'a str);

/// A style sheet without custom properties: with the values of light ground, and below them those of dark ground for who prefers
/// it.
pub(super) fn literal(css: &str) -> String {
    let all = rules(css);
    let dark_rules = all.iter().filter(|(selector, _)| selector.starts_with('@'));
    let dark_rules: Vec<Rule<'_>> = dark_rules.flat_map(|(_, inner)| rules(inner)).collect();
    let rules: Vec<Rule<'_>> =
        all.into_iter().filter(|(selector, _)| !selector.starts_with('@')).collect();
    let light = properties(&rules);
    let dark = properties(&dark_rules);
    let (mut ours, mut theirs) = (String::new(), String::new());
    for (selector, body) in rules {
        let kept: Vec<&str> = declarations(body).filter(|part| !part.starts_with("--")).collect();
        if kept.is_empty() {
            continue;
        }
        let _ = writeln!(ours, "{selector}{{{}}}", with_values(&kept.join(";"), &light));
        let colored: Vec<&str> = kept.into_iter().filter(|part| part.contains("var(")).collect();
        if !colored.is_empty() {
            let _ = write!(theirs, "{selector}{{{}}}", with_values(&colored.join(";"), &dark));
        }
    }
    format!("{ours}@media(prefers-color-scheme:dark){{{theirs}}}")
}

/// The rules of a style sheet; one of `@media` has rules in its braces.
fn rules(css: &str) -> Vec<Rule<'_>> {
    let mut list = Vec::new();
    let (mut depth, mut begin, mut open) = (0_usize, 0, 0);
    for (at, letter) in css.char_indices() {
        match letter {
            '{' => {
                if depth == 0 {
                    open = at;
                }
                depth += 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    list.push((css[begin..open].trim(), &css[open + 1..at]));
                    begin = at + 1;
                }
            }
            _ => {}
        }
    }
    list
}

fn declarations(body: &str) -> impl Iterator<Item = &str> {
    body.split(';').map(str::trim).filter(|part| !part.is_empty())
}

/// The custom properties of rules, with their values.
fn properties<'a>(rules: &[Rule<'a>]) -> BTreeMap<&'a str, &'a str> {
    let all = rules.iter().flat_map(|(_, body)| declarations(body));
    all.filter(|part| part.starts_with("--")).filter_map(|part| part.split_once(':')).collect()
}

fn with_values(declarations: &str, values: &BTreeMap<&str, &str>) -> String {
    let mut text = declarations.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("var({name})"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_grounds_have_their_colours() {
        let css = ".c{--ink:#111;--s1:#222;font-size:13px}@media(prefers-color-scheme:dark){.c{--ink:#eee;--s1:#ddd}}\n\
                   .c text{fill:var(--ink)}.c .line{stroke:var(--s1);stroke-width:2}";
        assert_eq!(
            literal(css),
            ".c{font-size:13px}\n.c text{fill:#111}\n.c .line{stroke:#222;stroke-width:2}\n\
             @media(prefers-color-scheme:dark){.c text{fill:#eee}.c .line{stroke:#ddd}}"
        );
    }
}
