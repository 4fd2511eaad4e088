//! Colours that also the colour-blind tell apart, on light ground and on dark. A scale belongs to what it measures: that of
//! goodput has no other meaning in any picture, nor that of round trips.

use std::fmt::Write as _;

/// What the order of the series means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They rise: the colour says which is more.
    Rising,
    /// They are just different.
    None,
    /// There is one; its lines have the colours of their engines.
    Engines,
}

/// What the shades of a map measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shades {
    /// Goodput.
    Goodput,
    /// Round trips under load.
    Ping,
}

type Rgb = (u8, u8, u8);

/// Points of the viridis map (Smith and van der Walt), from 0 to 1: goodput.
const VIRIDIS: [Rgb; 9] = [
    (68, 1, 84),
    (71, 45, 123),
    (59, 82, 139),
    (44, 114, 142),
    (33, 145, 140),
    (40, 174, 128),
    (94, 201, 98),
    (173, 220, 48),
    (253, 231, 37),
];

/// From pale to dark brown: round trips, the longer the darker.
const BROWN: [Rgb; 5] =
    [(255, 243, 222), (253, 202, 133), (236, 139, 55), (183, 80, 12), (92, 34, 2)];

/// From blue over red to yellow (the plasma map of the same authors): series whose values rise.
const RISING: [Rgb; 7] = [
    (13, 8, 135),
    (92, 1, 166),
    (156, 23, 158),
    (203, 70, 121),
    (237, 121, 83),
    (253, 180, 47),
    (240, 249, 33),
];
/// The part of it that is seen on light ground, and on dark.
const SEEN: [(f64, f64); 2] = [(0.62, 0.0), (0.98, 0.42)];

/// Colours of different things, on light ground and on dark.
const DIFFERENT: [[Rgb; 6]; 2] = [
    [(0, 114, 178), (207, 82, 0), (0, 122, 92), (184, 71, 141), (111, 75, 184), (138, 106, 0)],
    [
        (86, 180, 233),
        (255, 144, 64),
        (47, 196, 154),
        (229, 156, 198),
        (185, 160, 242),
        (230, 200, 74),
    ],
];

/// Dashes of curves whose colour another one has, and of the model's line beside them.
const DASHES: [(&str, &str); 3] = [("9 4", "1 4"), ("9 3 2 3", "5 3 1 3"), ("3 3", "2 8")];

/// The style of charts with so many series: the name of its class, and the custom properties `--s0`, `--s1` … of that class on
/// both grounds.
pub(super) fn style(count: usize, order: Order) -> (String, String) {
    let word = match order {
        Order::Rising => "rising",
        Order::None | Order::Engines => "different",
    };
    let name = format!("{word}-{count}");
    let (light, dark) = (properties(count, order, 0), properties(count, order, 1));
    let mut css =
        format!(".{name}{{{light}}}@media(prefers-color-scheme:dark){{.{name}{{{dark}}}}}");
    for index in 0..count {
        let _ = write!(
            css,
            ".{name} .c{index}{{stroke:var(--s{index})}}.{name} .f{index}{{fill:var(--s{index})}}"
        );
        if let Some((curve, dash)) =
            round(index, order).checked_sub(1).map(|n| DASHES[n % DASHES.len()])
        {
            let _ = write!(
                css,
                ".{name} .curve.c{index}{{stroke-dasharray:{curve}}}.{name} .dash.c{index}{{stroke-dasharray:{dash}}}"
            );
        }
    }
    (name, css)
}

/// How often the colours were used up before a series: its lines and points have another shape then.
pub(super) fn round(index: usize, order: Order) -> usize {
    match order {
        Order::None => index / DIFFERENT[0].len(),
        Order::Rising | Order::Engines => 0,
    }
}

fn properties(count: usize, order: Order, ground: usize) -> String {
    let mut css = String::new();
    for index in 0..count {
        let color = match order {
            Order::None | Order::Engines => DIFFERENT[ground][index % DIFFERENT[ground].len()],
            Order::Rising => {
                let (from, to) = SEEN[ground];
                let share = if count > 1 { index as f64 / (count - 1) as f64 } else { 0.5 };
                blended(&RISING, from + share * (to - from))
            }
        };
        let _ = write!(css, "--s{index}:{};", hex(color));
    }
    css
}

impl Shades {
    /// The shade of a share of the scale.
    pub(super) fn at(self, share: f64) -> Rgb {
        match self {
            Self::Goodput => blended(&VIRIDIS, share),
            Self::Ping => blended(&BROWN, share),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a short table, and colours from 0 to 255"
)]
fn blended(colors: &[Rgb], at: f64) -> Rgb {
    let place = at.clamp(0.0, 1.0) * (colors.len() - 1) as f64;
    let index = (place as usize).min(colors.len() - 2);
    let share = place - index as f64;
    let blend = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    let (low, high) = (colors[index], colors[index + 1]);
    (blend(low.0, high.0), blend(low.1, high.1), blend(low.2, high.2))
}

pub(super) fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// WCAG 2's relative luminance.
fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Black or white, whichever is read more easily there.
pub(super) fn ink_on(color: Rgb) -> &'static str {
    // Where black's contrast (L + 0.05) / 0.05 equals white's 1.05 / (L + 0.05).
    if luminance(color) > 0.179 { "#000000" } else { "#ffffff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_on_every_colour() {
        assert_eq!(ink_on(Shades::Goodput.at(0.0)), "#ffffff");
        assert_eq!(ink_on(Shades::Goodput.at(1.0)), "#000000");
    }

    /// WCAG 2.2, criterion 1.4.11: graphical objects.
    #[test]
    fn lines_are_seen_on_their_ground() {
        let contrast = |a: Rgb, b: Rgb| {
            let [a, b] = [a, b].map(luminance);
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for (ground, color) in [(0, (255, 255, 255)), (1, (22, 24, 27))] {
            let (from, to) = SEEN[ground];
            let rising =
                (0..=10).map(|n| blended(&RISING, from + f64::from(n) / 10.0 * (to - from)));
            for line in DIFFERENT[ground].into_iter().chain(rising) {
                assert!(contrast(line, color) >= 3.0, "{} on {}", hex(line), hex(color));
            }
        }
    }

    #[test]
    fn a_colour_that_comes_again_has_other_dashes() {
        let (_, css) = style(13, Order::None);
        assert!(!css.contains(".curve.c5{") && !style(13, Order::Rising).1.contains(".curve"));
        let dashes = |index: usize| {
            let rule = css.split(&format!(".curve.c{index}{{")).nth(1).unwrap();
            rule.split('}').next().unwrap().to_owned()
        };
        assert_eq!(dashes(6), dashes(11), "of two colours");
        assert_ne!(dashes(6), dashes(12), "of one");
    }
}
