//! FreeBSD, macOS and Windows: from their documentation.

use super::{Case, Form, HowTo, Lines};
use crate::advise::remedy::others;
use crate::advise::{Change, CommandKind};
use crate::settings::CongestionName;
use crate::units::Mtu;

pub(super) fn free_bsd(case: &Case<'_>) -> Vec<HowTo> {
    let (mut lines, ip) = (Lines::default(), case.scenario.ip);
    let ((sender, to_receiver), (receiver, to_sender)) = (case.sender(), case.receiver());
    match case.change {
        Change::Window(window) if case.is_raise && !case.has_route_sizes() => {
            bsd_buffer(&mut lines, &receiver, ["recvbuf_max", "sysctl"], 2 * window.get());
        }
        Change::Window(window) => {
            lines
                .change(
                    &receiver,
                    others::change_route(ip, to_sender, &format!("-recvpipe {}", window.get())),
                )
                .only_where = Some("there is a route to that host".to_owned());
        }
        Change::ReceiveBuffer(bytes) => {
            bsd_buffer(&mut lines, &receiver, ["recvbuf_max", "sysctl"], bytes.get());
        }
        Change::SendBuffer(bytes) if case.has_route_sizes() => {
            lines.change(
                &sender,
                others::change_route(ip, to_receiver, &format!("-sendpipe {}", bytes.get())),
            );
        }
        Change::SendBuffer(bytes) => {
            bsd_buffer(&mut lines, &sender, ["sendbuf_max", "sysctl"], 2 * bytes.get());
        }
        Change::SegmentSize(mss) => {
            let route = others::get_route(ip, &to_receiver);
            lines.look(&sender, format!("{route}; sysctl net.inet.tcp.mssdflt"));
            bsd_mtu(&mut lines, case, case.packet_of(mss));
        }
        Change::Mtu(mtu) => bsd_mtu(&mut lines, case, mtu.get().into()),
        Change::Clamp(mss) => pf(&mut lines, mss.get()),
        Change::Congestion(CongestionName::Bbr) => bsd_bbr(&mut lines, &sender),
        Change::Congestion(name) => {
            lines.look(&sender, "sysctl net.inet.tcp.cc.available");
            let call = format!(
                "setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{}\")",
                bsd_name(name.word())
            );
            lines.add(CommandKind::Change, Form::Setsockopt, &sender, call);
        }
        Change::InitialWindow(segments) => {
            lines.change(&sender, format!("sysctl net.inet.tcp.initcwnd_segments={segments}"));
        }
        Change::RtoMin(time) => {
            lines
                .change(&sender, format!("sysctl net.inet.tcp.rexmit_min={}", time.as_millis_up()));
        }
        Change::RtoInitial(time) => {
            lines.change(
                &sender,
                format!("sysctl net.inet.tcp.rexmit_initial={}", time.as_millis_up()),
            );
        }
        Change::MtuProbing => {
            lines.change(&sender, "sysctl net.inet.tcp.pmtud_blackhole_detection=1").undo =
                Some("sysctl net.inet.tcp.pmtud_blackhole_detection=0".to_owned());
        }
        Change::NoSlowStartAfterIdle
        | Change::FirstReceiveBuffer(_)
        | Change::ReorderingTolerance
        | Change::Pacing(_)
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => {}
    }
    lines.sorted()
}

