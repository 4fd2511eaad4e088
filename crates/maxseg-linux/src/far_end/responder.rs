//! A session with a responder.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use maxseg_core::mss::default_mss;
use maxseg_wire::ip::Outline;
use maxseg_wire::options::{TcpOption, walk};
use maxseg_wire::responder::{Limits, Message, NONCE};
use maxseg_wire::tcp::Segment;
use socket2::{Domain, Protocol, Socket, Type};

use super::FarEndError;
use super::connection::{Account, Welcomed, answer_to, next_answer};
use crate::sys::send_as_probes;
use crate::transfer::{Frames, SocketOptions};

/// Samples that a report has at most, its messages included: more than a responder keeps.
const MOST_SAMPLES: usize = 65_536;

/// A session: its control connection, over which pings and questions go.
#[derive(Debug)]
pub struct ResponderClient<'a> {
    pub(super) account: Account,
    pub(super) welcomed: Welcomed,
    pub(super) control: Frames,
    pub(super) stop: &'a AtomicBool,
    /// The number of the last transfer.
    pub(super) transfer: u32,
    /// The number of the last train.
    pub(super) train: u32,
    next_ping: u32,
    /// The flow of UDP that this end opened, once it has.
    pub(super) datagrams: Option<UdpSocket>,
}

/// Round trips of messages of a few bytes over a TCP connection of their own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pings {
    /// Each, with its time since the first was sent.
    pub trips: Vec<(Duration, Duration)>,
    /// The least round trip by the kernel's own clock (`tcpi_min_rtt`), which no program's wake-up is part of.
    pub kernel_min: Option<Duration>,
}

/// The SYN of a connection to a responder, as it arrived there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynAsReceived {
    /// The option's value; `None` without the option.
    pub mss: Option<u16>,
    /// The window scale; `None` without the option.
    pub window_scale: Option<u8>,
    /// Whether timestamps were offered.
    pub timestamps: bool,
    /// Whether selective acknowledgements were.
    pub sack: bool,
    /// The advertised window.
    pub window: u16,
    /// The TTL or hop limit that was left.
    pub ttl: u8,
    /// The options in the words of `maxseg capture`, in their order.
    pub options: Vec<String>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other message is no answer")]
impl<'a> ResponderClient<'a> {
    /// Begins a session; it ends when the value is dropped.
    ///
    /// # Errors
    /// There is no responder, or it refuses.
    pub fn begin(
        address: SocketAddr,
        token: &str,
        stop: &'a AtomicBool,
    ) -> Result<Self, FarEndError> {
        let account = Account { address, token: token.to_owned() };
        let is_over = || stop.load(Ordering::Relaxed);
        // What ends say of each other passes black holes: segments that every path carries.
        let mss = default_mss(address.ip().to_canonical().into());
        let options = SocketOptions { mss: Some(mss), ..SocketOptions::default() };
        let (control, welcomed) = account.connect(&options, 0, &is_over)?;
        Ok(Self {
            account,
            welcomed,
            control,
            stop,
            transfer: 0,
            train: 0,
            next_ping: 0,
            datagrams: None,
        })
    }

    /// Where it is.
    pub const fn address(&self) -> SocketAddr {
        self.account.address
    }

    /// What it allows.
    pub const fn limits(&self) -> Limits {
        self.welcomed.limits
    }

    pub(super) fn ask(&mut self, question: &Message) -> Result<Message, FarEndError> {
        let stop = self.stop;
        answer_to(&mut self.control, question, &|| stop.load(Ordering::Relaxed))
    }

    pub(super) fn unexpected(&self) -> FarEndError {
        FarEndError::NoResponder(self.account.address)
    }

    /// One round trip.
    ///
    /// # Errors
    /// No answer.
    pub fn ping(&mut self) -> Result<Duration, FarEndError> {
        let number = self.next_ping;
        self.next_ping = number.wrapping_add(1);
        let sent = Instant::now();
        match self.ask(&Message::Ping(number))? {
            Message::Pong(answered) if answered == number => Ok(sent.elapsed()),
            _ => Err(self.unexpected()),
        }
    }

    /// Pings at this interval until `until` says that it is enough.
    ///
    /// # Errors
    /// No answer.
    pub fn pings(
        &mut self,
        interval: Duration,
        mut until: impl FnMut(usize, Duration) -> bool,
    ) -> Result<Pings, FarEndError> {
        let began = Instant::now();
        let mut pings = Pings::default();
        while !until(pings.trips.len(), began.elapsed()) {
            let at = began.elapsed();
            let trip = self.ping()?;
            pings.trips.push((at, trip));
            std::thread::sleep(interval.saturating_sub(trip));
        }
        pings.kernel_min = self.control.socket.sample().ok().and_then(|sample| sample.info.min_rtt);
        Ok(pings)
    }

