//! A running connection in one sentence, and the change for what limits it.

mod buffers;
mod sentences;
mod state;

use std::net::{IpAddr, SocketAddr};

use super::command::{Host, Remedy};
use super::{System, linux};
use crate::diagnose::{
    QUEUEING, SocketDiagnosis, counted, fills_receive_window, holds_small_segments, sends_in_vain,
    shares_queue, waits_for_reader,
};
use crate::evidence::SocketEvidence;
use crate::outcome::LimitedBy;
use crate::units::{Bytes, approx};
use crate::why::{Chain, Source};

/// What is known of a running connection.
#[derive(Debug, Clone, Copy)]
pub struct SocketCase<'a> {
    /// What happened.
    pub evidence: &'a SocketEvidence,
    /// What limited it.
    pub diagnosis: &'a SocketDiagnosis,
    /// This end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
    /// The process here.
    pub pid: Option<u32>,
    /// Whether no process has it yet: nobody has accepted it.
    pub is_unaccepted: bool,
    /// The network namespace here, where it is another.
    pub netns: Option<&'a str>,
    /// The window that this end offers.
    pub window: &'a Chain,
    /// Whether the program has set `SO_SNDBUF`; `None` where that is not known.
    pub is_send_buffer_set: Option<bool>,
    /// Whether it has set `SO_RCVBUF`; `None` where that is not known.
    pub is_receive_buffer_set: Option<bool>,
    /// Whether a route's `window` holds the receive window far below the receive buffer (FreeBSD's PR 6032).
    pub is_held_by_route: bool,
}

/// A connection in one sentence, and what to change.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketVerdict {
    /// What limits it, with the share of the time; a sentence.
    pub sentence: String,
    /// What to change; `None` where no change is known to help.
    pub remedy: Option<Remedy>,
}

/// The sentence and the change for a running connection.
pub fn socket_verdict(case: &SocketCase<'_>) -> SocketVerdict {
    let (sentence, remedy) = if case.is_held_by_route && case.is_about_window_here() {
        let sentence = format!(
            "The route's `window` keeps the receive window of this host at {}, far below its receive buffer.",
            size(case.window.effective)
        );
        (sentence, Some(without_route_window(case)))
    } else {
        (case.sentence(), case.remedy())
    };
    SocketVerdict { sentence, remedy: remedy.map(|remedy| case.in_namespace(remedy)) }
}

