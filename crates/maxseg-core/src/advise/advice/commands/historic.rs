//! Open Transport of Mac OS and STCP of Stratus VOS: where their parameters stand.

use super::{Case, Form, HowTo, Lines};
use crate::advise::data_flow::data_flow;
use crate::advise::mss_caps::{MssCap, mss_caps};
use crate::advise::{Change, CommandKind};
use crate::units::Bytes;

/// Open Transport's windows end here: it has no scaling.
const MOST_WINDOW: u64 = 65_535;

pub(super) fn open_transport(case: &Case<'_>) -> Vec<HowTo> {
    let mut lines = Lines::default();
    let ((sender, _), (receiver, _)) = (case.sender(), case.receiver());
    let mut entry = |on: &str, entry: String| {
        lines.add(CommandKind::Change, Form::Settings, on, entry);
    };
    match case.change {
        Change::Window(window) => {
            let mss = data_flow(case.scenario)
                .map_or(Bytes::new(536), |flow| case.scenario.mss(&flow).effective.bytes());
            let segments = window.get().min(MOST_WINDOW) / mss.get().max(1);
            entry(&receiver, format!("tcp_rwin_mss_multiplier={}", segments.max(1)));
        }
        Change::SegmentSize(mss) => entry(&sender, format!("tcp_mss_max={}", mss.get())),
        Change::Mtu(mtu) => entry(&sender, format!("tcp_mss_max={}", case.mss_of(mtu))),
        Change::RtoMin(time) => {
            entry(&sender, format!("tcp_rexmit_interval_min={}", time.as_millis_up()));
        }
        Change::RtoInitial(time) => {
            entry(&sender, format!("tcp_rexmit_interval_initial={}", time.as_millis_up()));
        }
        Change::ReceiveBuffer(_)
        | Change::SendBuffer(_)
        | Change::Clamp(_)
        | Change::Congestion(_)
        | Change::InitialWindow(_)
        | Change::Pacing(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::FirstReceiveBuffer(_)
        | Change::ReorderingTolerance
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => {}
    }
    lines.sorted()
}

/// STCP counts the TCP header into what it calls the default minimal MTU.
const TCP_HEADER: u64 = 20;

#[expect(clippy::wildcard_enum_match_arm, reason = "STCP has a parameter for segment sizes alone")]
pub(super) fn stcp(case: &Case<'_>) -> Vec<HowTo> {
    let mut lines = Lines::default();
    let mss = match case.change {
        Change::SegmentSize(mss) => u64::from(mss.get()),
        Change::Mtu(mtu) => case.mss_of(mtu),
        _ => return Vec::new(),
    };
    let value = mss + TCP_HEADER;
    let mut hosts = vec![case.sender().0];
    if let Change::SegmentSize(size) = case.change
        && mss_caps(case.scenario, size).contains(&MssCap::ReceiverOffSubnet)
    {
        hosts.push(case.receiver().0);
    }
    for on in hosts {
        let line = format!("set_stcp_param default_min_mtu {value}");
        lines.add(CommandKind::Change, Form::Settings, &on, line).only_where =
            Some(format!("the value is the MSS and {TCP_HEADER} bytes of TCP header"));
    }
    lines.sorted()
}
