//! Packets of the send queues.

/// It is SACKed (`TCPCB_SACKED_ACKED`, `include/net/tcp.h`).
pub(super) const ACKED: u8 = 0x01;
/// It is sent again and on its way (`TCPCB_SACKED_RETRANS`).
pub(super) const RETRANSMITTED: u8 = 0x02;
/// It is taken for lost (`TCPCB_LOST`).
pub(super) const LOST: u8 = 0x04;
/// It was sent more than once (`TCPCB_EVER_RETRANS`).
pub(super) const EVER_RETRANSMITTED: u8 = 0x80;
/// `TCPCB_RETRANS`.
pub(super) const ANY_RETRANSMISSION: u8 = RETRANSMITTED | EVER_RETRANSMITTED;

/// One or more segments that are queued and sent as one: the kernel's `sk_buff` in the send queues.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags, as in `struct tcp_skb_cb`")]
pub(super) struct Skb {
    pub(super) seq: u64,
    pub(super) end_seq: u64,
    /// When it was sent last, on the kernel's clock.
    pub(super) sent_nanos: u64,
    /// `tx.first_tx_mstamp`, in microseconds.
    pub(super) first_tx_micros: u64,
    /// `tx.delivered_mstamp`; 0 once it has been used.
    pub(super) delivered_micros: u64,
    /// `tx.delivered`: segments delivered when it was sent.
    pub(super) delivered: u64,
    /// Segments; 0 where that is not known yet.
    pub(super) segments: u64,
    /// Payload of each segment but the last; 0 where there is one.
    pub(super) gso_size: u64,
    pub(super) truesize: u64,
    /// Tags of the scoreboard.
    pub(super) sacked: u8,
    pub(super) is_syn: bool,
    pub(super) is_fin: bool,
    pub(super) push: bool,
    pub(super) app_limited: bool,
    /// RACK took it for lost: it is not looked at again before it is sent again, whether the mark is taken back or not (`list_del_init`
    /// of `tcp_tsorted_anchor`, `net/ipv4/tcp_recovery.c`).
    pub(super) is_unsorted: bool,
}

impl Skb {
    /// Payload bytes.
    #[inline]
    pub(super) const fn len(&self) -> u64 {
        self.end_seq - self.seq - self.is_syn as u64 - self.is_fin as u64
    }

    #[inline]
    pub(super) const fn sent_micros(&self) -> u64 {
        self.sent_nanos / 1000
    }

    #[inline]
    pub(super) const fn is(&self, tags: u8) -> bool {
        self.sacked & tags != 0
    }

    /// Counts its segments (`tcp_set_skb_tso_segs`, `net/ipv4/tcp_output.c`).
    #[inline]
    pub(super) const fn count_segments(&mut self, mss: u64) {
        if self.len() <= mss {
            self.segments = 1;
            self.gso_size = 0;
        } else {
            self.segments = self.len().div_ceil(mss);
            self.gso_size = mss;
        }
    }

    /// Takes the first `len` bytes off a packet that has not been sent; what stays is counted when it goes
    /// (`tso_fragment`).
    #[inline]
    pub(super) fn take_front(&mut self, len: u64, mss: u64, overhead: u64) -> Self {
        let mut front = Self { end_seq: self.seq + len, is_fin: false, push: false, ..*self };
        self.seq = front.end_seq;
        self.is_syn = false;
        front.truesize -= self.len();
        self.truesize = overhead + self.len();
        front.count_segments(mss);
        front
    }

    /// Cuts it after `len` bytes; gives the rest. Both parts keep the tags; a push belongs to the last
    /// (`tcp_fragment`, `tso_fragment`).
    pub(super) fn split(&mut self, len: u64, mss: u64, overhead: u64) -> Self {
        let mut rest = *self;
        rest.seq = self.seq + len;
        rest.is_syn = false;
        rest.truesize = overhead + rest.len();
        self.end_seq = rest.seq;
        self.is_fin = false;
        self.truesize -= rest.len();
        self.push = false;
        self.count_segments(mss);
        rest.count_segments(mss);
        rest
    }
}
