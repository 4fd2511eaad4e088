//! Rounds of probes: UDP datagrams to a closed port, or ICMP echoes.

mod matching;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use maxseg_core::framing::{ICMP_ECHO_HEADER, UDP_HEADER, ip_header};
use maxseg_core::path_mtu::{Probe, ProbeFate, Refusal};
use maxseg_wire::Payload;
use maxseg_wire::icmp::Message;
use maxseg_wire::ip::protocol;

use crate::sys::{ProbeSocket, SendResult, wait_for};

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKind {
    /// UDP datagrams to a port that is likely closed: the destination answers "port unreachable".
    Udp {
        /// The destination port.
        port: u16,
    },
    /// ICMP echoes: the destination answers with a packet of the same size.
    Echo,
    /// UDP datagrams that begin with a key, to a port where somebody counts them and answers otherwise.
    Keyed {
        /// The destination port.
        port: u16,
        /// What they begin with.
        key: [u8; KEY],
    },
}

/// Bytes of a key.
const KEY: usize = 16;

/// A packet that was sent, and what came of it.
#[derive(Debug, Clone)]
pub struct Shot {
    /// What was sent.
    pub probe: Probe,
    at: Instant,
    /// What answered it.
    pub answer: Option<Answer>,
    /// The message that it is too big.
    pub refusal: Option<Refusal>,
    /// It exceeds the interface's MTU, and was not sent.
    pub is_local_too_big: bool,
    /// A firewall of this host refused it, and it was not sent: silence shows nothing.
    pub is_refused_here: bool,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What it says.
    pub kind: AnswerKind,
    /// Who sent it.
    pub from: IpAddr,
    /// The time from the packet to it.
    pub round_trip: Duration,
    /// The TTL or hop limit with which it arrived.
    pub ttl: Option<u8>,
}

/// What an answer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// The destination has the packet.
    Destination,
    /// A router has it, at which its TTL ended.
    Expired,
    /// A router does not pass it on; the code of ICMP says why.
    Unreachable(u8),
}

/// What came of a round.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// What was sent, in this order.
    pub shots: Vec<Shot>,
    /// Packets of earlier rounds that were answered only now, or called too big.
    pub late: Vec<Shot>,
}

/// What ends a round before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundEnd {
    /// Every packet is answered.
    AllAnswered,
    /// The last packet is answered, and shortly afterwards nothing else came: answers come in the order of the packets, as from
    /// one destination.
    LastAnswered,
    /// Every packet of at most this size is answered, and shortly afterwards nothing else came.
    AnsweredUpTo(u32),
}

/// Sends rounds of probes to one address, from one pair of ports.
#[derive(Debug)]
pub struct Prober {
    socket: ProbeSocket,
    kind: ProbeKind,
    to: IpAddr,
    source: SocketAddr,
    /// Everything that was sent; the place is in the packet.
    shots: Vec<Shot>,
    /// Bytes of IP packets that were sent.
    pub sent_bytes: u64,
    /// Packets that a firewall of this host refused.
    pub refused_here: u32,
    /// Packets that the interface dropped.
    dropped: u32,
    /// Somebody quotes too little of a packet to tell which: the next is sent when the one before it is answered, or will not be.
    is_one_at_a_time: bool,
    /// That showed in a round under way, and it is sent again.
    is_unclear: bool,
}

/// What begins the payload, before the packet's number.
const MARK: [u8; 4] = *b"mxsg";
/// Bytes of the mark and the number.
const MARK_AND_NUMBER: usize = 8;
/// A stop is noticed within this time.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// So many packets that the interface dropped, before any has left, show that nothing leaves: a round of small packets has three, which a
/// queue that is full for a moment may drop, and one more comes after a pause.
const NOTHING_LEAVES: u32 = 4;
/// Packets can overtake each other by this, at least.
const LEAST_MARGIN: Duration = Duration::from_millis(15);

impl Prober {
    /// A prober of this kind.
    ///
    /// # Errors
    /// There is no route, or this process may not send such packets.
    pub fn new(to: IpAddr, kind: ProbeKind) -> io::Result<Self> {
        let socket = match kind {
            ProbeKind::Udp { port } | ProbeKind::Keyed { port, .. } => {
                ProbeSocket::udp(SocketAddr::new(to, port))?
            }
            ProbeKind::Echo => ProbeSocket::echo(to)?,
        };
        let source = socket.local()?;
        Ok(Self {
            socket,
            kind,
            to,
            source,
            shots: Vec::new(),
            sent_bytes: 0,
            refused_here: 0,
            dropped: 0,
            is_one_at_a_time: false,
            is_unclear: false,
        })
    }

