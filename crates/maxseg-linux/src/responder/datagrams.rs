//! Datagrams of a session: those that arrive are counted by size, others are sent on demand.

use std::time::{Duration, Instant};

use maxseg_wire::responder::{MOST_ARRIVALS, Message, NONCE, TrainRequest, TrainSent};

use super::{Shared, Ticket};
use crate::sys::receive_noted;
use crate::transfer::{datagram_headers, is_full, send_train};

/// Datagrams that are read in one turn.
const MOST_AT_ONCE: usize = 256;
/// Between two datagrams, so that they do not fill a queue themselves.
const SPACING: Duration = Duration::from_millis(2);

/// Turns of reading before a question about datagrams is answered: more than a socket keeps.
const MOST_TURNS: usize = 256;
/// Packets, bytes and time of a train at most.
const MOST_PACKETS: u32 = 32_768;
const MOST_TRAIN_BYTES: u64 = 32 << 20;
const LONGEST_TRAIN: Duration = Duration::from_secs(3);

/// Counts what has arrived; whether there may be more. What does not begin with the session's key has no effect and no answer.
pub(super) fn receive(shared: &Shared<'_>) -> bool {
    let mut room = vec![0; 1 << 16];
    for _ in 0..MOST_AT_ONCE {
        let Ok(arrived) = receive_noted(shared.datagrams, &mut room) else { return false };
        let bytes = arrived.length + datagram_headers(arrived.from.ip());
        let packet = u16::try_from(bytes).unwrap_or(u16::MAX);
        if let Some(datagram) = room.get(..arrived.length).filter(|all| all.len() >= NONCE) {
            shared.sessions.on_datagram(datagram, &arrived, packet);
        }
    }
    true
}

/// The datagrams of a train that have arrived, in messages that are not too long.
pub(super) fn arrivals(shared: &Shared<'_>, ticket: Ticket, train: u32) -> Vec<Message> {
    for _ in 0..MOST_TURNS {
        if !receive(shared) {
            break;
        }
    }
    let (arrivals, dropped) = shared.sessions.train(ticket.session, train);
    let mut answers: Vec<Message> =
        arrivals.chunks(MOST_ARRIVALS).map(|part| Message::TrainPart(part.to_vec())).collect();
    answers.push(Message::TrainEnd(dropped));
    answers
}

/// Sends a train, within the limits; what was sent.
pub(super) fn send_back(shared: &Shared<'_>, ticket: Ticket, asked: &TrainRequest) -> TrainSent {
    let none = TrainSent { count: 0, elapsed: Duration::ZERO };
    let bytes = u64::from(asked.packet_bytes);
    let most = shared.options.limits.bits_per_second;
    let rate = match asked.bits_per_second {
        0 => most,
        rate if most > 0 => rate.min(most),
        rate => rate,
    };
    let count = asked.count.min(MOST_PACKETS);
    let count = count.min(u32::try_from(MOST_TRAIN_BYTES / bytes.max(1)).unwrap_or(u32::MAX));
    let all = usize::try_from(bytes * u64::from(count)).unwrap_or(usize::MAX);
    let Some((to, key)) = shared.sessions.may_send_train(ticket.session, all) else { return none };
    let Some(payload) = usize::from(asked.packet_bytes).checked_sub(datagram_headers(to.ip()))
    else {
        return none;
    };
    let request = TrainRequest { count, bits_per_second: rate, ..*asked };
    let is_over = |elapsed| elapsed > LONGEST_TRAIN || shared.has_ended(ticket);
    let send = |datagram: &[u8]| {
        let until = Instant::now() + LONGEST_TRAIN;
        loop {
            let sent = shared.datagrams.send_to(datagram, to);
            match sent {
                Err(error) if is_full(&error) && Instant::now() < until => std::thread::yield_now(),
                sent => return sent,
            }
        }
    };
    send_train(&request, &key, payload, is_over, send).unwrap_or(none)
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
