//! Two samples of a socket, or one, as evidence.

use std::time::Duration;

use maxseg_core::evidence::{Bin, BufferFill, Closing, RatePoint, SocketEvidence, SocketState};
use maxseg_core::units::Time;

use super::{Bbr, Memory};
use crate::tcp_info::{State, TcpInfo};

/// What a sample of a socket holds for evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The state of its TCP.
    pub info: TcpInfo,
    /// Its memory.
    pub memory: Option<Memory>,
    /// The model of BBR.
    pub bbr: Option<Bbr>,
    /// Bytes that arrived in order and were not read.
    pub unread_bytes: u32,
    /// Bytes that were written and not acknowledged.
    pub unacked_bytes: u32,
}

impl Sample {
    /// The evidence of what happened since an earlier sample of the same connection, `elapsed` ago; since the
    /// connection's beginning where there is none.
    pub fn evidence(&self, before: Option<(&Self, Duration)>) -> SocketEvidence {
        SocketEvidence {
            bin: self.bin(before),
            received_bytes: payload(
                grown(self.info.bytes_received, before, |info| info.bytes_received),
                self.info.state(),
            ),
            is_since_start: before.is_none(),
            spread: None,
            recovering_share: None,
            beside_bps: 0.0,
            state: self.state(before.map(|(before, _)| before)),
        }
    }

    /// Whether it can be a later sample of the same connection, to be compared with the earlier one: no counter goes back. A connection
    /// that has opened in between is compared with nothing: the time of its handshake is none without data to send.
    pub fn follows(&self, before: &Self) -> bool {
        if before.is_opening() && !self.is_opening() {
            return false;
        }
        let (now, then) = (&self.info, &before.info);
        let is_back = |of: fn(&TcpInfo) -> Option<u64>| {
            of(now).zip(of(then)).is_some_and(|(now, then)| now < then)
        };
        // Numbers of 32 bits begin anew after the last one.
        let is_far_back = |of: fn(&TcpInfo) -> u32| of(now).wrapping_sub(of(then)) > u32::MAX / 2;
        !(is_back(|info| info.bytes_acked)
            || is_back(|info| info.bytes_received)
            || is_back(|info| info.bytes_sent)
            || is_far_back(|info| info.data_segs_out.unwrap_or_default())
            || is_far_back(|info| info.total_retrans))
    }

    /// What it shows of round trip, rate and window.
    pub fn rate_point(&self) -> RatePoint {
        let info = &self.info;
        let is_limited = info.flags.delivery_rate_app_limited;
        let delivery_bps = info.delivery_bps().filter(|rate| *rate > 0.0);
        let of_window = delivery_bps.filter(|_| !is_limited);
        let state = self.state(None);
        RatePoint {
            is_recovering: state.is_recovering,
            rtt: Time::from(info.rtt),
            rate: of_window.map(|delivery_bps| (info.snd_cwnd, delivery_bps)),
            delivery_bps,
            fills_send_buffer: state.fills_send_buffer(),
            holds_small_segment: state.holds_small_segment(),
            window_bytes: state.window_bytes,
        }
    }

    fn bin(&self, before: Option<(&Self, Duration)>) -> Bin {
        let info = &self.info;
        let long = |of: fn(&TcpInfo) -> Option<u64>| grown(of(info), before, of);
        let short = |of: fn(&TcpInfo) -> u32| {
            of(info).wrapping_sub(before.map_or(0, |(before, _)| of(&before.info)))
        };
        let span = |of: fn(&TcpInfo) -> Option<Duration>| {
            let earlier = before.and_then(|(before, _)| of(&before.info)).unwrap_or_default();
            of(info).unwrap_or_default().saturating_sub(earlier)
        };
        let busy = span(|info| info.busy_time);
        let duration = before.map_or(busy + self.idle_now(), |(_, elapsed)| elapsed);
        let resent_bytes = long(|info| info.bytes_retrans);
        let unsent = info.notsent_bytes.unwrap_or_default();
        let in_flight = u64::from(self.unacked_bytes.saturating_sub(unsent));
        let window = info.snd_wnd.map(u64::from);
        Bin {
            duration: Time::from(duration),
            sent_bytes: long(|info| info.bytes_sent).saturating_sub(resent_bytes),
            resent_bytes,
            acked_bytes: payload(long(|info| info.bytes_acked), info.state()),
            segments: short(|info| info.data_segs_out.unwrap_or_default()),
            // Repeated SYNs and FINs have no data, and are no loss of it.
            losses: if info.bytes_retrans.is_some() && resent_bytes == 0 {
                0
            } else {
                short(|info| info.total_retrans)
            },
            in_flight_max: in_flight,
            window_left_min: window.map(|window| window.saturating_sub(in_flight)),
            window_max: window.unwrap_or_default(),
            // The kernel counts in ticks, the clock here does not.
            idle: Time::from(duration.saturating_sub(busy)),
            sndbuf_limited: Time::from(span(|info| info.sndbuf_limited).min(busy)),
            rwnd_limited: Time::from(span(|info| info.rwnd_limited).min(busy)),
            rtt_count: u32::from(!info.rtt.is_zero()),
            rtt_sum: Time::from(info.rtt),
            rtt_min: info.min_rtt.map(Time::from),
            ..Bin::default()
        }
    }

