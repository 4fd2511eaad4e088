//! From messages to the packets that they are about.

use std::io;
use std::net::IpAddr;

use maxseg_core::path_mtu::Refusal;
use maxseg_wire::icmp::{Icmp, Message};

use super::{Answer, AnswerKind, MARK, MARK_AND_NUMBER, ProbeKind, Prober, echo_id};
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
        while let Some(error) = self.socket.next_error()? {
            late.extend(self.hear(&error, first).filter(|at| *at < first));
        }
        while let Some((packet, ttl)) = self.socket.next_packet()? {
            let Some(at) = self.echoed(&packet) else { continue };
            let said = Said::Answered(AnswerKind::Destination);
            if self.note(at, said, self.to, ttl) && at < first {
                late.push(at);
            }
        }
        Ok(())
    }

    /// Notes a message; the packet about which it is the first of its kind. The round under way began with packet `first`.
    fn hear(&mut self, error: &QueuedError, first: usize) -> Option<usize> {
        let (said, from) = said(error, self.to)?;
        let at = self.about(&error.quoted, said, first)?;
        self.note(at, said, from, error.ttl).then_some(at)
    }

    /// Notes what is said of a packet; whether it is the first such message. A network may double one.
    fn note(&mut self, at: usize, said: Said, from: IpAddr, ttl: Option<u8>) -> bool {
        let Some(shot) = self.shots.get_mut(at) else { return false };
        match said {
            Said::TooBig { mtu } => {
                let is_first = shot.refusal.is_none();
                shot.refusal.get_or_insert(Refusal { router: Some(from), mtu, hop: None });
                is_first
            }
            Said::Answered(kind) => {
                let is_first = shot.answer.is_none();
                let round_trip = shot.at.elapsed();
                shot.answer.get_or_insert(Answer { kind, from, round_trip, ttl });
                is_first
            }
        }
    }

    /// The packet that a message is about; `None` where it is another process's, or cannot be told.
    fn about(&mut self, quoted: &[u8], said: Said, first: usize) -> Option<usize> {
        if self.kind == ProbeKind::Echo {
            return self.echo_quoted(quoted);
        }
        if let Some(at) = numbered(quoted.get(self.key().len()..).unwrap_or_default()) {
            return Some(at);
        }
        // RFC 792 asks for 8 bytes of the packet alone, and the number lies behind them: only where one packet is on the way is it known
        // which one is meant.
        let on_the_way = self.shots.len().saturating_sub(first);
        if !self.is_one_at_a_time {
            self.is_one_at_a_time = true;
            self.is_unclear = on_the_way > 1;
        }
        if self.is_unclear || on_the_way == 0 {
            return None;
        }
        let last = self.shots.last()?;
        let is_open = last.answer.is_none() && last.refusal.is_none();
        let may_be = match said {
            Said::TooBig { mtu } => last.probe.size > mtu,
            Said::Answered(AnswerKind::Expired) => last.probe.hop.is_some(),
            Said::Answered(AnswerKind::Destination | AnswerKind::Unreachable(_)) => true,
        };
        (is_open && may_be).then(|| self.shots.len() - 1)
    }

    /// The number of the echo that is quoted. A raw socket hears of the echoes of every process.
    fn echo_quoted(&self, quoted: &[u8]) -> Option<usize> {
        let [_, _, _, _, id @ .., high, low] = *quoted.first_chunk::<ECHO_HEADER>()?;
        if !self.is_own(u16::from_be_bytes(id)) {
            return None;
        }
        // RFC 792 asks for 8 bytes alone, and the sequence number is among them.
        let sequence = || u16::from_be_bytes([high, low]).into();
        Some(numbered(quoted.get(ECHO_HEADER..)?).unwrap_or_else(sequence))
    }

    /// Whether an echo has this prober's identifier. A ping socket has one of its own, which the kernel has compared.
    fn is_own(&self, id: u16) -> bool {
        id == echo_id() || id == self.source.port()
    }

    /// The number of the echo that a packet replies to.
    fn echoed(&self, packet: &[u8]) -> Option<usize> {
        if self.kind != ProbeKind::Echo {
            return None;
        }
        let ends = (self.to, self.source.ip());
        let icmp = Icmp::decode(packet, packet.len(), ends).ok()?;
        let Message::EchoReply { id, .. } = icmp.message else { return None };
        if self.is_own(id) { numbered(icmp.body) } else { None }
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use maxseg_core::path_mtu::Probe;

    use super::super::Shot;
    use super::*;

    const TO: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn prober(kind: ProbeKind, sizes: &[u32]) -> Prober {
        let mut prober = Prober::new(TO, kind).unwrap();
        for size in sizes {
            send(&mut prober, *size);
        }
        prober
    }

    fn send(prober: &mut Prober, size: u32) {
        let (probe, at) = (Probe { size, hop: None }, Instant::now());
        let (answer, refusal) = (None, None);
        let [is_local_too_big, is_refused_here] = [false; 2];
        prober.shots.push(Shot { probe, at, answer, refusal, is_local_too_big, is_refused_here });
    }

    fn too_big(mtu: u32, quoted: &[u8]) -> QueuedError {
        QueuedError {
            kind: UNREACHABLE_V4,
            code: FRAGMENTATION_NEEDED,
            is_icmp: true,
            info: mtu,
            from: Some("10.9.1.1".parse().unwrap()),
            quoted: quoted.to_vec(),
            ttl: None,
        }
    }

    fn quote(number: u32) -> Vec<u8> {
        [&MARK[..], &number.to_be_bytes()].concat()
    }

    #[test]
    fn a_message_that_comes_after_its_round_is_told() {
        let mut prober = prober(ProbeKind::Udp { port: 33_434 }, &[1500, 80, 80]);
        assert_eq!(prober.hear(&too_big(1400, &quote(0)), 2), Some(0));
        assert_eq!(prober.shots[0].refusal.map(|refusal| refusal.mtu), Some(1400));
        assert_eq!(prober.hear(&too_big(1400, &quote(0)), 2), None, "the same once more");
    }

    #[test]
    fn a_short_quote_is_of_the_packet_on_the_way() {
        let mut prober = prober(ProbeKind::Udp { port: 33_434 }, &[1500, 1500, 80]);
        assert_eq!(prober.hear(&too_big(1400, &[]), 1), None, "two are on the way");
        assert!(prober.is_one_at_a_time && prober.is_unclear);
        prober.is_unclear = false;
        assert_eq!(prober.hear(&too_big(1400, &[]), 2), None, "80 bytes are not too big for 1400");
        send(&mut prober, 1450);
        assert_eq!(prober.hear(&too_big(1400, &[]), 3), Some(3));
        assert_eq!(prober.hear(&too_big(1400, &[]), 4), None, "nothing is on the way");
    }

    #[test]
    fn echoes_of_other_processes_are_not_ours() {
        let Ok(echo) = Prober::new(TO, ProbeKind::Echo) else { return };
        drop(echo);
        let mut prober = prober(ProbeKind::Echo, &[1500]);
        let quoted = |id: u16| [&[8, 0, 0, 0][..], &id.to_be_bytes(), &[0, 0]].concat();
        let other = echo_id().wrapping_add(1).max(1);
        assert_eq!(prober.hear(&too_big(1400, &quoted(other)), 0), None);
        assert_eq!(prober.hear(&too_big(1400, &quoted(echo_id())), 0), Some(0));
    }
}
