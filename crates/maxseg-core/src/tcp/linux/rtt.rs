//! The smoothed round trip and the retransmission timeout (`net/ipv4/tcp_input.c`).

use super::Socket;
use super::cc::CongestionControl;
use super::clock::Clock;
use super::windowed::WindowedMin;

/// `tcp_min_rtt_wlen`: the least round trip is that of the last so many seconds.
const MIN_RTT_SECONDS: u64 = 300;
/// `TCP_RTO_MAX` in seconds.
pub(super) const RTO_MAX_SECONDS: u64 = 120;

/// What a sender knows of the round trip, in microseconds; the average is held in eighths and the mean
/// deviation in quarters.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundTrip {
    /// `srtt_us`: eight times the average; 0 while there is none.
    pub(super) srtt8: u64,
    pub(super) mdev: u64,
    mdev_max: u64,
    pub(super) rttvar: u64,
    /// The round that `mdev_max` is of ends here.
    rtt_seq: u64,
    min: WindowedMin,
}

impl RoundTrip {
    pub(super) fn new(clock: &Clock) -> Self {
        let min = WindowedMin::new(clock.jiffies, u64::MAX);
        Self { srtt8: 0, mdev: 1_000_000, mdev_max: 0, rttvar: 0, rtt_seq: 0, min }
    }

    /// `tcp_min_rtt`.
    pub(super) const fn min(&self) -> u64 {
        self.min.get()
    }

    /// Without a round trip from the handshake the estimate begins at three seconds (`tcp_init_metrics`,
    /// `net/ipv4/tcp_metrics.c`; `TCP_TIMEOUT_FALLBACK`).
    pub(super) const fn fall_back(&mut self) {
        self.rttvar = 3_000_000;
        self.mdev = 3_000_000;
        self.mdev_max = 3_000_000;
    }

    /// Folds in a round trip (`tcp_rtt_estimator`).
    #[inline(always)]
    fn sample(&mut self, micros: u64, rto_min: u64, snd_una: u64, snd_nxt: u64) {
        if self.srtt8 == 0 {
            self.srtt8 = (micros << 3).max(1);
            self.mdev = micros << 1;
            self.rttvar = self.mdev.max(rto_min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
            return;
        }
        // Neither sum wraps: what is taken away is an eighth of the average at most, and a quarter of the deviation.
        let error = micros.cast_signed() - (self.srtt8 >> 3).cast_signed();
        self.srtt8 = self.srtt8.wrapping_add_signed(error).max(1);
        let mut change = error.abs() - (self.mdev >> 2).cast_signed();
        // A round trip that shrinks raises the deviation an eighth as fast.
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev = self.mdev.wrapping_add_signed(change);
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if snd_una > self.rtt_seq {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = rto_min;
        }
    }
}

/// The round trips that one acknowledgement shows, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundTrips {
    /// Of the first packet that it acknowledges.
    pub(super) first: Option<u64>,
    /// Of the first that its SACK blocks tell of.
    pub(super) sacked: Option<u64>,
    /// Of the last: what congestion control gets.
    pub(super) last: Option<u64>,
}

impl Socket {
    /// `TCP_RTO_MIN`, in jiffies: 200 ms.
    pub(super) const fn standard_rto_min(&self) -> u64 {
        self.clock.seconds(1, 5)
    }

    /// `tcp_rto_min_us`.
    #[inline]
    pub(super) fn rto_min_micros(&self) -> u64 {
        self.clock.micros_of_jiffies(self.rto_min)
    }

    /// What the timestamps option shows, in microseconds: no finer than a millisecond, and nothing where the echoed stamp is later than now. A
    /// paced packet has the stamp of its turn, and one that is sent again may go before that (`tcp_rtt_tsopt_us`).
    pub(super) fn round_trip_of_stamps(&self, least: u64) -> Option<u64> {
        let millis = Clock::millis_of(self.clock.nanos).checked_sub(self.rcv_tsecr)?;
        Some((if millis == 0 { least } else { millis }) * 1000)
    }

    /// Takes the round trips of an acknowledgement; gives whether there was one, and the one for congestion
    /// control (`tcp_ack_update_rtt`). `acknowledges` tells whether it acknowledged anything in order,
    /// `may_be_delayed` whether the receiver may have waited with it.
    pub(super) fn take_round_trips(
        &mut self,
        seen: RoundTrips,
        acknowledges: bool,
        may_be_delayed: bool,
    ) -> (bool, Option<u64>) {
        let mut last = seen.last;
        let mut first = seen.first.or(seen.sacked);
        if first.is_none() && self.rcv_tsecr != 0 && acknowledges {
            first = self.round_trip_of_stamps(1);
            last = first;
        }
        let Some(micros) = first else { return (false, last) };
        self.learn_round_trip(micros, last, may_be_delayed);
        (true, last)
    }

    /// The round trip of the first packet acknowledged makes the timeout, that of the last the least of all.
    #[inline(always)]
    pub(super) fn learn_round_trip(
        &mut self,
        micros: u64,
        last: Option<u64>,
        may_be_delayed: bool,
    ) {
        if let Some(last) = last
            && !(may_be_delayed && last > self.rtt.min())
        {
            let span = MIN_RTT_SECONDS * self.host.hz;
            let value = if last == 0 { self.clock.micros_of_jiffies(1) } else { last };
            self.rtt.min.update(span, self.clock.jiffies, value);
        }
        self.last_round_trip = Some(micros);
        let rto_min = self.rto_min_micros();
        self.rtt.sample(micros, rto_min, self.snd_una, self.snd_nxt);
        self.rto = self.rto_of_estimate();
        self.backoff = 0;
    }

    /// `__tcp_set_rto` and `tcp_bound_rto`: the average and four times the mean deviation, which is 200 ms
    /// or more.
    #[inline]
    pub(super) fn rto_of_estimate(&self) -> u64 {
        let rto = self.clock.jiffies_of_micros((self.rtt.srtt8 >> 3) + self.rtt.rttvar);
        rto.min(RTO_MAX_SECONDS * self.host.hz)
    }

    /// What pacing would send at, which is also what sizes bursts (`tcp_update_pacing_rate`).
    #[inline(always)]
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.congestion.pacing_rate() {
            self.pacing_rate = rate.min(self.host.max_pacing_rate);
            return;
        }
        let percent = if self.window.cwnd < self.window.ssthresh / 2 {
            self.host.tcp_pacing_ss_ratio
        } else {
            self.host.tcp_pacing_ca_ratio
        };
        let rate = self.mss_cache
            * ((1_000_000 / 100) << 3)
            * percent
            * self.window.cwnd.max(self.packets_out);
        let rate = rate.checked_div(self.rtt.srtt8).unwrap_or(rate);
        self.pacing_rate = rate.min(self.host.max_pacing_rate);
    }
}