    /// Whether the handshake is not complete.
    fn is_opening(&self) -> bool {
        matches!(
            self.info.state(),
            Some(State::SynSent | State::SynReceived | State::NewSynReceived)
        )
    }

    /// For how long there has been nothing to send, nor to be acknowledged.
    fn idle_now(&self) -> Duration {
        let is_idle = self.info.unacked == 0 && self.unacked_bytes == 0;
        let info = &self.info;
        let last = info.last_data_sent.min(info.last_data_recv).min(info.last_ack_recv);
        if is_idle { last } else { Duration::ZERO }
    }

    fn state(&self, before: Option<&Self>) -> SocketState {
        let info = &self.info;
        let left = info.unacked.saturating_sub(info.sacked).saturating_sub(info.lost);
        SocketState {
            is_opening: self.is_opening(),
            closing: closing(info.state()),
            mss_bytes: info.snd_mss,
            cwnd_segments: info.snd_cwnd,
            cwnd_before_segments: before.map(|before| before.info.snd_cwnd),
            ssthresh_segments: info.snd_ssthresh,
            in_flight_segments: left.saturating_add(info.retrans),
            unacked_segments: info.unacked,
            sacked_segments: info.sacked,
            ever_acked_bytes: info.bytes_acked,
            ever_delivered_segments: info.delivered,
            unsent_bytes: info.notsent_bytes,
            window_bytes: info.snd_wnd,
            rtt: Time::from(info.rtt),
            rtt_deviation: Time::from(info.rttvar),
            min_rtt: info.min_rtt.map(Time::from),
            rto: (!info.rto.is_zero()).then(|| Time::from(info.rto)),
            unanswered_for: (info.unacked > 0).then(|| Time::from(info.last_data_sent)),
            timeouts_in_a_row: info.retransmits.into(),
            window_probes: info.probes.into(),
            ever_retransmitted: info.total_retrans,
            is_recovering: info.is_recovering(),
            has_sack: info.options.sack(),
            reorderings: info.reord_seen.unwrap_or_default(),
            is_app_limited: info.delivery_rate.map(|_| info.flags.delivery_rate_app_limited),
            delivery_bps: info.delivery_bps().filter(|rate| *rate > 0.0),
            pacing_limit_bps: info.max_pacing_bps(),
            bbr_pacing_gain: self.bbr.map(|bbr| bbr.pacing_gain),
            send_buffer: self
                .memory
                .map(|m| BufferFill { used: m.send_queued, limit: m.send_buffer }),
            // The socket's options tell, and a sysctl.
            send_buffer_grows: None,
            send_buffer_is_set: None,
            receive_buffer: self
                .memory
                .map(|m| BufferFill { used: m.receive_alloc, limit: m.receive_buffer }),
            // The socket's options tell.
            receive_buffer_is_set: None,
            receive_window_grows: None,
            receive_rtt: (!info.rcv_rtt.is_zero()).then(|| Time::from(info.rcv_rtt)),
            unread_bytes: self.unread_bytes,
            advertised_window_bytes: info.rcv_wnd,
        }
    }
}

/// How far a connection of a state is closed.
fn closing(state: Option<State>) -> Option<Closing> {
    const STATES: [(State, Closing); 5] = [
        (State::CloseWait, Closing::CloseWait),
        (State::FinWait1, Closing::FinWait1),
        (State::FinWait2, Closing::FinWait2),
        (State::Closing, Closing::Closing),
        (State::LastAck, Closing::LastAck),
    ];
    STATES.into_iter().find_map(|(of, closing)| (Some(of) == state).then_some(closing))
}

fn grown(
    now: Option<u64>,
    before: Option<(&Sample, Duration)>,
    of: fn(&TcpInfo) -> Option<u64>,
) -> u64 {
    let earlier = before.and_then(|(before, _)| of(&before.info)).unwrap_or_default();
    now.unwrap_or_default().saturating_sub(earlier)
}