impl SocketCase<'_> {
    /// The window that this end offers matters where data arrives, or nothing is sent.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other limit is about what arrives")]
    fn is_about_window_here(&self) -> bool {
        match self.diagnosis.limited_by {
            LimitedBy::Unknown => true,
            LimitedBy::Application => self.evidence.bin.sent_bytes == 0,
            LimitedBy::ReceiveWindow => fills_receive_window(self.evidence),
            _ => false,
        }
    }

    fn is_receiving(&self) -> bool {
        self.evidence.received_bytes > self.evidence.bin.acked_bytes
            || waits_for_reader(self.evidence)
    }

    fn here(&self) -> Host {
        let name = match self.netns {
            None => "this host".to_owned(),
            Some(netns) => format!("this host, network namespace {netns}"),
        };
        Host::of_system(name, System::Linux)
    }

    /// With the commands of this host entering the namespace: pasted into a shell of the host, they must not read or change
    /// its own routes and sysctls.
    fn in_namespace(&self, mut remedy: Remedy) -> Remedy {
        let Some(netns) = self.netns else { return remedy };
        let here = self.here().name;
        for command in remedy.commands.iter_mut().filter(|command| command.on == here) {
            command.line = within(netns, &command.line);
        }
        remedy
    }

    /// The share of the time that the limit holds, and of which time.
    fn share(&self) -> String {
        let first =
            self.diagnosis.limits.iter().find(|limit| limit.kind == self.diagnosis.limited_by);
        let share = first.map_or(0.0, |limit| limit.share);
        let seconds = self.evidence.bin.duration.as_secs_f64();
        let of = if self.evidence.is_since_start {
            "of the time since its beginning".to_owned()
        } else {
            format!("of the last {}", approx::time(seconds))
        };
        format!("for {} {of}", approx::whole_percent(share))
    }

    fn sentence(&self) -> String {
        let state = &self.evidence.state;
        let (share, peer) = (self.share(), self.remote.ip().to_canonical());
        if let Some(sentence) = self.not_established() {
            return sentence;
        }
        match self.diagnosis.limited_by {
            LimitedBy::ReceiveWindow if self.is_receiving() => self.window_here(),
            LimitedBy::ReceiveWindow => {
                let window = state.window_bytes.map_or_else(String::new, |window| {
                    format!(": it is {} now", size(Bytes::new(window.into())))
                });
                format!("The receive window of {peer} limits this connection {share}{window}.")
            }
            LimitedBy::SendBuffer => {
                let buffer = state.send_buffer.map_or_else(String::new, |buffer| {
                    format!(
                        ": it holds {}, overhead included",
                        size(Bytes::new(buffer.limit.into()))
                    )
                });
                format!("The send buffer of this host limits this connection {share}{buffer}.")
            }
            LimitedBy::Application => {
                format!("The application limits this connection: it had no data to send {share}.")
            }
            LimitedBy::Bandwidth => format!(
                "The slowest link of the path limits this connection {share}{}.",
                self.signs_of_a_full_link()
            ),
            LimitedBy::Congestion => self.losses(&share),
            LimitedBy::StartUp => self.slow_start(&share),
            LimitedBy::Paced => {
                let limit = state.pacing_limit_bps.map_or_else(String::new, |bps| {
                    format!(": SO_MAX_PACING_RATE is {}", approx::rate(bps))
                });
                format!("The program's own pacing limits this connection {share}{limit}.")
            }
            LimitedBy::Rto => format!(
                "The retransmission timer limits this connection to {peer}: {}.",
                self.unanswered_timeouts()
            ),
            LimitedBy::PathMtu => format!(
                "Segments of {} bytes are lost again and again on the way to {peer} ({} in a row), while smaller ones arrive: a path MTU \
                 black hole is likely.",
                state.mss_bytes,
                counted(state.timeouts_in_a_row.into(), "timeout")
            ),
            LimitedBy::Unknown if sends_in_vain(state) => format!(
                "This host cannot send to {peer}: the kernel has made {} in vain, though the receive window there has room for {}.",
                counted(state.window_probes.into(), "attempt"),
                size(Bytes::new(state.window_bytes.unwrap_or(0).into()))
            ),
            LimitedBy::Host | LimitedBy::Unknown => {
                let why = self.diagnosis.unknown_because.as_deref().unwrap_or("nothing shows it");
                format!("The limit of this connection is unknown: {why}.")
            }
        }
    }

    /// What shows that the link is full: the rate that stays while the congestion window varies, or a queue.
    fn signs_of_a_full_link(&self) -> String {
        let state = &self.evidence.state;
        let spread = self.evidence.spread;
        let rtt = spread.map_or(state.rtt, |spread| spread.rtt_median).as_secs_f64();
        let is_queued = state.min_rtt.is_some_and(|least| rtt > QUEUEING * least.as_secs_f64());
        match (spread.and_then(|spread| spread.rates), state.min_rtt) {
            (Some(rates), _) if !is_queued => {
                let ([slow, fast], [small, large]) = (rates.delivery_bps, rates.cwnd_segments);
                format!(
                    ": it delivers {} to {} for most of the time, while the congestion window is {small:.0} to {large:.0} segments",
                    approx::rate(slow),
                    approx::rate(fast)
                )
            }
            (_, Some(least)) => format!(
                ": the round trip is {}, and {} without a queue",
                approx::time(rtt),
                approx::time(least.as_secs_f64())
            ),
            (_, None) => String::new(),
        }
    }

    fn remedy(&self) -> Option<Remedy> {
        let here = self.here();
        let peer = self.remote.ip().to_canonical();
        let there = Host::of_system(peer.to_string(), System::Unknown);
        let look_there = |remedy: Remedy| {
            let line = format!("maxseg explain {}", quoted(self.remote, self.local));
            remedy.look(System::Linux, &there, line)
        };
        if self.not_established().is_some() {
            return self.establish(&here);
        }
        Some(match self.diagnosis.limited_by {
            LimitedBy::ReceiveWindow if self.is_receiving() => self.widen_window_here(&here),
            LimitedBy::ReceiveWindow => {
                let remedy = look_there(Remedy::new(format!(
                    "let {peer} offer a larger receive window, or read faster: what holds it is seen there"
                )));
                if shares_queue(self.evidence) {
                    remedy.note("Other traffic fills the queue of the link as well: a larger window takes its share from that.")
                } else {
                    remedy
                }
            }
            LimitedBy::SendBuffer => self.raise_send_buffer(&here),
            LimitedBy::Application => self.examine(&here, "it had no data to send"),
            LimitedBy::Bandwidth if self.send_buffer_was_full() => self.fill_link(&here),
            LimitedBy::Bandwidth => Remedy::new(
                "no TCP setting speeds up a full link: send less, or get a faster link",
            )
            .look_linux(&here, "tc -s qdisc show"),
            LimitedBy::Congestion => Remedy::new(
                "find where segments are lost: a capture tells losses for size, bursts and queues apart",
            )
            .look_linux(&here, self.capture("slow.pcapng")),
            LimitedBy::StartUp => {
                Remedy::new("transfer more over one connection: a new one begins with slow start")
            }
            LimitedBy::Paced => {
                let ends = quoted(self.local, self.remote);
                self.examine(&here, "SO_MAX_PACING_RATE paces the connection: the program has set it, or `maxseg tune` has")
                    .look_linux(&here, format!("maxseg tune status | grep -F {ends}"))
            },
            LimitedBy::PathMtu => {
                Remedy::new("find the largest packet that arrives, and the place where larger ones vanish")
                    .look_linux(&here, self.path_test())
                    .note(self.set_path_mtu())
            }
            LimitedBy::Rto if self.long_timer().is_some() => Remedy::new(
                "look for `rto_min` in the route, which makes the timer this long, and find where segments are lost",
            )
            .look_linux(&here, linux::show_route(peer))
            .look_linux(&here, self.capture("slow.pcapng")),
            LimitedBy::Rto => Remedy::new(format!("find out why {peer} does not answer"))
                .look_linux(&here, self.path_test()),
            LimitedBy::Unknown if sends_in_vain(&self.evidence.state) => Remedy::new(
                "find what keeps packets from leaving this host: a firewall's rule, the route, the interface or its queue",
            )
            .look_linux(&here, format!("ip route get {peer}"))
            .look_linux(&here, "nft list ruleset")
            .look_linux(&here, "ip -s link")
            .look_linux(&here, "tc -s qdisc show"),
            LimitedBy::Unknown if self.send_buffer_was_full() => self.raise_send_buffer(&here),
            LimitedBy::Unknown if holds_small_segments(self.evidence) => Remedy::new(
                "let the program write each message at once, or set TCP_NODELAY: Nagle's algorithm holds small segments",
            ),
            LimitedBy::Unknown if self.is_receiving() => {
                let remedy = look_there(Remedy::new(format!(
                    "look at the sender, {peer}: its sockets show the limit"
                )))
                .note(self.window_on_the_way());
                if self.has_small_buffer() {
                    remedy
                        .linux(&here, self.autotuned())
                        .only_where("the sender's limit is the receive window: the program here has set SO_RCVBUF")
                } else {
                    remedy
                }
            }
            LimitedBy::Unknown | LimitedBy::Host => return None,
        })
    }

    /// At both ends, each by the route to the other.
    fn set_path_mtu(&self) -> String {
        let line = |to: IpAddr| linux::tune_route(to.into(), to, "mtu N");
        let [here, there] = [self.remote, self.local].map(|end| line(end.ip().to_canonical()));
        let here = self.netns.map_or_else(|| here.clone(), |netns| within(netns, &here));
        format!(
            "The MTU that it finds, as N, keeps packets small enough: `{here}` here, and `{there}` at the other end."
        )
    }

    fn examine(&self, here: &Host, why: &str) -> Remedy {
        match self.pid {
            Some(pid) => Remedy::new(format!("examine process {pid}: {why}"))
                .look_linux(here, format!("top -b -H -n 1 -p {pid}")),
            None => Remedy::new(format!("examine the application here: {why}")),
        }
    }

    /// The test of the path; to the peer's port where it is that of a service, and not the one that its system chose.
    fn path_test(&self) -> String {
        let peer = self.remote.ip().to_canonical();
        if self.remote.port() > self.local.port() {
            return format!("maxseg path {peer}");
        }
        match peer {
            IpAddr::V4(_) => format!("maxseg path {peer}:{}", self.remote.port()),
            IpAddr::V6(_) => format!("maxseg path '[{peer}]:{}'", self.remote.port()),
        }
    }

    /// A capture of this connection's packets.
    fn capture(&self, file: &str) -> String {
        let peer = self.remote.ip().to_canonical();
        format!(
            "maxseg capture --interface any --host {peer} --port {} -w {file}",
            self.remote.port()
        )
    }
}