pub(super) fn mac_os(case: &Case<'_>) -> Vec<HowTo> {
    let mut lines = Lines::default();
    let ((sender, _), (receiver, _)) = (case.sender(), case.receiver());
    match case.change {
        Change::Window(window) if case.is_raise => {
            bsd_buffer(&mut lines, &receiver, ["autorcvbufmax", "sysctl -w"], 2 * window.get());
        }
        Change::ReceiveBuffer(bytes) => {
            bsd_buffer(&mut lines, &receiver, ["autorcvbufmax", "sysctl -w"], bytes.get());
        }
        Change::SendBuffer(bytes) => {
            bsd_buffer(&mut lines, &sender, ["autosndbufmax", "sysctl -w"], 2 * bytes.get());
        }
        Change::SegmentSize(mss) => {
            bsd_mtu(&mut lines, case, case.packet_of(mss));
        }
        Change::Mtu(mtu) => bsd_mtu(&mut lines, case, mtu.get().into()),
        Change::Clamp(mss) => pf(&mut lines, mss.get()),
        Change::MtuProbing => {
            lines.change(&sender, "sysctl -w net.inet.tcp.pmtud_blackhole_detection=1");
        }
        Change::Window(_)
        | Change::Congestion(_)
        | Change::InitialWindow(_)
        | Change::RtoMin(_)
        | Change::RtoInitial(_)
        | Change::NoSlowStartAfterIdle
        | Change::FirstReceiveBuffer(_)
        | Change::ReorderingTolerance
        | Change::Pacing(_)
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => {}
    }
    lines.sorted()
}

/// The numbers that a parameter of `Set-NetTCPSetting` takes, as its documentation has them.
struct Accepted {
    least: u64,
    most: u64,
    /// They are multiples of this.
    step: u64,
}

const MIN_RTO_MS: Accepted = Accepted { least: 20, most: 300, step: 10 };
const INITIAL_RTO_MS: Accepted = Accepted { least: 300, most: 3000, step: 10 };
const INITIAL_WINDOW_SEGMENTS: Accepted = Accepted { least: 2, most: 64, step: 2 };

impl Accepted {
    /// The next larger number that it takes; `None` where Windows has no such setting.
    fn taken(&self, wanted: u64) -> Option<u64> {
        let number = wanted.next_multiple_of(self.step);
        (self.least..=self.most).contains(&number).then_some(number)
    }
}

/// The condition for the parameters that the documentation of `Set-NetTCPSetting` lists as read-only on Windows 10.
const NOT_ON_WINDOWS_10: &str = "it is not Windows 10, where this parameter is read-only";

pub(super) fn windows(case: &Case<'_>) -> Vec<HowTo> {
    let mut lines = Lines::default();
    let ((sender, _), (receiver, _)) = (case.sender(), case.receiver());
    let template = "Set-NetTCPSetting -SettingName InternetCustom";
    match case.change {
        Change::Window(_) | Change::ReceiveBuffer(_) if case.is_raise => {
            lines.look(&receiver, "netsh int tcp show global");
            lines.change(&receiver, "netsh int tcp set global autotuninglevel=normal").only_where =
                Some("the receive window auto-tuning level is not `normal`".to_owned());
        }
        Change::Window(window) => {
            let call = format!("setsockopt(s, SOL_SOCKET, SO_RCVBUF, {})", window.get());
            lines.add(CommandKind::Change, Form::Setsockopt, &receiver, call);
        }
        Change::SegmentSize(mss) => {
            windows_mtu(&mut lines, case, &sender, case.packet_of(mss));
        }
        Change::Mtu(mtu) => windows_mtu(&mut lines, case, &sender, u64::from(mtu.get())),
        Change::Congestion(name) => {
            let provider = match name {
                CongestionName::Bbr => "BBR2",
                CongestionName::Cubic => "CUBIC",
                CongestionName::Reno | CongestionName::Ns2Reno => "NewReno",
            };
            lines.look(&sender, "Get-NetTCPSetting");
            lines
                .change(&sender, format!("{template} -CongestionProvider {provider}"))
                .only_where = Some(NOT_ON_WINDOWS_10.to_owned());
        }
        Change::InitialWindow(segments) => {
            if let Some(segments) = INITIAL_WINDOW_SEGMENTS.taken(segments.into()) {
                lines
                    .change(&sender, format!("{template} -InitialCongestionWindowMss {segments}"))
                    .only_where = Some(NOT_ON_WINDOWS_10.to_owned());
            }
        }
        Change::RtoMin(time) => {
            if let Some(ms) = MIN_RTO_MS.taken(time.as_millis_up()) {
                lines.change(&sender, format!("{template} -MinRtoMs {ms}")).only_where =
                    Some(NOT_ON_WINDOWS_10.to_owned());
            }
        }
        Change::RtoInitial(time) => {
            if let Some(ms) = INITIAL_RTO_MS.taken(time.as_millis_up()) {
                lines.change(&sender, format!("{template} -InitialRtoMs {ms}"));
            }
        }
        Change::ReceiveBuffer(_)
        | Change::SendBuffer(_)
        | Change::Clamp(_)
        | Change::MtuProbing
        | Change::NoSlowStartAfterIdle
        | Change::FirstReceiveBuffer(_)
        | Change::ReorderingTolerance
        | Change::Pacing(_)
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => {}
    }
    lines.sorted()
}

