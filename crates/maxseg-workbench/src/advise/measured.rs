//! Advice about a path that was tested.

use maxseg_core::advise::{Ends, HostEnd, System};
use maxseg_core::path_mtu::Confidence;
use maxseg_core::scenario::Scenario;

use super::{Known, PathAdvice, Question, SourceKind, Unknown};
use crate::error::Error;
use crate::path::{Bottleneck, BottleneckRate, PathReport};

/// Advice about a tested path, of which `text` is the scenario.
///
/// # Errors
/// The scenario is wrong, or no engine can run it.
pub fn of_path(report: &PathReport, text: &str, question: &Question) -> Result<PathAdvice, Error> {
    let end = |role, address, system, is_here| HostEnd { role, address, system, is_here };
    let ends = Ends {
        sender: end("sender", None, System::Linux, Some(true)),
        receiver: end("receiver", Some(report.address), System::Unknown, Some(false)),
    };
    let target = report.target.clone();
    let rate = report.bottleneck.as_ref().and_then(Bottleneck::forward_bps);
    let is_black_hole = report.path_mtu.black_hole.is_some();
    if rate.is_none() && !is_black_hole {
        let unknown = Unknown {
            why: "the test shows round trip and path MTU, and not the rate of the path: no window or congestion control can be \
                  judged"
                .to_owned(),
            shown_by: "`maxseg responder` on the far host, `maxseg path HOST --far-end responder --scenario path.toml` here, and advice about path.toml; or a \
                       capture of a transfer"
                .to_owned(),
        };
        return Ok(PathAdvice::unknown(SourceKind::Host, &target, ends, question, unknown));
    }
    let scenario = Scenario::from_toml("the tested path", text)?;
    let mut notes = vec![
        "The queue before the narrowest link was not measured: 100 packets are assumed.".to_owned(),
    ];
    let is_bound = |rate: &BottleneckRate| rate.is_lower_bound();
    let found = report.bottleneck.as_ref();
    let rate_is_bound = found.and_then(|found| found.forward.as_ref()).is_some_and(is_bound);
    if rate_is_bound {
        notes.push(
            "The rate is a lower bound: losses or a host held what measured it. The path may take wider windows."
                .to_owned(),
        );
    }
    if report.path_mtu.confidence == Confidence::AtLeast
        && let Some(mtu) = report.path_mtu.forward_bytes
    {
        notes.push(format!(
            "Packets of {mtu} bytes arrive; whether larger ones do is not known, and {mtu} is taken for the path MTU."
        ));
    }
    if rate.is_none() {
        notes.push(
            "No rate was measured: 1 Gbit/s is assumed, and only what is about sizes holds."
                .to_owned(),
        );
    }
    let concluded = Vec::new();
    let source = SourceKind::Host;
    Known { source, target, scenario, ends, concluded, rate_is_bound, notes }.advise(question)
}