    /// The SYN of an ordinary connection: the MSS that it offered as it left (`tcpi_advmss`), and all of it as it arrived. `None` where
    /// this or the responder's kernel does not tell.
    ///
    /// # Errors
    /// No answer.
    pub fn syn_as_received(&mut self) -> Result<(Option<u32>, Option<SynAsReceived>), FarEndError> {
        let stop = self.stop;
        let is_over = || stop.load(Ordering::Relaxed);
        let options = SocketOptions::default();
        let (mut frames, _) = self.account.connect(&options, self.welcomed.session, &is_over)?;
        // The client takes timestamps off once they are agreed on (`tcp_rcv_synsent_state_process` in `net/ipv4/tcp_input.c`).
        let info = frames.socket.sample().ok().map(|sample| sample.info);
        let sent =
            info.filter(|info| info.advmss > 0).map(|info| info.advmss + info.option_bytes());
        match answer_to(&mut frames, &Message::SynQuestion, &is_over)? {
            Message::SynSeen(bytes) => Ok((sent, SynAsReceived::of(&bytes))),
            _ => Err(self.unexpected()),
        }
    }

    /// What datagrams to the responder's port have to begin with, to be counted there.
    pub const fn datagram_key(&self) -> [u8; NONCE] {
        self.welcomed.key
    }

    /// How many datagrams with the key have arrived so far of each size, in bytes of the IP packet, in all.
    ///
    /// # Errors
    /// No answer.
    pub fn arrivals(&mut self) -> Result<Vec<(u16, u32)>, FarEndError> {
        match self.ask(&Message::ArrivalsQuestion)? {
            Message::Arrivals(sizes) => Ok(sizes),
            _ => Err(self.unexpected()),
        }
    }

    /// How many datagrams of this size, in bytes of the IP packet, have arrived so far.
    ///
    /// # Errors
    /// No answer.
    pub fn arrived(&mut self, packet_bytes: u16) -> Result<u32, FarEndError> {
        let arrivals = self.arrivals()?;
        Ok(arrivals.iter().find(|(size, _)| *size == packet_bytes).map_or(0, |(_, count)| *count))
    }

    /// The samples that the responder's sockets gave in the last transfer, by connection.
    pub(super) fn report(
        &mut self,
    ) -> Result<Vec<(u16, Vec<maxseg_wire::responder::SenderSample>)>, FarEndError> {
        let stop = self.stop;
        let is_over = || stop.load(Ordering::Relaxed);
        self.control.send(&Message::ReportQuestion(self.transfer))?;
        let mut found: Vec<(u16, Vec<_>)> = Vec::new();
        let mut count = 0;
        loop {
            match next_answer(&mut self.control, &is_over)? {
                Message::ReportEnd => return Ok(found),
                Message::ReportPart { connection, samples } => {
                    count += 1 + samples.len();
                    if count > MOST_SAMPLES {
                        return Err(self.unexpected());
                    }
                    match found.last_mut() {
                        Some((last, known)) if *last == connection => known.extend(samples),
                        _ => found.push((connection, samples)),
                    }
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// The flow of UDP to the responder, opened with one datagram of the least size.
    pub(super) fn datagrams(&mut self) -> Result<&UdpSocket, FarEndError> {
        let address = self.account.address;
        let socket = if let Some(socket) = self.datagrams.take() {
            socket
        } else {
            let domain = Domain::for_address(address);
            let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
            send_as_probes(&socket, address.is_ipv6())?;
            socket.connect(&address.into())?;
            socket.set_read_timeout(Some(Duration::from_millis(20)))?;
            socket.into()
        };
        // It may be lost, and a NAT may forget: sent before every use.
        let _ = socket.send(&self.welcomed.key);
        Ok(self.datagrams.insert(socket))
    }

    /// The far end's address.
    pub const fn ip(&self) -> IpAddr {
        self.account.address.ip()
    }
}

impl SynAsReceived {
    /// Reads the headers of IP and TCP.
    fn of(bytes: &[u8]) -> Option<Self> {
        let packet = Outline::read(bytes, bytes.len()).ok()?;
        let ends = (packet.source, packet.destination);
        let segment = Segment::decode(packet.payload, packet.payload.len(), ends).ok()?;
        let mut syn = Self {
            mss: None,
            window_scale: None,
            timestamps: false,
            sack: false,
            window: segment.header.window,
            ttl: packet.ttl,
            options: walk(segment.options).map(|option| option.to_string()).collect(),
        };
        for option in walk(segment.options).values() {
            match option {
                TcpOption::Mss(mss) => syn.mss = Some(mss),
                TcpOption::WindowScale(shift) => syn.window_scale = Some(shift),
                TcpOption::SackPermitted => syn.sack = true,
                TcpOption::Timestamps { .. } => syn.timestamps = true,
                TcpOption::NoOperation
                | TcpOption::Sack(_)
                | TcpOption::FastOpen(_)
                | TcpOption::Md5(_)
                | TcpOption::Ao { .. }
                | TcpOption::Other { .. } => {}
            }
        }
        Some(syn)
    }
}
