//! What the connections of one process have to do with each other.

use maxseg_core::diagnose::fills_receive_window;
use maxseg_core::evidence::SocketEvidence;
use maxseg_core::outcome::LimitedBy;

use super::Why;
use crate::connections::Connection;

/// Names, beside a process that reads too slowly, a connection by which it sends and that is limited: a proxy reads no faster than it can
/// pass on.
pub fn name_onward(explained: &mut [(Connection, Option<Why>)]) {
    let all: Vec<&Connection> = explained.iter().map(|(connection, _)| connection).collect();
    let onward: Vec<Option<String>> = all.iter().map(|reader| passed_on(reader, &all)).collect();
    for ((_, why), onward) in explained.iter_mut().zip(onward) {
        let remedy = why.as_mut().and_then(|why| why.verdict.remedy.as_mut());
        if let (Some(remedy), Some(onward)) = (remedy, onward) {
            remedy.change += &onward;
        }
    }
}

/// The limited connection of a process that reads another too slowly, in words.
fn passed_on(reader: &Connection, all: &[&Connection]) -> Option<String> {
    let pid = reader.process.as_ref()?.pid;
    if !reads_slowly(reader) {
        return None;
    }
    let of_process = all.iter().filter(|other| {
        other.process.as_ref().is_some_and(|owner| owner.pid == pid)
            && other.cookie != reader.cookie
    });
    let mut limited = of_process.filter_map(|other| {
        let limit = other.diagnosis()?.limited_by;
        (is_sending(&other.evidence()?) && holds_the_sender(limit)).then_some((other, limit))
    });
    let (other, limit) = limited.next()?;
    let (local, remote) = (other.local, other.remote);
    Some(format!(
        "; it also sends from {local} to {remote}, and that connection is limited ({limit}): what it reads may wait for what it passes on"
    ))
}

fn reads_slowly(reader: &Connection) -> bool {
    let limit = reader.diagnosis().map(|found| found.limited_by);
    let is_behind = |evidence: SocketEvidence| {
        !is_sending(&evidence)
            && !fills_receive_window(&evidence)
            && evidence.state.unread_bytes > 0
    };
    limit == Some(LimitedBy::ReceiveWindow) && reader.evidence().is_some_and(is_behind)
}

const fn is_sending(evidence: &SocketEvidence) -> bool {
    let sent = evidence.bin.sent_bytes;
    sent > 0 && sent >= evidence.received_bytes
}

/// Whether a limit makes the program wait that writes.
const fn holds_the_sender(limit: LimitedBy) -> bool {
    match limit {
        LimitedBy::Paced
        | LimitedBy::StartUp
        | LimitedBy::ReceiveWindow
        | LimitedBy::SendBuffer
        | LimitedBy::Bandwidth
        | LimitedBy::Congestion
        | LimitedBy::PathMtu
        | LimitedBy::Rto => true,
        LimitedBy::Application | LimitedBy::Host | LimitedBy::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use maxseg_core::evidence::{Bin, BufferFill, SocketState};
    use maxseg_core::units::Time;

    use super::*;
    use crate::connections::{Owner, SocketOptions};

    fn connection(cookie: u64, pid: u32, evidence: &SocketEvidence) -> Connection {
        let end = |port| std::net::SocketAddr::from(([10, 0, 0, 1], port));
        Connection {
            netns: None,
            cookie,
            local: end(1),
            remote: end(u16::try_from(cookie).unwrap()),
            state: None,
            timer: None,
            receive_queue_bytes: 0,
            send_queue_bytes: 0,
            uid: 0,
            inode: 0,
            process: Some(Owner { pid, name: Arc::from("proxy") }),
            congestion: None,
            upper_layer: None,
            sample: None,
            interface: 0,
            mark: None,
            options: SocketOptions::default(),
            since_last: Some(Box::new(*evidence)),
            over_time: None,
            is_closed: false,
            message: None,
        }
    }

    fn evidence(change: impl FnOnce(&mut SocketEvidence)) -> SocketEvidence {
        let bin = Bin { duration: Time::from_secs(1), ..Bin::default() };
        let state = SocketState { mss_bytes: 1448, ..SocketState::default() };
        let mut evidence = SocketEvidence { bin, state, ..SocketEvidence::default() };
        change(&mut evidence);
        evidence
    }

    #[test]
    fn a_proxy_reads_no_faster_than_it_sends() {
        let reads = evidence(|reads| {
            reads.received_bytes = 1_000_000;
            reads.state.unread_bytes = 100_000;
            reads.state.receive_buffer = Some(BufferFill { used: 120_000, limit: 131_072 });
        });
        let sends = evidence(|sends| {
            (sends.bin.sent_bytes, sends.bin.acked_bytes) = (1_000_000, 1_000_000);
            (sends.state.rtt, sends.state.min_rtt) =
                (Time::from_millis(90), Some(Time::from_millis(40)));
            sends.state.cwnd_segments = 40;
            sends.state.in_flight_segments = 40;
        });
        let idle = evidence(|idle| {
            idle.bin.sent_bytes = 1_000;
            idle.bin.idle = Time::from_secs(1);
        });
        let told = |other: &Connection| {
            let reader = connection(7, 4, &reads);
            passed_on(&reader, &[&reader, other])
        };
        let onward = told(&connection(8, 4, &sends)).unwrap();
        assert!(onward.contains("to 10.0.0.1:8") && onward.contains("(bandwidth)"), "{onward}");
        assert_eq!(told(&connection(8, 5, &sends)), None, "another process");
        assert_eq!(told(&connection(8, 4, &idle)), None, "it does not wait for that");
        assert_eq!(told(&connection(8, 4, &reads)), None, "it reads both");
    }
}
