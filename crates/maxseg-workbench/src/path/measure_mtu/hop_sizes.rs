//! The largest packet that is known to come to each hop.

use maxseg_core::path_mtu::{Refusal, Search};

use crate::path::probing::Probing;
use crate::path::{BlackHole, HopReport};

/// Sizes that came as far as a hop, and what happened there.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// The last hop that a size came to, and the size.
    sizes: Vec<(u8, u32)>,
    /// The MTU that a hop states.
    stated: Vec<(u8, u32)>,
    notes: Vec<(u8, String)>,
}

impl Reached {
    /// From a search, and from where packets vanish.
    pub(super) fn take(
        &mut self,
        search: &Search,
        probing: &Probing<'_>,
        hole: Option<&BlackHole>,
    ) {
        let end = probing.distance.unwrap_or(u8::MAX);
        self.sizes.push((end, search.at_least()));
        let numbers = probing.numbers();
        let refusals: Vec<(u32, Refusal)> = search
            .refusals()
            .filter(|(size, _)| *size > search.at_least())
            .map(|(size, refusal)| (size, refusal.numbered(&numbers)))
            .collect();
        self.take_refusals(&refusals);
        if let Some(hole) = hole
            && let Some(after) = hole.after_hop
        {
            self.sizes.push((after, hole.vanishes_bytes));
            let said = hole.said.as_ref();
            let said =
                said.map_or_else(|| ", without a message".to_owned(), |said| format!("; {said}"));
            let note = format!("packets of {} bytes vanish behind it{said}", hole.vanishes_bytes);
            self.notes.push((after, note));
        }
    }

    /// From messages with the sizes that they are about.
    pub(super) fn take_refusals(&mut self, refusals: &[(u32, Refusal)]) {
        for (size, refusal) in refusals {
            let Some(hop) = refusal.hop else { continue };
            self.sizes.push((hop, *size));
            let note = match refusal.mtu {
                // Before RFC 1191.
                0 => "says that packets are too big for the next link, and not its MTU".to_owned(),
                mtu => {
                    self.stated.push((hop, mtu));
                    format!("says that the next link takes {mtu} bytes")
                }
            };
            if !self.notes.contains(&(hop, note.clone())) {
                self.notes.push((hop, note));
            }
        }
    }

    /// The hops with their sizes.
    pub(super) fn hops(&self, probing: &Probing<'_>) -> Vec<HopReport> {
        let numbered = probing.hops.iter().zip(1_u8..);
        numbered
            .map(|(hop, number)| {
                let come = self.sizes.iter().filter(|(last, _)| *last >= number);
                let stated = self.stated.iter().filter(|(at, _)| *at == number);
                let notes: Vec<&str> = self
                    .notes
                    .iter()
                    .filter(|(at, _)| *at == number)
                    .map(|(_, note)| note.as_str())
                    .collect();
                HopReport {
                    hop: number,
                    address: hop.address,
                    rtt_s: hop.round_trip.map(|time| time.as_secs_f64()),
                    mtu_bytes: come.map(|(_, size)| *size).max(),
                    stated_mtu_bytes: stated.map(|(_, mtu)| *mtu).min(),
                    note: (!notes.is_empty()).then(|| notes.join("; ")),
                }
            })
            .collect()
    }
}
