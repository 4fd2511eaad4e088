//! `mss`

use maxseg_core::framing::{IpVersion, TCP_HEADER, TCP_TIMESTAMPS, ip_header};
use maxseg_core::mss::{Cause, Derivation, Effect, Step, freebsd, linux, rfc, stcp};
use maxseg_core::units::{Bytes, Mss, Mtu};
use serde_json::{Value, json};

use super::common::IP;
use crate::calc::parameter::{Described, Parameter};
use crate::calc::quantity::{Flag, Octets, Quantity};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const STACK: Parameter<Rule> = Parameter::with_default("stack", "rfc", "whose decision");
const MTU: Parameter<Mtu> = Parameter::with_default("mtu", "1500", "MTU of the interface");
const PEER: Parameter<PeerOption> = Parameter::optional(
    "peer",
    "the peer's MTU is that of this interface",
    "the MSS option that the peer sent, or none",
)
.at_most(65_535.0);
const TIMESTAMPS: Parameter<Flag> =
    Parameter::with_default("timestamps", "no", "whether every segment carries timestamps");
const PATH_MTU: Parameter<Mtu> = Parameter::optional(
    "path_mtu",
    "the MTU of the interface",
    "path MTU, discovered or set on the route",
);
const USER: Parameter<Mss> = Parameter::optional(
    "user",
    "no MSS was requested",
    "rfc, linux: what the application asked for (TCP_MAXSEG)",
);
const IP_OPTIONS: Parameter<Octets> = Parameter::optional(
    "ip_options",
    "there are none",
    "rfc, linux: options of the IP header, or extension headers of IPv6",
)
.at_most(65_535.0);
const ADVMSS: Parameter<Octets> =
    Parameter::optional("advmss", "the route sets none", "linux: set on the route")
        .at_most(65_535.0);
const WINDOW: Parameter<Bytes> = Parameter::optional(
    "window",
    "there was no window yet",
    "linux: largest window advertised by the peer; half of it bounds the segment",
);
const BUFFER: Parameter<Bytes> = Parameter::optional(
    "buffer",
    "16 KiB, left at the system's default",
    "freebsd: the application's socket buffer, both ways",
);
const PIPE: Parameter<Bytes> = Parameter::optional(
    "pipe",
    "the route sets none",
    "freebsd: buffer size of the route (sendpipe, recvpipe)",
);
const BUFFER_LIMIT: Parameter<Bytes> = Parameter::optional(
    "buffer_limit",
    "256 KiB",
    "freebsd: the system's limit (sb_max, kern.ipc.maxsockbuf)",
);
const SAME_SUBNET: Parameter<Flag> = Parameter::optional(
    "same_subnet",
    "it is not",
    "stcp: whether the peer is on the host's own subnet",
);
const MIN_MTU: Parameter<Octets> = Parameter::optional(
    "min_mtu",
    "556, as shipped",
    "stcp: default_min_mtu, which is an MSS and 20 bytes of TCP header",
);

pub(super) const ENTRY: Entry = Entry {
    name: "mss",
    group: Group::Sizes,
    about: "The MSS that a stack advertises and uses, with the limit that decided",
    parameters: &[
        STACK.described(),
        MTU.described(),
        PEER.described(),
        IP.described(),
        TIMESTAMPS.described(),
        PATH_MTU.described(),
        USER.described(),
        IP_OPTIONS.described(),
        ADVMSS.described(),
        WINDOW.described(),
        BUFFER.described(),
        PIPE.described(),
        BUFFER_LIMIT.described(),
        SAME_SUBNET.described(),
        MIN_MTU.described(),
    ],
    formula: "rfc: advertised = mtu − IP header − 20; mss = min(peer, min(mtu, path_mtu) − IP header − 20) − TCP \
              and IP options. linux: the same with floors, and at most half of the peer's largest window. \
              freebsd: at most the socket's buffer; in 2.2 whole clusters of 2048 above one. stcp: min_mtu − 20 \
              off the subnet",
    source: "RFC 9293 §3.7.1, RFC 6691, RFC 1122 §4.2.2.6; Linux 6.12 tcp_sync_mss and tcp_bound_to_half_wnd; \
             FreeBSD tcp_mss in tcp_input.c, problem report 6032; the vendor's note on default_min_mtu",
    range: || {
        "Full segments without SACK blocks, which take 4 bytes and 8 for each block from some. Whether a path's \
         MTU is known is for path MTU discovery to say. freebsd and stcp: IPv4; what is written in front of a \
         parameter are the stacks that know it."
            .to_owned()
    },
    example: "stack=linux mtu=1500 peer=1460 timestamps=yes window=64KiB",
    compute,
};

