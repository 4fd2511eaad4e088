//! Which streams are subflows of one MPTCP connection, and what it has shown (RFC 8684).
//!
//! It matters for duplicate acknowledgements: one is none while the connection has shown a kind of
//! option that it had not when the direction's last segment came. Ends are told apart as tshark does it:
//! by the order in which their keys and tokens come.

use std::collections::HashMap;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Subtypes with rules of their own.
const CAPABLE: u8 = 0;
const JOIN: u8 = 1;
/// Lengths of the data of `MP_CAPABLE` with a key, and with both; the same of `MP_JOIN` on a SYN.
const WITH_KEY: [usize; 4] = [10, 18, 20, 22];
const WITH_TOKEN: usize = 10;

/// What one option says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// A bit for each subtype from 0 to 7.
    bit: u8,
    names: Names,
}

/// How an option names its connection.
#[derive(Debug, Clone, Copy)]
enum Names {
    /// By the token of the sender's key, and perhaps that of the peer's, in this version.
    Keys(u8, u32, Option<u32>),
    /// By the peer's token.
    Token(u32),
    /// Not at all, but it is one.
    Nothing,
    /// The stream need not be a subflow: `MP_CAPABLE` without a key.
    NoConnection,
}

impl Operation {
    /// An option by what follows kind and length.
    pub(super) fn of(data: &[u8]) -> Option<Self> {
        let first = data.first()?;
        let (subtype, version) = (first >> 4, first & 0xf);
        let names = match subtype {
            CAPABLE if WITH_KEY.contains(&data.len()) => {
                let token = |from| Some(token(version, *data.get(from..)?.first_chunk()?));
                Names::Keys(version, token(2)?, token(10))
            }
            CAPABLE => Names::NoConnection,
            JOIN if data.len() == WITH_TOKEN => {
                Names::Token(u32::from_be_bytes(*data.get(2..)?.first_chunk()?))
            }
            _ => Names::Nothing,
        };
        Some(Self { bit: 1_u8.checked_shl(subtype.into()).unwrap_or(0), names })
    }
}

/// RFC 8684 §3.2: the first 32 bits of the key's hash, which is SHA-1 in version 0.
fn token(version: u8, key: [u8; 8]) -> u32 {
    let first = |hash: &[u8]| hash.first_chunk().copied().map_or(0, u32::from_be_bytes);
    match version {
        0 => first(&Sha1::digest(key)),
        1 => first(&Sha256::digest(key)),
        _ => 0,
    }
}

/// A stream's place among the connections.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Subflow {
    connection: Option<usize>,
    /// Which end of which connection each half of the stream is.
    ends: [Option<(usize, usize)>; 2],
}

/// What is known of one end of a connection.
#[derive(Debug, Clone, Copy, Default)]
struct MptcpEnd {
    has_token: bool,
    /// The version in which it told its key.
    version: Option<u8>,
}

#[derive(Debug, Default)]
struct MptcpConnection {
    /// The bits of the operations that it has shown.
    shown: u8,
    ends: [MptcpEnd; 2],
}

/// The MPTCP connections of a capture.
#[derive(Debug, Default)]
pub(super) struct Connections {
    all: Vec<MptcpConnection>,
    by_token: HashMap<u32, usize>,
}

impl Connections {
    /// What a stream's connection has shown; `None` of a stream that is no subflow.
    pub(super) fn shown(&self, subflow: Subflow) -> Option<u8> {
        Some(self.all.get(subflow.connection?)?.shown)
    }

    /// Remembers that a stream's connection has shown these options.
    pub(super) fn show(&mut self, subflow: Subflow, operations: &[Operation]) {
        if let Some(connection) = subflow.connection.and_then(|number| self.all.get_mut(number)) {
            let bits = operations.iter().map(|operation| operation.bit);
            connection.shown = bits.fold(connection.shown, |shown, bit| shown | bit);
        }
    }

