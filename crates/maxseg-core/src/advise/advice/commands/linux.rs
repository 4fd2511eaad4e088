//! Linux: routes, sysctls, nftables, networkd, socket options. Each line is safe as it stands: it raises what is too small, or
//! adds a route beside the others.

use super::{Case, Form, HowTo, Lines, Ran};
use crate::advise::Change;
use crate::advise::CommandKind;
use crate::advise::data_flow::data_hosts;
use crate::advise::mss_caps::{MssCap, is_offered_by_route, mss_caps};
use crate::advise::remedy::linux;
use crate::settings::WindowSize;
use crate::units::Mss;
use crate::window::MEMORY_PER_PAYLOAD;

const GATEWAY: &str = "the gateway";
/// What shows the rules of a gateway that write the MSS option.
const CLAMPS: &str = "nft list ruleset | grep -n maxseg; iptables-save | grep TCPMSS";

#[expect(clippy::too_many_lines, reason = "a table: one row for each change")]
pub(super) fn lines(case: &Case<'_>) -> Vec<HowTo> {
    let mut lines = Lines::default();
    if case.change.needs_scaling(case.scenario) {
        scaling(&mut lines, case);
    }
    match case.change {
        Change::Window(window) if case.is_raise => wider_window(&mut lines, case, window.get()),
        Change::Window(window) => held_window(&mut lines, case, window.get()),
        Change::ReceiveBuffer(bytes) => wider_window(&mut lines, case, bytes.get() / 2),
        Change::FirstReceiveBuffer(bytes) => {
            let on = case.receiver().0;
            lines.look(&on, "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_moderate_rcvbuf");
            lines.change(&on, linux::raise_second("net.ipv4.tcp_rmem", bytes.get()));
        }
        Change::SendBuffer(bytes) => {
            send_buffer(&mut lines, case, MEMORY_PER_PAYLOAD * bytes.get());
        }
        Change::SegmentSize(mss) if case.is_raise => larger_segments(&mut lines, case, mss),
        Change::SegmentSize(mss) => {
            let (on, to) = case.sender();
            mtu_of_route(&mut lines, case, (&on, &to), case.packet_of(mss));
            option(
                &mut lines,
                &on,
                format!("setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, {})", mss.get()),
            )
            .only_where = Some(
                "the program has not called connect or listen yet; afterwards it does nothing"
                    .to_owned(),
            );
        }
        Change::Mtu(mtu) => {
            let (on, to) = case.sender();
            mtu_of_route(&mut lines, case, (&on, &to), u64::from(mtu.get()));
        }
        Change::Clamp(mss) => clamp(&mut lines, mss.get()),
        Change::Congestion(name) => {
            let (on, to) = case.sender();
            let word = name.word();
            lines.look(&on, "sysctl net.ipv4.tcp_available_congestion_control");
            route(&mut lines, case, &on, &to, &format!("congctl {word}"));
            option(
                &mut lines,
                &on,
                format!("setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"{word}\")"),
            );
            networkd(&mut lines, &on, &to, &format!("TCPCongestionControlAlgorithm={word}"));
            lines
                .change(&on, format!("sysctl -w net.ipv4.tcp_congestion_control={word}"))
                .only_where =
                Some("every connection of this host is meant, on whatever path".to_owned());
        }
        Change::InitialWindow(segments) => {
            let (on, to) = case.sender();
            route(&mut lines, case, &on, &to, &format!("initcwnd {segments}"));
            networkd(&mut lines, &on, &to, &format!("InitialCongestionWindow={segments}"));
        }
        Change::RtoMin(time) => {
            let (on, to) = case.sender();
            route(&mut lines, case, &on, &to, &format!("rto_min {}ms", time.as_millis_up()));
            networkd(
                &mut lines,
                &on,
                &to,
                &format!("TCPRetransmissionTimeoutSec={}", time.as_secs_f64()),
            );
        }
        Change::Pacing(rate) => {
            let on = case.sender().0;
            option(
                &mut lines,
                &on,
                format!("setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, {})", rate.get() / 8),
            );
        }
        Change::MtuProbing => {
            let on = case.sender().0;
            lines.look(&on, "sysctl net.ipv4.tcp_mtu_probing");
            lines.change(&on, linux::raise("net.ipv4.tcp_mtu_probing", 1));
        }
        Change::NoSlowStartAfterIdle => {
            for on in [case.sender().0, case.receiver().0] {
                lines.look(&on, "sysctl net.ipv4.tcp_slow_start_after_idle");
                lines.change(&on, "sysctl -w net.ipv4.tcp_slow_start_after_idle=0").undo =
                    Some("sysctl -w net.ipv4.tcp_slow_start_after_idle=1".to_owned());
            }
        }
        Change::ReorderingTolerance => {
            let on = case.sender().0;
            lines.look(&on, "sysctl net.ipv4.tcp_recovery");
            lines.change(&on, linux::raise("net.ipv4.tcp_recovery", 1));
        }
        // Linux has no setting for the first timer but a BPF program (`BPF_SOCK_OPS_TIMEOUT_INIT`).
        Change::RtoInitial(_)
        | Change::ReadsAtOnce
        | Change::IcmpSent
        | Change::Queue(_)
        | Change::FairQueue
        | Change::Codel
        | Change::NoErrors => {}
    }
    let mut lines = lines.sorted();
    for line in &mut lines {
        let is_unconditional =
            line.only_where.as_deref().is_none_or(|only| only == linux::WITHOUT_TUNE);
        let is_run = is_run_by_tests(case.change)
            && (line.kind, line.form) == (CommandKind::Change, Form::Shell)
            && is_unconditional;
        if is_run {
            line.known = Ran::Linux618;
        }
    }
    lines
}

