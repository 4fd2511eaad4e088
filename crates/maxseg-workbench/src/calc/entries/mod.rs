//! Every formula, a file each. To add one: a file with its `ENTRY`, and two lines here.

mod ack_path;
mod arq;
mod bdp;
mod cardwell;
mod common;
mod cubic;
mod fec;
mod fragments;
mod frames;
mod gilbert;
mod host;
mod mathis;
mod mss;
mod optimum_datagram;
mod optimum_tcp;
mod overhead;
mod pftk;
mod plateau;
mod recovery;
mod rfc6349;
mod rto;
mod tfrc;
mod tunnel;
mod window;

use super::Entry;

/// In the order in which each group lists them.
pub static ENTRIES: &[&Entry] = &[
    &overhead::ENTRY,
    &mss::ENTRY,
    &tunnel::ENTRY,
    &fragments::ENTRY,
    &plateau::ENTRY,
    &bdp::ENTRY,
    &window::ENTRY,
    &rto::ENTRY,
    &recovery::ENTRY,
    &ack_path::ENTRY,
    &host::ENTRY,
    &rfc6349::ENTRY,
    &mathis::ENTRY,
    &pftk::FULL,
    &pftk::APPROXIMATION,
    &tfrc::ENTRY,
    &cubic::ENTRY,
    &cardwell::ENTRY,
    &frames::ENTRY,
    &gilbert::ENTRY,
    &arq::ENTRY,
    &fec::ENTRY,
    &optimum_datagram::ENTRY,
    &optimum_tcp::ENTRY,
];
