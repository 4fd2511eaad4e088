//! What Linux makes of full segments that vanish without a word (`tcp_mtu_probing` in
//! `net/ipv4/tcp_timer.c`; RFC 2923 §2.1, RFC 4821 §7.7).

use super::linux::MIN_SND_MSS;
use crate::units::{Bytes, Mss};

/// Timeouts in a row that make a segment suspicious to the stacks that count them, as many as Linux's `tcp_retries1`. Linux itself
/// goes by the time: see [`timeouts_of_linux`].
pub const SUSPICIOUS: u32 = 3;
/// How long after the first retransmission, in seconds, a timeout of Linux makes a segment suspicious: as long as a timer of 200 ms
/// takes that expires once and doubles for each of `tcp_retries1` retransmissions (`retransmits_timed_out`, `tcp_model_timeout`).
pub const SUSPICIOUS_AFTER: f64 = SUSPICIOUS_AFTER_MILLIS as f64 / 1e3;
/// The same in milliseconds.
pub(crate) const SUSPICIOUS_AFTER_MILLIS: u64 = 3000;
/// The size with which probing begins: Linux's `tcp_base_mss`.
pub const BASE: u64 = BASE_MSS as u64;
const BASE_MSS: u16 = 1024;
/// The size below which it does not go: Linux's `tcp_mtu_probe_floor`.
const FLOOR: u16 = 48;

/// What Linux's search for the path MTU goes by, under the names of its sysctls below `net.ipv4` (`tcp_sk_init`, `net/ipv4/tcp_ipv4.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtuSearch {
    /// The payload with which it begins, in bytes.
    pub tcp_base_mss: u16,
    /// The payload below which it does not halve what is lost, in bytes.
    pub tcp_mtu_probe_floor: u16,
    /// So long after it began it begins anew, in seconds.
    pub tcp_probe_interval: u16,
    /// A range of fewer bytes is not searched further.
    pub tcp_probe_threshold: u16,
}

impl Default for MtuSearch {
    fn default() -> Self {
        Self {
            tcp_base_mss: BASE_MSS,
            tcp_mtu_probe_floor: FLOOR,
            tcp_probe_interval: 600,
            tcp_probe_threshold: 8,
        }
    }
}

/// The most payload that passes a path, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    /// Of that, what routers tell of.
    pub told: u64,
    /// What is longer is lost, without a word where no router tells of it.
    pub silent: u64,
}

impl MtuSearch {
    /// What `tcp_mtu_probe_floor` takes in bytes, and what of `tcp_base_mss` is of use: the kernel sends no less (`tcp_min_snd_mss`), and a
    /// packet has no more.
    pub const LEAST: u64 = MIN_SND_MSS.get();
    /// See [`Self::LEAST`].
    pub const MOST: u64 = u16::MAX as u64;

    /// The size to try once this one is suspicious, in bytes of payload (`tcp_mtu_probing`, `net/ipv4/tcp_timer.c`).
    pub(crate) fn halved(self, size: u64) -> u64 {
        let half = (size / 2).min(self.tcp_base_mss.into());
        half.max(self.tcp_mtu_probe_floor.into()).max(MIN_SND_MSS.get())
    }

    /// The size that probes find: they halve the range from `low`, which passes, to `high` (`tcp_mtu_probe`, `net/ipv4/tcp_output.c`). A
    /// router's word ends the range at its MTU (`tcp_sync_mss`), a lost probe below itself (`tcp_mtup_probe_failed`). All are bytes of payload.
    pub fn grown(self, low: u64, high: u64, passes: Passes) -> u64 {
        let (mut low, mut high) = (low, high);
        while high >= low.saturating_add(self.tcp_probe_threshold.into()) {
            let probe = u64::midpoint(high, low);
            if probe > passes.told {
                high = passes.told;
            } else if probe > passes.silent {
                high = probe - 1;
            } else if probe > low {
                low = probe;
            } else {
                break;
            }
        }
        low
    }

