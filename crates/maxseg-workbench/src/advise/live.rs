//! Advice about a live connection: its path, as far as its socket shows it.

use std::fmt::Write as _;

use maxseg_core::advise::{
    Advice, Advised, Command, CommandKind, Ends, HostEnd, Remedy, SocketVerdict, System,
};
use maxseg_core::evidence::SocketState;
use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::Scenario;
use maxseg_core::settings::CongestionName;
use maxseg_core::units::{Time, approx};
use maxseg_wire::tcp_info::TcpInfo;

use super::captured::{merge, settings};
use super::{Known, PathAdvice, Question, SourceKind, Unknown};
use crate::connections::Connection;
use crate::error::Error;

/// Advice about a connection of this host: what `explain` says of it, and what goes with it.
///
/// # Errors
/// No engine can run its path.
pub fn of_connection(
    connection: &Connection,
    verdict: Option<&SocketVerdict>,
    question: &Question,
) -> Result<PathAdvice, Error> {
    let end = |role, address: std::net::IpAddr, system, is_here| HostEnd {
        role,
        address: Some(address.to_canonical()),
        system,
        is_here: Some(is_here),
    };
    let ends = Ends {
        sender: end("sender", connection.local.ip(), System::Linux, true),
        receiver: end("receiver", connection.remote.ip(), System::Unknown, false),
    };
    let target = format!("{}-{}", connection.local, connection.remote);
    let said = verdict.map(said);
    let concluded = verdict
        .and_then(|verdict| {
            let reason = verdict.sentence.trim_end_matches('.').to_owned();
            let remedy = verdict.remedy.as_ref()?;
            Advice::of_remedy(remedy, reason, &ends, None, question.connections)
        })
        .filter(|advice| !question.ignored.contains(&advice.id));
    let advice = match (path_of(connection), &concluded) {
        (Err(unknown), Some(concluded)) => PathAdvice {
            advised: Some(Advised { advice: vec![concluded.clone()], ..Advised::default() }),
            notes: vec![format!(
                "How much it gains is unknown: {}. Shown by: {}.",
                unknown.why, unknown.shown_by
            )],
            ..PathAdvice::unrun(SourceKind::Connection, &target, ends, question)
        },
        (Err(unknown), None) => {
            PathAdvice::unknown(SourceKind::Connection, &target, ends, question, unknown)
        }
        (Ok((text, notes)), _) => {
            let scenario = Scenario::from_toml("the connection's path", &text)?;
            let settings = settings(concluded.as_ref());
            let source = SourceKind::Connection;
            let known = Known {
                source,
                target,
                scenario,
                ends,
                concluded: settings,
                rate_is_bound: false,
                notes,
            };
            let mut advice = known.advise(question)?;
            if let (Some(advised), Some(concluded)) = (&mut advice.advised, concluded) {
                merge(advised, concluded);
            }
            advice
        }
    };
    let notes = said.into_iter().chain(advice.notes).collect();
    Ok(PathAdvice { notes, ..advice })
}

/// What `explain` says.
fn said(verdict: &SocketVerdict) -> String {
    let change = verdict.remedy.as_ref().map(|remedy| {
        // What it advises has its commands below.
        let commands = if remedy.advises.is_some() { String::new() } else { changes(remedy) };
        format!(" {}.{commands}", remedy.sentence())
    });
    format!("{}{}", verdict.sentence, change.unwrap_or_default())
}

/// The commands of a remedy that change something, a sentence each.
fn changes(remedy: &Remedy) -> String {
    let changes = remedy.commands.iter().filter(|command| command.kind == CommandKind::Change);
    let told = |command: &Command| {
        let condition = command.only_where.as_ref();
        let only = condition.map_or_else(String::new, |only| format!(", only if {only}"));
        format!(" On {}{only}: `{}`.", command.on, command.line)
    };
    changes.map(told).collect()
}

fn unknown(why: &str, shown_by: &str) -> Unknown {
    Unknown { why: why.to_owned(), shown_by: shown_by.to_owned() }
}

const FAR_END: &str = "`maxseg responder` on the far host and `maxseg path HOST --far-end responder`, or a capture of a transfer";

/// What holds a sender back that is not the path.
const HOLDERS: [(LimitedBy, &str); 3] = [
    (LimitedBy::ReceiveWindow, "the receive window limits"),
    (LimitedBy::SendBuffer, "the send buffer limits"),
    (LimitedBy::Application, "the program has no more to send"),
];

