//! What a hop between two captures changed in the headers, or one capture shows that no host sends: no setting of a host does it.

use super::{Facts, Host, Remedy};
use crate::advise::Change;
use crate::diagnose::{FindingKind, were};
use crate::evidence::{Change as HeaderChange, ChangedField, Direction, SynFacts};
use crate::units::{Bytes, Mss};

/// The routers that may change headers.
fn routers() -> Host {
    Host::role("each router on the way")
}

impl Facts<'_> {
    /// What hops between the captures changed of a field of one direction.
    fn changed_in(&self, direction: Direction, field: ChangedField) -> Option<&HeaderChange> {
        self.case.evidence.joined.as_deref()?.change(direction, field)
    }

    /// The same in either direction: first that of the receiver's packets.
    fn changed(&self, field: ChangedField) -> Option<&HeaderChange> {
        let receivers = self.changed_in(self.direction.other(), field);
        receivers.or_else(|| self.changed_in(self.direction, field))
    }

    fn sender_of(&self, change: &HeaderChange) -> &Host {
        if change.direction == self.direction { &self.sender_host } else { &self.receiver_host }
    }
}

/// A window that is not the receiver's: its scale was removed on the way, or it is rewritten there.
pub(super) fn of_window(facts: &Facts<'_>, window: Bytes) -> Option<Remedy> {
    let remedy = without_scale(facts).or_else(|| rewritten(facts))?;
    Some(remedy.what_if(Change::Window(window)))
}

fn without_scale(facts: &Facts<'_>) -> Option<Remedy> {
    let is_removed = |change: &&HeaderChange| change.received.is_empty();
    let change = facts.changed(ChangedField::WindowScale).filter(is_removed)?;
    Some(removed("window scale", facts.sender_of(change)).note(
        "Without the window scale option in both SYNs no window exceeds 65 535 bytes (RFC 7323). No setting of the hosts brings it back.",
    ))
}

/// An option that left a host and did not arrive.
fn removed(option: &str, sender: &Host) -> Remedy {
    Remedy::new(format!(
        "find the device between the captures that removes the {option} option from the SYN of {sender}, and let it leave the option there"
    ))
    .look_linux(&routers(), "iptables-save | grep TCPOPTSTRIP; nft list ruleset | grep 'tcp option'")
    .wanted("a capture on each side of a hop shows which one removes it")
}

fn rewritten(facts: &Facts<'_>) -> Option<Remedy> {
    let on = &facts.receiver_host;
    let remedy = if let Some(change) =
        facts.changed_in(facts.direction.other(), ChangedField::Window)
    {
        Remedy::new(format!(
            "find the device between the captures that rewrites the receive window of {on}: {} bytes were sent, and {} arrived",
            change.sent, change.received
        ))
    } else {
        let (offered, since) = taken_back(facts)?;
        Remedy::new(format!(
            "find the device on the way that rewrites the receive window of {on}: its SYN offers {offered} bytes, and no packet since \
             more than {since}, though no host takes back what it has offered"
        ))
    };
    Some(
        remedy
            .wanted(format!("a capture at {on} shows the window that leaves the host"))
            .note("Bandwidth managers do it, and no buffer of the hosts makes the window larger."),
    )
}

/// The window that the receiver's SYN offered, and the largest since, where that is less than the first flight leaves of it: what a host
/// has offered it does not take back (RFC 9293 §3.8.6), and what has arrived takes a part of it until it is read.
fn taken_back(facts: &Facts<'_>) -> Option<(u64, u64)> {
    let offered = u64::from(facts.acks.syn.as_ref().map(|SynFacts { window, .. }| *window)?);
    let since = facts.acks.window_max_bytes?;
    let bins = facts.data.bins.as_slice();
    let first: u64 =
        bins.iter().take_while(|bin| bin.acked_bytes == 0).map(|bin| bin.sent_bytes).sum();
    let segment = u64::from(facts.data.full_segment());
    let left = offered.saturating_sub(first.max(INITIAL_WINDOW * segment) + segment);
    (since < left && !facts.case.evidence.marks.mid_stream).then_some((offered, since))
}

