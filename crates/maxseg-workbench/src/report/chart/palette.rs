//! Colours that also the colour-blind tell apart, on light ground and on dark.

use std::fmt::Write as _;

/// What the order of the series means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They rise: light to dark says which is more.
    Rising,
    /// They are just different.
    None,
}

/// Points of the viridis map (Smith and van der Walt), from 0 to 1.
const VIRIDIS: [(u8, u8, u8); 9] = [
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

/// Okabe and Ito's colours, without black and yellow, which one of the grounds would swallow.
const DIFFERENT: [(u8, u8, u8); 6] =
    [(0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (230, 159, 0)];

/// CSS custom properties `--s0`, `--s1` … for `count` series, on light or dark ground.
pub(super) fn properties(count: usize, order: Order, dark: bool) -> String {
    let mut css = String::new();
    for index in 0..count {
        let (r, g, b) = match order {
            Order::None => DIFFERENT[index % DIFFERENT.len()],
            Order::Rising => {
                // The ends of the map vanish on one of the grounds.
                let (from, to) = if dark { (0.95, 0.45) } else { (0.75, 0.0) };
                let share = if count > 1 { index as f64 / (count - 1) as f64 } else { 0.5 };
                viridis(from + share * (to - from))
            }
        };
        let _ = write!(css, "--s{index}:#{r:02x}{g:02x}{b:02x};");
    }
    css
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a table of nine, and colours from 0 to 255"
)]
pub(super) fn viridis(at: f64) -> (u8, u8, u8) {
    let place = at.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let index = (place as usize).min(VIRIDIS.len() - 2);
    let share = place - index as f64;
    let blend = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    let (low, high) = (VIRIDIS[index], VIRIDIS[index + 1]);
    (blend(low.0, high.0), blend(low.1, high.1), blend(low.2, high.2))
}
