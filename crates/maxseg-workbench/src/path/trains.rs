//! Trains of datagrams: what the path carries, whatever is lost (RFC 6349 §3.2.2).

use std::time::Duration;

use maxseg_core::rfc6349::{Train, TrainsFound, has_passed, judge_trains};
use maxseg_linux::far_end::{FarEndError, TrainPlan};
use maxseg_wire::responder::Towards;

use super::far_end::{Baseline, FarEnd, direction_word};
use super::{MtuReport, PathObserver};

/// Lengths of short trains: the first that lasts long enough counts, so that a slow link is not filled for seconds.
const SHORT: [u32; 3] = [8, 64, 512];
/// Rates of shorter times are of the clocks of hosts as much as of the link.
const LEAST_SHORT: Duration = Duration::from_millis(50);
/// Of the rate of the short train: below what any link carries, and above.
const SLOWER: f64 = 0.5;
const FASTER: f64 = 1.15;
/// So long the two longer trains take, and so many packets they have at least.
const SLOWER_TIME: (Duration, u32) = (Duration::from_millis(500), 24);
const FASTER_TIME: (Duration, u32) = (Duration::from_secs(1), 80);
/// A faster train that passes whole is followed by one of twice its rate, so often.
const MOST_DOUBLED: u32 = 3;
/// A host that sends less than this share of what it was to send is what holds the train.
const HOST: f64 = 0.9;
/// Bytes of a train at most.
const MOST_BYTES: u32 = 32 << 20;
/// The largest packet; larger ones pass on loopback alone.
const LARGEST: u32 = 9000;

/// What trains show of a direction; `None` where the far end sends and counts none, where too few arrive, and
/// where large packets vanish on the way back: why is noted.
pub(super) fn trains(
    end: &mut FarEnd<'_>,
    towards: Towards,
    (mtu, notes): (&MtuReport, &mut Vec<String>),
    baseline: Option<&Baseline>,
    observer: &mut dyn PathObserver,
) -> Result<Option<TrainsFound>, FarEndError> {
    /// What every path carries.
    const LEAST_MTU: u32 = 576;
    let known = match towards {
        Towards::Responder => mtu.forward_bytes,
        Towards::Client => mtu.reverse_bytes().or(mtu.forward_bytes),
    };
    // The answers, which list every arrival, would vanish too.
    let direction = direction_word(towards);
    let mut without = |why: &str| {
        notes.push(format!("{direction}: no trains of datagrams, by which the rate is known whatever is lost: {why}"));
        Ok(None)
    };
    if mtu.reverse.as_ref().is_some_and(|reverse| reverse.vanishes_bytes.is_some()) {
        return without("large packets vanish on the way back");
    }
    let packet = known.unwrap_or(LEAST_MTU).min(LARGEST);
    if matches!(end, FarEnd::Iperf3(_)) {
        return Ok(None);
    }
    let calm_s = baseline.map(Baseline::calm_s);
    let Some(mut sent) = Sender::new(end, towards, packet, calm_s)? else {
        return without("no UDP datagram arrives at the far end");
    };
    observer.on_step(&format!("{direction}: trains of datagrams"));
    let mut short = None;
    for count in SHORT {
        let train = sent.train(count, None)?;
        let is_long = train.arrival_s() >= LEAST_SHORT.as_secs_f64();
        short = train.spacing_bps().map(|bps| (train, bps)).or(short);
        if is_long && short.is_some() {
            break;
        }
    }
    let Some((short, bps)) = short else {
        return without("too few of them arrived one behind the other");
    };
    let slower = sent.for_time(SLOWER * bps, SLOWER_TIME)?;
    let mut rate = FASTER * bps;
    let mut faster = sent.for_time(rate, FASTER_TIME)?;
    for _ in 0..MOST_DOUBLED {
        if !has_passed(&slower, &faster) || faster.sent_bps() < HOST * rate {
            break;
        }
        rate *= 2.0;
        faster = sent.for_time(rate, FASTER_TIME)?;
    }
    match judge_trains(&short, &slower, &faster) {
        None => without("what arrived of them shows no rate"),
        found => Ok(found),
    }
}

struct Sender<'e, 'a> {
    end: &'e mut FarEnd<'a>,
    towards: Towards,
    packet: u16,
    calm_s: Option<f64>,
}

impl<'e, 'a> Sender<'e, 'a> {
    /// `None` where no datagrams arrive.
    fn new(
        end: &'e mut FarEnd<'a>,
        towards: Towards,
        packet: u32,
        calm_s: Option<f64>,
    ) -> Result<Option<Self>, FarEndError> {
        let FarEnd::Responder(client) = &mut *end else { return Ok(None) };
        let packet = u16::try_from(packet).unwrap_or(u16::MAX);
        let is_open = client.open_datagrams()?;
        Ok(is_open.then_some(Self { end, towards, packet, calm_s }))
    }

    fn train(&mut self, count: u32, bits_per_second: Option<u64>) -> Result<Train, FarEndError> {
        let (towards, packet_bytes) = (self.towards, self.packet);
        let plan = TrainPlan { towards, packet_bytes, count, bits_per_second };
        self.end.train(&plan, self.calm_s)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates and counts")]
    fn for_time(&mut self, bps: f64, (time, least): (Duration, u32)) -> Result<Train, FarEndError> {
        let bits = 8.0 * f64::from(self.packet);
        let most = MOST_BYTES / u32::from(self.packet.max(1));
        let count = ((bps * time.as_secs_f64() / bits) as u32).max(least).min(most);
        self.train(count, Some(bps as u64))
    }
}
