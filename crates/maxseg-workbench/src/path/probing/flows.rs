//! Other flows to the same destination: routers with several paths of equal cost choose by the ports.

use maxseg_core::path_mtu::{ProbeFate, Search};
use maxseg_linux::probe::{ProbeKind, Prober, Shot};

use super::{FIRST_PORT, Probing, probe};
use crate::path::{FlowMtu, PathError};

/// Rounds for a flow whose path MTU is another.
const MOST_ROUNDS: u32 = 12;

impl Probing<'_> {
    /// Checks on other flows what one has found, which comes first.
    pub(in crate::path) fn try_flows(&mut self, mtu: u32) -> Result<Vec<FlowMtu>, PathError> {
        let Some(first) = self.udp.as_ref().map(|prober| prober.source().port()) else {
            return Ok(Vec::new());
        };
        let flow = |source_port, destination_port, mtu_bytes| FlowMtu {
            source_port,
            destination_port,
            mtu_bytes,
        };
        let mut flows = vec![flow(first, FIRST_PORT, Some(mtu))];
        if !self.is_udp_answered {
            return Ok(Vec::new());
        }
        for number in 1..u16::from(self.options.flows) {
            if !self.has_budget() {
                break;
            }
            let port = FIRST_PORT + number;
            self.observer.on_step(&format!("flow {} of {}", number + 1, self.options.flows));
            let Ok(mut prober) = Prober::new(self.to, ProbeKind::Udp { port }) else { break };
            let found = self.mtu_of(&mut prober, mtu)?;
            self.other_bytes += prober.sent_bytes;
            flows.push(flow(prober.source().port(), port, found));
        }
        Ok(flows)
    }

    /// The path MTU of a flow that likely has this one.
    fn mtu_of(&self, prober: &mut Prober, likely: u32) -> Result<Option<u32>, PathError> {
        let most = self.route.interface_mtu.min(u32::from(u16::MAX));
        let mut search = Search::new(self.version(), self.small(), most, 2);
        search.on_loss(self.loss);
        let mut is_likely = true;
        for _ in 0..MOST_ROUNDS {
            let mut sizes = search.next_round();
            if is_likely {
                sizes = vec![likely, self.small()];
                if likely < most {
                    sizes.insert(0, likely + 1);
                    sizes.insert(0, likely + 1);
                }
                is_likely = false;
            }
            if sizes.is_empty() {
                return Ok(Some(search.at_least()));
            }
            let probes: Vec<_> = sizes.iter().map(|size| probe(*size)).collect();
            let patience = self.patience();
            let round = prober.round(&probes, self.pause(), patience, true, self.stop);
            let round = round.map_err(|source| {
                if source.kind() == std::io::ErrorKind::Interrupted {
                    PathError::Stopped
                } else {
                    PathError::Socket { doing: "send a probe", source }
                }
            })?;
            let fate = |shot: &Shot| (shot.probe.size, shot.fate(self.route.interface_mtu));
            let fates: Vec<(u32, ProbeFate)> = round.shots.iter().map(fate).collect();
            search.on_round(&fates);
            let is_as_likely = search.at_least() == likely
                && fates.iter().all(|(size, fate)| *size <= likely || *fate != ProbeFate::Arrived);
            if is_as_likely {
                // Full certainty costs a destination that limits its answers too much: the first flow has it.
                return Ok(Some(likely));
            }
            if !self.has_budget() {
                break;
            }
        }
        Ok(search.settled().map(|settled| settled.mtu))
    }
}
