//! The path MTU of both ways by what arrives at either end: a far end says which of this host's datagrams came, and sends others back.

use std::time::Duration;

use maxseg_core::path_mtu::{Confidence, ProbeFate, Search, well_known_mtu};
use maxseg_linux::far_end::{FarEndError, ResponderClient, SizeFates};

use super::measure_mtu::wrong_message;
use super::probing::{Flow, Probing, Which};
use super::{Misleading, MtuMethod, MtuReport, PathError, ReverseMtu};

/// Bytes of the least packets: every path carries them, and they hold a session's key with its headers.
const SMALL: u32 = 80;
/// So many of them are sent before a search.
const FIRST: [u32; 4] = [SMALL; 4];
/// Sizes of a round.
const SIZES: usize = 6;
/// More rounds are not made: each settles something, unless nothing arrives.
const MOST_ROUNDS: u32 = 24;
/// So many rounds without any arrival end a search.
const MOST_SILENT: u32 = 3;
/// Between two packets.
const PAUSE: Duration = Duration::from_millis(2);

/// Finds the path MTU of the way back: the search of the way there, in the other direction.
pub(super) fn back(
    client: &mut ResponderClient<'_>,
    mtu: &mut MtuReport,
    probing: &mut Probing<'_>,
    trip: Duration,
) -> Result<(), FarEndError> {
    probing.observer.on_step("path MTU of the way back");
    let unknown =
        |reason: &str| ReverseMtu { reason: Some(reason.to_owned()), ..ReverseMtu::UNKNOWN };
    if !client.open_datagrams()? {
        mtu.reverse = Some(unknown("no UDP datagram of this host arrives at the far end"));
        return Ok(());
    }
    let wait = patience(trip);
    let first = client.probe_back(&FIRST, wait)?.unwrap_or_default();
    if !has_arrival(&first) {
        mtu.reverse = Some(unknown("no UDP datagram of the far end arrives"));
        return Ok(());
    }
    // Nothing larger than this host's interface takes can be expected to arrive.
    let most = probing.route.interface_mtu.clamp(1280, u32::from(u16::MAX));
    let search = searched(probing, most, &first, |sizes| client.probe_back(sizes, wait))?;
    let learnt = client.learnt_there()?;
    let at_least = search.at_least();
    let reverse = match search.settled() {
        Some(settled) => ReverseMtu {
            bytes: Some(settled.mtu),
            confidence: Confidence::Confirmed,
            error_chance: Some(settled.error),
            // A message may have come that the far end's kernel went by.
            vanishes_bytes: settled
                .vanishes
                .filter(|size| learnt.is_none_or(|learnt| learnt >= *size)),
            learnt_there_bytes: learnt,
            reason: None,
        },
        None if at_least > SMALL => ReverseMtu {
            bytes: Some(at_least),
            confidence: Confidence::AtLeast,
            error_chance: Some(search.error()),
            learnt_there_bytes: learnt,
            reason: Some(
                "packets of this size arrive; losses leave open whether larger ones do".to_owned(),
            ),
            ..ReverseMtu::UNKNOWN
        },
        None => unknown("of the far end's datagrams only the smallest arrive"),
    };
    mtu.reverse = Some(reverse);
    Ok(())
}

/// Finds the path MTU towards the far end by its word, where nothing else has made it certain.
pub(super) fn forth(
    client: &mut ResponderClient<'_>,
    mtu: &mut MtuReport,
    probing: &mut Probing<'_>,
    trip: Duration,
) -> Result<(), FarEndError> {
    if mtu.confidence == Confidence::Confirmed {
        return Ok(());
    }
    probing.observer.on_step("path MTU by what arrives at the far end");
    let mut prober = client.prober()?;
    let (numbers, interface) = (probing.numbers(), probing.route.interface_mtu);
    let (times, mut contradicted) = ([PAUSE, patience(trip)], Vec::new());
    let mut round = |sizes: &[u32]| -> Result<Option<SizeFates>, FarEndError> {
        let (fates, wrong) = client.probe_forth(&mut prober, sizes, times, interface)?;
        contradicted.extend(wrong);
        Ok(Some(fates.into_iter().map(|(size, fate)| (size, fate.numbered(&numbers))).collect()))
    };
    let first = round(&FIRST)?.unwrap_or_default();
    let mut search = searched(probing, interface.min(u16::MAX.into()), &first, round)?;
    for (size, refusal) in contradicted {
        search.on_refusal(size, refusal);
    }
    probing.other_bytes += prober.sent_bytes;
    let at_least = search.at_least();
    let Some(settled) = search.settled().filter(|_| at_least > SMALL) else {
        // What arrives is more than what was known only if it is larger.
        if at_least > SMALL && mtu.forward_bytes.is_none_or(|known| known < at_least) {
            mtu.forward_bytes = Some(at_least);
            (mtu.method, mtu.confidence) = (Some(MtuMethod::FarEnd), Confidence::AtLeast);
            mtu.reason = Some("losses leave open whether larger packets arrive".to_owned());
        }
        return Ok(());
    };
    mtu.forward_bytes = Some(settled.mtu);
    (mtu.method, mtu.confidence) = (Some(MtuMethod::FarEnd), Confidence::Confirmed);
    (mtu.reason, mtu.error_chance) = (None, Some(settled.error));
    mtu.wrong_message = wrong_message(&search);
    mtu.misleading = Misleading::of(&search);
    if let Some(vanishes) = settled.vanishes {
        let found = (settled.mtu, vanishes);
        let taken = mtu.take_vanishing(Which::Udp, Flow::Other, found, probing);
        taken.map_err(|error| {
            if let PathError::Socket { source, .. } = error {
                FarEndError::Io(source)
            } else {
                FarEndError::Stopped
            }
        })?;
    }
    if settled.mtu < interface {
        mtu.well_known = well_known_mtu(settled.mtu);
    }
    mtu.take_hops(&search, probing);
    Ok(())
}

/// A search of sizes up to `most`: after the first round, rounds until it is over.
fn searched(
    probing: &Probing<'_>,
    most: u32,
    first: &[(u32, ProbeFate)],
    mut round: impl FnMut(&[u32]) -> Result<Option<SizeFates>, FarEndError>,
) -> Result<Search, FarEndError> {
    let mut search = Search::new(probing.version(), SMALL, most, SIZES);
    search.on_loss(probing.loss);
    search.on_round(first);
    let mut silent = 0;
    for _ in 0..MOST_ROUNDS {
        let sizes = search.next_round();
        if sizes.is_empty() || silent >= MOST_SILENT {
            break;
        }
        let Some(fates) = round(&sizes)? else { break };
        silent = if has_arrival(&fates) { 0 } else { silent + 1 };
        search.on_round(&fates);
    }
    Ok(search)
}

fn has_arrival(fates: &[(u32, ProbeFate)]) -> bool {
    fates.iter().any(|(_, fate)| *fate == ProbeFate::Arrived)
}

/// How long a packet is waited for.
fn patience(trip: Duration) -> Duration {
    trip * 2 + Duration::from_millis(60)
}
