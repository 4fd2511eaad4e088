//! Our side of a cell: the same configuration, measured as ns-3's was.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use maxseg_core::engine::Unwatched;
use maxseg_core::scenario::{End, Scenario};
use maxseg_core::sim::{CapturePoint, Content, Sighting, Sim, Tap};
use maxseg_core::units::Time;

use super::cell::{Cell, Extent, Link, TcpOptions, WARM_UP};

/// What our simulator gives for a cell.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Payload in bits per second, as [`super::Given::goodput`] counts it.
    pub goodput: f64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Packets towards the receiver.
    pub forward: u64,
    /// Packets towards the sender.
    pub reverse: u64,
    /// Mean round trip of echoes in seconds.
    pub ping: Option<f64>,
}

/// Runs `cell`.
///
/// # Errors
/// The cell is no scenario.
pub fn measure(cell: &Cell) -> Result<Measured> {
    let scenario = cell.scenario()?;
    let from = match cell.extent {
        Extent::Bytes { .. } => 0.0,
        Extent::Seconds(_) => WARM_UP,
    };
    let mut seen = Seen::from(Time::from_secs_f64(from));
    let outcome = Sim.run_tapped(&scenario, &mut Unwatched, &mut seen)?;
    let seconds = match cell.extent {
        Extent::Bytes { .. } => seen.last_byte.as_secs_f64(),
        Extent::Seconds(seconds) => seconds - WARM_UP,
    };
    Ok(Measured {
        goodput: 8.0 * seen.payload as f64 / seconds,
        data_packets: outcome.data_packets.unwrap_or(0),
        forward: seen.forward,
        reverse: seen.reverse,
        ping: (seen.pings > 0).then(|| seen.ping_seconds / seen.pings as f64),
    })
}

impl Cell {
    /// The same configuration as a scenario of ours.
    ///
    /// # Errors
    /// The configuration is impossible.
    pub fn scenario(&self) -> Result<Scenario> {
        let text = self.scenario_text()?;
        Scenario::from_toml("cell", &text).map_err(|error| anyhow!("{error}\n{text}"))
    }

    fn scenario_text(&self) -> Result<String> {
        let mut text = String::new();
        let first = self.first.iter().map(|link| (link, HOST_QUEUE));
        for (Link { rate, delay }, queue) in first.chain([(&self.last, self.queue)]) {
            write!(
                text,
                "[[hop]]\nrate = \"{rate} bit/s\"\ndelay = \"{} us\"\nmtu = 65535\n\
                 framing = \"ppp-protocol\"\nqueue = \"{queue} packets\"\n",
                delay * 1e6,
            )?;
        }
        let TcpOptions { sack, timestamps } = self.options;
        let endpoint = format!(
            "stack = \"rfc\"\nmss = {}\nsack = {sack}\ntimestamps = {timestamps}\n",
            // Its segment size is payload; ours makes room for the timestamps.
            self.mss + if timestamps { TIMESTAMPS } else { 0 },
        );
        write!(
            text,
            "[sender]\n{endpoint}initial_window = \"{} segments\"\nsend_buffer = \"{} B\"\n\
             rto = {{ min = \"{} s\" }}\n[receiver]\n{endpoint}window = \"{} B\"\n",
            self.initial_window,
            (2 * self.window).max(131_072),
            self.min_rto,
            self.window,
        )?;
        if u16::try_from(self.window).is_ok() {
            // ns-3 has no MSS option: where nothing is to be scaled, its SYN has no option at all.
            text += "window_scale = \"unlimited\"\n";
        }
        match self.delayed_ack {
            1 => text += "delayed_ack = false\n",
            every => writeln!(
                text,
                "delayed_ack = {{ every = {every}, timeout = \"200 ms\", first_at_once = true }}"
            )?,
        }
        text += "[[flow]]\nkind = \"bulk\"\n";
        if self.ns3.ping.is_some() {
            writeln!(
                text,
                "[[flow]]\nkind = \"ping\"\nfrom = \"receiver\"\nsize = 56\ninterval = \"1.37 s\"\n\
                 start = \"{WARM_UP} s\""
            )?;
        }
        text += "[until]\n";
        match self.extent {
            Extent::Bytes { bytes, seconds } => {
                writeln!(text, "bytes = \"{bytes} B\"\ntime = \"{seconds} s\"")?;
            }
            Extent::Seconds(seconds) => writeln!(text, "time = \"{seconds} s\"")?,
        }
        Ok(text)
    }
}

/// The option with its padding (RFC 7323).
const TIMESTAMPS: u32 = 12;
/// More than any window.
const HOST_QUEUE: u32 = 1_000_000;

/// What passes the hosts.
struct Seen {
    /// When payload and echoes begin to count.
    from: Time,
    payload: u64,
    last_byte: Time,
    forward: u64,
    reverse: u64,
    /// Echo requests under way: when they were sent.
    echoes: BTreeMap<u64, Time>,
    pings: u64,
    ping_seconds: f64,
}

impl Seen {
    fn from(from: Time) -> Self {
        Self {
            from,
            payload: 0,
            last_byte: Time::ZERO,
            forward: 0,
            reverse: 0,
            echoes: BTreeMap::new(),
            pings: 0,
            ping_seconds: 0.0,
        }
    }
}

impl Tap for Seen {
    fn on_packet(&mut self, sighting: &Sighting) {
        let Sighting { at, packet, .. } = *sighting;
        let CapturePoint::Host(host) = sighting.point else { return };
        if host == packet.from {
            match host {
                End::Sender => self.forward += 1,
                End::Receiver => self.reverse += 1,
            }
        }
        match packet.content {
            // Nothing is lost or overtaken here: what arrives is new.
            Content::Tcp(tcp) if tcp.payload > 0 && host == End::Receiver => {
                self.last_byte = at;
                if at >= self.from {
                    self.payload += u64::from(tcp.payload);
                }
            }
            Content::EchoRequest { number } if host == End::Receiver && at >= self.from => {
                self.echoes.insert(number, at);
            }
            Content::EchoReply { number } if host == End::Receiver => {
                if let Some(sent) = self.echoes.remove(&number) {
                    self.pings += 1;
                    self.ping_seconds += (at - sent).as_secs_f64();
                }
            }
            Content::Tcp(_)
            | Content::EchoRequest { .. }
            | Content::EchoReply { .. }
            | Content::Datagram => {}
        }
    }
}