/// The initial window of RFC 6928, in segments.
const INITIAL_WINDOW: u64 = 10;

/// An MSS option that a router lowers.
pub(super) fn of_mss(facts: &Facts<'_>, wanted: Option<Mss>) -> Option<Remedy> {
    let remedy = lowered_between(facts)
        .or_else(|| lowered_here(facts))?
        .note("Verify first that the path carries larger packets: a tunnel is the usual reason for a clamp.");
    Some(match wanted {
        Some(mss) => remedy.tries(Change::SegmentSize(mss)),
        None => remedy,
    })
}

/// What shows a rule that lowers the option.
const SHOW_CLAMPS: &str = "iptables-save | grep TCPMSS; nft list ruleset | grep maxseg";

fn lowered_between(facts: &Facts<'_>) -> Option<Remedy> {
    let change = facts.changed(ChangedField::Mss)?;
    let remedy = Remedy::new(format!(
        "find the router between the captures that lowers the MSS option: {} sent {}, and {} arrived",
        facts.sender_of(change),
        change.sent,
        change.received
    ));
    Some(
        remedy
            .look_linux(&routers(), SHOW_CLAMPS)
            .wanted("a capture on each side of a hop shows which one lowers it"),
    )
}

/// The host that captured forwards the SYN with a lower option than it came with.
fn lowered_here(facts: &Facts<'_>) -> Option<Remedy> {
    let here = Host::role("the host of the capture");
    let (sent, left) = facts.acks.mss_option_bytes.zip(facts.acks.mss_option_elsewhere)?;
    let remedy = Remedy::new(format!(
        "let {here} lower the MSS option by less: {sent} came from {}, and it sends {left} on",
        facts.receiver_host
    ));
    Some(remedy.look_linux(&here, SHOW_CLAMPS))
}

/// Sequence numbers that a firewall changes, and SACK blocks that it leaves as they are: blocks that the sender can make nothing of show it, or
/// with two captures that SACK is permitted, and the timer repairs the losses.
pub(super) fn of_sequence_numbers(facts: &Facts<'_>) -> Option<Remedy> {
    let (data, acks) = (facts.data, facts.acks);
    let resent = data.resent;
    let is_between = facts.changed_in(facts.direction, ChangedField::SequenceNumbers).is_some();
    let is_sack_useless =
        data.sack_permitted && acks.sack_permitted && resent.rto > resent.sack + resent.fast;
    let is_outside = facts.has(FindingKind::UselessSack);
    (is_outside || is_between && is_sack_useless).then(|| {
        let change = format!(
            "let the {} change those in SACK blocks as well, or change neither: {} {} sent again by the timer, {} by SACK",
            format_args!(
                "device {} that changes the sequence numbers of {}",
                if is_between { "between the captures" } else { "on the way" },
                facts.sender_host
            ),
            resent.rto,
            were(resent.rto),
            resent.sack
        );
        let remedy = Remedy::new(change)
            .note(
                "Firewalls call it randomisation of sequence numbers (Cisco ASA: `set connection random-sequence-number disable`); the losses \
                 stay, and cost less where SACK works.",
            )
            .note("Until then connections without SACK (`net.ipv4.tcp_sack=0` on either host) repair a loss without the timer.")
            .what_if(Change::NoErrors);
        if is_between {
            return remedy;
        }
        remedy.wanted("a capture on each side of a firewall shows which one changes the numbers")
    })
}

/// Options that left a host and did not arrive.
pub(super) fn of_options(facts: &Facts<'_>) -> Option<Remedy> {
    let fields = [
        (ChangedField::WindowScale, "window scale"),
        (ChangedField::SackPermitted, "SACK-permitted"),
        (ChangedField::Timestamps, "timestamps"),
    ];
    let mut all =
        fields.into_iter().filter_map(|(field, name)| Some((facts.changed(field)?, name)));
    let (change, name) = all.find(|(change, _)| change.received.is_empty())?;
    Some(removed(name, facts.sender_of(change)))
}