/// What grew, less the FIN where that is all: the kernel counts the number that it takes as a byte.
fn payload(bytes: u64, state: Option<State>) -> u64 {
    let is_closing = closing(state).is_some() || state == Some(State::Closed);
    if is_closing && bytes == 1 { 0 } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(change: impl FnOnce(&mut TcpInfo)) -> Sample {
        let mut info = TcpInfo::decode(&[0; TcpInfo::LEN]).unwrap();
        info.snd_mss = 1448;
        change(&mut info);
        Sample { info, memory: None, bbr: None, unread_bytes: 0, unacked_bytes: 5_000 }
    }

    #[test]
    fn two_samples_are_what_grew_between_them() {
        let millis = |n| Some(Duration::from_millis(n));
        let before = sample(|info| {
            (info.bytes_acked, info.bytes_sent) = (Some(1_000), Some(2_000));
            info.busy_time = millis(700);
            info.rwnd_limited = millis(100);
            info.total_retrans = u32::MAX;
        });
        let after = sample(|info| {
            (info.bytes_acked, info.bytes_sent) = (Some(9_000), Some(11_000));
            info.bytes_retrans = Some(1_448);
            info.busy_time = millis(1_200);
            info.rwnd_limited = millis(400);
            info.sndbuf_limited = millis(50);
            info.total_retrans = 1;
            info.notsent_bytes = Some(1_000);
            info.snd_wnd = Some(6_000);
        });
        let bin = after.evidence(Some((&before, Duration::from_secs(1)))).bin;
        assert_eq!((bin.acked_bytes, bin.sent_bytes, bin.resent_bytes), (8_000, 7_552, 1_448));
        assert_eq!(bin.duration, Time::from_secs(1));
        assert_eq!(bin.idle, Time::from_millis(500));
        assert_eq!(
            (bin.rwnd_limited, bin.sndbuf_limited),
            (Time::from_millis(300), Time::from_millis(50))
        );
        assert_eq!(bin.losses, 2, "counters of 32 bits wrap");
        assert_eq!((bin.in_flight_max, bin.window_left_min), (4_000, Some(2_000)));
    }

    #[test]
    fn one_sample_is_the_time_with_data_and_what_it_is_idle_since() {
        let mut alone = sample(|info| {
            info.busy_time = Some(Duration::from_millis(700));
            info.last_data_sent = Duration::from_secs(9);
            info.last_data_recv = Duration::from_secs(5);
            info.last_ack_recv = Duration::from_secs(8);
        });
        let bin = alone.evidence(None).bin;
        assert_eq!((bin.duration, bin.idle), (Time::from_millis(700), Time::ZERO));
        alone.unacked_bytes = 0;
        let bin = alone.evidence(None).bin;
        assert_eq!((bin.duration, bin.idle), (Time::from_millis(5_700), Time::from_secs(5)));
    }

    /// A SYN was lost twice (Linux 6.18): 3 s of SYN-SENT and 0.3 s with data are no 3 s in which the program had none.
    #[test]
    fn what_opened_in_between_is_compared_with_nothing() {
        let of = |state: State| sample(|info| info.state = state as u8);
        let (opening, open) = (of(State::SynSent), of(State::Established));
        assert!(!open.follows(&opening));
        assert!(open.follows(&open) && opening.follows(&opening));
    }

    #[test]
    fn what_has_no_data_is_no_payload_and_no_loss() {
        let after = |state: State, bytes: u64, resent_bytes: u64| {
            let before = sample(|_| {});
            let after = sample(|info| {
                info.state = state as u8;
                (info.bytes_acked, info.bytes_received) = (Some(bytes), Some(bytes));
                (info.total_retrans, info.bytes_retrans) = (5, Some(resent_bytes));
            });
            let evidence = after.evidence(Some((&before, Duration::from_secs(1))));
            (evidence.bin.acked_bytes, evidence.received_bytes, evidence.bin.losses)
        };
        assert_eq!(after(State::LastAck, 1, 0), (0, 0, 0), "FINs alone");
        assert_eq!(after(State::Closed, 1, 0), (0, 0, 0));
        assert_eq!(after(State::SynSent, 0, 0).2, 0, "SYNs");
        assert_eq!(after(State::FinWait2, 1_449, 1_448), (1_449, 1_449, 5));
        assert_eq!(after(State::Established, 1, 0), (1, 1, 0), "a byte of payload");
    }

    #[test]
    fn a_look_tells_what_waits_and_who_has_closed() {
        let closed = sample(|info| info.state = State::CloseWait as u8);
        assert_eq!(closed.evidence(None).state.closing, Some(Closing::CloseWait));
        let open = sample(|info| info.state = State::Established as u8);
        assert_eq!(open.evidence(None).state.closing, None);
        let small = sample(|info| {
            (info.unacked, info.snd_cwnd) = (1, 10);
            info.notsent_bytes = Some(100);
        });
        let look = small.rate_point();
        assert!(look.holds_small_segment && !look.fills_send_buffer);
    }
}
