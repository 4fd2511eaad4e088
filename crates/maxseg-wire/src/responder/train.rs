//! Trains of datagrams: how they are asked for, what each begins with, and what is told of those that arrived.

use std::time::Duration;

use super::NONCE;
use super::cursor::Cursor;

/// Most arrivals in one message.
pub const MOST_ARRIVALS: usize = 1024;

/// A train that the responder is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainRequest {
    /// Its number, which each datagram has.
    pub train: u32,
    /// Bytes of each IP packet.
    pub packet_bytes: u16,
    /// How many.
    pub count: u32,
    /// The rate of IP packets; 0: one behind the other, as fast as the host sends.
    pub bits_per_second: u64,
}

/// A train as it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainSent {
    /// How many datagrams.
    pub count: u32,
    /// From the first to the last.
    pub elapsed: Duration,
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainArrival {
    /// Its place in the train.
    pub number: u32,
    /// By the receiver's clock.
    pub at: Duration,
}

/// What a datagram of a train begins with, behind the session's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainHead {
    /// The train.
    pub train: u32,
    /// Its place in it.
    pub number: u32,
}

/// Tells it from a datagram whose size alone counts.
const MARK: [u8; 4] = *b"trai";

impl TrainHead {
    /// Bytes of a datagram's payload at least.
    pub const LEAST: usize = NONCE + 12;

    /// Writes key and head; nothing where there is no room.
    pub fn write(self, key: &[u8; NONCE], datagram: &mut [u8]) {
        let numbers = [MARK, self.train.to_be_bytes(), self.number.to_be_bytes()];
        let head = key.iter().chain(numbers.as_flattened());
        datagram.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
    }

    /// Reads it; `None` of another datagram.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(datagram.get(NONCE..)?);
        let mark = cursor.take::<4>()?;
        let head = Self { train: cursor.u32()?, number: cursor.u32()? };
        (mark == MARK).then_some(head)
    }
}

impl TrainRequest {
    pub(super) fn put(&self, body: &mut Vec<u8>) {
        body.extend(self.train.to_be_bytes());
        body.extend(self.packet_bytes.to_be_bytes());
        body.extend(self.count.to_be_bytes());
        body.extend(self.bits_per_second.to_be_bytes());
    }

    pub(super) fn read(body: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            train: body.u32()?,
            packet_bytes: body.u16()?,
            count: body.u32()?,
            bits_per_second: body.u64()?,
        })
    }
}

impl TrainSent {
    pub(super) fn put(&self, body: &mut Vec<u8>) {
        body.extend(self.count.to_be_bytes());
        put_time(self.elapsed, body);
    }

    pub(super) fn read(body: &mut Cursor<'_>) -> Option<Self> {
        Some(Self { count: body.u32()?, elapsed: Duration::from_nanos(body.u64()?) })
    }
}

impl TrainArrival {
    pub(super) fn put(&self, body: &mut Vec<u8>) {
        body.extend(self.number.to_be_bytes());
        put_time(self.at, body);
    }

    /// Those of a message: at most [`MOST_ARRIVALS`]; more are no message.
    pub(super) fn read_all(body: &mut Cursor<'_>) -> Option<Vec<Self>> {
        let mut arrivals = Vec::new();
        while !body.0.is_empty() && arrivals.len() < MOST_ARRIVALS {
            arrivals.push(Self { number: body.u32()?, at: Duration::from_nanos(body.u64()?) });
        }
        Some(arrivals)
    }
}

fn put_time(time: Duration, body: &mut Vec<u8>) {
    body.extend(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).to_be_bytes());
}