/// Changes whose unconditional lines the tests run in a namespace (`maxseg/tests/cli/advise.rs`).
const fn is_run_by_tests(change: Change) -> bool {
    matches!(
        change,
        Change::Window(_)
            | Change::ReceiveBuffer(_)
            | Change::Mtu(_)
            | Change::Congestion(_)
            | Change::NoSlowStartAfterIdle
    )
}

/// Gives the route to one host an attribute more.
fn route(lines: &mut Lines, case: &Case<'_>, on: &str, to: &str, attribute: &str) {
    let ip = case.scenario.ip;
    lines.look(on, linux::look_up_route(ip, to));
    let is_by_tune = linux::is_taken_by_tune(ip, attribute);
    if is_by_tune {
        lines.change(on, linux::tune_route(ip, to, attribute)).undo =
            Some(linux::TUNE_UNDO.to_owned());
    }
    let plain = lines.change(on, linux::add_host_route(ip, to, attribute));
    plain.undo = Some(linux::delete_host_route(ip, to));
    plain.only_where = is_by_tune.then(|| linux::WITHOUT_TUNE.to_owned());
}

/// Lets segments grow, on the host that holds them.
fn larger_segments(lines: &mut Lines, case: &Case<'_>, mss: Mss) {
    let caps = mss_caps(case.scenario, mss);
    let (ip, sender, receiver) = (case.scenario.ip, case.sender(), case.receiver());
    for cap in &caps {
        let (on, to) = match cap {
            MssCap::SenderMss | MssCap::SenderRouteMtu | MssCap::SenderOffSubnet => &sender,
            MssCap::ReceiverMss
            | MssCap::ReceiverRouteMtu
            | MssCap::ReceiverAdvmss
            | MssCap::ReceiverOffSubnet
            | MssCap::Gateway => &receiver,
        };
        match cap {
            MssCap::SenderMss | MssCap::ReceiverMss => {
                let call = format!("setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, {})", mss.get());
                option(lines, on, call).only_where = Some(
                    "the program sets TCP_MAXSEG: let it not, or set this before connect or listen"
                        .to_owned(),
                );
            }
            MssCap::SenderRouteMtu | MssCap::ReceiverRouteMtu => {
                lines.look(on, linux::look_up_route(ip, to));
                lines.change(on, linux::without_attribute(ip, to, "mtu")).only_where =
                    Some("the route has `mtu`".to_owned());
            }
            MssCap::Gateway => {
                lines.look(GATEWAY, CLAMPS);
                let rule =
                    "take out the rule that writes the MSS option (`maxseg size set`, TCPMSS)";
                lines.add(CommandKind::Change, Form::Settings, GATEWAY, rule.to_owned());
            }
            // Other stacks have such a rule; the route's own comes below.
            MssCap::SenderOffSubnet | MssCap::ReceiverOffSubnet | MssCap::ReceiverAdvmss => {}
        }
    }
    if is_offered_by_route(&caps, case.scenario) {
        // The peer's option limits what a host sends.
        let (on, to) = &receiver;
        route(lines, case, on, to, &format!("advmss {}", mss.get()));
        networkd(lines, on, to, &format!("TCPAdvertisedMaximumSegmentSize={}", mss.get()));
    }
}

/// Lowers the MTU of a route, without `lock`, which would clear DF.
fn mtu_of_route(lines: &mut Lines, case: &Case<'_>, (on, to): (&str, &str), mtu: u64) {
    route(lines, case, on, to, &format!("mtu {mtu}"));
    networkd(lines, on, to, &format!("MTUBytes={mtu}"));
}

