//! Packetization-layer path MTU discovery (RFC 4821): smaller segments where full ones vanish, and larger ones as far as they
//! pass (`tcp_mtu_probing`, `net/ipv4/tcp_timer.c`; `tcp_mtu_probe`, `net/ipv4/tcp_output.c`). Sizes are MTUs, in bytes.

use super::clock::Clock;
use super::{CaState, Socket, State};
use crate::mss::black_hole::{LEAST_PROBING_WINDOW, SUSPICIOUS_AFTER_MILLIS};
use crate::mss::linux::MIN_SND_MSS;

/// What a sender knows of the sizes that pass (`icsk_mtup`, `mtu_probe`).
#[derive(Debug, Clone, Copy)]
pub(super) struct MtuProbing {
    /// Segments go by it.
    is_enabled: bool,
    /// The largest size that is taken to pass, and the largest that may.
    search_low: u64,
    search_high: u64,
    /// What is on its way.
    probe: Option<Probe>,
    /// When the search began, in jiffies.
    begun: u64,
}

/// A segment that is larger than the others.
#[derive(Debug, Clone, Copy)]
struct Probe {
    mtu: u64,
    seq: u64,
    end_seq: u64,
}

/// What became of the wish to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probing {
    /// Segments go as ever.
    NotNow,
    /// Nothing goes, so that there will be room for a probe.
    Waits,
    Sent,
}

impl Socket {
    /// Payload of a segment that fills a packet of this size (`tcp_mtu_to_mss`).
    pub(super) fn mss_of_mtu(&self, mtu: u64) -> u64 {
        let allowed = mtu.saturating_sub(self.host.headers).min(self.mss_clamp);
        allowed.max(MIN_SND_MSS.get()) - self.stamps_len()
    }

    /// The size of a packet with so much payload (`tcp_mss_to_mtu`).
    const fn mtu_of_mss(&self, mss: u64) -> u64 {
        mss + self.stamps_len() + self.host.headers
    }

    /// The largest size that the peer's option allows.
    const fn largest_mtu(&self) -> u64 {
        self.mss_clamp + self.host.headers
    }

    /// The search begins: with the SYN (`tcp_connect_init`), and anew once the connection is open (`tcp_mtup_init`).
    pub(super) fn init_mtu_probing(&mut self) {
        if self.host.tcp_mtu_probing == 0 {
            return;
        }
        self.mtu_probing = Some(Box::new(MtuProbing {
            is_enabled: self.host.tcp_mtu_probing > 1,
            search_low: self.mtu_of_mss(self.host.mtu_search.tcp_base_mss.into()),
            search_high: self.largest_mtu(),
            probe: None,
            begun: self.clock.jiffies,
        }));
    }

    /// What the search leaves of a segment's payload; the path's MTU is known to be at most `mtu` (`tcp_sync_mss`).
    pub(super) fn bound_by_search(&mut self, mss: u64, mtu: u64) -> u64 {
        let Some(probing) = &mut self.mtu_probing else { return mss };
        probing.search_high = probing.search_high.min(mtu);
        let (is_enabled, low) = (probing.is_enabled, probing.search_low);
        if is_enabled { mss.min(self.mss_of_mtu(low)) } else { mss }
    }

    /// The retransmission timer expired: what was lost again and again may have been too large (`tcp_write_timeout`,
    /// `retransmits_timed_out`).
    pub(super) fn suspect_black_hole(&mut self) {
        let Some(probing) = self.mtu_probing.as_deref().copied() else { return };
        let since = Clock::millis_of(self.clock.nanos).saturating_sub(self.retrans_stamp);
        let is_open = self.state == State::Established;
        if !is_open || self.retransmits == 0 || since < SUSPICIOUS_AFTER_MILLIS {
            return;
        }
        let half = self.host.mtu_search.halved(self.mss_of_mtu(probing.search_low));
        let (smaller, now) = (self.mtu_of_mss(half), self.clock.jiffies);
        if let Some(probing) = &mut self.mtu_probing {
            if probing.is_enabled {
                probing.search_low = smaller;
            } else {
                (probing.is_enabled, probing.begun) = (true, now);
            }
        }
        self.sync_mss();
    }

