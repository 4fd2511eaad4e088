//! What a connection whose token is proven may ask.

use std::cell::Cell;
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use maxseg_wire::responder::{
    LONGEST_BODY, Message, Refusal, SenderSample, Towards, TransferRequest,
};

use super::{Shared, Ticket, datagrams};
use crate::probe::learnt::LearntMtu;
use crate::sys::{TcpSocket, set_tcp_option};
use crate::transfer::{
    Frames, MARGIN, ReadError, Sampler, SocketOptions, Zeros, congestion_name, discard, granted,
    send,
};

/// A session without a message for so long is over. The client pings while it does something else.
const IDLE: Duration = Duration::from_secs(60);

/// Answers a connection until it is closed or makes a transfer.
pub(super) fn answer(shared: &Shared<'_>, socket: TcpSocket, ticket: Ticket) -> io::Result<()> {
    let syn = socket.saved_syn().unwrap_or_default();
    let mut frames = Frames::new(socket)?;
    let Some(welcome) = shared.welcome(ticket) else { return Ok(()) };
    frames.send(&welcome)?;
    loop {
        let message = match frames.next(IDLE, || shared.has_ended(ticket)) {
            Ok(message) => message,
            Err(ReadError::Closed | ReadError::Stopped) => return Ok(()),
            // A transfer may take longer than that, without any ping beside it.
            Err(ReadError::TooLate)
                if ticket.is_control && shared.sessions.has_joined(ticket.session) =>
            {
                continue;
            }
            Err(ReadError::TooLate) => return frames.send(&Message::Refused(Refusal::TooSlow)),
            Err(ReadError::NoMessage(_)) => {
                return frames.send(&Message::Refused(Refusal::Garbage));
            }
            Err(ReadError::Io(error)) => return Err(error),
        };
        if let Message::Transfer(asked) = message {
            return transfer(shared, &frames, ticket, &asked);
        }
        let Some(answers) = answers(shared, ticket, &syn, message) else {
            return frames.send(&Message::Refused(Refusal::Garbage));
        };
        for answer in &answers {
            frames.send(answer)?;
        }
        // The kernel acknowledges what comes next at once, and not with this program's answer: the client's least round trip has no
        // wake-up in it. An answer that was sent ends that (`tcp_event_data_sent` in `net/ipv4/tcp_output.c`).
        set_tcp_option(&frames.socket.0, libc::TCP_QUICKACK, 1)?;
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other message is a question")]
fn answers(
    shared: &Shared<'_>,
    ticket: Ticket,
    syn: &[u8],
    message: Message,
) -> Option<Vec<Message>> {
    Some(match message {
        Message::Ping(number) => vec![Message::Pong(number)],
        Message::SynQuestion => vec![Message::SynSeen(syn.to_vec())],
        Message::ArrivalsQuestion => {
            datagrams::receive(shared);
            vec![Message::Arrivals(shared.sessions.arrivals(ticket.session))]
        }
        Message::ProbeBack(sizes) => {
            vec![Message::Probed(datagrams::send(shared, ticket, &sizes))]
        }
        Message::LearntQuestion => {
            let learnt = LearntMtu::of(ticket.client).ok().flatten();
            vec![Message::Learnt(learnt.map_or(0, |learnt| learnt.mtu))]
        }
        Message::ReportQuestion(transfer) => report(shared, ticket, transfer),
        Message::TrainBack(asked) => {
            vec![Message::TrainSent(datagrams::send_back(shared, ticket, &asked))]
        }
        Message::TrainQuestion(train) => datagrams::arrivals(shared, ticket, train),
        _ => return None,
    })
}

/// A transfer's samples, in messages that are not too long.
fn report(shared: &Shared<'_>, ticket: Ticket, transfer: u32) -> Vec<Message> {
    const AT_ONCE: usize = (LONGEST_BODY - 2) / SenderSample::LEN;
    let mut answers = Vec::new();
    for (connection, samples) in shared.sessions.samples(ticket.session, transfer) {
        for part in samples.chunks(AT_ONCE) {
            answers.push(Message::ReportPart { connection, samples: part.to_vec() });
        }
    }
    answers.push(Message::ReportEnd);
    answers
}

/// Sends or discards bulk data until the time is over, the client has closed the connection, or the session is over.
fn transfer(
    shared: &Shared<'_>,
    frames: &Frames,
    ticket: Ticket,
    asked: &TransferRequest,
) -> io::Result<()> {
    let limits = shared.options.limits;
    if asked.time > Duration::from_secs(limits.seconds.into()) + MARGIN {
        return frames.send(&Message::Refused(Refusal::Limit));
    }
    let some = |number: u32| (number > 0).then_some(number);
    let window = some(asked.window);
    let options = SocketOptions {
        mss: None,
        window,
        send_buffer: some(asked.send_buffer),
        congestion: congestion_name(&asked.congestion),
    };
    options.apply(&frames.socket.0)?;
    // All connections share the limit, whatever a client says of their number; pacing makes the share of each even.
    let rate = shared.rate.as_ref();
    if let Some(rate) = rate {
        rate.pace(&frames.socket)?;
    }
    frames.send(&Message::Begun(granted(&frames.socket)))?;
    let began = Instant::now();
    let is_done = || began.elapsed() >= asked.time || shared.has_ended(ticket);
    let TransferRequest { transfer, connection, connections, .. } = *asked;
    match asked.towards {
        Towards::Client => {
            let counted = Cell::new(0);
            let count = |bytes: Option<u64>| {
                let more = bytes.unwrap_or_default().saturating_sub(counted.get());
                counted.set(counted.get() + more);
                shared.sent_bytes.fetch_add(more, Ordering::Relaxed);
            };
            let keep = |sample: SenderSample| {
                count(sample.sample.info.bytes_sent);
                shared.sessions.keep(ticket.session, transfer, connection, &sample);
            };
            let sampler = Sampler::new(began, connections.into());
            let sent = send(&frames.socket, &Zeros::new()?, sampler, rate, is_done, keep);
            count(frames.socket.sample().ok().and_then(|sample| sample.info.bytes_sent));
            // What a client did not take must not outlive the transfer.
            frames.socket.0.set_linger(Some(Duration::ZERO))?;
            sent
        }
        Towards::Responder => {
            // As they come: a client that is killed ends the session before its connections end.
            let count = |bytes| {
                shared.received_bytes.fetch_add(bytes, Ordering::Relaxed);
            };
            discard(&frames.socket, window, rate, is_done, count)
        }
    }
}
