//! `maxseg responder`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use maxseg_core::units::{BitsPerSec, Time, approx};
use maxseg_linux::responder::{Responder, ResponderEvent, ResponderOptions, make_token};
use maxseg_wire::responder::{DEFAULT_PORT, Limits};

use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;

/// Answer another host's `maxseg path` as its far end
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg responder --listen 0.0.0.0
  MAXSEG_TOKEN=secret maxseg responder --listen 192.0.2.7:7000 --once
  maxseg responder --listen '[::]' --max-rate 100Mbit/s --max-time 30s

Prints the token and the command for the other host, which then measures bandwidth, round trips under load, the path MTU of \
the way back and what arrives of its SYN, and makes the test of RFC 6349. One port, over TCP and UDP. Without --listen it \
listens on this host alone.

A client without the token gets no service: until it is proven, no more bytes are sent than were received. The token itself is never \
sent; a proof is of use once. What is measured is not encrypted. It serves one test at a time, and writes nothing to disk.

Exit codes: 0 ended by --once, 1 it cannot listen, 2 usage, 130 interrupted.")]
pub(crate) struct ResponderArgs {
    /// Address, or address and port, to listen on
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value_t = Listen::default())]
    listen: Listen,
    /// Token that clients must have; a new one is printed unless given
    #[arg(long, value_name = "TOKEN", env = "MAXSEG_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The longest transfer
    #[arg(long, value_name = "TIME", default_value = "120 s")]
    max_time: Time,
    /// The highest rate, of all connections of a transfer; none unless given
    #[arg(long, value_name = "RATE")]
    max_rate: Option<BitsPerSec>,
    /// Connections of a transfer at most
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=256))]
    max_connections: u16,
    /// End after one test
    #[arg(long)]
    once: bool,
}

/// Below it, bits a second, a packet takes longer than a second.
const LEAST_RATE: u64 = 10_000;

/// A transfer's longest time, in the whole seconds of the protocol.
fn whole_seconds(time: Time) -> Result<u32, Failure> {
    const DAY: f64 = 86_400.0;
    let seconds = time.as_secs_f64().ceil();
    if !(1.0..=DAY).contains(&seconds) {
        return Err(Failure::usage(
            "--max-time is a time up to a day (86400 s), and longer than none",
            "a test of `maxseg path` makes transfers of some seconds: --max-time \"30 s\"; --once ends the responder after one test",
        ));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a day")]
    Ok(seconds as u32)
}

/// Where it listens.
#[derive(Debug, Clone, Copy)]
struct Listen(SocketAddr);

impl Default for Listen {
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)))
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self(SocketAddr::new(address, DEFAULT_PORT)));
        }
        text.parse().map(Self).map_err(|_| {
            "not an address: 0.0.0.0, 192.0.2.7:7000, [::] or [2001:db8::7]:7000".to_owned()
        })
    }
}

pub(crate) fn run(args: &ResponderArgs, printer: Printer) -> Result<(), Failure> {
    if args.max_rate.is_some_and(|rate| rate.get() < LEAST_RATE) {
        return Err(Failure::usage(
            "--max-rate is below 10 kbit/s",
            "a packet of 1500 bytes takes more than a second then, and no test ends in its time",
        ));
    }
    let seconds = whole_seconds(args.max_time)?;
    let Listen(listen) = args.listen;
    let token = match &args.token {
        Some(token) if token.len() < LEAST_TOKEN => {
            return Err(Failure::usage(
                format!("the token is shorter than {LEAST_TOKEN} characters"),
                "leave out --token: one of 128 bits is made and printed",
            ));
        }
        Some(token) => token.clone(),
        None => make_token().map_err(|error| Failure::new(format!("no token: {error}")))?,
    };
    let limits = Limits {
        seconds,
        bits_per_second: args.max_rate.map_or(0, BitsPerSec::get),
        connections: args.max_connections,
    };
    let is_made = args.token.is_none();
    let options = ResponderOptions { listen, token: token.clone(), limits, once: args.once };
    let responder = Responder::bind(options).map_err(|error| cannot_listen(listen, &error))?;
    let address = responder.address();
    printer.text(&announcement(address, is_made.then_some(token.as_str())))?;
    let stop = interrupt::flag();
    let tell = |event| printer.note(&event_text(&event));
    responder
        .run(stop, &tell)
        .map_err(|error| Failure::new(format!("the responder cannot go on: {error}")))?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Failure::Interrupted("the responder has ended".to_owned()));
    }
    Ok(())
}

/// A token of fewer characters is guessed.
const LEAST_TOKEN: usize = 6;

/// What to do next, and where.
fn announcement(address: SocketAddr, made: Option<&str>) -> String {
    let port =
        if address.port() == DEFAULT_PORT { String::new() } else { format!(":{}", address.port()) };
    let host = if address.ip().is_unspecified() {
        "THIS-HOST".to_owned()
    } else {
        address.ip().to_string()
    };
    let token = made.unwrap_or("TOKEN");
    let (reach, place) = if address.ip().is_loopback() {
        ("for this host alone; --listen 0.0.0.0 is for others\n", "at this host")
    } else {
        ("", "at the other host")
    };
    let made = made.map_or_else(String::new, |token| format!("token {token}\n"));
    format!(
        "listening on {address} over TCP and UDP\n{reach}{made}\
         {place}: MAXSEG_TOKEN={token} maxseg path {host} --far-end responder{port} --rfc6349\n"
    )
}

fn event_text(event: &ResponderEvent) -> String {
    match event {
        ResponderEvent::Began(client) => format!("{client}: a test begins"),
        ResponderEvent::Refused(client, why) => format!("{client}: refused, {why}"),
        ResponderEvent::Ended { client, sent_bytes, received_bytes } => {
            let mega = |bytes: u64| approx::digits(bytes as f64 / 1e6);
            let (sent, received) = (mega(*sent_bytes), mega(*received_bytes));
            format!("{client}: the test has ended; {sent} MB sent, {received} MB received")
        }
    }
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    let hint = if error.kind() == AddrInUse {
        let port = address.port();
        format!("another program has it: `ss -tulnp sport = {port}`; --listen takes another port")
    } else if error.kind() == PermissionDenied {
        "ports below 1024 need root or CAP_NET_BIND_SERVICE".to_owned()
    } else if error.kind() == AddrNotAvailable {
        "not an address of this host: `ip -brief address` lists them; 0.0.0.0 is all".to_owned()
    } else {
        "`ip -brief address` lists this host's addresses".to_owned()
    };
    Failure::with_hint(format!("cannot listen on {address}: {error}"), hint)
}
