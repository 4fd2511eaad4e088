//! From messages to the packets that they are about.

use std::io;
use std::net::IpAddr;
use std::time::Instant;

use maxseg_core::path_mtu::Refusal;
use maxseg_wire::icmp::{Icmp, Message};

use super::{Answer, AnswerKind, MARK, MARK_AND_NUMBER, ProbeKind, Prober, Shot, echo_id};
use crate::sys::QueuedError;

/// What a message says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    TooBig { mtu: u32 },
    Answered(AnswerKind),
}

/// Destination unreachable, with its code "fragmentation needed"; time exceeded (RFC 792).
const UNREACHABLE_V4: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
const TIME_EXCEEDED_V4: u8 = 11;
/// The same in IPv6 (RFC 4443).
const UNREACHABLE_V6: u8 = 1;
const TOO_BIG_V6: u8 = 2;
const TIME_EXCEEDED_V6: u8 = 3;
/// Bytes of an echo's header.
const ECHO_HEADER: usize = 8;

impl Prober {
    /// Takes what has arrived; of packets before `first` in `late`.
    pub(super) fn collect(&mut self, first: usize, late: &mut Vec<usize>) -> io::Result<()> {
        let now = Instant::now();
        while let Some(error) = self.socket.next_error()? {
            let Some((said, from)) = said(&error, self.to) else { continue };
            let Some(at) = self.number(&error.quoted).or_else(|| self.likeliest(said)) else {
                continue;
            };
            if self.note(at, said, from, error.ttl, now) && at < first {
                late.push(at);
            }
        }
        while let Some((packet, ttl)) = self.socket.next_packet()? {
            let Some(at) = self.echoed(&packet) else { continue };
            let said = Said::Answered(AnswerKind::Destination);
            if self.note(at, said, self.to, ttl, now) && at < first {
                late.push(at);
            }
        }
        Ok(())
    }

    /// Notes what is said of a packet; whether it is its first answer. A network may double one.
    fn note(&mut self, at: usize, said: Said, from: IpAddr, ttl: Option<u8>, now: Instant) -> bool {
        let Some(shot) = self.shots.get_mut(at) else { return false };
        match said {
            Said::TooBig { mtu } => {
                shot.refusal.get_or_insert(Refusal { router: Some(from), mtu, hop: None });
                false
            }
            Said::Answered(kind) => {
                let is_first = shot.answer.is_none();
                let round_trip = now.saturating_duration_since(shot.at);
                shot.answer.get_or_insert(Answer { kind, from, round_trip, ttl });
                is_first
            }
        }
    }

    /// The packet's number in what is quoted of it.
    fn number(&self, quoted: &[u8]) -> Option<usize> {
        let payload = match self.kind {
            ProbeKind::Udp { .. } => quoted,
            ProbeKind::Keyed { .. } => quoted.get(self.key().len()..)?,
            ProbeKind::Echo => {
                if let Some(at) = numbered(quoted.get(ECHO_HEADER..)?) {
                    return Some(at);
                }
                // RFC 792 asks for 8 bytes alone, and the sequence number is among them.
                let [.., high, low] = *quoted.first_chunk::<ECHO_HEADER>()?;
                return Some(u16::from_be_bytes([high, low]).into());
            }
        };
        numbered(payload)
    }

    /// Of a message that does not quote the number, the packet that it is about most cautiously: the largest is refused, the
    /// smallest arrives, the nearest ends.
    fn likeliest(&self, said: Said) -> Option<usize> {
        let open = |shot: &&(usize, &Shot)| shot.1.answer.is_none() && shot.1.refusal.is_none();
        let shots: Vec<(usize, &Shot)> = self.shots.iter().enumerate().collect();
        let open = shots.iter().filter(open);
        let found = match said {
            Said::TooBig { .. } => open.max_by_key(|(_, shot)| shot.probe.size),
            Said::Answered(AnswerKind::Expired) => open
                .filter(|(_, shot)| shot.probe.hop.is_some())
                .min_by_key(|(_, shot)| shot.probe.hop),
            Said::Answered(_) => open.min_by_key(|(_, shot)| shot.probe.size),
        };
        found.map(|(at, _)| *at)
    }

    /// The number of the echo that a packet replies to.
    fn echoed(&self, packet: &[u8]) -> Option<usize> {
        if self.kind != ProbeKind::Echo {
            return None;
        }
        let ends = (self.to, self.source.ip());
        let icmp = Icmp::decode(packet, packet.len(), ends).ok()?;
        let Message::EchoReply { id, .. } = icmp.message else { return None };
        // A ping socket has its own identifier, which the kernel has compared.
        let is_own = id == echo_id() || id == self.source.port();
        if is_own { numbered(icmp.body) } else { None }
    }
}

/// The number in a payload.
fn numbered(payload: &[u8]) -> Option<usize> {
    let [m, x, s, g, number @ ..] = *payload.first_chunk::<MARK_AND_NUMBER>()?;
    ([m, x, s, g] == MARK).then(|| u32::from_be_bytes(number) as usize)
}

/// What an entry of the error queue says, and who says it.
fn said(error: &QueuedError, to: IpAddr) -> Option<(Said, IpAddr)> {
    let from = error.from.filter(|_| error.is_icmp)?;
    let said = match (to.is_ipv4(), error.kind, error.code) {
        (true, UNREACHABLE_V4, FRAGMENTATION_NEEDED) | (false, TOO_BIG_V6, _) => {
            Said::TooBig { mtu: error.info }
        }
        (true, TIME_EXCEEDED_V4, 0) | (false, TIME_EXCEEDED_V6, 0) => {
            Said::Answered(AnswerKind::Expired)
        }
        // A firewall that rejects says "port unreachable" as well, from its own address.
        (true, UNREACHABLE_V4, _) | (false, UNREACHABLE_V6, _) if from == to => {
            Said::Answered(AnswerKind::Destination)
        }
        (true, UNREACHABLE_V4, code) | (false, UNREACHABLE_V6, code) => {
            Said::Answered(AnswerKind::Unreachable(code))
        }
        _ => return None,
    };
    Some((said, from))
}
