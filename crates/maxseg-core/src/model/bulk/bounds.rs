//! Where the bounds of a bulk flow hold only after a while, or not at all.

use super::super::flow_path::room;
use super::super::{Formula, bbr, cubic, whole};
use super::bursts::{measured, range};
use super::{ThroughputBound, Transfer};
use crate::engine::Caveat;
use crate::settings::CongestionName;
use crate::units::{Bytes, approx};

/// A bound that leaves out more than this of what a run carries is no bound.
const FAR_OFF: f64 = 0.1;
/// A queue that fills for the first time after this share of a run is shorter on average.
const FIRST: f64 = 0.5;
/// ACKs that wait for so many round trips show a loss late: the model has 1.3 to 1.4 times the simulator's goodput at 100 of them.
const LONG_WAIT: f64 = 10.0;
/// Of a window of fewer segments than this it is chance which of them an acknowledgement covers.
const FEW_SEGMENTS: f64 = 6.0;
/// The same where a full way back spaces the acknowledgements: of a round trip the odd one counts.
const FEW_SEGMENTS_BY_ACKS: f64 = 20.0;
/// The model's goodput ÷ the simulator's there, at least and at most: stack `linux`, 20 Mbit/s, round trips of 2 to 200 ms, fixed
/// windows of 100 B on and windows that `tcp_rmem` bounds from 3000 B on.
const OF_FEW_SEGMENTS: (f64, f64) = (0.04, 2.1);
/// The same where the way back carries 6 kbit/s.
const OF_FEW_BY_ACKS: (f64, f64) = (0.95, 1.6);

