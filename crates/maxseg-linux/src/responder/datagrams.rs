//! Datagrams of a session: those that arrive are counted by size, others are sent on demand.

use std::time::Duration;

use maxseg_wire::responder::NONCE;

use super::{Shared, Ticket};
use crate::transfer::datagram_headers;

/// Datagrams that are read in one turn.
const MOST_AT_ONCE: usize = 256;
/// Between two datagrams, so that they do not fill a queue themselves.
const SPACING: Duration = Duration::from_millis(2);

/// Counts what has arrived. What does not begin with the session's key has no effect and no answer.
pub(super) fn receive(shared: &Shared<'_>) {
    let mut room = vec![0; 1 << 16];
    for _ in 0..MOST_AT_ONCE {
        let Ok((length, from)) = shared.datagrams.recv_from(&mut room) else { return };
        let packet = u16::try_from(length + datagram_headers(from.ip())).unwrap_or(u16::MAX);
        if let Some(key) = room[..length].get(..NONCE) {
            shared.sessions.on_datagram(key, from, packet);
        }
    }
}

/// Sends a datagram of each size; those that were sent.
pub(super) fn send(shared: &Shared<'_>, ticket: Ticket, sizes: &[u16]) -> Vec<u16> {
    let mut sent = Vec::new();
    for &size in sizes {
        let bytes = usize::from(size);
        let Some((to, key)) = shared.sessions.may_probe(ticket.session, bytes) else { break };
        let Some(payload) = bytes.checked_sub(datagram_headers(to.ip())).filter(|n| *n >= NONCE)
        else {
            continue;
        };
        let mut datagram = vec![0; payload];
        datagram[..NONCE].copy_from_slice(&key);
        if shared.datagrams.send_to(&datagram, to).is_ok() {
            sent.push(size);
        }
        std::thread::sleep(SPACING);
    }
    sent
}
