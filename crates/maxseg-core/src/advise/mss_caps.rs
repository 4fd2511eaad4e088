//! What holds the segments of the data below a size.

use super::data_flow::{data_flow, data_from, data_hosts, data_hosts_mut};
use crate::mss::default_mss;
use crate::scenario::Scenario;
use crate::settings::{LinuxRules, MssOption, Settings};
use crate::units::{Bytes, Mss, Mtu};

/// A setting that lets no larger segments through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MssCap {
    /// The MSS that the sender's program asks for (`TCP_MAXSEG`).
    SenderMss,
    /// The MTU of the sender's route.
    SenderRouteMtu,
    /// The sender's largest segment towards other subnets.
    SenderOffSubnet,
    /// The MSS that the receiver asks for.
    ReceiverMss,
    /// The MTU of the receiver's route.
    ReceiverRouteMtu,
    /// The MSS that the receiver's route advertises.
    ReceiverAdvmss,
    /// The receiver's largest segment towards other subnets, which it offers as well.
    ReceiverOffSubnet,
    /// The receiver's option as it arrives: a gateway lowers it, or takes it away.
    Gateway,
}

/// All that holds the segments of the data below `mss`.
pub(super) fn mss_caps(scenario: &Scenario, mss: Mss) -> Vec<MssCap> {
    let Some(flow) = data_flow(scenario) else { return Vec::new() };
    let [sending, receiving] = data_hosts(scenario);
    let is_routed = scenario.hops(&flow).len() > 1;
    let below = |held: Option<Mss>| held.is_some_and(|held| held < mss);
    let off_subnet = |host: &Settings| is_routed && below(host.off_subnet_mss);
    let packet = mss.bytes() + scenario.tcp_ip_headers();
    let route_mtu = |host: &Settings| {
        let mtu = host.linux.and_then(|rules| rules.route_mtu);
        mtu.is_some_and(|mtu| mtu.bytes() < packet)
    };
    let advmss = receiving.linux.and_then(|rules| rules.route_advmss);
    let arriving = receiving.mss_option.map(|option| {
        let none = Bytes::new(u64::from(default_mss(scenario.ip)));
        option.value().map_or(none, Mss::bytes)
    });
    // What arrives goes before what the receiver would offer.
    let is_offered = arriving.is_none_or(|arriving| arriving < mss.bytes());
    let all = [
        (MssCap::SenderMss, below(sending.mss)),
        (MssCap::SenderRouteMtu, route_mtu(sending)),
        (MssCap::SenderOffSubnet, off_subnet(sending)),
        (MssCap::ReceiverMss, is_offered && below(receiving.mss)),
        (
            MssCap::ReceiverRouteMtu,
            is_offered && route_mtu(receiving) && (advmss.is_none() || below(advmss)),
        ),
        (MssCap::ReceiverAdvmss, is_offered && below(advmss)),
        (MssCap::ReceiverOffSubnet, is_offered && off_subnet(receiving)),
        (MssCap::Gateway, arriving.is_some_and(|arriving| arriving < mss.bytes())),
    ];
    all.into_iter().filter(|(_, holds)| *holds).map(|(cap, _)| cap).collect()
}

/// Lifts all that holds the segments of the data below `mss`.
pub(super) fn lift(scenario: &mut Scenario, mss: Mss) {
    let caps = mss_caps(scenario, mss);
    let mtu = Mtu::new((mss.bytes() + scenario.tcp_ip_headers()).get()).ok();
    let [sending, receiving] = data_hosts_mut(scenario);
    for cap in caps {
        match cap {
            MssCap::SenderMss => sending.mss = Some(mss),
            MssCap::SenderRouteMtu => of_route(sending, |rules| rules.route_mtu = mtu),
            MssCap::SenderOffSubnet => sending.off_subnet_mss = Some(mss),
            MssCap::ReceiverMss => receiving.mss = Some(mss),
            MssCap::ReceiverRouteMtu => of_route(receiving, |rules| rules.route_mtu = mtu),
            MssCap::ReceiverAdvmss => of_route(receiving, |rules| rules.route_advmss = Some(mss)),
            MssCap::ReceiverOffSubnet => receiving.off_subnet_mss = Some(mss),
            MssCap::Gateway => receiving.mss_option = Some(MssOption::Bytes(mss)),
        }
    }
}

/// The keys that lift what holds segments below `mss`, beside those of the hosts' own sizes: the same for a scenario before and
/// after it is lifted.
pub(super) fn lifted_keys(scenario: &Scenario, mss: Mss) -> Vec<String> {
    let Some(flow) = data_flow(scenario) else { return Vec::new() };
    let is_routed = scenario.hops(&flow).len() > 1;
    let hosts = data_hosts(scenario);
    let from = data_from(scenario);
    let packet = mss.bytes() + scenario.tcp_ip_headers();
    let mut keys = Vec::new();
    for (host, end) in hosts.into_iter().zip([from, from.other()]) {
        let end = end.word();
        if is_routed && host.off_subnet_mss.is_some_and(|held| held <= mss) {
            keys.push(format!("{end}.off_subnet_mss = {}", mss.get()));
        }
        let route_mtu = host.linux.and_then(|rules| rules.route_mtu);
        if route_mtu.is_some_and(|mtu| mtu.bytes() <= packet) {
            keys.push(format!("{end}.linux.route_mtu = {}", packet.get()));
        }
    }
    let [_, receiving] = hosts;
    let end = from.other().word();
    if receiving.linux.and_then(|rules| rules.route_advmss).is_some_and(|held| held <= mss) {
        keys.push(format!("{end}.linux.route_advmss = {}", mss.get()));
    }
    if receiving.mss_option.is_some_and(|option| option.value().is_none_or(|held| held <= mss)) {
        keys.push(format!("{end}.mss_option = {}", mss.get()));
    }
    keys
}

