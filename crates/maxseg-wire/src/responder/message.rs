//! Messages, written and read.

use thiserror::Error;

use super::cursor::Cursor;
use super::train::{TrainArrival, TrainRequest, TrainSent};
use super::transfer::{Begun, TransferRequest};
use super::{
    CODE, HEADER, LONGEST_BODY, LONGEST_UNPROVEN, MOST_ARRIVALS, MOST_SIZES, NONCE, SenderSample,
};

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The client's first.
    Hello {
        /// The protocol's version.
        version: u16,
        /// Never used before.
        nonce: [u8; NONCE],
    },
    /// The responder's answer to it.
    Challenge {
        /// Never used before.
        nonce: [u8; NONCE],
    },
    /// That the client has the token.
    Proof {
        /// Over both nonces.
        code: [u8; CODE],
        /// The session that the connection joins; 0 begins one.
        session: u64,
    },
    /// The proof holds.
    Welcome {
        /// The session.
        session: u64,
        /// What its datagrams begin with.
        key: [u8; NONCE],
        /// What the responder allows.
        limits: Limits,
    },
    /// The responder closes the connection after this.
    Refused(Refusal),
    /// To be answered at once.
    Ping(u32),
    /// The answer, with the same number.
    Pong(u32),
    /// Makes this connection one of bulk data.
    Transfer(TransferRequest),
    /// The transfer has begun; bulk data follows, from either end.
    Begun(Begun),
    /// Asks for the SYN of this connection as it arrived.
    SynQuestion,
    /// Its headers of IP and TCP; empty where the kernel does not keep it.
    SynSeen(Vec<u8>),
    /// Asks for the samples that the responder's sockets gave in the transfer with this number.
    ReportQuestion(u32),
    /// Samples of one connection, in order.
    ReportPart {
        /// The connection's number in the transfer.
        connection: u16,
        /// The samples.
        samples: Vec<SenderSample>,
    },
    /// No more samples.
    ReportEnd,
    /// Asks for datagrams on the flow of UDP that the client opened, each of one IP packet of this size with DF set.
    ProbeBack(Vec<u16>),
    /// The sizes that were sent; the others were larger than the MTU of the responder's interface or could not be sent.
    Probed(Vec<u16>),
    /// Asks which of the client's datagrams have arrived.
    ArrivalsQuestion,
    /// Sizes of IP packets, and how many of each arrived.
    Arrivals(Vec<(u16, u32)>),
    /// Asks which path MTU to the client the responder's kernel has learnt of routers.
    LearntQuestion,
    /// It, bytes; 0 where it has learnt none.
    Learnt(u32),
    /// Asks for a train on the flow of UDP that the client opened.
    TrainBack(TrainRequest),
    /// The train was sent.
    TrainSent(TrainSent),
    /// Asks which datagrams of the client's train with this number have arrived.
    TrainQuestion(u32),
    /// Some of them.
    TrainPart(Vec<TrainArrival>),
    /// No more of them, and how many the responder's own socket has dropped.
    TrainEnd(u32),
}

/// What a responder allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Seconds of one transfer.
    pub seconds: u32,
    /// Bits a second of all connections; 0 for no limit.
    pub bits_per_second: u64,
    /// Connections at once.
    pub connections: u16,
}

/// Why a responder closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Error)]
#[repr(u8)]
pub enum Refusal {
    /// The proof is of another token.
    #[error("the token is another one")]
    Token = 1,
    /// Another version of the protocol.
    #[error("it has another version of the protocol")]
    Version,
    /// A session is under way.
    #[error("it is busy with another test")]
    Busy,
    /// More than the responder's limits allow.
    #[error("more was asked for than its limits allow")]
    Limit,
    /// What arrived is no message, or not the one that is due.
    #[error("it did not understand what was sent")]
    Garbage,
    /// The message that is due did not come in time.
    #[error("it waited too long for a message")]
    TooSlow,
    /// There is no such session.
    #[error("its session has ended")]
    NoSession,
}

