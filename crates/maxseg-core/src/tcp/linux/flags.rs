//! What an acknowledgement shows (`FLAG_*`, `net/ipv4/tcp_input.c`).

/// What an acknowledgement shows: a set of the following (`FLAG_*`).
pub(super) type Flags = u32;
/// It came with data.
pub(super) const DATA: Flags = 0x01;
/// It changed the window, or may have.
pub(super) const WIN_UPDATE: Flags = 0x02;
/// It acknowledged data.
pub(super) const DATA_ACKED: Flags = 0x04;
/// It acknowledged something that was sent again.
pub(super) const RETRANS_DATA_ACKED: Flags = 0x08;
/// It acknowledged the SYN.
pub(super) const SYN_ACKED: Flags = 0x10;
/// Something is newly SACKed.
pub(super) const DATA_SACKED: Flags = 0x20;
/// A retransmission was found to be lost.
pub(super) const LOST_RETRANS: Flags = 0x80;
/// It acknowledged or SACKed something that was never sent again, below the end of the episode.
pub(super) const ORIG_SACK_ACKED: Flags = 0x200;
/// The first unacknowledged number moved.
pub(super) const UNA_ADVANCED: Flags = 0x400;
/// It tells of a duplicate.
pub(super) const DSACKING_ACK: Flags = 0x800;
/// The network marked a packet (`FLAG_ECE`).
pub(super) const ECE: Flags = 0x40;
/// The timer for retransmissions is to be set anew.
pub(super) const SET_XMIT_TIMER: Flags = 0x1000;
/// The first unacknowledged packet is SACKed.
pub(super) const SACK_RENEGING: Flags = 0x2000;
/// The duplicate is the probe of the tail.
pub(super) const DSACK_TLP: Flags = 0x8000;
/// The receiver may have waited with it.
pub(super) const MAY_BE_DELAYED: Flags = 0x1_0000;
/// It acknowledged something.
pub(super) const ACKED: Flags = DATA_ACKED | SYN_ACKED;
/// It is no duplicate acknowledgement.
pub(super) const NOT_DUP: Flags = DATA | WIN_UPDATE | ACKED;
/// It tells of trouble.
pub(super) const CA_ALERT: Flags = DATA_SACKED | ECE | DSACKING_ACK;
/// Something arrived.
pub(super) const FORWARD_PROGRESS: Flags = ACKED | DATA_SACKED;

/// What is to be sent because of an acknowledgement (`REXMIT_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    Lost,
    /// New data first: F-RTO looks whether the timeout was for nothing.
    New,
}