/// Parameters that only some stacks know.
const SOME_STACKS: [(Described, &[Rule]); 9] = [
    (USER.described(), &[Rule::Rfc, Rule::Linux]),
    (IP_OPTIONS.described(), &[Rule::Rfc, Rule::Linux]),
    (ADVMSS.described(), &[Rule::Linux]),
    (WINDOW.described(), &[Rule::Linux]),
    (BUFFER.described(), &Rule::FREEBSD),
    (PIPE.described(), &Rule::FREEBSD),
    (BUFFER_LIMIT.described(), &Rule::FREEBSD),
    (SAME_SUBNET.described(), &[Rule::Stcp]),
    (MIN_MTU.described(), &[Rule::Stcp]),
];

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let rule = inputs.get(&STACK)?;
    for (parameter, stacks) in &SOME_STACKS {
        if inputs.has(parameter.name) && !stacks.contains(&rule) {
            let what = format!("the decision of `{}` does not use it", rule.word());
            return Err(inputs.refuse_named(parameter.name, what));
        }
    }
    match rule {
        Rule::Rfc => by_rfc(inputs),
        Rule::Linux => by_linux(inputs),
        Rule::FreeBsd22 => by_freebsd(inputs, freebsd::Release::V22),
        Rule::FreeBsd22Patched => by_freebsd(inputs, freebsd::Release::V22Patched),
        Rule::FreeBsd => by_freebsd(inputs, freebsd::Release::Modern),
        Rule::Stcp => by_stcp(inputs),
    }
}

fn by_rfc(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let timestamps = inputs.get(&TIMESTAMPS)?.0;
    let decision = rfc::decide(&rfc::Inputs {
        ip: inputs.get(&IP)?,
        local_mtu: inputs.get(&MTU)?,
        peer_option: peer(inputs)?,
        path_mtu: inputs.maybe(&PATH_MTU)?,
        user_mss: inputs.maybe(&USER)?,
        ip_options: octets(inputs, &IP_OPTIONS)?,
        tcp_options: if timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO },
    });
    let sums = sums(&decision.effective)
        .count("advertised", decision.advertised.value().get(), Unit::Bytes)
        .count("packet", decision.packet.get(), Unit::Bytes);
    let all = steps(steps(sums, "advertised", &decision.advertised), "peer", &decision.send_mss);
    Ok(warned(steps(all, "mss", &decision.effective), &decision.effective))
}

fn by_linux(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let user_mss = inputs.maybe(&USER)?;
    if let Some(asked) = user_mss.filter(|mss| !linux::MAXSEG.contains(&mss.bytes().get())) {
        let (least, most) = (linux::MAXSEG.start(), linux::MAXSEG.end());
        let what =
            format!("Linux's TCP_MAXSEG takes {least} to {most} bytes, and {asked} is asked for");
        return Err(inputs.refuse(&USER, what));
    }
    let decision = linux::decide(&linux::Inputs {
        ip: inputs.get(&IP)?,
        device_mtu: inputs.get(&MTU)?,
        route_mtu: inputs.maybe(&PATH_MTU)?,
        route_advmss: inputs.maybe(&ADVMSS)?.map(in_an_option),
        user_mss,
        peer_option: peer(inputs)?,
        timestamps: inputs.get(&TIMESTAMPS)?.0,
        ip_options: octets(inputs, &IP_OPTIONS)?,
        peer_max_window: inputs.maybe(&WINDOW)?,
    });
    let advertised = decision.advertised.value().get();
    let sums = sums(&decision.mss_cache).count("advertised", advertised, Unit::Bytes);
    let all = steps(steps(sums, "advertised", &decision.advertised), "mss", &decision.mss_cache);
    Ok(warned(all, &decision.mss_cache))
}

