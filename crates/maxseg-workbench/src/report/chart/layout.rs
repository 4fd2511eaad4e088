//! Measures of a picture: it is drawn twice, for a desk and for a telephone, and every text has its place in both.

use maud::{Markup, PreEscaped, html};

/// Widths of a picture; all lengths are in units of its view box, which are about pixels of the screen.
pub(crate) const WIDE: f64 = 800.0;
/// See [`WIDE`].
pub(crate) const NARROW: f64 = 376.0;
/// Size of the labels.
pub(crate) const FONT: f64 = 13.0;
/// Size of a title.
const TITLE: f64 = 17.0;
/// From one line of labels to the next.
pub(crate) const LINE: f64 = 20.0;
/// A space by the size of its font.
const SPACE: f64 = 0.6;

/// The picture for both widths; the page shows the one that fits.
pub(crate) fn for_both(draw: impl Fn(f64) -> Markup) -> Markup {
    html! { div.picture { (draw(WIDE)) (draw(NARROW)) } }
}

/// An SVG element of this size. `style` is of numbers and names of ours.
pub(crate) fn svg(width: f64, height: f64, name: &str, style: &str, body: &Markup) -> Markup {
    let class = if width > NARROW { "chart at-desk" } else { "chart on-phone" };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height.ceil()) } role="img" aria-label=(name) class=(class) {
            @if !style.is_empty() { style { (PreEscaped(style)) } }
            (body)
        }
    }
}

/// A place to a tenth of a pixel.
pub(crate) fn px(place: f64) -> String {
    format!("{place:.1}")
}

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text of a picture.
pub(crate) fn label(class: &str, anchor: Anchor, x: f64, y: f64, text: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    html! { text class=[(!class.is_empty()).then_some(class)] text-anchor=[anchor] x=(px(x)) y=(px(y)) { (text) } }
}

/// About how wide a text is, rather too wide than too narrow.
pub(crate) fn text_width(text: &str) -> f64 {
    FONT * text.chars().map(of_font).sum::<f64>()
}

/// Width of a character by the size of its font, where that is wide (`DejaVu Sans`).
const fn of_font(c: char) -> f64 {
    match c {
        '%' | 'm' | 'w' | 'M' | 'W' | '…' => 1.0,
        '+' | '±' | '<' | '>' | '=' | '≤' | '×' | '→' | '↑' => 0.84,
        'A'..='Z' => 0.72,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.42,
        ' '..='~' => 0.64,
        _ => 0.9,
    }
}

/// The widest of some texts.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>) -> f64 {
    texts.into_iter().map(text_width).fold(0.0, f64::max)
}

/// A text that fits, its end left out where it does not.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if text_width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if text_width(&short) + FONT * (of_font(c) + of_font('…')) > room {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// Lines of a text in a font of this size that fit.
fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let width = |text: &str| text_width(text) * size / FONT;
    for word in text.split_whitespace() {
        let word = fitted(word, room * FONT / size);
        match lines.last_mut() {
            Some(line) if width(line) + width(&word) + width(" ") <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines
}

/// Title and subtitle, and where they end.
pub(crate) fn headings(title: &str, subtitle: &str, width: f64) -> (Markup, f64) {
    let mut y = 2.0;
    let titles = wrapped(title, TITLE, width);
    let subtitles = wrapped(subtitle, FONT, width);
    let text = html! {
        @for line in &titles { (label("title", Anchor::Start, 0.0, next(&mut y, TITLE + 5.0), line)) }
        @for line in &subtitles { (label("soft", Anchor::Start, 0.0, next(&mut y, LINE), line)) }
    };
    (text, y)
}

fn next(y: &mut f64, step: f64) -> f64 {
    *y += step;
    *y
}

/// Labels below an axis.
pub(crate) struct Below {
    labels: Vec<(f64, String)>,
    is_upright: bool,
    /// Below the axis they take so much.
    pub(crate) height: f64,
}

/// Words that are turned take at most so much.
const LONGEST_UPRIGHT: f64 = 160.0;

impl Below {
    /// Numbers by rising places: one that would cover the one before it is left out.
    pub(crate) fn numbers(labels: Vec<(f64, String)>) -> Self {
        let mut end_of_last = f64::NEG_INFINITY;
        let mut kept = labels;
        kept.retain(|(x, label)| {
            let half = text_width(label) / 2.0;
            let fits = x - half >= end_of_last + SPACE * FONT;
            if fits {
                end_of_last = x + half;
            }
            fits
        });
        Self { labels: kept, is_upright: false, height: LINE }
    }

    /// Words: all of them, turned where they would cover each other.
    pub(crate) fn words(labels: Vec<(f64, String)>) -> Self {
        let is_apart = |pair: &[(f64, String)]| {
            let need = f64::midpoint(text_width(&pair[0].1), text_width(&pair[1].1));
            pair[1].0 - pair[0].0 >= need + SPACE * FONT
        };
        let is_upright = labels.len() > 1 && !labels.windows(2).all(is_apart);
        if !is_upright {
            return Self { labels, is_upright, height: LINE };
        }
        let labels: Vec<(f64, String)> =
            labels.into_iter().map(|(x, label)| (x, fitted(&label, LONGEST_UPRIGHT))).collect();
        let height = widest(labels.iter().map(|(_, label)| label.as_str())) + 14.0;
        Self { labels, is_upright, height }
    }

    /// Below an axis at this height.
    pub(crate) fn to_svg(&self, axis: f64) -> Markup {
        html! {
            @for (x, text) in &self.labels {
                @if self.is_upright {
                    text class="soft" text-anchor="end" transform={ "translate(" (px(x + 4.0)) " " (px(axis + 10.0)) ") rotate(-90)" } { (text) }
                } @else {
                    (label("soft", Anchor::Middle, *x, axis + LINE, text))
                }
            }
        }
    }
}

/// Places of things of these widths, one behind the other in as few lines as hold them: from the left, and the line.
pub(crate) fn flowed(widths: &[f64], room: f64) -> Vec<(f64, usize)> {
    let (mut x, mut line) = (0.0, 0);
    let place = |width: &f64| {
        if x > 0.0 && x + width > room {
            (x, line) = (0.0, line + 1);
        }
        let place = (x, line);
        x += width + 22.0;
        place
    };
    widths.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_place() {
        assert_eq!(wrapped("goodput against segment size", FONT, 120.0).len(), 2);
        assert_eq!(fitted("a long name that does not fit", 78.0), "a long n…");
        assert_eq!(flowed(&[50.0, 60.0, 40.0], 140.0), [(0.0, 0), (72.0, 0), (0.0, 1)]);
    }

    #[test]
    fn words_are_turned_and_numbers_left_out_where_there_is_no_room() {
        let labels = || [0.0, 30.0, 60.0].map(|x| (x, "1460".to_owned())).to_vec();
        let numbers = Below::numbers(labels());
        assert_eq!(numbers.labels.iter().map(|(x, _)| *x).collect::<Vec<_>>(), [0.0, 60.0]);
        let words = Below::words(labels());
        assert!(words.is_upright && words.labels.len() == 3);
    }
}
