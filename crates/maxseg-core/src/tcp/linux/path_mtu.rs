//! What a host knows of the MTU of its path, and how large its segments are by that (`net/ipv4/route.c`; `tcp_v4_mtu_reduced`,
//! `net/ipv4/tcp_ipv4.c`).

use super::CaState;
use super::Socket;
use super::constants::STAMPS_LEN;
use super::settings::Host;
use crate::framing::{Headers, IpVersion};
use crate::mss::linux::{PathMtu, bound_to_half_window, learn};
use crate::units::{Bytes, Mtu, Time};

impl Host {
    /// Which IP it sends, by its headers.
    pub(super) fn ip(&self) -> IpVersion {
        let is_v6 = self.headers >= Headers::plain(IpVersion::V6).bytes().get();
        if is_v6 { IpVersion::V6 } else { IpVersion::V4 }
    }

    /// The MTU that it sends by.
    pub(super) fn known_mtu(&self) -> Mtu {
        Mtu::new(self.mtu.clamp(u64::from(Mtu::MIN), u64::from(Mtu::MAX))).unwrap_or(Mtu::ETHERNET)
    }

    /// What it learns from a router's word that packets may have so many bytes at most.
    pub(crate) fn learn(&self, told: Mtu) -> PathMtu {
        learn(self.ip(), self.known_mtu(), told)
    }
}

impl Socket {
    /// Bytes of options in every header (`tcp_header_len` less 20).
    pub(super) const fn stamps_len(&self) -> u64 {
        if self.uses_stamps() { STAMPS_LEN } else { 0 }
    }

    /// Half of the peer's window at most.
    pub(super) fn bound_to_half_window(&self, len: u64) -> u64 {
        let [len, window, options] = [len, self.max_window, self.stamps_len()].map(Bytes::new);
        bound_to_half_window(len, window, options).get()
    }

    /// `tcp_sync_mss`.
    pub(super) fn sync_mss(&mut self) {
        let mtu = self.host.mtu;
        let allowed = self.bound_to_half_window(self.mss_of_mtu(mtu));
        self.mss_cache = self.bound_by_search(allowed, mtu);
    }

    /// The route to the peer is another, and its MTU: segments go by it from now on, and the search for the path MTU keeps its range
    /// (`tcp_current_mss`, which compares `dst_mtu` with `icsk_pmtu_cookie`; `net/ipv4/tcp_output.c`).
    pub fn on_route_mtu(&mut self, mtu: Mtu) {
        if mtu.bytes().get() != self.host.mtu {
            self.host.mtu = mtu.bytes().get();
            self.sync_mss();
        }
    }

    /// A router tells that packets may have so many bytes at most: what is longer goes again in smaller pieces, and that is no
    /// congestion (`tcp_simple_retransmit`). Gives whether packets go without DF from now on.
    pub fn on_path_mtu(&mut self, now: Time, told: Mtu) -> bool {
        self.clock.refresh(now);
        let PathMtu { mtu, clears_df } = self.host.learn(told);
        if mtu.bytes().get() < self.host.mtu {
            self.host.mtu = mtu.bytes().get();
            self.sync_mss();
            self.resend_too_large();
        }
        clears_df
    }

    /// `tcp_simple_retransmit`.
    pub(super) fn resend_too_large(&mut self) {
        let mss = self.mss_cache;
        for index in 0..self.rtx_queue.len() {
            let skb = &self.rtx_queue[index];
            let size = if skb.gso_size > 0 { skb.gso_size } else { skb.len() };
            if size > mss {
                self.mark_lost(index);
            }
        }
        if self.lost_out == 0 {
            return;
        }
        if self.ca_state != CaState::Loss {
            self.high_seq = self.snd_nxt;
            self.window.ssthresh = self.current_ssthresh();
            self.prior_ssthresh = 0;
            self.undo_marker = None;
            self.is_timed_out = false;
            self.set_ca_state(CaState::Loss);
        }
        self.retransmit_lost();
    }
}