fn by_freebsd(inputs: &Inputs<'_>, release: freebsd::Release) -> Result<Answer, Error> {
    /// What a socket has whose application sets nothing (`tcp_sendspace`, `tcp_recvspace` of 2.2).
    const DEFAULT_BUFFER: Bytes = Bytes::new(16 << 10);
    /// `sb_max` of 2.2.
    const DEFAULT_LIMIT: Bytes = Bytes::new(256 << 10);
    needs_v4(inputs)?;
    let own = inputs.maybe(&BUFFER)?;
    let buffer = freebsd::Buffer {
        size: own.unwrap_or(DEFAULT_BUFFER),
        is_default: own.is_none(),
        route_pipe: inputs.maybe(&PIPE)?,
    };
    let decision = freebsd::decide(
        release,
        &freebsd::Inputs {
            mtu: smallest_mtu(inputs)?,
            peer_option: peer(inputs)?,
            timestamps: inputs.get(&TIMESTAMPS)?.0,
            send: buffer,
            receive: buffer,
            buffer_limit: inputs.maybe(&BUFFER_LIMIT)?.unwrap_or(DEFAULT_LIMIT),
        },
    );
    let sums = sums(&decision.maxseg)
        .count("send_buffer", decision.send_buffer.value().get(), Unit::Bytes)
        .count("receive_buffer", decision.receive_buffer.value().get(), Unit::Bytes)
        .word("receive_buffer_decided_by", &cause(decision.receive_buffer.winner()));
    let all = steps(steps(sums, "mss", &decision.maxseg), "send buffer", &decision.send_buffer);
    let all = steps(all, "receive buffer", &decision.receive_buffer);
    Ok(warned(all, &decision.maxseg))
}

fn by_stcp(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    needs_v4(inputs)?;
    let decision = stcp::decide(&stcp::Inputs {
        local_mtu: smallest_mtu(inputs)?,
        same_subnet: inputs.maybe(&SAME_SUBNET)?.is_some_and(|flag| flag.0),
        min_mtu: inputs.maybe(&MIN_MTU)?.map_or(stcp::DEFAULT_MIN_MTU, |given| given.0),
        peer_option: peer(inputs)?,
    });
    let advertised = decision.advertised.value().get();
    let sums = sums(&decision.effective).count("advertised", advertised, Unit::Bytes);
    let all = steps(sums, "advertised", &decision.advertised);
    Ok(warned(steps(all, "mss", &decision.effective), &decision.effective))
}

/// The peer's MSS option: as given, or what a peer behind the same MTU advertises (RFC 9293 §3.7.1).
fn peer(inputs: &Inputs<'_>) -> Result<Option<u16>, Error> {
    match inputs.maybe(&PEER)? {
        Some(PeerOption::Absent) => Ok(None),
        Some(PeerOption::Sent(option)) => Ok(Some(in_an_option(option))),
        None => {
            let mtu = inputs.get(&MTU)?.bytes();
            let headers = ip_header(inputs.get(&IP)?) + TCP_HEADER;
            Ok(Some(in_an_option(Octets(mtu.saturating_sub(headers)))))
        }
    }
}

/// The parameter's bounds hold it to 16 bits.
fn in_an_option(octets: Octets) -> u16 {
    u16::try_from(octets.0.get()).unwrap_or(u16::MAX)
}

fn octets(inputs: &Inputs<'_>, parameter: &Parameter<Octets>) -> Result<Bytes, Error> {
    Ok(inputs.maybe(parameter)?.map_or(Bytes::ZERO, |given| given.0))
}

fn smallest_mtu(inputs: &Inputs<'_>) -> Result<Mtu, Error> {
    let local = inputs.get(&MTU)?;
    Ok(inputs.maybe(&PATH_MTU)?.map_or(local, |path| path.min(local)))
}