/// Why the path's rate is unknown where a sender is held back by its own host or by its peer: it shows that rate alone, to BBR as well.
fn held_back(limit: LimitedBy, reached_bps: Option<f64>) -> Option<Unknown> {
    let (_, holder) = HOLDERS.iter().find(|(held, _)| *held == limit)?;
    Some(at_least(holder, reached_bps))
}

/// The path's rate is unknown, and no less than what the connection reaches while something else limits it.
fn at_least(holder: &str, reached_bps: Option<f64>) -> Unknown {
    let reached = reached_bps.map_or_else(
        || "what the connection reaches".to_owned(),
        |reached| format!("{}, which the connection reaches", approx::rate(reached)),
    );
    let why = format!("{holder}: the path carries at least {reached}; how much more is not seen");
    unknown(&why, FAR_END)
}

/// Share of retransmitted bytes below which losses are left out.
const LEAST_LOSS: f64 = 1e-5;
/// A smoothed round trip of so many times the least one shows a queue.
const QUEUED: f64 = 1.25;

/// The scenario of the path as the socket shows it, and what is assumed of it.
fn path_of(connection: &Connection) -> Result<(String, Vec<String>), Unknown> {
    let none = || unknown("the kernel has no tcp_info of this connection", FAR_END);
    let sample = connection.sample.as_ref().ok_or_else(none)?;
    let evidence = connection.evidence().ok_or_else(none)?;
    let (info, state) = (&sample.info, &evidence.state);
    sends_most(info)?;
    let rtt_s = least_rtt_s(state)?;
    crosses_links(connection)?;
    let by_model = sample.bbr.map(|bbr| 8.0 * bbr.bandwidth as f64).filter(|rate| *rate > 0.0);
    let is_queued = state.rtt.as_secs_f64() > QUEUED * rtt_s;
    let limit = connection.diagnosis().map_or(LimitedBy::Unknown, |diagnosis| diagnosis.limited_by);
    let payload_bps = payload_rate(limit, state, by_model, is_queued)?;

    let mut notes =
        vec![source_of_rate(by_model.is_some()).to_owned(), QUEUE_IS_ASSUMED.to_owned()];
    let mut text = hop(connection, info, state, rtt_s, payload_bps);
    if let Some(lost) = lost_share(info).filter(|_| !is_queued) {
        text += &errors(lost);
        notes.push(
            "Round trips show no queue: what was lost is taken for errors of the path.".to_owned(),
        );
    }
    text += "[sender]\nstack = \"linux\"\n";
    match congestion(connection) {
        Ok(line) => text += &line,
        Err(stood_for) => notes.push(stood_for),
    }
    text += "[receiver]\nstack = \"linux\"\n";
    text += "[until]\ntime = \"20 s\"\n";
    Ok((text, notes))
}

/// Most of the payload goes from here.
fn sends_most(info: &TcpInfo) -> Result<(), Unknown> {
    if info.bytes_acked.unwrap_or(0) <= info.bytes_received.unwrap_or(0) {
        return Err(unknown(
            "data arrives here: only the sender's host sees the path",
            "this command on the peer, or a capture of the transfer",
        ));
    }
    Ok(())
}

/// The least round trip, in seconds.
fn least_rtt_s(state: &SocketState) -> Result<f64, Unknown> {
    let least = state.min_rtt.filter(|rtt| rtt.as_nanos() > 0);
    let unmeasured =
        || unknown("no round trip was measured yet", "this command a few seconds later");
    least.map(Time::as_secs_f64).ok_or_else(unmeasured)
}

/// The ends are on two hosts.
fn crosses_links(connection: &Connection) -> Result<(), Unknown> {
    if connection.local.ip() == connection.remote.ip() {
        return Err(unknown(
            "both ends are on this host: its processors are the path, and no link",
            "`top`, or `perf top -p` of either program",
        ));
    }
    Ok(())
}

