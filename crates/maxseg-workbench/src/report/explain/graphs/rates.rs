//! Throughput, interval by interval.

use maxseg_core::advise::Case;
use maxseg_core::evidence::Bin;

use super::super::super::chart::{LayerKind, Panel, Unit};
use super::super::colors::{ACKED, AGAIN, SENT};
use super::tables::bins_table;
use super::{Clock, is_acked_known, is_sent_known, layer, not_captured, panel};

/// Rates of all intervals: the page joins what is too short to be seen, and shows it when it is zoomed.
pub(super) fn throughput(case: &Case<'_>, clock: Clock) -> Panel {
    let data = case.data();
    let bins = data.bins.whole();
    let line = |is_known: bool, of: fn(&Bin) -> u64| -> Vec<(f64, f64)> {
        let rate = |bin: &Bin| 8.0 * of(bin) as f64 / bin.duration.as_secs_f64().max(1e-9);
        let shown = if is_known { bins.as_slice() } else { &[] };
        let mut rates: Vec<(f64, f64)> =
            shown.iter().map(|bin| (clock.s(bin.at), rate(bin))).collect();
        // Behind the last interval nothing more came. Where that is the end of the connection as well, nothing is to be seen of it.
        let last = shown.last().map(|bin| {
            let is_end = case.evidence.end.since(bin.end()) <= bin.duration;
            (clock.s(bin.end()), if is_end { rate(bin) } else { 0.0 })
        });
        rates.extend(last);
        rates
    };
    let again = bins.iter().any(|bin| bin.resent_bytes > 0);
    let (is_sent, is_acked) = (is_sent_known(case), is_acked_known(case));
    let layers = vec![
        layer(
            "sent, without retransmissions",
            LayerKind::Rates,
            SENT,
            line(is_sent, |bin| bin.sent_bytes),
        ),
        // Beside the time-sequence graph's, which is cumulative.
        layer(
            "acknowledged, with SACK",
            LayerKind::Rates,
            ACKED,
            line(is_acked, |bin| bin.acked_bytes),
        ),
        layer("retransmitted", LayerKind::RateMarks, AGAIN, line(again, |bin| bin.resent_bytes)),
    ];
    let table = bins_table(data, clock);
    let missing = not_captured(case).unwrap_or("No payload was captured.");
    Panel { missing, table, ..panel("throughput", "Throughput", 170.0, Unit::Rate, layers) }
}

#[cfg(test)]
mod tests {
    use maxseg_core::evidence::{Bins, DirectionStats};
    use maxseg_core::units::Time;
    use maxseg_testkit::{at, windowed};

    use super::*;

    const CLOCK: fn() -> Clock = || Clock { begin: at(0) };

    #[test]
    fn every_interval_is_there_and_the_last_one_ends() {
        let mut evidence = windowed(0);
        let mut bins = Bins::new(at(0), Time::from_millis(1));
        for ms in 0..1500 {
            bins.at(at(ms)).sent_bytes = 125;
        }
        evidence.forward.bins = bins;
        let panel = throughput(&Case::of(&evidence), CLOCK());
        let sent = &panel.layers[0].points;
        assert_eq!((sent.len(), sent[0], sent[1500]), (1501, (0.0, 1e6), (1.5, 0.0)));
        assert!(panel.layers[2].points.is_empty(), "nothing was sent again");
        evidence.end = at(1500);
        let panel = throughput(&Case::of(&evidence), CLOCK());
        assert_eq!(panel.layers[0].points[1500], (1.5, 1e6), "no fall at the very end");
    }

    /// A capture of one direction says nothing of the other: no rate of zero.
    #[test]
    fn what_was_not_captured_is_not_zero() {
        let mut evidence = windowed(0);
        evidence.reverse = DirectionStats::default();
        let panel = throughput(&Case::of(&evidence), CLOCK());
        assert!(!panel.layers[0].points.is_empty() && panel.layers[1].points.is_empty());
        evidence.forward.packets = 0;
        let panel = throughput(&Case::of(&evidence), CLOCK());
        assert!(panel.layers.iter().all(|layer| layer.points.is_empty()));
        assert!(panel.missing.starts_with("Not captured: "), "{}", panel.missing);
    }
}