fn of_route(host: &mut Settings, change: impl FnOnce(&mut LinuxRules)) {
    if let Some(rules) = &mut host.linux {
        change(rules);
    }
}

/// Whether the receiver's route may have to offer more: nothing else is known to hold segments, or that is.
pub(super) fn is_offered_by_route(caps: &[MssCap], scenario: &Scenario) -> bool {
    let [_, receiving] = data_hosts(scenario);
    let is_asked = caps.contains(&MssCap::ReceiverMss) && receiving.linux.is_none();
    caps.is_empty() || caps.contains(&MssCap::ReceiverAdvmss) || is_asked
}

impl MssCap {
    /// In words, where the data goes as it does in `scenario`.
    pub(super) fn describe(self, scenario: &Scenario) -> String {
        let from = data_from(scenario);
        let (sender, receiver) = (from.word(), from.other().word());
        match self {
            Self::SenderMss => format!("the MSS of the {sender}'s program (TCP_MAXSEG)"),
            Self::SenderRouteMtu => format!("the MTU of the {sender}'s route"),
            Self::SenderOffSubnet => format!("the {sender}'s MSS towards other subnets"),
            Self::ReceiverMss => format!("the MSS that the {receiver} sets"),
            Self::ReceiverRouteMtu => format!("the MTU of the {receiver}'s route"),
            Self::ReceiverAdvmss => format!("the advmss of the {receiver}'s route"),
            Self::ReceiverOffSubnet => format!("the {receiver}'s MSS towards other subnets"),
            Self::Gateway => format!("the {receiver}'s MSS option as a gateway leaves it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::{Change, changed};
    use crate::scenario::Draft;

    const HOPS: &str = "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n";

    /// Segments of 1460 bytes get through once each of what held them is lifted.
    #[test]
    fn whatever_holds_segments_is_found_and_lifted() {
        let cases = [
            ("sender.mss = 536", vec![MssCap::SenderMss]),
            ("receiver.mss = 536", vec![MssCap::ReceiverMss]),
            ("sender.linux.route_mtu = 576", vec![MssCap::SenderRouteMtu]),
            ("receiver.linux.route_mtu = 576", vec![MssCap::ReceiverRouteMtu]),
            ("receiver.linux.route_advmss = 536", vec![MssCap::ReceiverAdvmss]),
            ("receiver.mss_option = 536", vec![MssCap::Gateway]),
            ("receiver.mss_option = false", vec![MssCap::Gateway]),
            (
                "receiver = { mss = 1000, mss_option = 536 }",
                vec![MssCap::ReceiverMss, MssCap::Gateway],
            ),
            ("receiver = { mss = 536, mss_option = 1460 }", vec![]),
            ("sender = { stack = \"rfc\", off_subnet_mss = 536 }", vec![MssCap::SenderOffSubnet]),
            (
                "receiver = { stack = \"rfc\", off_subnet_mss = 536 }",
                vec![MssCap::ReceiverOffSubnet],
            ),
            // It bounds what the sender is sent, which is acknowledgements.
            ("sender.linux.route_advmss = 536", vec![]),
        ];
        let mss = Mss::new(1460).unwrap();
        for (text, wanted) in cases {
            let scenario = Scenario::from_toml("test", &format!("{text}\n{HOPS}")).unwrap();
            assert_eq!(mss_caps(&scenario, mss), wanted, "{text}");
            let lifted = changed(&scenario, &[Change::SegmentSize(mss)]);
            let decision = lifted.mss(&data_flow(&lifted).unwrap());
            let whole = decision.effective.bytes() + decision.options;
            assert_eq!(whole, mss.bytes(), "{text}");
            // What is shown of the change, set by hand, does the same.
            let shown = Change::SegmentSize(mss).describe_in(&scenario);
            assert_eq!(Change::SegmentSize(mss).describe_in(&lifted), shown, "{text}");
            let mut draft = Draft::parse("test", &format!("{text}\n{HOPS}")).unwrap();
            for key in shown.split(", ") {
                draft.set_argument(key).unwrap();
            }
            let by_hand = draft.scenario().unwrap();
            let decision = by_hand.mss(&data_flow(&by_hand).unwrap());
            let whole = decision.effective.bytes() + decision.options;
            assert_eq!(whole, mss.bytes(), "{text}: {shown}");
        }
    }
}
