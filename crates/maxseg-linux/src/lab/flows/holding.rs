//! What holds a busy sender back, by what its socket shows.

use maxseg_core::outcome::LimitedBy;
use maxseg_core::units::Time;
use maxseg_wire::tcp_info::{CaState, TcpInfo};

/// What the flow's own program tells of its sender, which the socket does not show.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sending {
    /// Whether it has BBR, which reduces no window: its start-up ends without a loss.
    pub(super) is_rate_based: bool,
    /// What the socket lacks data for, while the application still writes: the application writes at a rate, or the send buffer takes
    /// no more. `None` once all is written, and where replies are.
    pub(super) starved_by: Option<LimitedBy>,
}

/// What is charged of a connection at each look.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Charged {
    /// Its time without a limit of the kernel's own account.
    time: Time,
    /// Its retransmissions up to the last look.
    retransmitted: u32,
    /// Those of them that answer ICMP "fragmentation needed": no loss.
    resized: u32,
}

impl Charged {
    /// The time since the last look, as far as the kernel has it under no limit, and what it is charged to.
    pub(super) fn look(&mut self, info: &TcpInfo, sending: Sending) -> Option<(LimitedBy, Time)> {
        if is_resizing(info) {
            self.resized += info.total_retrans.saturating_sub(self.retransmitted);
        }
        self.retransmitted = info.total_retrans;
        let unexplained = unexplained(info)?;
        let since = unexplained.since(self.time);
        self.time = unexplained.max(self.time);
        let has_lost = info.total_retrans > self.resized;
        (since > Time::ZERO).then(|| (holding(info, sending, has_lost), since))
    }
}

/// How long a sender was busy, but for the time under limits that the kernel counts itself; `None` of kernels that do not count.
fn unexplained(info: &TcpInfo) -> Option<Time> {
    let counted = [info.rwnd_limited, info.sndbuf_limited, info.total_rto_time];
    let counted =
        counted.into_iter().flatten().map(Time::from).fold(Time::ZERO, |sum, time| sum + time);
    Some(Time::from(info.busy_time?).since(counted))
}

/// Whether segments are sent again in a smaller size after ICMP "fragmentation needed" (`tcp_simple_retransmit`): the kernel's
/// state is that of a timeout, without one.
fn is_resizing(info: &TcpInfo) -> bool {
    info.ca_state() == Some(CaState::Loss) && info.total_rto == Some(0)
}

/// Whether a full segment is missing though the congestion window has room, and nothing is to be sent again
/// (`tcp_rate_check_app_limited`).
fn lacks_data(info: &TcpInfo) -> bool {
    let on_their_way = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
    info.notsent_bytes.is_some_and(|bytes| bytes < info.snd_mss)
        && on_their_way < info.snd_cwnd
        && info.lost <= info.retrans
}

/// What holds a busy sender that its socket shows so; `has_lost`: it has sent again what was lost.
fn holding(info: &TcpInfo, sending: Sending, has_lost: bool) -> LimitedBy {
    let mss = u64::from(info.snd_mss);
    let has_unsent = info.notsent_bytes.is_none_or(|bytes| bytes > 0);
    let window = info.snd_wnd.map_or(u64::MAX, u64::from);
    let is_paced = info.max_pacing_bps().is_some() && info.pacing_rate >= info.max_pacing_rate;
    let is_reduced = has_lost || info.delivered_ce.unwrap_or(0) > 0;
    if info.ca_state() == Some(CaState::Loss) && !is_resizing(info) {
        LimitedBy::Rto
    } else if let Some(starved_by) = sending.starved_by.filter(|_| lacks_data(info)) {
        starved_by
    } else if has_unsent && is_paced && in_flight(info) + mss <= window {
        LimitedBy::Paced
    } else if has_unsent && window < u64::from(info.snd_cwnd) * mss {
        LimitedBy::ReceiveWindow
    } else if info.snd_ssthresh.is_none() || !(is_reduced || sending.is_rate_based) {
        // `HyStart` sets a threshold as well, without a loss.
        LimitedBy::StartUp
    } else {
        LimitedBy::Congestion
    }
}

/// Bytes sent and not acknowledged.
pub(crate) fn in_flight(info: &TcpInfo) -> u64 {
    match (info.bytes_sent, info.bytes_retrans) {
        (Some(sent), Some(retransmitted)) => {
            sent.saturating_sub(retransmitted).saturating_sub(acknowledged(info))
        }
        _ => u64::from(info.unacked) * u64::from(info.snd_mss),
    }
}