impl Refusal {
    const ALL: [Self; 7] = [
        Self::Token,
        Self::Version,
        Self::Busy,
        Self::Limit,
        Self::Garbage,
        Self::TooSlow,
        Self::NoSession,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| *refusal as u8 == number)
    }
}

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MessageError {
    /// No message has this number.
    #[error("there is no message of kind {0}")]
    Kind(u8),
    /// The body is longer than any.
    #[error("a body of {0} bytes is longer than any message's")]
    Long(usize),
    /// The body is not one of this kind.
    #[error("the body of {length} bytes is not one of kind {kind}")]
    Body {
        /// The message's kind.
        kind: u8,
        /// Bytes of its body.
        length: usize,
    },
}

const MAGIC: &[u8; 6] = b"maxseg";

/// The kind, and whether it comes before a proof.
const fn kind_of(message: &Message) -> u8 {
    match message {
        Message::Hello { .. } => 1,
        Message::Proof { .. } => 2,
        Message::Ping(_) => 3,
        Message::Transfer(_) => 4,
        Message::SynQuestion => 5,
        Message::ReportQuestion(_) => 6,
        Message::ProbeBack(_) => 7,
        Message::ArrivalsQuestion => 8,
        Message::LearntQuestion => 9,
        Message::TrainBack(_) => 10,
        Message::TrainQuestion(_) => 11,
        Message::Challenge { .. } => 65,
        Message::Welcome { .. } => 66,
        Message::Refused(_) => 67,
        Message::Pong(_) => 68,
        Message::Begun(_) => 69,
        Message::SynSeen(_) => 70,
        Message::ReportPart { .. } => 71,
        Message::ReportEnd => 72,
        Message::Probed(_) => 73,
        Message::Arrivals(_) => 74,
        Message::Learnt(_) => 75,
        Message::TrainSent(_) => 76,
        Message::TrainPart(_) => 77,
        Message::TrainEnd(_) => 78,
    }
}

/// The message as a frame. A body that is too long is cut at [`LONGEST_BODY`]; no message that is made here is.
pub fn encode(message: &Message) -> Vec<u8> {
    let mut body = Vec::new();
    put(message, &mut body);
    body.truncate(LONGEST_BODY);
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX);
    let mut frame = vec![kind_of(message)];
    frame.extend(length.to_be_bytes());
    frame.extend(body);
    frame
}

fn put(message: &Message, body: &mut Vec<u8>) {
    match message {
        Message::Hello { version, nonce } => {
            body.extend(MAGIC);
            body.extend(version.to_be_bytes());
            body.extend(nonce);
            body.resize(LONGEST_UNPROVEN - HEADER, 0);
        }
        Message::Challenge { nonce } => body.extend(nonce),
        Message::Proof { code, session } => {
            body.extend(code);
            body.extend(session.to_be_bytes());
        }
        Message::Welcome { session, key, limits } => {
            body.extend(session.to_be_bytes());
            body.extend(key);
            body.extend(limits.seconds.to_be_bytes());
            body.extend(limits.bits_per_second.to_be_bytes());
            body.extend(limits.connections.to_be_bytes());
        }
        Message::Refused(why) => body.push(*why as u8),
        Message::Ping(number)
        | Message::Pong(number)
        | Message::ReportQuestion(number)
        | Message::TrainQuestion(number)
        | Message::TrainEnd(number)
        | Message::Learnt(number) => body.extend(number.to_be_bytes()),
        Message::Transfer(asked) => asked.put(body),
        Message::TrainBack(asked) => asked.put(body),
        Message::TrainSent(sent) => sent.put(body),
        Message::TrainPart(arrivals) => {
            arrivals.iter().take(MOST_ARRIVALS).for_each(|arrival| arrival.put(body));
        }
        Message::Begun(begun) => {
            for number in [begun.send_buffer, begun.receive_buffer, begun.window_clamp] {
                body.extend(number.to_be_bytes());
            }
            body.extend(begun.congestion);
        }
        Message::SynQuestion
        | Message::ReportEnd
        | Message::ArrivalsQuestion
        | Message::LearntQuestion => {}
        Message::SynSeen(bytes) => body.extend(bytes),
        Message::ReportPart { connection, samples } => {
            body.extend(connection.to_be_bytes());
            for sample in samples {
                sample.put(body);
            }
        }
        Message::ProbeBack(sizes) | Message::Probed(sizes) => {
            sizes.iter().take(MOST_SIZES).for_each(|size| body.extend(size.to_be_bytes()));
        }
        Message::Arrivals(sizes) => {
            for (size, count) in sizes.iter().take(MOST_SIZES) {
                body.extend(size.to_be_bytes());
                body.extend(count.to_be_bytes());
            }
        }
    }
}

