//! Why packets vanish: whether a router says late or seldom that they are too big, this host drops what it says, or a router is silent.

use std::time::{Duration, Instant};

use maxseg_core::path_mtu::{Refusal, Search};
use maxseg_linux::probe::{RoundEnd, Shot};

use super::{EndOf, Probing, Which, probe};
use crate::path::{BlackHole, DroppedBy, DroppedHere, PathError, note_once};

/// Between two packets of the size: a router that limits its messages to one a second (`icmp_ratelimit`) has sent one after two of these,
/// and what is slow has come.
pub(in crate::path) const SPACING: Duration = Duration::from_millis(600);
/// So many packets are sent again.
pub(in crate::path) const TIMES: usize = 3;
/// More different MTUs are not followed.
pub(in crate::path) const MOST_STEPS: usize = 4;

/// What an ordinary user does not learn.
const NOT_HEARD: &str = "whether a router says nothing or this host's own firewall drops what it says, an ordinary user's sockets cannot tell: as root the \
                         test does";

/// Why packets vanish; all is empty where a router says after all that they are too big.
#[derive(Debug, Default)]
pub(in crate::path) struct WhyVanished {
    /// This host drops what routers say.
    pub(in crate::path) dropped_here: Option<DroppedHere>,
    /// Routers say nothing.
    pub(in crate::path) black_hole: Option<BlackHole>,
    /// They do not always: one of this size arrived.
    pub(in crate::path) arrived: Option<u32>,
    /// A firewall of this host refuses to send packets of this size: what vanishes may never have left.
    pub(in crate::path) refused_here: Option<u32>,
}

/// Whether packets are sent again on the flow on which they vanished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::path) enum Flow {
    /// They are.
    Same,
    /// They vanished on another one, of TCP or with a session's key.
    Other,
}

/// What came of packets that were sent again.
enum Again {
    Silent,
    Refused(Refusal),
    Arrived,
    RefusedHere,
}

