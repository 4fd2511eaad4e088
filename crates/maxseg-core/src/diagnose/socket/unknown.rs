//! Why the limit of a connection is unknown, and what would show it.

use std::borrow::Cow;

use super::Judge;
use crate::diagnose::finding::{counted, counted_times};
use crate::outcome::{LimitShare, LimitedBy};
use crate::units::approx;

/// Why the limit of some time is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseen {
    /// Nothing holds the congestion window down that could be seen.
    CongestionWindow,
    /// The rate stayed the same, and so did the congestion window.
    SteadyWindow,
    /// The send buffer was the limit, and was empty too.
    BufferOrApplication,
    /// The send buffer was the limit, and is full, though it could have grown.
    GrowingBuffer,
    /// The congestion window has room, and the socket does not show what its send buffer holds.
    HiddenBuffer,
    /// The send buffer is full enough to hold a writer up, of whom the kernel counted no wait.
    FullBuffer,
    /// The window was the limit, and what it holds may keep the link full.
    WindowOrLink,
    /// The data comes from the peer.
    AtPeer,
    /// There was no data at all yet.
    NoData,
    /// Payload was sent for less time than the kernel counts.
    WithinTick,
    /// The connection is not established.
    Handshake,
    /// This host itself cannot send.
    InVain,
    /// An end has closed it, and nothing moves.
    Closed,
    /// Segments were lost before, and none in this time.
    EarlierLosses,
    /// The send buffer was full at some looks, and the path or losses may hold the rest.
    BufferOrPath,
    /// Less than a segment waits for an acknowledgement.
    SmallSegments,
    /// The window was the limit, and without SACK the round trips do not tell a queue from packets that overtake others.
    WindowWithoutSack,
    /// Losses are repaired without SACK, and a queue stands.
    SlowRepairs,
}

