//! Sizes and choices that several rules share (`include/net/tcp.h`).

use crate::framing::TCP_TIMESTAMPS;
pub(super) use crate::mss::linux::{MIN_MSS, MSS_DEFAULT};

/// Bytes of the timestamps option, padded (`TCPOLEN_TSTAMP_ALIGNED`).
pub(super) const STAMPS_LEN: u64 = TCP_TIMESTAMPS.get();
/// Bytes for options in a header.
pub(super) const OPTION_SPACE: u64 = 40;
/// `TCP_INIT_CWND`.
pub(super) const INITIAL_CWND: u64 = 10;
/// Payload of the shortest packet that opens the receive window (`tcp_event_data_recv`, `net/ipv4/tcp_input.c`).
pub(super) const OPENS_WINDOW: u64 = 128;
/// The sequence number of the first byte of payload: the SYN has that before.
pub(super) const AFTER_SYN: u64 = 1;
/// `sk_pacing_shift`: a burst is what the pacing rate sends in 1/1024 s.
pub(super) const PACING_SHIFT: u32 = 10;

/// Whether small packets wait (`nonagle`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nagle {
    On,
    /// `TCP_NAGLE_CORK`: they wait until more comes.
    Cork,
    /// `TCP_NAGLE_OFF`: the application asked for it.
    Off,
    /// `TCP_NAGLE_PUSH`: this time.
    Push,
}

/// How much is sent (`push_one`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    All,
    One,
    /// One segment even where the window is full: a probe of the tail.
    Probe,
}
