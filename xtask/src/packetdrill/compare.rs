//! Packets of a script beside packets of the socket.

use maxseg_core::tcp::linux::{Blocks, Flags, Packet, Stamps, SynOptions};
use maxseg_core::units::Time;

use super::script::{Options, Pattern, TcpOptions};
use super::verdict::Stop;

/// What both ends have said, so that header fields can be read.
#[derive(Debug)]
pub(super) struct Wire {
    options: Options,
    /// Window scales of the script's end and of the socket's, as their SYNs have them.
    their_scale: Option<u32>,
    our_scale: Option<u32>,
    /// What the socket's timestamps are ahead of the script's.
    stamps_ahead: Option<i128>,
}

impl Wire {
    pub(super) const fn new(options: Options) -> Self {
        Self { options, their_scale: None, our_scale: None, stamps_ahead: None }
    }

    /// Both SYNs have to have the option.
    fn scales(&self) -> (u32, u32) {
        match (self.their_scale, self.our_scale) {
            (Some(theirs), Some(ours)) => (theirs, ours),
            _ => (0, 0),
        }
    }

    /// A packet of the script as the socket gets it.
    pub(super) fn packet(&mut self, pattern: &Pattern) -> Result<Packet, Stop> {
        let Some(options) = &pattern.options else {
            return Err(Stop::Differs("a packet that comes with unknown options".to_owned()));
        };
        let flags = pattern.flags;
        if flags.syn {
            self.their_scale = options.window_scale;
        }
        let shift = if flags.syn { 0 } else { self.scales().0 };
        let mut sack = Blocks::default();
        for block in &options.sack {
            sack.push(*block);
        }
        let stamps = options.stamps.map(|(value, echo)| {
            let ahead = self.stamps_ahead.unwrap_or(0);
            let echo = u64::try_from(i128::from(echo) + ahead).unwrap_or(0);
            Stamps { value, echo: if flags.ack { echo } else { 0 } }
        });
        let syn = flags.syn.then_some(SynOptions {
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
        });
        let ecn = pattern.ip_ecn.as_deref();
        Ok(Packet {
            seq: pattern.seq,
            ack: pattern.ack.unwrap_or(0),
            len: pattern.len,
            window: pattern.window.unwrap_or(0) << shift,
            push: flags.push,
            flags: Flags::NONE
                .with(Flags::FIN, flags.fin)
                .with(Flags::RST, flags.rst)
                .with(Flags::ECE, flags.ece)
                .with(Flags::CWR, flags.cwr)
                .with(Flags::ECT, ecn.is_some_and(|ecn| ecn.starts_with("ect")))
                .with(Flags::CE, ecn == Some("ce")),
            syn,
            stamps,
            sack,
            repeated: false,
            alone: true,
        })
    }

    /// The options of a packet of the socket, its timestamps as the script counts them.
    fn options(&self, packet: &Packet) -> TcpOptions {
        TcpOptions {
            mss: packet.syn.and_then(|syn| syn.mss),
            sack_permitted: packet.syn.is_some_and(|syn| syn.sack_permitted),
            window_scale: packet.syn.and_then(|syn| syn.window_scale),
            stamps: packet.stamps.map(|stamps| {
                let value = i128::from(stamps.value) - self.stamps_ahead.unwrap_or(0);
                (u64::try_from(value).unwrap_or(0), stamps.echo)
            }),
            sack: packet.sack.as_slice().to_vec(),
        }
    }

    /// The first timestamp sets what the script's count from.
    fn learn(&mut self, wanted: &Pattern, packet: &Packet) {
        if let Some(syn) = packet.syn {
            self.our_scale = syn.window_scale;
        }
        let script = wanted.options.as_ref().and_then(|options| options.stamps);
        if let (None, Some((value, _)), Some(stamps)) = (self.stamps_ahead, script, packet.stamps) {
            self.stamps_ahead = Some(i128::from(stamps.value) - i128::from(value));
        }
    }

    /// Whether timestamps are those of the script, where they are compared at all.
    fn stamps_fit(&self, wanted: Option<(u64, u64)>, sent: Option<(u64, u64)>, now: Time) -> bool {
        let (Some(wanted), Some(sent)) = (wanted, sent) else { return wanted == sent };
        let Some(tick) = self.options.stamp_tick else { return true };
        // An eighth of the time since the script began, where that is more.
        let tolerance = self.options.tolerance.as_nanos().max(now.as_nanos() / 8);
        sent.0.abs_diff(wanted.0) * tick.as_nanos() <= tolerance && sent.1 == wanted.1
    }
}

/// What of a packet of the socket is not as the script has it. How a
/// burst is cut, and so what is pushed, counts only where segments are strict.
pub(super) fn differs(
    wire: &mut Wire,
    wanted: &Pattern,
    packet: &Packet,
    now: Time,
) -> Option<String> {
    wire.learn(wanted, packet);
    let told = |what: &str, wanted: &dyn std::fmt::Debug, sent: &dyn std::fmt::Debug| {
        let range = format!("{}:{}", packet.seq, packet.seq + packet.len);
        Some(format!("{what} of {range} is {sent:?}, and was to be {wanted:?}"))
    };
    let range = (wanted.seq, wanted.seq + wanted.len);
    let sent = (packet.seq, packet.seq + packet.len);
    if range != sent {
        return Some(format!("{}:{} was sent instead of {}:{}", sent.0, sent.1, range.0, range.1));
    }
    let flags = wanted.flags;
    if flags.syn != packet.syn.is_some() {
        return told("SYN", &flags.syn, &packet.syn.is_some());
    }
    let is_strict = wire.options.strict_segments;
    let has = |flag| packet.flags.has(flag);
    if flags.rst != has(Flags::RST) {
        return told("RST", &flags.rst, &has(Flags::RST));
    }
    if flags.fin != has(Flags::FIN) {
        return told("FIN", &flags.fin, &has(Flags::FIN));
    }
    if is_strict && flags.push != packet.push && !flags.syn {
        return told("PSH", &flags.push, &packet.push);
    }
    let ack = (packet.ack > 0).then_some(packet.ack);
    if wanted.ack != ack {
        return told("ACK", &wanted.ack, &ack);
    }
    if flags.ece != has(Flags::ECE) {
        return told("ECE", &flags.ece, &has(Flags::ECE));
    }
    if flags.cwr != has(Flags::CWR) {
        return told("CWR", &flags.cwr, &has(Flags::CWR));
    }
    if let Some(ecn) = &wanted.ip_ecn {
        let sent = if has(Flags::ECT) { "ect0" } else { "noecn" };
        if ecn != sent {
            return told("the ECN field", ecn, &sent);
        }
    }
    let scale = if flags.syn { 0 } else { wire.scales().1 };
    let window = packet.window >> scale;
    if wanted.window.is_some_and(|wanted| wanted != window) {
        return told("the window", &wanted.window, &window);
    }
    let wanted_options = wanted.options.as_ref()?;
    let options = wire.options(packet);
    let same = TcpOptions { stamps: wanted_options.stamps, ..options.clone() } == *wanted_options;
    if same && wire.stamps_fit(wanted_options.stamps, options.stamps, now) {
        return None;
    }
    told("options", wanted_options, &options)
}
