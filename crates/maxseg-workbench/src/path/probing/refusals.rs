//! What routers say where nothing at the destination answers.

use maxseg_core::path_mtu::Refusal;
use maxseg_linux::probe::RoundEnd;

use super::{Probing, Which, probe};
use crate::path::PathError;

/// Packets of one size, so that a loss does not hide a message.
const TIMES: usize = 3;
/// More different MTUs on one path are not followed.
const MOST_STEPS: usize = 12;

impl Probing<'_> {
    /// Sends the largest packet, then what routers state, until none objects: each message with the size that it is about.
    pub(in crate::path) fn follow_refusals(&mut self) -> Result<Vec<(u32, Refusal)>, PathError> {
        let mut size = self.route.interface_mtu;
        let mut found = Vec::new();
        for _ in 0..MOST_STEPS {
            let round = self.round(Which::Udp, &[probe(size); TIMES], RoundEnd::AllAnswered)?;
            let refusal = round.shots.iter().find_map(|shot| shot.refusal);
            let stated =
                refusal.and_then(|said| Some((said, said.stated_mtu(self.version(), size)?)));
            let Some((refusal, mtu)) = stated else { break };
            found.push((size, refusal.numbered(&self.numbers())));
            size = mtu;
        }
        Ok(found)
    }
}
