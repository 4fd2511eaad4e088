//! What the rules of a host's stack make of its settings when a connection begins: a largest segment towards other subnets,
//! FreeBSD's buffers.

use super::{Flow, Scenario};
use crate::framing::{IpVersion, TCP_HEADER};
use crate::mss::freebsd::{self, Buffer, Release};
use crate::mss::{Cause, Derivation, default_mss, linux, rfc, stcp};
use crate::settings::{FreeBsdRules, MssOption, Settings, WindowSize};
use crate::units::{Bytes, Mss, Mtu};

/// One end of a connection with what its stack's rules depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionEnd<'a> {
    pub(super) settings: &'a Settings,
    pub(super) ip: IpVersion,
    /// The MTU of its route to the peer.
    pub(super) mtu: Mtu,
    /// Whether no router is between the hosts.
    pub(super) same_subnet: bool,
}

impl ConnectionEnd<'_> {
    /// The MSS option that its peer gets with its SYN; `None` where there is none.
    pub(super) fn option(&self) -> Option<Mss> {
        self.settings.mss_option.map_or_else(|| Some(self.offer()), MssOption::value)
    }

    /// The MSS option of its SYN, as the host sends it.
    fn offer(&self) -> Mss {
        let asked = self.settings.mss;
        let by_mtu = || segment(&rfc::advertised(self.ip, self.mtu, None));
        let offered = match self.settings.linux {
            Some(rules) => {
                let route = (self.mtu, Cause::InterfaceMtu);
                let advmss = rules.route_advmss.map(Mss::get);
                segment(&linux::advertised(self.ip, route, advmss, asked))
            }
            None => asked.unwrap_or_else(by_mtu),
        };
        self.towards_other_subnets(None)
            .map_or(offered, |decision| offered.min(segment(&decision.advertised)))
    }

    /// The most that it puts into a segment by its own rules, whatever path and peer allow; `None` for no bound.
    pub(super) fn own_limit(&self, peer_option: Option<Mss>) -> Option<Mss> {
        let off_subnet =
            self.towards_other_subnets(peer_option).map(|decision| segment(&decision.effective));
        self.settings.mss.into_iter().chain(off_subnet).min()
    }

    /// What the peer's option and its own limit leave for the payload, whatever the MTU.
    pub(super) fn clamp(&self, peer_option: Option<Mss>, options: Bytes) -> Mss {
        let usual = (Cause::NoPeerOption, Bytes::new(u64::from(default_mss(self.ip))));
        let (source, bytes) =
            peer_option.map_or(usual, |option| (Cause::PeerOption, option.bytes()));
        let own = self.own_limit(peer_option).map(Mss::bytes);
        segment(
            &Derivation::begin(source, bytes)
                .at_most_if(Cause::UserMss, own)
                .less(Cause::TcpOptions, options),
        )
    }

    fn towards_other_subnets(&self, peer_option: Option<Mss>) -> Option<stcp::Decision> {
        let largest = self.settings.off_subnet_mss?;
        Some(stcp::decide(&stcp::Inputs {
            local_mtu: self.mtu,
            same_subnet: self.same_subnet,
            min_mtu: largest.bytes() + TCP_HEADER,
            peer_option: peer_option.map(Mss::get),
        }))
    }

    /// Payload of a full segment as Linux has it, where the host runs that.
    pub(super) fn linux_segment(
        &self,
        peer_option: Option<Mss>,
        path_mtu: Option<Mtu>,
        options: Bytes,
    ) -> Option<Mss> {
        let rules = self.settings.linux?;
        let decision = linux::decide(&linux::Inputs {
            ip: self.ip,
            device_mtu: self.mtu,
            route_mtu: path_mtu.map(|path| path.min(self.mtu)),
            route_advmss: rules.route_advmss.map(Mss::get),
            user_mss: self.own_limit(peer_option),
            peer_option: peer_option.map(Mss::get),
            timestamps: options > Bytes::ZERO,
            ip_options: Bytes::ZERO,
            // What the window bounds is found apart, by the window of the flow.
            peer_max_window: None,
        });
        Some(segment(&decision.mss_cache))
    }

    /// Payload of a full segment as FreeBSD has it, where the host runs that.
    pub(super) fn freebsd_segment(
        &self,
        peer_option: Option<Mss>,
        path_mtu: Mtu,
        options: Bytes,
    ) -> Option<Mss> {
        let decision = self.freebsd(peer_option, path_mtu, options > Bytes::ZERO)?;
        let payload = match self.settings.freebsd?.release {
            Release::V22 | Release::V22Patched => decision.maxseg,
            Release::Modern => decision.maxseg.less(Cause::TcpOptions, options),
        };
        Some(segment(&payload))
    }

    /// FreeBSD's decision, where the host runs it.
    pub(super) fn freebsd(
        &self,
        peer_option: Option<Mss>,
        path_mtu: Mtu,
        timestamps: bool,
    ) -> Option<freebsd::Decision> {
        let rules = self.settings.freebsd?;
        let asked = self.asked_buffers(&rules);
        Some(freebsd::decide(
            rules.release,
            &freebsd::Inputs {
                mtu: path_mtu.min(self.mtu),
                peer_option: peer_option.map(Mss::get),
                timestamps,
                send: asked.0,
                receive: asked.1,
                buffer_limit: rules.sb_max,
            },
        ))
    }

    /// The buffers that the application has set, and what the route says of them.
    fn asked_buffers(&self, rules: &FreeBsdRules) -> (Buffer, Buffer) {
        let buffer = |size, route_pipe| Buffer { size, is_default: false, route_pipe };
        let receive = self.settings.window.bytes(self.offer().bytes());
        // A buffer that is no limit is as large as the system grants.
        let send = self.settings.send_buffer.unwrap_or(rules.sb_max);
        (buffer(send, rules.sendpipe), buffer(receive, rules.recvpipe))
    }
}

impl Scenario {
    /// The settings of `flow`'s sender and receiver as they are in use once the connection stands: the rules of a stack may have
    /// resized its buffers.
    pub fn settings_in_use(&self, flow: &Flow) -> (Settings, Settings) {
        let (sender, receiver) = self.endpoints(flow);
        let [near, far] = self.hosts(flow);
        let stamped = self.mss(flow).options > Bytes::ZERO;
        let in_use = |host: &ConnectionEnd<'_>, settings: &Settings, peer: &ConnectionEnd<'_>| {
            let mut settings = settings.clone();
            if let Some(decision) = host.freebsd(peer.option(), host.mtu, stamped) {
                settings.send_buffer = Some(decision.send_buffer.value());
                settings.window = WindowSize::Bytes(decision.receive_buffer.value());
            }
            settings
        };
        (in_use(&near, sender, &far), in_use(&far, receiver, &near))
    }

    /// Sender and receiver of `flow`.
    pub(super) fn hosts(&self, flow: &Flow) -> [ConnectionEnd<'_>; 2] {
        let (sender, receiver) = self.endpoints(flow);
        let (near, far) = self.first_links(flow);
        let same_subnet = self.hops(flow).len() == 1;
        let ends = [(sender, near.mtu), (receiver, far.mtu)];
        ends.map(|(settings, interface)| {
            let mtu = settings.route_mtu(interface);
            ConnectionEnd { settings, ip: self.ip, mtu, same_subnet }
        })
    }
}

/// At least one byte: an IPv6 packet of the least IPv4 MTU has room for 8.
pub(super) fn segment(derivation: &Derivation) -> Mss {
    let bytes = derivation.value().get().clamp(u64::from(Mss::MIN), u64::from(Mss::MAX));
    Mss::new(bytes).expect("clamped")
}
