//! Spacing of packets that come from another link of the relay.

use maxseg_core::framing::IpPacket;
use maxseg_core::path::LinkSpec;
use maxseg_core::units::Time;

/// When packets come to a link behind another one. The relay of that link wakes some 50 µs late, and what became due meanwhile comes
/// at once; on the wire it would come one after the other, and a short queue hold it.
///
/// Spaced as the slower wire needs it, packets leave this link when they would leave it anyway: only its queue is
/// spared what is no traffic's burst. What ARQ held behind a packet is one: it comes at once, however long the relay takes to hand it on.
#[derive(Debug)]
pub(super) struct Spacing {
    /// The link before.
    upstream: Option<LinkSpec>,
    /// When the last packet came.
    last: Option<Time>,
    /// When it was read.
    last_read: Time,
    /// The last packet's shape and its gap: most are alike.
    known: (IpPacket, Time),
}

/// What follows in less than this share of the time that the wire of a link with ARQ takes for it was let go with what it follows.
const TOGETHER: u64 = 2;

/// The most by which packets are put off: what is later makes a run invalid, but for the rare exception; and a program in a router, whose
/// packets are not from the link before, is not smoothed further.
const MOST: Time = Time::from_millis(10);

impl Spacing {
    /// Behind this link; `None` behind a host.
    pub(super) fn behind(upstream: Option<LinkSpec>) -> Self {
        Self { upstream, last: None, last_read: Time::ZERO, known: (IpPacket::NONE, Time::ZERO) }
    }

    /// The links are other ones from now on.
    pub(super) fn change(&mut self, upstream: Option<LinkSpec>) {
        *self = Self { last: self.last, ..Self::behind(upstream) };
    }

    /// When a packet came that was read at `now`, for a link that is `own`: never before the one before it.
    pub(super) fn came(&mut self, now: Time, packet: IpPacket, own: &LinkSpec) -> Time {
        let Some(upstream) = &self.upstream else {
            // It may have been behind one.
            return self.last.map_or(now, |last| last.max(now));
        };
        if upstream.arq.is_some() {
            let apart = Time::from_nanos(upstream.airtime(packet).as_nanos() / TOGETHER);
            let is_let_go = now.since(self.last_read) < apart;
            self.last_read = now;
            // A queue that sees to when packets leave has been asked up to now.
            let is_at_once = is_let_go && own.is_foreseeable();
            let came = self.last.map_or(now, |last| if is_at_once { last } else { last.max(now) });
            self.last = Some(came);
            return came;
        }
        if self.known.0 != packet {
            self.known = (packet, upstream.airtime(packet).min(own.airtime(packet)));
        }
        let soonest = self.last.map_or(now, |last| (last + self.known.1).min(now + MOST));
        let came = now.max(soonest);
        self.last = Some(came);
        came
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::errors::Arq;
    use maxseg_core::units::BitsPerSec;

    use super::*;

    fn link(mbits: u64) -> LinkSpec {
        LinkSpec::plain(BitsPerSec::new(mbits * 1_000_000).unwrap(), Time::ZERO)
    }

    const fn micros(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    /// 1500 bytes at 1 Gbit/s are 12 µs.
    #[test]
    fn what_comes_at_once_has_left_one_after_the_other() {
        let packet = IpPacket::from(1500_u32);
        let came = |upstream: Option<LinkSpec>, own: u64, read: &[u64]| -> Vec<u64> {
            let (mut spacing, own) = (Spacing::behind(upstream), link(own));
            let times = read.iter().map(|now| spacing.came(micros(*now), packet, &own));
            times.map(|at| at.as_nanos() / 1000).collect()
        };
        let read = [100, 100, 100, 110, 500];
        assert_eq!(came(Some(link(1000)), 1000, &read), [100, 112, 124, 136, 500]);
        assert_eq!(came(Some(link(1000)), 10, &read), [100, 112, 124, 136, 500], "narrower");
        assert_eq!(came(Some(link(1000)), 4000, &read), [100, 103, 106, 110, 500], "wider");
        assert_eq!(came(None, 1000, &read), read, "what a host sends at once");
        let arq = Arq { retries: 3, delay: Time::ZERO };
        let radio = LinkSpec { arq: Some(arq), ..link(100) };
        let read = [100, 140, 180, 190, 310, 500];
        assert_eq!(came(Some(radio), 1000, &read), [100, 100, 100, 100, 310, 500], "of 120 us");
        let read = [100, 100, 100, 110, 500];
        let last = came(Some(link(1)), 1, &read);
        assert_eq!(last, [100, 10100, 10100, 10110, 10500], "12 ms: not from the link before");
    }
}
