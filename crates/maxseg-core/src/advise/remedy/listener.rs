//! A listening socket in one sentence, and the change where its queue is full.

use std::net::SocketAddr;

use super::System;
use super::command::{Host, Remedy};
use super::socket::SocketVerdict;
use crate::diagnose::counted;

/// What is known of a socket that waits for connections.
#[derive(Debug, Clone, Copy)]
pub struct ListenerCase<'a> {
    /// Where it listens.
    pub local: SocketAddr,
    /// The process, as it is named.
    pub process: Option<&'a str>,
    /// Connections that wait to be accepted.
    pub queued: u32,
    /// The limit of the queue: one more than it is taken.
    pub limit: u32,
    /// SYNs and handshakes that were dropped at this socket; `None` where the kernel does not tell.
    pub dropped: Option<u32>,
}

/// The sentence and the change for a listening socket.
pub fn listener_verdict(case: &ListenerCase<'_>) -> SocketVerdict {
    let name = case.process.map_or_else(String::new, |process| format!(" ({process})"));
    let (local, waiting) = (case.local, counted(case.queued.into(), "connection"));
    let dropped = match case.dropped {
        None => String::new(),
        Some(0) => ", and nothing was dropped so far".to_owned(),
        Some(count) => {
            format!(", and {} were dropped so far", counted(count.into(), "SYN or handshake"))
        }
    };
    let has_dropped = case.dropped.is_some_and(|count| count > 0);
    let sentence = if case.queued > case.limit {
        format!(
            "The accept queue of {local}{name} is full: {waiting} wait to be accepted, the limit is {}{dropped}; new connections wait for \
             another SYN.",
            case.limit
        )
    } else {
        format!(
            "{local}{name} listens: {waiting} of at most {} wait to be accepted{dropped}.",
            case.limit
        )
    };
    let here = Host::of_system("this host".to_owned(), System::Linux);
    let remedy = (case.queued > case.limit || has_dropped).then(|| {
        Remedy::new(
            "let the process accept faster, or give it a longer queue (the backlog of listen(2))",
        )
        .look_linux(&here, format!("ss -ltnp 'sport = :{}'", local.port()))
        .look_linux(&here, "sysctl net.core.somaxconn")
        .note("net.core.somaxconn bounds every backlog. Both act when the process listens anew.")
    });
    SocketVerdict { sentence, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_is_told_and_a_quiet_one_is_not_mended() {
        let local = "0.0.0.0:443".parse().unwrap();
        let case = ListenerCase {
            local,
            process: Some("web/7"),
            queued: 129,
            limit: 128,
            dropped: Some(5),
        };
        let full = listener_verdict(&case);
        assert!(full.sentence.starts_with("The accept queue of 0.0.0.0:443 (web/7) is full: 129"));
        assert!(full.remedy.is_some());
        let quiet = listener_verdict(&ListenerCase { queued: 0, dropped: Some(0), ..case });
        assert_eq!(
            quiet.sentence,
            "0.0.0.0:443 (web/7) listens: 0 connections of at most 128 wait to be accepted, and nothing was dropped so far."
        );
        assert!(quiet.remedy.is_none());
        let dropped = listener_verdict(&ListenerCase { queued: 0, dropped: Some(1), ..case });
        assert!(dropped.remedy.is_some(), "{dropped:?}");
    }
}
