//! Advice about a live connection: its path, as far as its socket shows it.

use std::fmt::Write as _;

use maxseg_core::advise::{
    Advice, Advised, Command, CommandKind, Ends, HostEnd, Remedy, SocketVerdict, System,
};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::Scenario;
use maxseg_core::settings::CongestionName;
use maxseg_core::units::approx;

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
            let mut advice = Known { source, target, scenario, ends, concluded: settings, notes }
                .advise(question)?;
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
    let info = &sample.info;
    let acked = info.bytes_acked.unwrap_or(0);
    if acked <= info.bytes_received.unwrap_or(0) {
        return Err(unknown(
            "data arrives here: only the sender's host sees the path",
            "this command on the peer, or a capture of the transfer",
        ));
    }
    let limit = connection.diagnosis().map_or(LimitedBy::Unknown, |diagnosis| diagnosis.limited_by);
    let state = &evidence.state;
    let min_rtt = state.min_rtt.filter(|rtt| rtt.as_nanos() > 0);
    let Some(min_rtt) = min_rtt else {
        return Err(unknown("no round trip was measured yet", "this command a few seconds later"));
    };
    if connection.local.ip() == connection.remote.ip() {
        return Err(unknown(
            "both ends are on this host: its processors are the path, and no link",
            "`top`, or `perf top -p` of either program",
        ));
    }
    let by_model = sample.bbr.map(|bbr| 8.0 * bbr.bandwidth as f64).filter(|rate| *rate > 0.0);
    if let Some(unknown) = held_back(limit, by_model.or(state.delivery_bps)) {
        return Err(unknown);
    }
    let rtt_s = min_rtt.as_secs_f64();
    let is_queued = state.rtt.as_secs_f64() > QUEUED * rtt_s;
    // Losses keep the window of Reno and CUBIC below what the path holds, unless a queue stands behind them.
    if limit == LimitedBy::Congestion && by_model.is_none() && !is_queued {
        return Err(at_least("losses limit", state.delivery_bps));
    }
    // What was delivered is the path's rate only where the path was the limit.
    let is_path = matches!(limit, LimitedBy::Bandwidth | LimitedBy::Congestion);
    let delivered = state.delivery_bps.filter(|_| is_path && state.is_app_limited != Some(true));
    let Some(payload_bps) = by_model.or(delivered).filter(|rate| *rate > 0.0) else {
        return Err(unknown(
            "the socket shows what the connection reaches, and not what the path could carry beyond that",
            FAR_END,
        ));
    };
    let mss = f64::from(state.mss_bytes.max(1));
    let rate = payload_bps * (mss + 52.0) / mss;
    let standing = (state.rtt.as_secs_f64() - rtt_s).max(0.0) * rate / 8.0;
    let held = rate * rtt_s / 8.0;
    let queue = (1.5 * standing).max(held).max(15_000.0);
    let mut notes = vec![
        if by_model.is_some() {
            "The path's rate is BBR's own estimate.".to_owned()
        } else {
            "The path's rate is what was delivered last, while the path was the limit.".to_owned()
        },
        "The size of the queue before the narrowest link is assumed: the connection shows how full it is, not how long it may \
         get."
            .to_owned(),
    ];
    let is_v6 = connection.remote.ip().to_canonical().is_ipv6();
    let mut text = format!(
        "ip = {}\n[[hop]]\nname = \"path\"\nrate = \"{rate:.0} bit/s\"\ndelay = \"{:.0} us\"\nqueue = \"{queue:.0} B\"\n",
        if is_v6 { 6 } else { 4 },
        (5e5 * rtt_s).max(1.0)
    );
    if let Some(mtu) = Some(info.pmtu).filter(|mtu| (576..=65_535).contains(mtu)) {
        let _ = writeln!(text, "mtu = {mtu}");
    }
    let sent = info.bytes_sent.unwrap_or(0).max(1) as f64;
    let lost = info.bytes_retrans.unwrap_or(0) as f64 / sent;
    if lost > LEAST_LOSS && !is_queued {
        let _ = writeln!(
            text,
            "errors = {{ model = \"uniform\", per = \"packet\", rate = {:.8} }}",
            lost.min(0.5)
        );
        notes.push(
            "Round trips show no queue: what was lost is taken for errors of the path.".to_owned(),
        );
    }
    text += "[sender]\nstack = \"linux\"\n";
    let name = connection.congestion.as_deref();
    let known = [CongestionName::Cubic, CongestionName::Bbr, CongestionName::Reno];
    match known.iter().find(|known| Some(known.word()) == name) {
        Some(congestion) => {
            let _ = writeln!(text, "congestion = \"{}\"", congestion.word());
        }
        None => notes.push(format!(
            "Its congestion control, {}, is not one that the simulator has: CUBIC stands for it.",
            name.unwrap_or("unknown")
        )),
    }
    text += "[receiver]\nstack = \"linux\"\n";
    text += "[until]\ntime = \"20 s\"\n";
    Ok((text, notes))
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