/// Lets a window grow. Where the limit of autotuning has room for it already, the program or the route holds the window: what
/// acts comes first then.
fn wider_window(lines: &mut Lines, case: &Case<'_>, window: u64) {
    let (on, to) = case.receiver();
    let buffer = MEMORY_PER_PAYLOAD * window;
    let ip = case.scenario.ip;
    let [_, receiver] = data_hosts(case.scenario);
    let is_fixed = !matches!(receiver.window, WindowSize::Auto { .. });
    let has_room = receiver.linux.is_some_and(|rules| rules.tcp_rmem[2] >= buffer);
    lines.look(
        &on,
        format!("sysctl net.ipv4.tcp_rmem net.core.rmem_max; {}", linux::look_up_route(ip, &to)),
    );
    if is_fixed {
        option(lines, &on, format!("setsockopt(fd, SOL_SOCKET, SO_RCVBUF, {window})")).only_where = Some(
            "the program sets SO_RCVBUF, which ends autotuning: let it not, or set this before connect or listen".to_owned(),
        );
        lines.change(&on, linux::without_attribute(ip, &to, "window")).only_where =
            Some("the route has `window`: it holds every new connection's".to_owned());
        lines.change(&on, linux::raise("net.core.rmem_max", window)).only_where = Some(
            "the program sets SO_RCVBUF; a network namespace of its own may not set it".to_owned(),
        );
    }
    if !(is_fixed && has_room) {
        lines.change(&on, linux::raise_third("net.ipv4.tcp_rmem", buffer));
    }
}

/// Holds a window below what the kernel would offer, which a route's `window` alone does not. What each way offers was measured with
/// packets of 1500 bytes on Linux 6.18; of `SO_RCVBUF` it depends on the memory that a driver takes for a packet.
fn held_window(lines: &mut Lines, case: &Case<'_>, window: u64) {
    let (on, to) = case.receiver();
    let ip = case.scenario.ip;
    let (bound, unbound) = (linux::bound_window(ip, &to, window), linux::unbound_window(&to));
    let attribute = format!("window {window}");
    lines.look(&on, linux::look_up_route(ip, &to));
    lines.change(&on, format!("{} && {bound}", linux::tune_route(ip, &to, &attribute))).undo =
        Some(format!("{unbound}; {}", linux::TUNE_UNDO));
    let plain = format!("{{ {}; }} && {bound}", linux::add_host_route(ip, &to, &attribute));
    let plain = lines.change(&on, plain);
    plain.undo = Some(format!("{unbound}; {}", linux::delete_host_route(ip, &to)));
    plain.only_where = Some(linux::WITHOUT_TUNE.to_owned());
    option(lines, &on, format!("setsockopt(fd, SOL_SOCKET, SO_RCVBUF, {window})")).only_where = Some(
        "it is set before connect or listen; the window is 1.0 to 1.3 times that with packets of 1500 bytes, and at most twice"
            .to_owned(),
    );
    option(lines, &on, format!("setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, {window})"))
        .only_where = Some(
        "it is set after each read: the kernel forgets it with the first segments and as the buffer grows"
            .to_owned(),
    );
}

fn send_buffer(lines: &mut Lines, case: &Case<'_>, bytes: u64) {
    let on = case.sender().0;
    lines.look(&on, "sysctl net.ipv4.tcp_wmem net.core.wmem_max");
    lines.change(&on, linux::raise_third("net.ipv4.tcp_wmem", bytes));
    lines.change(&on, linux::raise("net.core.wmem_max", bytes)).only_where =
        Some("programs set SO_SNDBUF; a network namespace of its own may not set it".to_owned());
}

fn scaling(lines: &mut Lines, case: &Case<'_>) {
    let key = "net.ipv4.tcp_window_scaling";
    for on in [case.receiver().0, case.sender().0] {
        lines.look(&on, format!("sysctl {key}"));
        lines.change(&on, linux::raise(key, 1)).with_next = true;
    }
}

/// Clamps in a table of its own, which `nft delete table` takes back.
fn clamp(lines: &mut Lines, mss: u16) {
    lines.look(GATEWAY, CLAMPS);
    lines
        .change(
            GATEWAY,
            format!(
                "nft 'add table inet maxseg_advice; add chain inet maxseg_advice clamp {{ type filter hook forward priority mangle; }}; \
                 add rule inet maxseg_advice clamp tcp flags syn tcp option maxseg size set {mss}'"
            ),
        )
        .undo = Some("nft delete table inet maxseg_advice".to_owned());
}

fn networkd(lines: &mut Lines, on: &str, to: &str, entry: &str) {
    let line = lines.add(
        CommandKind::Change,
        Form::Networkd,
        on,
        format!("[Route]\nDestination={to}\n{entry}"),
    );
    line.only_where = Some(
        "it has the Gateway= of the route in use: without it the destination is taken to be on the link"
            .to_owned(),
    );
}

fn option<'a>(lines: &'a mut Lines, on: &str, call: String) -> &'a mut HowTo {
    lines.add(CommandKind::Change, Form::Setsockopt, on, call)
}