    /// Finds the connection of the stream on which half `sender` (0 or 1) has sent these options.
    pub(super) fn join(&mut self, subflow: &mut Subflow, sender: usize, operations: &[Operation]) {
        let peer = 1 - sender;
        for operation in operations {
            match operation.names {
                Names::Keys(version, own, other) => {
                    self.key(subflow, sender, (sender, own), version);
                    if let Some(other) = other {
                        self.key(subflow, sender, (peer, other), version);
                    }
                }
                Names::Token(token) => {
                    self.settle(subflow, sender, (peer, token));
                    // In version 1 the server's key is the first to be told.
                    if self.end(subflow, sender).is_some_and(|end| end.version == Some(1)) {
                        subflow.ends.swap(0, 1);
                    }
                }
                Names::Nothing if subflow.connection.is_none() => self.begin(subflow, sender),
                Names::Nothing | Names::NoConnection => {}
            }
        }
    }

    /// Half `whose` has told its key, which has this token.
    fn key(
        &mut self,
        subflow: &mut Subflow,
        sender: usize,
        (whose, token): (usize, u32),
        version: u8,
    ) {
        if self.end(subflow, whose).is_some_and(|end| end.version.is_some()) {
            return;
        }
        self.settle(subflow, sender, (whose, token));
        if let Some(end) = self.end(subflow, whose) {
            end.version = Some(version);
        }
    }

    /// Half `whose` is the end that has this token.
    fn settle(&mut self, subflow: &mut Subflow, sender: usize, (whose, token): (usize, u32)) {
        if self.end(subflow, whose).is_some_and(|end| end.has_token) {
            return;
        }
        if let Some(known) = self.by_token.get(&token) {
            subflow.connection = Some(*known);
        } else if let Some(number) = subflow.connection {
            let first = self.all.get(number).map_or(MptcpEnd::default(), |one| one.ends[0]);
            subflow.set(whose, (number, first.has_token.into()));
            self.name(subflow, whose, token);
        } else {
            self.begin(subflow, sender);
            self.name(subflow, whose, token);
        }
        let Some(number) = subflow.connection else { return };
        let is_first = subflow.ends.get(whose) == Some(&Some((number, 0)));
        subflow.set(whose, (number, usize::from(!is_first)));
        subflow.set(1 - whose, (number, usize::from(is_first)));
    }

    fn name(&mut self, subflow: &Subflow, whose: usize, token: u32) {
        self.by_token.extend(subflow.connection.map(|number| (token, number)));
        if let Some(end) = self.end(subflow, whose) {
            end.has_token = true;
        }
    }

    fn end(&mut self, subflow: &Subflow, half: usize) -> Option<&mut MptcpEnd> {
        let (number, end) = (*subflow.ends.get(half)?)?;
        self.all.get_mut(number)?.ends.get_mut(end)
    }

    fn begin(&mut self, subflow: &mut Subflow, sender: usize) {
        let number = self.all.len();
        self.all.push(MptcpConnection::default());
        subflow.connection = Some(number);
        subflow.set(sender, (number, 0));
        subflow.set(1 - sender, (number, 1));
    }
}

impl Subflow {
    fn set(&mut self, half: usize, end: (usize, usize)) {
        if let Some(place) = self.ends.get_mut(half) {
            *place = Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_joins_by_the_token_of_a_key() {
        // The hashes of this key begin so, as `sha1sum` and `sha256sum` say.
        for (version, hash) in [(0, [0xdd, 0x57, 0x83, 0xbc]), (1, [0x66, 0x84, 0x0d, 0xda])] {
            let capable = Operation::of(&[version, 0x81, 1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
            let mut wish = vec![0x10, 1];
            wish.extend(hash.into_iter().chain([0; 4]));
            let join = Operation::of(&wish).unwrap();
            let mut connections = Connections::default();
            let (mut first, mut second) = (Subflow::default(), Subflow::default());
            connections.join(&mut first, 0, &[capable]);
            connections.show(first, &[capable]);
            assert_eq!(connections.shown(second), None);
            connections.join(&mut second, 1, &[join]);
            connections.show(second, &[join]);
            assert_eq!(connections.shown(first), Some(0b11));
            let mut third = Subflow::default();
            connections.join(&mut third, 1, &[Operation::of(&[0x50]).unwrap()]);
            assert_eq!(connections.shown(third), Some(0), "another connection");
        }
    }
}