/// The message at the head of `bytes`, and the bytes that it takes; `None` while it is not complete.
///
/// # Errors
/// The bytes are no message.
pub fn decode(bytes: &[u8]) -> Result<Option<(Message, usize)>, MessageError> {
    let Some(([kind, high, low], rest)) = bytes.split_first_chunk::<HEADER>() else {
        return match bytes.first() {
            Some(&kind) if !is_kind(kind) => Err(MessageError::Kind(kind)),
            _ => Ok(None),
        };
    };
    let kind = *kind;
    if !is_kind(kind) {
        return Err(MessageError::Kind(kind));
    }
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    if length > LONGEST_BODY {
        return Err(MessageError::Long(length));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let mut cursor = Cursor(body);
    let message = read(kind, &mut cursor).filter(|_| cursor.0.is_empty());
    message
        .map(|message| Some((message, HEADER + length)))
        .ok_or(MessageError::Body { kind, length })
}

const fn is_kind(kind: u8) -> bool {
    matches!(kind, 1..=11 | 65..=78)
}

fn read(kind: u8, body: &mut Cursor<'_>) -> Option<Message> {
    Some(match kind {
        1 => {
            if body.take::<6>()? != *MAGIC {
                return None;
            }
            let (version, nonce) = (body.u16()?, body.take()?);
            if body.rest().len() != LONGEST_UNPROVEN - HEADER - 6 - 2 - NONCE {
                return None;
            }
            Message::Hello { version, nonce }
        }
        2 => Message::Proof { code: body.take()?, session: body.u64()? },
        3 => Message::Ping(body.u32()?),
        4 => Message::Transfer(TransferRequest::read(body)?),
        5 => Message::SynQuestion,
        6 => Message::ReportQuestion(body.u32()?),
        7 => Message::ProbeBack(sizes(body)?),
        8 => Message::ArrivalsQuestion,
        9 => Message::LearntQuestion,
        10 => Message::TrainBack(TrainRequest::read(body)?),
        11 => Message::TrainQuestion(body.u32()?),
        65 => Message::Challenge { nonce: body.take()? },
        66 => Message::Welcome {
            session: body.u64()?,
            key: body.take()?,
            limits: Limits {
                seconds: body.u32()?,
                bits_per_second: body.u64()?,
                connections: body.u16()?,
            },
        },
        67 => Message::Refused(Refusal::of(body.u8()?)?),
        68 => Message::Pong(body.u32()?),
        69 => Message::Begun(Begun {
            send_buffer: body.u32()?,
            receive_buffer: body.u32()?,
            window_clamp: body.u32()?,
            congestion: body.take()?,
        }),
        70 => Message::SynSeen(body.rest().to_vec()),
        71 => {
            let connection = body.u16()?;
            let mut samples = Vec::new();
            while !body.0.is_empty() {
                samples.push(SenderSample::read(body)?);
            }
            Message::ReportPart { connection, samples }
        }
        72 => Message::ReportEnd,
        73 => Message::Probed(sizes(body)?),
        74 => {
            let mut sizes = Vec::new();
            while !body.0.is_empty() && sizes.len() < MOST_SIZES {
                sizes.push((body.u16()?, body.u32()?));
            }
            Message::Arrivals(sizes)
        }
        75 => Message::Learnt(body.u32()?),
        76 => Message::TrainSent(TrainSent::read(body)?),
        77 => Message::TrainPart(TrainArrival::read_all(body)?),
        78 => Message::TrainEnd(body.u32()?),
        _ => return None,
    })
}

/// At most [`MOST_SIZES`]; more are no message.
fn sizes(body: &mut Cursor<'_>) -> Option<Vec<u16>> {
    let mut sizes = Vec::new();
    while !body.0.is_empty() && sizes.len() < MOST_SIZES {
        sizes.push(body.u16()?);
    }
    Some(sizes)
}