/// The payload that the path carries, in bits per second: BBR's own estimate, or what was delivered while the path was the limit.
fn payload_rate(
    limit: LimitedBy,
    state: &SocketState,
    by_model: Option<f64>,
    is_queued: bool,
) -> Result<f64, Unknown> {
    if let Some(unknown) = held_back(limit, by_model.or(state.delivery_bps)) {
        return Err(unknown);
    }
    // Losses keep the window of Reno and CUBIC below what the path holds, unless a queue stands behind them.
    if limit == LimitedBy::Congestion && by_model.is_none() && !is_queued {
        return Err(at_least("losses limit", state.delivery_bps));
    }
    let is_path = matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion);
    let delivered = state.delivery_bps.filter(|_| is_path && state.is_app_limited != Some(true));
    by_model.or(delivered).filter(|rate| *rate > 0.0).ok_or_else(|| {
        unknown(
            "the socket shows what the connection reaches, and not what the path could carry beyond that",
            FAR_END,
        )
    })
}

const fn source_of_rate(is_bbrs: bool) -> &'static str {
    if is_bbrs {
        "The path's rate is BBR's own estimate."
    } else {
        "The path's rate is what was delivered last, while the path was the limit."
    }
}

const QUEUE_IS_ASSUMED: &str = "The size of the queue before the narrowest link is assumed: the connection shows how full it is, not how long it may \
     get.";

/// Bytes of IPv4 and TCP headers with timestamps, which the path carries besides the payload.
const HEADERS: f64 = 52.0;
/// The queue has room for so many times what stands in it.
const ROOM: f64 = 1.5;
/// The smallest queue that is assumed: ten full packets, in bytes.
const LEAST_QUEUE: f64 = 15_000.0;

/// The path as one hop.
fn hop(
    connection: &Connection,
    info: &TcpInfo,
    state: &SocketState,
    rtt_s: f64,
    payload_bps: f64,
) -> String {
    let mss = f64::from(state.mss_bytes.max(1));
    let rate = payload_bps * (mss + HEADERS) / mss;
    let standing = (state.rtt.as_secs_f64() - rtt_s).max(0.0) * rate / 8.0;
    let held = rate * rtt_s / 8.0;
    let queue = (ROOM * standing).max(held).max(LEAST_QUEUE);
    let is_v6 = connection.remote.ip().to_canonical().is_ipv6();
    let mut text = format!(
        "ip = {}\n[[hop]]\nname = \"path\"\nrate = \"{rate:.0} bit/s\"\ndelay = \"{:.0} us\"\nqueue = \"{queue:.0} B\"\n",
        if is_v6 { 6 } else { 4 },
        (5e5 * rtt_s).max(1.0)
    );
    if (576..=65_535).contains(&info.pmtu) {
        let _ = writeln!(text, "mtu = {}", info.pmtu);
    }
    text
}

/// The share of the bytes that was sent again; `None` where that is next to nothing.
fn lost_share(info: &TcpInfo) -> Option<f64> {
    let sent = info.bytes_sent.unwrap_or(0).max(1) as f64;
    let lost = info.bytes_retrans.unwrap_or(0) as f64 / sent;
    (lost > LEAST_LOSS).then_some(lost)
}

fn errors(lost: f64) -> String {
    let rate = lost.min(0.5);
    format!("errors = {{ model = \"uniform\", per = \"packet\", rate = {rate:.8} }}\n")
}

/// The line of the congestion control, or that another one stands for it.
fn congestion(connection: &Connection) -> Result<String, String> {
    let name = connection.congestion.as_deref();
    let known = [CongestionName::Cubic, CongestionName::Bbr, CongestionName::Reno];
    let found = known.iter().find(|known| Some(known.word()) == name);
    found.map(|known| format!("congestion = \"{}\"\n", known.word())).ok_or_else(|| {
        format!(
            "Its congestion control, {}, is not one that the simulator has: CUBIC stands for it.",
            name.unwrap_or("unknown")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_window_the_rate_of_the_path_is_a_lower_bound() {
        let why = |limit, reached| held_back(limit, reached).map(|unknown| unknown.why);
        assert_eq!(
            why(LimitedBy::ReceiveWindow, Some(20e6)).as_deref(),
            Some(
                "the receive window limits: the path carries at least 20.0 Mbit/s, which the connection reaches; \
                 how much more is not seen"
            )
        );
        assert!(why(LimitedBy::SendBuffer, None).is_some());
        assert_eq!(why(LimitedBy::Bandwidth, Some(20e6)), None);
        assert_eq!(why(LimitedBy::Congestion, Some(20e6)), None);
    }
}