    /// This end's address and port.
    pub const fn source(&self) -> SocketAddr {
        self.source
    }

    /// The protocol and the source port of its packets; of echoes their identifier.
    pub fn own(&self) -> (u8, u16) {
        match (self.kind, self.to) {
            (ProbeKind::Udp { .. } | ProbeKind::Keyed { .. }, _) => {
                (protocol::UDP, self.source.port())
            }
            (ProbeKind::Echo, IpAddr::V4(_)) => (protocol::ICMP, echo_id()),
            (ProbeKind::Echo, IpAddr::V6(_)) => (protocol::ICMPV6, echo_id()),
        }
    }

    /// The least packet that it can send, bytes.
    pub fn least_size(&self) -> u32 {
        self.headers() + u32::try_from(self.key().len() + MARK_AND_NUMBER).unwrap_or(u32::MAX)
    }

    /// What precedes the mark.
    const fn key(&self) -> &[u8] {
        match &self.kind {
            ProbeKind::Keyed { key, .. } => key,
            ProbeKind::Udp { .. } | ProbeKind::Echo => &[],
        }
    }

    fn headers(&self) -> u32 {
        let own = match self.kind {
            ProbeKind::Udp { .. } | ProbeKind::Keyed { .. } => UDP_HEADER,
            ProbeKind::Echo => ICMP_ECHO_HEADER,
        };
        u32::try_from((ip_header(self.to.into()) + own).get()).unwrap_or(u32::MAX)
    }

    /// Sends the packets with a pause between them and waits for answers: as `end` has it, or for `patience` after the last.
    ///
    /// # Errors
    /// The socket cannot be used, or the interface drops whatever is sent (`ENOBUFS`); `Interrupted` after a stop.
    pub fn round(
        &mut self,
        probes: &[Probe],
        pause: Duration,
        patience: Duration,
        end: RoundEnd,
        stop: &AtomicBool,
    ) -> io::Result<Round> {
        let mut late = Vec::new();
        let mut first = self.shots.len();
        self.send_round(probes, [pause, patience], end, &mut late, stop)?;
        if self.is_unclear {
            // What still comes of it must not be taken for answers to what follows.
            self.collect_until(Instant::now() + patience, first, &mut late, stop)?;
            self.is_unclear = false;
            let is_known = |shot: &Shot| shot.answer.is_some() || shot.refusal.is_some();
            late.extend((first..self.shots.len()).filter(|at| is_known(&self.shots[*at])));
            first = self.shots.len();
            self.send_round(probes, [pause, patience], end, &mut late, stop)?;
        }
        let shots = self.shots.get(first..).unwrap_or_default().to_vec();
        let late = late.into_iter().filter_map(|at: usize| self.shots.get(at).cloned()).collect();
        Ok(Round { shots, late })
    }

    /// Whether one packet at a time is on its way: answers do not tell which of several they are of.
    pub const fn sends_one_at_a_time(&self) -> bool {
        self.is_one_at_a_time
    }

    fn send_round(
        &mut self,
        probes: &[Probe],
        [pause, patience]: [Duration; 2],
        end: RoundEnd,
        late: &mut Vec<usize>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let first = self.shots.len();
        let mut due = Instant::now();
        for probe in probes {
            self.collect_until(due, first, late, stop)?;
            self.wait_for_last(first, patience, late, stop)?;
            self.send(*probe)?;
            due = Instant::now() + pause;
        }
        let deadline = Instant::now() + patience;
        let margin = (patience / 8).max(LEAST_MARGIN);
        loop {
            self.collect(first, late)?;
            let round = self.shots.get(first..).unwrap_or_default();
            let is_over = |shot: &Shot| shot.answer.is_some() || shot.is_unsent();
            if round.iter().all(is_over) {
                return Ok(());
            }
            let until = match enough(round, end) {
                Some(answered) => deadline.min(answered + margin),
                None => deadline,
            };
            if Instant::now() >= until {
                return Ok(());
            }
            self.wait_until(until, stop)?;
        }
    }

    /// Where one packet at a time is sent, waits until the last of the round is answered, or no longer will be.
    fn wait_for_last(
        &mut self,
        first: usize,
        patience: Duration,
        late: &mut Vec<usize>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        while self.is_one_at_a_time && !self.is_unclear {
            let Some(last) = self.shots.get(first..).and_then(<[Shot]>::last) else { break };
            let is_over = last.answer.is_some() || last.refusal.is_some() || last.is_unsent();
            let until = last.at + patience;
            if is_over || Instant::now() >= until {
                break;
            }
            self.wait_until(until, stop)?;
            self.collect(first, late)?;
        }
        Ok(())
    }