fn needs_v4(inputs: &Inputs<'_>) -> Result<(), Error> {
    match inputs.get(&IP)? {
        IpVersion::V4 => Ok(()),
        IpVersion::V6 => Err(inputs.refuse(&IP, "this stack's decision is known for IPv4 only")),
    }
}

/// What came out, and what decided it.
fn sums(mss: &Derivation) -> Answer {
    Answer::default()
        .count("mss", mss.value().get(), Unit::Bytes)
        .word("decided_by", &cause(mss.winner()))
}

/// Every step of a number: `mss 4   peer option: at most 1460 B, which gives 1460 B`.
fn steps(answer: Answer, of: &str, derivation: &Derivation) -> Answer {
    derivation.steps().iter().enumerate().fold(answer, |answer, (index, step)| {
        let name = format!("{of}_{}", index + 1).replace(' ', "_");
        answer.word(&name, &in_words(step))
    })
}

fn in_words(step: &Step) -> String {
    // In full: a multiple of 1000 is no `1.5 kB` here.
    let bytes = |value: Bytes| format!("{} B", value.get());
    let effect = match step.effect {
        Effect::Is(value) => return format!("{}: {}", cause(step.cause), bytes(value)),
        Effect::AtMost(bound) => format!("at most {}", bytes(bound)),
        Effect::AtLeast(bound) => format!("at least {}", bytes(bound)),
        Effect::Less(header) => format!("less {}", bytes(header)),
        Effect::DownToMultipleOf(unit) => format!("down to a multiple of {}", bytes(unit)),
        Effect::UpToMultipleOf(unit) => format!("up to a multiple of {}", bytes(unit)),
    };
    let outcome = if step.changed {
        format!("gives {}", bytes(step.value))
    } else {
        "changes nothing".to_owned()
    };
    format!("{}: {effect}, which {outcome}", cause(step.cause))
}

fn cause(cause: Cause) -> String {
    let word = json!(cause);
    word.as_str().unwrap_or_default().replace('-', " ")
}

fn warned(answer: Answer, mss: &Derivation) -> Answer {
    answer.warn_if(mss.value() == Bytes::ZERO, "nothing is left for data")
}

/// The MSS option of the peer's SYN.
#[derive(Debug, Clone, Copy)]
enum PeerOption {
    Sent(Octets),
    Absent,
}

impl Quantity for PeerOption {
    const KIND: &'static str = "bytes, or none";
    const EXAMPLE: &'static str = "1460";
    fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "none" { Ok(Self::Absent) } else { Octets::read(text).map(Self::Sent) }
    }
    fn number(&self) -> Option<f64> {
        match self {
            Self::Sent(option) => option.number(),
            Self::Absent => None,
        }
    }
    fn json(&self) -> Value {
        match self {
            Self::Sent(option) => option.json(),
            Self::Absent => json!("none"),
        }
    }
}

/// Whose decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Rfc,
    Linux,
    FreeBsd22,
    FreeBsd22Patched,
    FreeBsd,
    Stcp,
}

impl Rule {
    const ALL: [Self; 6] = [
        Self::Rfc,
        Self::Linux,
        Self::FreeBsd22,
        Self::FreeBsd22Patched,
        Self::FreeBsd,
        Self::Stcp,
    ];
    const FREEBSD: [Self; 3] = [Self::FreeBsd22, Self::FreeBsd22Patched, Self::FreeBsd];

    const fn word(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Linux => "linux",
            Self::FreeBsd22 => "freebsd-2.2.5",
            Self::FreeBsd22Patched => "freebsd-2.2.5-patched",
            Self::FreeBsd => "freebsd",
            Self::Stcp => "stcp",
        }
    }
}

impl Quantity for Rule {
    const KIND: &'static str = "rfc, linux, freebsd-2.2.5, freebsd-2.2.5-patched, freebsd or stcp";
    const EXAMPLE: &'static str = "linux";
    fn read(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|rule| rule.word() == text.trim());
        found.ok_or_else(|| format!("no MSS decision is known for `{text}`: {}", Self::KIND))
    }
    fn number(&self) -> Option<f64> {
        None
    }
    fn json(&self) -> Value {
        json!(self.word())
    }
}
