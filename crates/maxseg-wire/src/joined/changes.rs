//! What hops changed in the headers of the handshake, and in the windows since.

use std::net::SocketAddr;

use maxseg_core::evidence::{Change, ChangedField, Direction, Joined};
use maxseg_core::window::LARGEST_SHIFT;

use super::Capture;
use super::census::{Identity, LAST_KIND, Syn};
use super::pairing::Matched;
use crate::flow::Endpoint;

/// A window as it was sent and as it arrived, as in the header.
type Rewritten = Option<(u16, u16)>;

/// Header fields of a connection that are not the same in both captures; `windows` are those that were rewritten of the client and of the
/// server.
pub(super) fn changes(
    first: &Identity,
    second: &Identity,
    matched: &Matched,
    windows: (Rewritten, Rewritten),
) -> Vec<Change> {
    let mut changes = Vec::new();
    let (client, server) = (matched.client, matched.client.other());
    for (direction, sender, window) in
        [(Direction::Forward, client, windows.0), (Direction::Reverse, server, windows.1)]
    {
        let near = matched.near(sender);
        let identity = |capture: Capture| match capture {
            Capture::First => first,
            Capture::Second => second,
        };
        let ends = |capture: Capture| {
            let known = identity(capture);
            let end = |end: Endpoint| *known.ends.of(matched.end_in(capture, end));
            (end(sender), end(sender.other()))
        };
        let (there, here) = (ends(near), ends(near.other()));
        if direction == Direction::Forward && there != here {
            changes.push(translated(direction, there, here));
        }
        let syn =
            |capture: Capture| identity(capture).syn.of(matched.end_in(capture, sender)).as_ref();
        if let (Some(sent), Some(received)) = (syn(near), syn(near.other())) {
            of_syn(direction, sent, received, &mut changes);
        }
        // Only both SYNs tell how windows are scaled.
        let shift = |capture: Capture| {
            let shift = |end: Endpoint| {
                let syn = identity(capture).syn.of(matched.end_in(capture, end)).as_ref()?;
                Some(syn.window_scale)
            };
            let (own, other) = (shift(sender)?, shift(sender.other())?);
            Some(own.filter(|_| other.is_some()).unwrap_or(0).min(LARGEST_SHIFT))
        };
        if let Some((sent, received)) = window
            && let (Some(there), Some(here)) = (shift(near), shift(near.other()))
        {
            let bytes = |field: u16, shift: u8| (u64::from(field) << shift).to_string();
            changes.push(Change {
                direction,
                field: ChangedField::Window,
                sent: bytes(sent, there),
                received: bytes(received, here),
            });
        }
    }
    changes
}

fn translated(
    direction: Direction,
    there: (SocketAddr, SocketAddr),
    here: (SocketAddr, SocketAddr),
) -> Change {
    Change {
        direction,
        field: ChangedField::Addresses,
        sent: Joined::ends_text(there.0, there.1),
        received: Joined::ends_text(here.0, here.1),
    }
}

fn of_syn(direction: Direction, sent: &Syn, received: &Syn, changes: &mut Vec<Change>) {
    let mut compare = |field, there: String, here: String| {
        if there != here {
            changes.push(Change { direction, field, sent: there, received: here });
        }
    };
    compare(ChangedField::SequenceNumbers, sent.seq.to_string(), received.seq.to_string());
    let ecn = |syn: &Syn| present(syn.is_ecn_setup);
    compare(ChangedField::EcnSetup, ecn(sent), ecn(received));
    if sent.is_cut || received.is_cut {
        return;
    }
    compare(ChangedField::Mss, number(sent.mss), number(received.mss));
    let scale = |syn: &Syn| number(syn.window_scale);
    compare(ChangedField::WindowScale, scale(sent), scale(received));
    let sack = |syn: &Syn| present(syn.sack_permitted);
    compare(ChangedField::SackPermitted, sack(sent), sack(received));
    let stamps = |syn: &Syn| present(syn.timestamp.is_some());
    compare(ChangedField::Timestamps, stamps(sent), stamps(received));
    for kind in 0..=LAST_KIND {
        let has = |syn: &Syn| present(syn.others >> kind & 1 == 1);
        compare(ChangedField::Option(kind), has(sent), has(received));
    }
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn present(is: bool) -> String {
    if is { "present".to_owned() } else { String::new() }
}