/// BBR of FreeBSD is a TCP stack of its own, no congestion control of the other ones (`tcp_bbr(4)`).
fn bsd_bbr(lines: &mut Lines, on: &str) {
    lines.look(on, "sysctl net.inet.tcp.functions_available net.inet.tcp.functions_default");
    lines
        .change(on, "sh -c 'kldload -n tcp_bbr && sysctl net.inet.tcp.functions_default=bbr'")
        .only_where = Some(
        "its kernel was built with TCPHPTS and RATELIMIT, and has the module tcp_bbr".to_owned(),
    );
}

/// FreeBSD calls Reno by its variant.
fn bsd_name(word: &str) -> &str {
    if word == "reno" { "newreno" } else { word }
}

/// Raises a buffer of a BSD, and the limit of all socket buffers, which counts overhead as well.
fn bsd_buffer(lines: &mut Lines, on: &str, [key, set]: [&str; 2], bytes: u64) {
    let (key, socket, limit) = (format!("net.inet.tcp.{key}"), "kern.ipc.maxsockbuf", 2 * bytes);
    lines.look(on, format!("sysctl {key} {socket}"));
    lines.change(
        on,
        format!(
            "sh -c '[ \"$(sysctl -n {socket})\" -ge {limit} ] || {set} {socket}={limit}; \
             [ \"$(sysctl -n {key})\" -ge {bytes} ] || {set} {key}={bytes}'"
        ),
    );
}

fn bsd_mtu(lines: &mut Lines, case: &Case<'_>, mtu: u64) {
    let (ip, (on, to)) = (case.scenario.ip, case.sender());
    lines.look(&on, others::get_route(ip, &to));
    lines.change(&on, others::change_route(ip, to, &format!("-mtu {mtu}"))).only_where =
        Some("there is a route to that host".to_owned());
}

fn windows_mtu(lines: &mut Lines, case: &Case<'_>, on: &str, mtu: u64) {
    if mtu < Mtu::IPV6_MIN.into() {
        // The interface would lose IPv6.
        return;
    }
    let version = case.scenario.ip.number();
    lines.look(on, others::show_interfaces(case.scenario.ip));
    lines
        .change(on, format!("netsh interface ipv{version} set subinterface \"INTERFACE\" mtu={mtu} store=persistent"))
        .only_where = Some("every connection of that interface is meant".to_owned());
}

fn pf(lines: &mut Lines, mss: u16) {
    let entry = format!("scrub out all max-mss {mss}");
    lines.add(CommandKind::Change, Form::Settings, "the gateway, /etc/pf.conf", entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_gets_numbers_that_it_takes() {
        let rto = |wanted| MIN_RTO_MS.taken(wanted);
        assert_eq!(
            [15, 205, 300, 301, 3500].map(rto),
            [Some(20), Some(210), Some(300), None, None]
        );
        assert_eq!(
            [295, 3000, 3001].map(|ms| INITIAL_RTO_MS.taken(ms)),
            [Some(300), Some(3000), None]
        );
        assert_eq!([1, 9, 65].map(|n| INITIAL_WINDOW_SEGMENTS.taken(n)), [Some(2), Some(10), None]);
    }
}