impl Transfer<'_> {
    /// What the estimate leaves out of its bound.
    pub(super) fn bound_caveats(&self, bound: &ThroughputBound) -> Vec<Caveat> {
        let caveats = [
            self.period_caveat(bound),
            self.filling_caveat(bound),
            self.slow_reader_caveat(bound),
            self.lost_acks_caveat(bound),
            self.few_segments_caveat(bound),
            self.overshoot_caveat(bound),
            self.short_path_of_bbr(),
        ];
        caveats.into_iter().flatten().collect()
    }

    /// How long CUBIC's window takes from a full path to a full queue, in seconds, where no loss was before: the curve begins flat
    /// (RFC 9438 §4.2, §4.10), and it grows by half a segment for each that is acknowledged at most (`bictcp_update`). Others grow by a
    /// segment in each round trip, or overflow it in slow start.
    fn first_filling(&self) -> f64 {
        if self.sender.congestion != CongestionName::Cubic {
            return 0.0;
        }
        let tooth = self.saw_tooth();
        let acknowledged = tooth.path / self.rtt;
        libm::cbrt(tooth.queue / cubic::AGGRESSIVENESS).max(2.0 * tooth.queue / acknowledged)
    }

    /// A saw-tooth that the run is too short for has not its mean.
    fn period_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let (period, all) = (self.tooth_period(), self.active(bound));
        let fills_path = self.queue_of_all() > 0.0;
        let first = self.first_filling();
        if bound.formula == Formula::SawTooth && fills_path && period <= all && first > FIRST * all
        {
            let text = format!(
                "CUBIC takes about {} to fill the queue for the first time, and the run {}: RTT, pings and what is in flight are too large",
                approx::time(first),
                approx::time(all)
            );
            return Some(Caveat::new("outside-range", text));
        }
        (bound.formula == Formula::SawTooth && fills_path && period > all).then(|| {
            let text = format!(
                "the sawtooth has a period of about {}, and the run {}: the formulas give means of a whole period, of the queue as well",
                approx::time(period),
                approx::time(all)
            );
            Caveat::new("outside-range", text)
        })
    }

    /// A queue that takes much of the run to fill is shorter on average.
    fn filling_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let all = self.active(bound);
        (bound.formula == Formula::Link && bound.queue > FAR_OFF * all).then(|| {
            let text = format!(
                "the queue of {} takes much of the {} of the run to fill: RTT and pings are too long",
                approx::time(bound.queue),
                approx::time(all)
            );
            Caveat::new("outside-range", text)
        })
    }

    /// Up to a full buffer the sender does not notice a slow reader.
    fn slow_reader_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let read = self.read_bps * self.active(bound) / 8.0;
        // A send buffer that bounds what is in flight is no bound of what the receiver holds.
        let taken = self.flight.offered;
        (bound.formula == Formula::Reader && taken > FAR_OFF * read).then(|| {
            let text = format!(
                "the receiver's buffer takes up to {} at the path's rate before its slow reader counts, beside {} that are read: too low",
                Bytes::new(whole(taken)),
                Bytes::new(whole(read))
            );
            Caveat::new("outside-range", text)
        })
    }

    /// Acknowledgements that a full queue of the way back refuses are no loss of data: the next stands for more.
    fn lost_acks_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        if bound.formula != Formula::AckPath {
            return None;
        }
        let room = room(self.bottleneck_back.link, self.ack) * self.bottleneck_back.seconds;
        let waits = 8.0 * self.flight.most / self.ack_path_bps - self.rtt;
        let text = if waits > room {
            "the queue of the way back overflows with ACKs; the formula ignores that each ACK after a lost one stands for more data: \
             too low"
                .to_owned()
        } else if waits > LONG_WAIT * self.rtt {
            format!(
                "ACKs wait up to {} in the queue of the way back; the formula ignores losses of the data meanwhile, which take round trips \
                 as long to repair: too high",
                approx::time(waits)
            )
        } else {
            return None;
        };
        Some(Caveat::new("outside-range", text))
    }

    /// When Linux acknowledges the last segments of a small window depends on what its receiver has read and last sent
    /// (`__tcp_ack_snd_check`): at once, with the next segment, or by the timer.
    fn few_segments_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        let segments = self.largest_window();
        let (few, measured) = if bound.formula == Formula::Window {
            (FEW_SEGMENTS, OF_FEW_SEGMENTS)
        } else if bound.formula == Formula::AckPath {
            (FEW_SEGMENTS_BY_ACKS, OF_FEW_BY_ACKS)
        } else {
            return None;
        };
        let (_, receiver) = self.scenario.endpoints(self.flow);
        let is_delayed = receiver.delayed_ack.is_some() && self.scenario.runs_linux(self.flow);
        (is_delayed && segments < few).then(|| {
            let text = format!(
                "how many segments an ACK covers, and which of them wait for a delayed ACK, varies with a window of {} {}, which the \
                 formula ignores: {} times the simulator's goodput",
                approx::digits(segments),
                if segments > 1.0 { "segments" } else { "segment" },
                range(measured)
            );
            Caveat::new("outside-range", text)
        })
    }

    /// Slow start overflows the queue by up to half of what path and queue hold, and without SACK a round trip repairs one loss
    /// (RFC 6582 §3.2).
    fn overshoot_caveat(&self, bound: &ThroughputBound) -> Option<Caveat> {
        if bound.formula != Formula::SawTooth || self.has_sack {
            return None;
        }
        let tooth = self.saw_tooth();
        let top = tooth.path + tooth.queue;
        let lost = f64::midpoint(tooth.path, tooth.queue).min(self.flight.most / self.mss - top);
        let rtt = self.rtt * top / tooth.path;
        let seconds = lost * rtt;
        let all = self.active(bound);
        let is_repeated = self.is_late_again(top, lost, rtt);
        (is_repeated || seconds > FAR_OFF * all).then(|| {
            let again = if is_repeated {
                format!(
                    "; the timer expires before, and slow start follows again: {} times the simulator's goodput",
                    range(measured::WITHOUT_SACK)
                )
            } else {
                String::new()
            };
            let text = format!(
                "slow start overflows the queue by up to {} segments, which without SACK take a round trip each: up to {} of {}, which the \
                 formula ignores{again}",
                approx::digits(lost),
                approx::time(seconds),
                approx::time(all)
            );
            Caveat::new("outside-range", text)
        })
    }

    /// BBR was compared where the path holds many packets.
    fn short_path_of_bbr(&self) -> Option<Caveat> {
        let path = self.saw_tooth().path;
        let is_short = self.sender.congestion == CongestionName::Bbr && path < bbr::LEAST_WINDOW;
        is_short.then(|| {
            let text = format!(
                "the path holds {} packets, and BBR keeps {} in flight or more: goodput, queue and losses depend on its bursts, which the formula \
                 ignores",
                approx::digits(path),
                bbr::LEAST_WINDOW
            );
            Caveat::new("bbr", text)
        })
    }
}