    /// The sizes that probes find one after the other where all of them pass, from `low` up to `high`, in bytes of payload.
    pub fn sizes(self, low: u64, high: u64) -> impl Iterator<Item = u64> {
        let threshold = u64::from(self.tcp_probe_threshold.max(1));
        std::iter::successors(Some(low), move |low| {
            (high >= low.saturating_add(threshold)).then(|| u64::midpoint(high, *low))
        })
        .skip(1)
        .take(u64::BITS as usize)
    }

    /// What has to wait to be sent, and what the peer has to offer, in bytes, before a segment of `mss` is followed by a probe for sizes up to
    /// `high`: so many segments behind it show that it was lost (`size_needed` in `tcp_mtu_probe`).
    pub const fn needed(mss: u64, high: u64) -> u64 {
        u64::midpoint(high, mss) + (TCP_REORDERING + 1) * mss
    }
}

/// `net.ipv4.tcp_reordering`.
const TCP_REORDERING: u64 = 3;
/// With a smaller congestion window, in segments, a lost probe would be found by a timeout.
pub const LEAST_PROBING_WINDOW: u64 = 11;

/// The size that a sender takes to pass once segments are suspicious (`search_low` of `icsk_mtup`), in bytes of payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    rules: MtuSearch,
    low: u64,
    has_begun: bool,
}

impl Search {
    /// Before any segment is suspicious. `clamp` is the payload that the MSS options leave, whatever the MTU: a segment that the MTU
    /// makes smaller than the first size goes once more as it is.
    pub fn new(rules: MtuSearch, clamp: Mss) -> Self {
        Self { rules, low: clamp.bytes().get().min(rules.tcp_base_mss.into()), has_begun: false }
    }

    /// The same of a sender whose first segments have the first size already (`tcp_mtu_probing = 2`).
    pub fn from_the_start(rules: MtuSearch, clamp: Mss) -> Self {
        Self { has_begun: true, ..Self::new(rules, clamp) }
    }

    /// The size that is taken to pass, in bytes of payload.
    pub const fn low(&self) -> u64 {
        self.low
    }

    /// A timeout that makes the segment suspicious: the first begins the search, each further one halves the size. Gives the most
    /// payload of a segment from now on; `None` at the floor.
    pub fn on_suspicion(&mut self) -> Option<u64> {
        if self.has_begun {
            let half = self.rules.halved(self.low);
            if half >= self.low {
                return None;
            }
            self.low = half;
        }
        self.has_begun = true;
        Some(self.low)
    }
}

/// After how many timeouts in a row Linux finds what [`found`] gives after `timeouts` of them, where the first one comes after so
/// many seconds and each after twice as many: it goes by the time, not by their number.
pub fn timeouts_of_linux(first_timeout: f64, timeouts: u32) -> u32 {
    // The timeout k comes 2^k - 2 first timeouts after the first, which retransmits for the first time.
    let needed = libm::ceil(libm::log2(2.0 + SUSPICIOUS_AFTER / first_timeout.max(1e-3)));
    let halvings = timeouts.saturating_sub(SUSPICIOUS);
    (2..30).find(|k| f64::from(*k) >= needed).unwrap_or(30) + halvings
}