/// Payload that the peer has acknowledged, in bytes: `tcpi_bytes_acked` without the SYN, which the kernel counts too.
pub(crate) fn acknowledged(info: &TcpInfo) -> u64 {
    info.bytes_acked.unwrap_or(0).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MSS: u32 = 1448;

    /// A sender in the middle of a transfer, in slow start.
    fn busy() -> TcpInfo {
        let mut info = TcpInfo::decode(&[0; TcpInfo::LEN]).unwrap();
        (info.snd_mss, info.snd_cwnd, info.snd_ssthresh) = (MSS, 20, None);
        (info.unacked, info.total_rto) = (20, Some(1));
        (info.snd_wnd, info.notsent_bytes) = (Some(1 << 20), Some(1 << 20));
        info.max_pacing_rate = Some(u64::MAX);
        info
    }

    #[test]
    fn what_the_socket_shows_holds_a_busy_sender() {
        let held = |change: fn(&mut TcpInfo)| {
            let mut info = busy();
            change(&mut info);
            holding(&info, Sending::default(), info.total_retrans > 0)
        };
        assert_eq!(held(|_| ()), LimitedBy::StartUp);
        assert_eq!(held(|info| info.snd_ssthresh = Some(10)), LimitedBy::StartUp, "by HyStart");
        let reduced = |info: &mut TcpInfo| (info.snd_ssthresh, info.total_retrans) = (Some(10), 1);
        assert_eq!(held(reduced), LimitedBy::Congestion);
        assert_eq!(held(|info| info.snd_wnd = Some(6 * MSS)), LimitedBy::ReceiveWindow);
        let paced = |info: &mut TcpInfo| {
            (info.pacing_rate, info.max_pacing_rate) = (Some(1 << 20), Some(1 << 20));
        };
        assert_eq!(held(paced), LimitedBy::Paced);
        assert_eq!(held(|info| info.ca_state = CaState::Loss as u8), LimitedBy::Rto);
        let mut bbr = busy();
        bbr.snd_ssthresh = Some(10);
        let sending = Sending { is_rate_based: true, ..Sending::default() };
        assert_eq!(holding(&bbr, sending, false), LimitedBy::Congestion, "its start-up is over");
    }

    /// Whether it has lost something or not: a window with room does not hold a sender that has nothing to send.
    #[test]
    fn who_has_nothing_to_send_is_held_by_what_gives_it_data() {
        for starved_by in [LimitedBy::Application, LimitedBy::SendBuffer] {
            let sending = Sending { starved_by: Some(starved_by), ..Sending::default() };
            let held = |change: fn(&mut TcpInfo)| {
                let mut info = busy();
                (info.unacked, info.notsent_bytes) = (8, Some(MSS - 1));
                change(&mut info);
                holding(&info, sending, info.total_retrans > 0)
            };
            assert_eq!(held(|_| ()), starved_by);
            let reduced =
                |info: &mut TcpInfo| (info.snd_ssthresh, info.total_retrans) = (Some(10), 1);
            assert_eq!(held(reduced), starved_by);
            assert_eq!(held(|info| info.notsent_bytes = Some(MSS)), LimitedBy::StartUp);
            assert_eq!(held(|info| info.unacked = 20), LimitedBy::StartUp, "its window is full");
            assert_eq!(held(|info| info.lost = 1), LimitedBy::StartUp, "one is to be sent again");
        }
        let mut last = busy();
        (last.unacked, last.notsent_bytes) = (8, Some(0));
        assert_eq!(holding(&last, Sending::default(), false), LimitedBy::StartUp, "all is written");
    }

    /// After ICMP "fragmentation needed" in slow start, with no timer: nothing was lost.
    #[test]
    fn a_smaller_path_mtu_is_neither_a_timeout_nor_a_loss() {
        let mut charged = Charged::default();
        let mut look = |busy_ms: u64, retransmitted: u32, ca_state: CaState| {
            let mut info = busy();
            info.busy_time = Some(Duration::from_millis(busy_ms));
            (info.total_rto, info.total_retrans) = (Some(0), retransmitted);
            info.ca_state = ca_state as u8;
            info.snd_ssthresh = (busy_ms > 100).then_some(10);
            charged.look(&info, Sending::default()).map(|(kind, _)| kind)
        };
        assert_eq!(look(50, 0, CaState::Open), Some(LimitedBy::StartUp));
        assert_eq!(look(100, 10, CaState::Loss), Some(LimitedBy::StartUp));
        assert_eq!(look(150, 10, CaState::Open), Some(LimitedBy::StartUp), "HyStart's threshold");
        assert_eq!(look(200, 11, CaState::Recovery), Some(LimitedBy::Congestion), "a loss");
    }

    /// What the kernel counts is its own; each look charges what has come since the one before.
    #[test]
    fn each_time_is_charged_once() {
        let (mut held, mut charged) = (Vec::new(), Charged::default());
        let mut look = |busy_ms: u64, rto_ms: u64, ca_state: CaState, is_reduced: bool| {
            let mut info = busy();
            info.busy_time = Some(Duration::from_millis(busy_ms));
            info.total_rto_time = Some(Duration::from_millis(rto_ms));
            info.ca_state = ca_state as u8;
            info.total_retrans = u32::from(is_reduced);
            info.snd_ssthresh = is_reduced.then_some(10);
            held.extend(charged.look(&info, Sending::default()));
        };
        look(100, 0, CaState::Open, false);
        look(400, 250, CaState::Loss, true);
        look(900, 250, CaState::Open, true);
        let want = [(LimitedBy::StartUp, 100), (LimitedBy::Rto, 50), (LimitedBy::Congestion, 500)];
        assert_eq!(held, want.map(|(kind, millis)| (kind, Time::from_millis(millis))));
    }
}
