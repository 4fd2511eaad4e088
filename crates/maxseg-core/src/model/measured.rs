//! How far formulas are from packets: what `tests/agreement.rs` measures, and how it is looked up.

/// At a loss, the lowest and the highest ratio of a formula's goodput to the simulator's.
pub type Measured = (f64, f64, f64);

/// The ratios around `loss`, by the nearest measured points on both sides; `None` outside of them.
pub fn around(table: &[Measured], loss: f64) -> Option<(f64, f64)> {
    if table.first().is_none_or(|(measured, ..)| loss < *measured) {
        return None;
    }
    let above = table.iter().position(|(measured, ..)| *measured >= loss)?;
    let around = &table[above.saturating_sub(1)..=above];
    let low = around.iter().map(|(_, low, _)| *low).fold(f64::INFINITY, f64::min);
    let high = around.iter().map(|(_, _, high)| *high).fold(0.0, f64::max);
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn both_neighbours_count_and_outside_of_them_nothing_is_known() {
        let table = [(0.01, 0.8, 1.0), (0.1, 0.9, 1.3), (0.2, 1.0, 1.1)];
        // At a hundredth of the least loss that was measured a formula may be anything.
        assert_eq!(around(&table, 0.001), None);
        assert_eq!(around(&table, 0.01), Some((0.8, 1.0)));
        assert_eq!(around(&table, 0.05), Some((0.8, 1.3)));
        assert_eq!(around(&table, 0.2), Some((0.9, 1.3)));
        assert_eq!(around(&table, 0.3), None);
    }
}