/// The first size that passes where `allowed` does, and how many timeouts in a row it takes to get there; `None` where none passes.
/// `search` is one before any timeout, and `mss` the size of the first segments.
pub fn found(mut search: Search, mss: Mss, allowed: Bytes) -> Option<(Mss, u32)> {
    let mut size = mss.bytes().get();
    let mut timeouts = 0;
    while size > allowed.get() {
        size = size.min(search.on_suspicion()?);
        timeouts = if timeouts == 0 { SUSPICIOUS } else { timeouts + 1 };
    }
    Some((Mss::new(size).ok()?, timeouts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_counts_time_and_not_timeouts() {
        // Linux 6.18, RTT 30 ms: first retransmission at 0.33 s, then 0.81 and 1.77 s, the first smaller segment at 3.65 s.
        assert_eq!(timeouts_of_linux(0.24, 3), 4);
        assert_eq!(timeouts_of_linux(0.205, 3), 5);
        assert_eq!(timeouts_of_linux(0.5, 3), 3);
        assert_eq!(timeouts_of_linux(2.0, 3), 2);
        // The base size does not pass, its half does.
        assert_eq!(timeouts_of_linux(0.24, 4), 5);
    }

    #[test]
    fn the_search_begins_at_the_base_or_below_it_at_the_options() {
        let found = |mss, clamp, allowed| {
            let [mss, clamp] = [mss, clamp].map(|n| Mss::new(n).unwrap());
            let search = Search::new(MtuSearch::default(), clamp);
            found(search, mss, Bytes::new(allowed)).map(|(mss, timeouts)| (mss.get(), timeouts))
        };
        assert_eq!(found(1448, 1448, 1100), Some((1024, 3)));
        assert_eq!(found(1448, 1448, 660), Some((512, 4)));
        assert_eq!(found(900, 1448, 660), Some((512, 4)), "an MTU of the sender: 900 goes again");
        assert_eq!(found(900, 900, 660), Some((450, 4)), "the peer's option bounds what is halved");
        assert_eq!(found(524, 524, 200), Some((131, 5)));
        assert_eq!(found(500, 500, 500), Some((500, 0)));
        assert_eq!(found(1448, 1448, 47), None);
        assert_eq!(found(1448, 1448, 48), Some((48, 8)));
    }

    #[test]
    fn other_sizes_of_the_search_are_those_of_the_sysctls() {
        let rules =
            MtuSearch { tcp_base_mss: 512, tcp_mtu_probe_floor: 200, ..MtuSearch::default() };
        let clamp = Mss::new(1448).unwrap();
        let found = |search, mss, allowed| {
            let mss = Mss::new(mss).unwrap();
            found(search, mss, Bytes::new(allowed)).map(|(mss, timeouts)| (mss.get(), timeouts))
        };
        assert_eq!(found(Search::new(rules, clamp), 1448, 1100), Some((512, 3)));
        assert_eq!(found(Search::new(rules, clamp), 1448, 300), Some((256, 4)));
        assert_eq!(found(Search::new(rules, clamp), 1448, 201), Some((200, 5)), "the floor");
        assert_eq!(found(Search::new(rules, clamp), 1448, 199), None);
        // From the start the first suspicion halves.
        let from_the_start = Search::from_the_start(rules, clamp);
        assert_eq!(found(from_the_start, 512, 600), Some((512, 0)));
        assert_eq!(found(from_the_start, 512, 300), Some((256, 3)));
        // A floor above the base: nothing smaller is tried.
        let rules = MtuSearch { tcp_mtu_probe_floor: 700, ..rules };
        assert_eq!(found(Search::from_the_start(rules, clamp), 512, 300), None);
    }

    /// 1076 and 1500 are halved to 1288, 1394, 1447, 1473, 1486 and 1493 bytes, of which 52 are headers and timestamps.
    #[test]
    fn probes_end_below_the_largest_size_that_passes() {
        let rules = MtuSearch::default();
        let all = Passes { told: 1448, silent: 1448 };
        assert_eq!(rules.grown(1024, 1448, all), 1441);
        assert_eq!(rules.grown(1024, 1448, Passes { silent: 1348, ..all }), 1347, "MTU of 1400");
        assert_eq!(rules.grown(1024, 1448, Passes { told: 1348, silent: 1348 }), 1342, "and told");
        assert_eq!(rules.grown(512, 1448, all), 1444);
        assert_eq!(rules.grown(1460, 1448, all), 1460, "a base above the path's");
        assert_eq!(rules.grown(1024, 1448, Passes { told: 900, silent: 900 }), 1024);
        let exact = MtuSearch { tcp_probe_threshold: 0, ..rules };
        assert_eq!(exact.grown(1024, 1448, all), 1447, "probes of the same size go on");
        assert_eq!(MtuSearch::needed(1024, 1448), 1236 + 4 * 1024);
    }
}