/// The route as it is, but for its `window`.
fn without_route_window(case: &SocketCase<'_>) -> Remedy {
    let to = case.remote.ip().to_canonical();
    let here = case.here();
    let lasts = case.window.winner().is_some_and(|link| link.source == Source::WindowScale);
    let remedy = Remedy::new("remove `window` from the route: it wins over SO_RCVBUF")
        .look_linux(&here, linux::show_route(to))
        .linux(&here, linux::without_attribute(to.into(), to, "window"));
    let when = if lasts {
        "The window scale of this connection stays as it is: the change acts on new connections."
    } else {
        "The change acts on new connections."
    };
    remedy.note(when)
}

/// A command line of `sh`, run in another network namespace.
fn within(netns: &str, line: &str) -> String {
    let word = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match netns.strip_prefix("pid:").and_then(|pid| pid.parse::<u32>().ok()) {
        Some(pid) => format!("nsenter -t {pid} -n sh -c {}", word(line)),
        None => format!("ip netns exec {} sh -c {}", word(netns), word(line)),
    }
}

/// Two ends as an argument that a shell takes as it is.
fn quoted(local: SocketAddr, remote: SocketAddr) -> String {
    let plain = |end: SocketAddr| SocketAddr::new(IpAddr::to_canonical(&end.ip()), end.port());
    let ends = format!("{}-{}", plain(local), plain(remote));
    if ends.contains('[') { format!("'{ends}'") } else { ends }
}

fn size(bytes: Bytes) -> String {
    let bytes = bytes.get();
    if bytes < 10_000 {
        return counted(bytes, "byte");
    }
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || counted(bytes, "byte"),
        |(unit, name)| format!("{} {name}", approx::digits(bytes as f64 / unit as f64)),
    )
}

#[cfg(test)]
mod tests;
