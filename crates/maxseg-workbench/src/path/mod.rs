//! What lies between this host and another: round trip, path MTU and who limits it, black holes, segment size; with a far end,
//! throughput as RFC 6349 has it.
//!
//! ```text
//! PathTest ──run──→ PathReport: rtt · mtu · mss · far_end · under_load · rfc6349 ──→ report::path
//!     └─ linux::probe sends, core::path_mtu judges
//! ```

mod bottleneck;
mod bulk;
mod far_end;
mod far_end_mtu;
mod finding;
mod findings;
mod forget;
mod measure_mtu;
mod misleading;
mod mss;
mod mtu;
mod options;
mod probing;
mod remedies;
mod rfc6349;
mod routing_loop;
mod rtt;
mod scenario;
mod silent_host;
mod table;
mod target;
mod tcp;
mod test;
mod trains;
mod under_load;
mod with_far_end;

pub use crate::error::PathError;
pub use bottleneck::{
    Bottleneck, BottleneckConfidence, BottleneckMethod, BottleneckRate, QueueCounts,
};
pub use finding::{PathFinding, PathFindingKind};
pub use forget::{Forgotten, ForgottenOutcome, forget_learnt};
pub use maxseg_linux::far_end::SynAsReceived;
pub use mss::{MssReport, PortMss, PortMssState};
pub use mtu::{
    BlackHole, DroppedBy, DroppedHere, FlowMtu, HopReport, LargeLoss, LossBoundary, Misleading,
    MtuMethod, MtuReport, ReverseMtu, TaughtKernel,
};
pub use options::{
    FarEndKind, FarEndOptions, PathObserver, PathOptions, Rfc6349Options, TableOptions,
};
pub use remedies::flush;
pub use rfc6349::{
    BaselineEntry, BothAtOnce, BuffersEntry, DirectionReport, NegotiatedEntry, PathMtuEntry,
    Preconditions, Rfc6349Report, SweepStep,
};
pub use rtt::{RttMethod, RttReport};
pub use scenario::scenario;
pub use table::{SizeRow, SizeTable};
pub use target::{PathTarget, Resolved};
pub use test::PathTest;
pub use under_load::{GRADE_RULE, UnderLoadRow};

use std::net::IpAddr;

/// What a test has found out about the path to one address. A part that was not tested is `None`.
#[derive(Debug, Clone)]
pub struct PathReport {
    /// The host as it was named.
    pub target: String,
    /// The address that was tested.
    pub address: IpAddr,
    /// The port, where one was given.
    pub port: Option<u16>,
    /// Round trips.
    pub rtt: RttReport,
    /// The path MTU, the hops and a black hole.
    pub path_mtu: MtuReport,
    /// Segment sizes that the ends offer.
    pub mss: MssReport,
    /// The narrowest link each way, where a far end measured it.
    pub bottleneck: Option<Bottleneck>,
    /// Round trips under load.
    pub under_load: Vec<UnderLoadRow>,
    /// Segment sizes and windows on the path.
    pub table: Option<SizeTable>,
    /// This host's SYN as it arrived at the far end.
    pub syn_as_received: Option<SynAsReceived>,
    /// The test of RFC 6349.
    pub rfc6349: Option<Rfc6349Report>,
    /// Why the far end did not do its part; all else is as it was measured.
    pub far_end_fault: Option<FarEndFault>,
    /// Directions that were to be measured with the far end, and were not.
    pub unmeasured: Vec<String>,
    /// What a reader should know, the gravest first.
    pub findings: Vec<PathFinding>,
    /// Bytes of IP packets that this host sent for the test, without those of transfers with a far end.
    pub sent_bytes: u64,
    /// How long the test took, seconds.
    pub elapsed_s: f64,
    /// What a part could not do, and why.
    pub notes: Vec<String>,
    /// Why the address was not tested to the end: all else is empty then.
    pub error: Option<String>,
}

/// Notes what may be found more than once.
fn note_once(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Why a far end did not do its part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarEndFault {
    /// What happened.
    pub text: String,
    /// What helps.
    pub hint: Option<String>,
}

impl PathReport {
    fn leave_unmeasured(&mut self, direction: &str, why: &str) {
        self.notes.push(format!("no {direction}: {why}"));
        self.unmeasured.push(format!("{direction}: {why}"));
    }

    /// Of a test that has only begun: nothing but round trips and the path MTU is known.
    pub fn begun(target: String, address: IpAddr, rtt: RttReport, path_mtu: MtuReport) -> Self {
        Self {
            target,
            address,
            port: None,
            rtt,
            path_mtu,
            mss: MssReport::default(),
            bottleneck: None,
            under_load: Vec::new(),
            table: None,
            syn_as_received: None,
            rfc6349: None,
            far_end_fault: None,
            unmeasured: Vec::new(),
            findings: Vec::new(),
            sent_bytes: 0,
            elapsed_s: 0.0,
            notes: Vec::new(),
            error: None,
        }
    }

    /// Of an address that could not be tested.
    pub fn failed(target: String, address: IpAddr, error: String) -> Self {
        let nothing = (RttReport::default(), MtuReport::default());
        Self { error: Some(error), ..Self::begun(target, address, nothing.0, nothing.1) }
    }

    /// Whether anything at the address or on the way answered.
    pub fn is_answered(&self) -> bool {
        self.rtt.min_s.is_some()
            || self.path_mtu.forward_bytes.is_some()
            || self.path_mtu.hops.iter().any(|hop| hop.address.is_some())
            || self.bottleneck.is_some()
    }
}