impl Probing<'_> {
    /// Why packets of `vanishes` bytes vanish, on a path that takes `passes`.
    pub(in crate::path) fn why_vanished(
        &mut self,
        which: Which,
        by: Flow,
        (passes, vanishes): (u32, u32),
    ) -> Result<WhyVanished, PathError> {
        let began = Instant::now();
        let why = self.find_why(which, by, (passes, vanishes));
        // The search has its time besides.
        self.budget.extend(began.elapsed());
        why
    }

    fn find_why(
        &mut self,
        which: Which,
        by: Flow,
        (passes, vanishes): (u32, u32),
    ) -> Result<WhyVanished, PathError> {
        let mut size = vanishes;
        for _ in 0..MOST_STEPS {
            let refusal = match self.again(which, by, size)? {
                Again::Silent => return self.fault_of_silence((which, by), passes, size),
                Again::RefusedHere => {
                    return Ok(WhyVanished { refused_here: Some(size), ..WhyVanished::default() });
                }
                Again::Arrived => {
                    return Ok(WhyVanished { arrived: Some(size), ..WhyVanished::default() });
                }
                Again::Refused(refusal) => refusal,
            };
            // Of the first size nothing was said before.
            if size == vanishes {
                note_once(&mut self.notes, limited(&refusal));
            }
            // A host that goes by the message sends this size next.
            match refusal.stated_mtu(self.version(), size).filter(|mtu| *mtu > passes) {
                Some(mtu) => size = mtu,
                None => break,
            }
        }
        Ok(WhyVanished::default())
    }

    /// Sends packets of a size again, far apart.
    fn again(&mut self, which: Which, by: Flow, size: u32) -> Result<Again, PathError> {
        self.observer.on_step(&format!(
            "whether a router says late or seldom that {size} bytes are too big"
        ));
        for _ in 0..TIMES {
            self.wait(SPACING)?;
            let round = self.round(which, &[probe(size)], RoundEnd::AllAnswered)?;
            let is_arrival = |shot: &Shot| {
                shot.probe.hop.is_none() && shot.probe.size >= size && shot.arrival().is_some()
            };
            // Another flow may take another path.
            if by == Flow::Same && round.shots.iter().chain(&round.late).any(is_arrival) {
                return Ok(Again::Arrived);
            }
            if let Some(refusal) = self.heard.get(&size) {
                return Ok(Again::Refused(*refusal));
            }
            if round.shots.iter().any(|shot| shot.is_refused_here) {
                return Ok(Again::RefusedHere);
            }
        }
        Ok(Again::Silent)
    }

    /// Whose fault it is that routers are not heard.
    fn fault_of_silence(
        &mut self,
        (which, by): (Which, Flow),
        passes: u32,
        vanishes: u32,
    ) -> Result<WhyVanished, PathError> {
        let mut why = WhyVanished {
            // What this host itself drops is no fault of a router.
            dropped_here: self.dropped_datagrams(which, passes)?,
            ..WhyVanished::default()
        };
        if why.dropped_here.is_some() {
            return Ok(why);
        }
        let asked = match by {
            Flow::Same => (which, EndOf::SameFlow),
            Flow::Other => (self.hops_by, EndOf::OtherFlow),
        };
        let hole = self.locate(asked, passes, vanishes)?;
        if let Some(refusal) = self.heard.get(&vanishes) {
            note_once(&mut self.notes, limited(refusal));
            return Ok(why);
        }
        if self.is_told_of(&hole) {
            return Ok(why);
        }
        if self.watch.is_none() && !hole.is_on_first_link() {
            why.dropped_here = self.dropped_likely(which, hole.after_hop, vanishes)?;
            note_once(&mut self.notes, NOT_HEARD.to_owned());
        }
        why.black_hole = Some(hole);
        Ok(why)
    }

    /// What this host drops of messages about echoes of `vanishes` bytes, whose replies may as well be lost on the way back.
    pub(in crate::path) fn dropped_of_echoes(
        &mut self,
        passes: u32,
        vanishes: u32,
    ) -> Result<Option<DroppedHere>, PathError> {
        let began = Instant::now();
        let dropped = if self.watch.is_some() {
            self.dropped_datagrams(Which::Echo, passes)
        } else {
            self.dropped_likely(Which::Echo, None, vanishes)
        };
        // The search has its time besides.
        self.budget.extend(began.elapsed());
        dropped
    }

    /// Whether the router before a black hole has said of a packet that is no larger that it is too big: it speaks, and limits what it
    /// says.
    pub(in crate::path) fn is_told_of(&mut self, hole: &BlackHole) -> bool {
        let Some(address) = hole.after_address else { return false };
        let sizes = hole.passes_bytes + 1..=hole.vanishes_bytes;
        let mut heard = self.heard.range(sizes).map(|(_, refusal)| *refusal);
        let Some(refusal) = heard.find(|refusal| refusal.router == Some(address)) else {
            return false;
        };
        note_once(&mut self.notes, limited(&refusal));
        true
    }

    /// Gives a search what was heard of larger packets than those that arrive.
    pub(in crate::path) fn tell(&self, search: &mut Search) {
        let numbers = self.numbers();
        for (size, refusal) in self.heard.range(search.at_least() + 1..) {
            search.on_refusal(*size, refusal.numbered(&numbers));
        }
    }

    /// What an ordinary user can tell of messages that this host drops.
    fn dropped_likely(
        &mut self,
        which: Which,
        hop: Option<u8>,
        vanishes: u32,
    ) -> Result<Option<DroppedHere>, PathError> {
        let messages = self.likely_dropped(which, vanishes)?;
        Ok(messages.map(|messages| DroppedHere {
            router: None,
            hop,
            stated_mtu_bytes: 0,
            size_bytes: vanishes,
            messages,
            is_certain: false,
            by: DroppedBy::Firewall,
            interface: None,
        }))
    }
}

/// What is said of a router whose messages do not come for every packet.
pub(in crate::path) fn limited(refusal: &Refusal) -> String {
    let router = refusal.router.map_or_else(|| "a router".to_owned(), |router| router.to_string());
    format!(
        "{router} does not say of every packet that it is too big, or says it late: it limits such messages, and connections may wait for one"
    )
}