impl Judge<'_> {
    /// Why the kernel counted no time with data to send.
    pub(super) fn nothing_counted(&self) -> Unseen {
        // Each takes a number, which the kernel's counts of bytes acknowledged and received hold.
        const SYN: u64 = 1;
        const FIN: u64 = 1;
        let bin = &self.evidence.bin;
        if bin.sent_bytes > 0 || bin.acked_bytes > SYN + FIN {
            Unseen::WithinTick
        } else if self.evidence.received_bytes > FIN {
            Unseen::AtPeer
        } else {
            Unseen::NoData
        }
    }

    /// Why the limit is unknown, and what would show it; a clause. `None` where it is known.
    pub(super) fn why_unknown(
        &self,
        limits: &[LimitShare],
        why: Option<Unseen>,
    ) -> Option<Cow<'static, str>> {
        let is_known = limits.first().is_some_and(|first| first.kind != LimitedBy::Unknown);
        if is_known {
            return None;
        }
        Some(match why {
            Some(Unseen::AtPeer) => {
                "the peer sends the data, and this host's reader keeps up: the \
                peer's sockets, or a capture, show the limit"
                    .into()
            }
            Some(Unseen::NoData) | None => {
                "no payload was sent or received, so there is no transfer to judge".into()
            }
            Some(Unseen::WithinTick) => {
                "payload was sent for less than a tick of the kernel's clock (1 to 10 ms), and the kernel counts no shorter time".into()
            }
            Some(Unseen::Handshake) => match self.state.timeouts_in_a_row {
                0 => "the handshake is not complete".into(),
                times => format!(
                    "the handshake is not complete: its segment was sent again {} without an answer",
                    counted_times(times.into())
                )
                .into(),
            },
            Some(Unseen::InVain) => format!(
                "this host cannot send: it has tried {} in vain, and the peer's window has room for {}; a firewall's rule, a route, \
                 an interface that is down or its queue is in the way",
                counted_times(self.state.window_probes.into()),
                counted(self.state.window_bytes.unwrap_or(0).into(), "byte")
            )
            .into(),
            Some(Unseen::Closed) => return self.who_has_not_closed(),
            Some(Unseen::EarlierLosses) => format!(
                "nothing was lost in this time and {} before, from which the congestion window of {} may still grow: a longer interval \
                 shows how often losses come",
                counted(self.state.ever_retransmitted.into(), "segment"),
                counted(self.state.cwnd_segments.into(), "segment")
            )
            .into(),
            Some(Unseen::BufferOrPath) => {
                let holds = if self.state.send_buffer_is_set == Some(false) {
                    "the send buffer, as large as tcp_wmem lets it become,"
                } else {
                    "the send buffer that the program has set"
                };
                format!(
                    "{holds} was full at some looks and the congestion window at others: a larger send buffer would show which limits"
                )
                .into()
            }
            Some(Unseen::WindowWithoutSack) => {
                "the peer's window was the limit by the kernel's count, and the round trips are longer than the least: without SACK a queue \
                 in front of a full link looks like packets that overtake others; a capture, or SACK on both hosts (net.ipv4.tcp_sack), \
                 would show which"
                    .into()
            }
            Some(Unseen::SlowRepairs) => {
                "losses were being repaired for much of the time without SACK, one in each round trip, and packets wait in a queue: SACK \
                 on both hosts (net.ipv4.tcp_sack) would show whether new data fills the link"
                    .into()
            }
            Some(Unseen::SmallSegments) => {
                "data waits that is less than a segment: Nagle's algorithm holds it until what was sent is acknowledged, which a delayed \
                 acknowledgement makes longer; TCP_NODELAY, or one write for each message, would show what else limits"
                    .into()
            }
            Some(Unseen::BufferOrApplication) => {
                "the send buffer was the limit for a part of the time and empty at its end, so that \
                 the buffer and the application's writes are not told apart; a larger send buffer would show"
                    .into()
            }
            Some(Unseen::GrowingBuffer) => {
                "the send buffer was the limit for a part of the time, and is full though the kernel lets it grow, so that the buffer and \
                 the application's writes are not told apart; a larger send buffer would show"
                    .into()
            }
            Some(Unseen::HiddenBuffer) => {
                "the congestion window has room, and the socket does not show how full its send buffer is, so that the buffer and the \
                 application's writes are not told apart; a capture shows more"
                    .into()
            }
            Some(Unseen::FullBuffer) => {
                "the send buffer is full enough to hold the program up, and the kernel counted no time of it: a larger send buffer would \
                 show whether the program writes by a clock of its own"
                    .into()
            }
            Some(Unseen::WindowOrLink) => {
                "the peer's window was the limit by the kernel's count, and the round trips are long: one sample does not show whether it \
                 keeps a link full or the reader is slow; a second one may"
                    .into()
            }
            Some(Unseen::SteadyWindow) => {
                "segments were lost, and the rate stayed the same as the congestion window did: a full link and a window held down by \
                 losses look alike then; a longer interval, or a capture, may show which"
                    .into()
            }
            Some(Unseen::CongestionWindow) => self.no_cause_of_window(),
        })
    }

    /// What was looked at of the congestion window, where that explains nothing.
    fn no_cause_of_window(&self) -> Cow<'static, str> {
        if self.evidence.is_since_start {
            return "one sample does not show what holds the congestion window down; a second one may".into();
        }
        let rtt = approx::time(self.state.rtt.as_secs_f64());
        let window = counted(self.state.cwnd_segments.into(), "segment");
        if self.state.min_rtt.is_none() {
            return format!(
                "nothing was lost, and the least round trip is not known, so that one of {rtt} does not show whether a full link \
                 explains the congestion window of {window}; a capture shows more"
            )
            .into();
        }
        format!(
            "nothing was lost and the round trip of {rtt} shows no queue, so that neither losses nor a full link explain the \
             congestion window of {window}; a capture shows more"
        )
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnose_socket;
    use super::super::tests::transfer;
    use crate::evidence::{Bin, BufferFill, RateSpread, SocketEvidence};
    use crate::units::Time;

    /// Linux 6.18: 2000 bytes and their acknowledgement within a tick leave `tcpi_busy_time` 0.
    #[test]
    fn payload_that_took_less_than_a_tick_is_payload() {
        let of = |sent: u64, acked: u64, received: u64| {
            let mut evidence = transfer();
            evidence.is_since_start = true;
            evidence.bin = Bin { sent_bytes: sent, acked_bytes: acked, ..Bin::default() };
            evidence.received_bytes = received;
            diagnose_socket(&evidence).unknown_because.unwrap()
        };
        for (sent, acked, received, says) in [
            (2000, 2002, 101, "less than a tick"),
            (0, 2002, 101, "less than a tick"), // without tcpi_bytes_sent
            (100, 1, 0, "less than a tick"),    // not acknowledged yet
            (0, 2, 2, "the peer sends the data"),
            (0, 2, 1, "no payload was sent or received"), // SYN and FIN alone
            (0, 0, 0, "no payload was sent or received"),
        ] {
            let because = of(sent, acked, received);
            assert!(because.contains(says), "{sent} {acked} {received}: {because}");
        }
    }

    #[test]
    fn what_was_not_looked_at_is_not_asserted() {
        let because = |change: &dyn Fn(&mut SocketEvidence)| {
            let mut evidence = transfer();
            change(&mut evidence);
            diagnose_socket(&evidence).unknown_because.unwrap()
        };
        let has_room = |e: &mut SocketEvidence| {
            e.state.unsent_bytes = Some(0);
            e.state.in_flight_segments = 20;
        };
        let hidden = because(&|e| {
            has_room(e);
            e.state.send_buffer = None;
        });
        assert!(hidden.contains("does not show how full its send buffer is"), "{hidden}");
        let growing = because(&|e| {
            has_room(e);
            e.state.send_buffer = Some(BufferFill { used: 90_000, limit: 100_000 });
            e.state.send_buffer_grows = Some(true);
            e.bin.sndbuf_limited = Time::from_millis(300);
        });
        assert!(growing.contains("is full though the kernel lets it grow"), "{growing}");
        let held = |e: &mut SocketEvidence| e.state.ssthresh_segments = Some(43);
        assert!(because(&held).contains("shows no queue"), "{}", because(&held));
        let without_least = because(&|e| {
            held(e);
            e.state.min_rtt = None;
        });
        assert!(!without_least.contains("shows no queue"), "{without_least}");
        let capped = because(&|e| {
            e.state.send_buffer_grows = Some(false);
            e.state.send_buffer_is_set = Some(false);
            e.spread = Some(RateSpread { send_buffer_share: 0.5, ..RateSpread::default() });
        });
        assert!(capped.starts_with("the send buffer, as large as tcp_wmem"), "{capped}");
        let shared = because(&|e| {
            e.bin.rwnd_limited = Time::from_millis(500);
            e.bin.sndbuf_limited = Time::from_millis(500);
        });
        assert!(shared.contains("neither for 60% of it; a longer interval shows"), "{shared}");
    }
}