    fn collect_until(
        &mut self,
        due: Instant,
        first: usize,
        late: &mut Vec<usize>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        loop {
            self.collect(first, late)?;
            if Instant::now() >= due {
                return Ok(());
            }
            self.wait_until(due, stop)?;
        }
    }

    fn wait_until(&self, end: Instant, stop: &AtomicBool) -> io::Result<()> {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let left = end.saturating_duration_since(Instant::now()).min(LONGEST_WAIT);
        wait_for(&[self.socket.as_fd()], Some(left))
    }

    fn send(&mut self, probe: Probe) -> io::Result<()> {
        let number = self.shots.len();
        let bytes = self.packet(probe.size, number);
        let at = Instant::now();
        let result = self.socket.send(&bytes, probe.hop)?;
        let [is_local_too_big, is_refused_here] =
            [SendResult::TooBig, SendResult::Refused].map(|unsent| result == unsent);
        match result {
            SendResult::Sent => self.sent_bytes += u64::from(probe.size),
            SendResult::Refused => self.refused_here += 1,
            SendResult::Dropped => self.dropped += 1,
            SendResult::TooBig => {}
        }
        // What the interface drops is lost, as what a hop drops is.
        if self.sent_bytes == 0 && self.dropped >= NOTHING_LEAVES {
            return Err(io::Error::from_raw_os_error(libc::ENOBUFS));
        }
        let (answer, refusal) = (None, None);
        self.shots.push(Shot { probe, at, answer, refusal, is_local_too_big, is_refused_here });
        Ok(())
    }

    /// What follows the header that the kernel writes.
    fn packet(&self, size: u32, number: usize) -> Vec<u8> {
        let length = size.saturating_sub(self.headers()) as usize;
        let mut payload = self.key().to_vec();
        payload.extend(MARK);
        payload.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
        payload.resize(length.max(payload.len()), 0);
        match self.kind {
            ProbeKind::Udp { .. } | ProbeKind::Keyed { .. } => payload,
            ProbeKind::Echo => {
                let mut packet = Vec::new();
                let seq = u16::try_from(number & 0xffff).unwrap_or_default();
                let echo = Message::EchoRequest { id: echo_id(), seq };
                echo.encode((self.source.ip(), self.to), Payload::Bytes(&payload), &mut packet);
                packet
            }
        }
    }
}

/// When the answers came that end a round; `None` before they have.
fn enough(round: &[Shot], end: RoundEnd) -> Option<Instant> {
    let answered = |shot: &Shot| Some(shot.at + shot.answer?.round_trip);
    match end {
        RoundEnd::AllAnswered => None,
        RoundEnd::LastAnswered => round.last().and_then(answered),
        RoundEnd::AnsweredUpTo(size) => {
            let small = round.iter().filter(|shot| shot.probe.size <= size);
            let times: Option<Vec<Instant>> = small.map(answered).collect();
            times?.into_iter().max()
        }
    }
}

/// Tells the echoes of processes apart (a ping socket has an identifier of its own).
fn echo_id() -> u16 {
    u16::try_from(std::process::id() & 0xffff).unwrap_or_default()
}

impl Shot {
    /// The answer, where it shows that the packet came to its end: the destination, or the router at which it was to end.
    pub fn arrival(&self) -> Option<Answer> {
        self.answer.filter(|answer| match answer.kind {
            AnswerKind::Destination => true,
            AnswerKind::Expired => self.probe.hop.is_some(),
            AnswerKind::Unreachable(_) => false,
        })
    }

    /// Whether it never left this host.
    pub const fn is_unsent(&self) -> bool {
        self.is_local_too_big || self.is_refused_here
    }

    /// What became of it.
    pub fn fate(&self, interface_mtu: u32) -> ProbeFate {
        match (self.arrival(), self.refusal) {
            (Some(_), _) => ProbeFate::Arrived,
            (_, Some(refusal)) => ProbeFate::TooBig(refusal),
            _ if self.is_refused_here => ProbeFate::LocalTooBig { mtu: None },
            _ if self.is_local_too_big => ProbeFate::LocalTooBig { mtu: Some(interface_mtu) },
            _ => ProbeFate::NoAnswer,
        }
    }
}