    /// Sends a larger segment if it is time for that (`tcp_mtu_probe`).
    pub(super) fn probe_mtu(&mut self) -> Probing {
        let Some(probing) = self.mtu_probing.as_deref().copied() else { return Probing::NotNow };
        let carries_blocks = !self.out_of_order.sacks.is_empty() || self.dsack.is_some();
        if !probing.is_enabled
            || probing.probe.is_some()
            || self.ca_state != CaState::Open
            || self.window.cwnd < LEAST_PROBING_WINDOW
            || carries_blocks
        {
            return Probing::NotNow;
        }
        let size = self.mss_of_mtu(u64::midpoint(probing.search_high, probing.search_low));
        let threshold = u64::from(self.host.mtu_search.tcp_probe_threshold);
        let is_narrow = probing.search_high < probing.search_low.saturating_add(threshold);
        if size > self.mss_of_mtu(probing.search_high) || is_narrow {
            self.begin_search_anew();
            return Probing::NotNow;
        }
        // So many segments behind it show that it was lost.
        let needed = size + (self.reordering + 1) * self.mss_cache;
        if self.write_seq - self.snd_nxt < needed || self.snd_wnd < needed {
            return Probing::NotNow;
        }
        if self.snd_nxt + needed > self.window_end() {
            return Probing::Waits;
        }
        if self.in_flight() + 2 > self.window.cwnd {
            return if self.in_flight() == 0 { Probing::NotNow } else { Probing::Waits };
        }
        self.send_mtu_probe(size)
    }

    fn send_mtu_probe(&mut self, size: u64) -> Probing {
        // What the probe takes of a packet in part, which keeps counting it (`__pskb_trim_head`).
        let mut kept = 0;
        while self.write_queue.len() > 1 && self.write_queue[0].len() < size {
            let (packets, before) = (self.write_queue.len(), self.write_queue[0].len());
            self.grow_head(size);
            if self.write_queue.len() == packets {
                kept = self.write_queue[0].len() - before;
            }
        }
        let Some((seq, len)) = self.write_queue.front().map(|head| (head.seq, head.len())) else {
            return Probing::NotNow;
        };
        if len > size {
            kept = size;
        }
        if self.is_refused {
            self.enter_cwr();
            return Probing::NotNow;
        }
        // It takes the place of two segments, before the writer learns whether the window is full.
        self.window.cwnd -= 1;
        if self.send_head(size, size, false) == 0 {
            self.window.cwnd += 1;
            return Probing::NotNow;
        }
        if let Some(rest) = self.write_queue.front_mut() {
            rest.truesize += kept;
            self.writer.queued += kept;
        }
        let probe = Probe { mtu: self.mtu_of_mss(size), seq, end_seq: seq + size };
        self.set_probe(Some(probe));
        Probing::Sent
    }

    fn set_probe(&mut self, probe: Option<Probe>) {
        if let Some(probing) = &mut self.mtu_probing {
            probing.probe = probe;
        }
    }

    /// After so long the path may be another (`tcp_mtu_check_reprobe`).
    fn begin_search_anew(&mut self) {
        let (now, low) = (self.clock.jiffies, self.mtu_of_mss(self.current_mss()));
        let interval = self.clock.seconds(self.host.mtu_search.tcp_probe_interval.into(), 1);
        let high = self.largest_mtu();
        if let Some(probing) = self.mtu_probing.as_mut().filter(|it| now - it.begun >= interval) {
            probing.probe = None;
            (probing.search_low, probing.search_high, probing.begun) = (low, high, now);
        }
    }

    /// Something is sent again: whether the probe passes stays open (`__tcp_retransmit_skb`).
    #[inline]
    pub(super) fn forget_mtu_probe(&mut self) {
        if self.mtu_probing.is_some() {
            self.set_probe(None);
        }
    }

    /// Acknowledgements have come; that of a probe lets all segments be as large (`tcp_mtup_probe_success`).
    #[inline]
    pub(super) fn look_for_passed_probe(&mut self) {
        if self.mtu_probing.is_some() {
            self.take_passed_probe();
        }
    }

    #[cold]
    fn take_passed_probe(&mut self) {
        let Some(probing) = &mut self.mtu_probing else { return };
        let Some(probe) = probing.probe.take_if(|probe| probe.end_seq <= self.snd_una) else {
            return;
        };
        probing.search_low = probe.mtu;
        // The window is of as many bytes as before.
        self.prior_ssthresh = self.current_ssthresh();
        let before = self.window.cwnd * self.mtu_of_mss(self.mss_cache);
        self.window.cwnd = (before / probe.mtu).max(1);
        self.window.count = 0;
        self.snd_cwnd_stamp = self.clock.jiffies;
        self.window.ssthresh = self.current_ssthresh();
        self.sync_mss();
    }

    /// What is lost is the probe: that is no congestion (`tcp_mtup_probe_failed` in `tcp_fastretrans_alert`). Gives whether it was.
    pub(super) fn take_lost_probe(&mut self) -> bool {
        let Some(probing) = &mut self.mtu_probing else { return false };
        let is_first = |probe: &mut Probe| probe.seq == self.snd_una;
        if self.ca_state >= CaState::Cwr {
            return false;
        }
        let Some(probe) = probing.probe.take_if(is_first) else { return false };
        probing.search_high = probe.mtu - 1;
        self.window.cwnd += 1;
        self.resend_too_large();
        true
    }
}
