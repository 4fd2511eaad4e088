//! The segment size of a running connection (`tcp_sync_mss` in `net/ipv4/tcp_output.c`).
//!
//! The kernel keeps the least of three: what the MTU leaves, `mss_clamp`, and half of the peer's largest window. Of
//! `mss_clamp` a running socket shows only what follows from it: `getsockopt(TCP_MAXSEG)` gives the MSS in use, and the
//! peer's option is not in `tcp_info`. So the peer's option, a clamp on the way and `TCP_MAXSEG` stay one bound.

use super::chain::{Chain, Link, Source};
use crate::framing::{IpVersion, TCP_HEADER, TCP_TIMESTAMPS, ip_header};
use crate::mss::black_hole::{LEAST_PROBING_WINDOW, MtuSearch, Passes};
use crate::mss::{default_mss, linux};
use crate::settings::MtuProbing;
use crate::units::{Bytes, Mtu};

/// The largest packet of IPv4, whatever the interface takes (`IP_MAX_MTU`).
const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// What socket and host show. Sizes of the socket are of `tcp_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MssFacts {
    /// Which IP.
    pub ip: IpVersion,
    /// Whether every segment carries timestamps.
    pub timestamps: bool,
    /// Whether no SYN of the peer has come yet (`SYN-SENT`): the size is what the kernel begins with.
    pub is_opening: bool,
    /// `tcpi_snd_mss`.
    pub mss: Bytes,
    /// `tcpi_pmtu`: the MTU that the connection goes by.
    pub path_mtu: Bytes,
    /// `tcpi_advmss`: the option of this end's SYN, less the timestamps.
    pub advertised: Bytes,
    /// `tcpi_snd_wnd`.
    pub peer_window: Option<Bytes>,
    /// The MTU of the interface.
    pub interface_mtu: Option<Bytes>,
    /// `mtu` of the route, where it is set.
    pub route_mtu: Option<Bytes>,
    /// The path MTU learnt from ICMP, while it is remembered.
    pub learnt_mtu: Option<Bytes>,
    /// `advmss` of the route, where it is set.
    pub route_advmss: Option<Bytes>,
    /// `tcp_mtu_probing`.
    pub mtu_probing: MtuProbing,
    /// `tcp_base_mss`: the payload with which its search begins.
    pub base_mss: Bytes,
    /// Probes of any connection of the namespace that have arrived, ever (`TCPMTUPSuccess`).
    pub probes_arrived: Option<u64>,
    /// `tcp_min_snd_mss`.
    pub least_mss: Bytes,
}

/// The segment sizes of both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MssWhy {
    /// Of the segments that this end sends.
    pub sent: Chain,
    /// The option of this end's SYN, which bounds the segments that the peer sends.
    pub advertised: Chain,
    /// The kernel's rule, step by step, with the bounds as found; `None` where it does not give what the socket has.
    pub decision: Option<linux::Decision>,
}

impl MssFacts {
    const fn options(&self) -> Bytes {
        if self.timestamps { TCP_TIMESTAMPS } else { Bytes::ZERO }
    }

    /// The largest segment that a window of the peer leaves.
    fn by_window(&self, window: Bytes) -> Bytes {
        linux::most_by_window(window, self.options())
    }

    /// What an MTU leaves for the payload.
    fn payload(&self, mtu: Bytes) -> Bytes {
        self.option(mtu).saturating_sub(self.options())
    }

    /// The MSS option that belongs to an MTU.
    fn option(&self, mtu: Bytes) -> Bytes {
        mtu.min(LARGEST_PACKET).saturating_sub(ip_header(self.ip)).saturating_sub(TCP_HEADER)
    }

    /// What sets an MTU, the kernel's choice first: it goes by what was learnt, else by the route, else by the interface.
    fn mtu_source(&self, mtu: Bytes) -> Option<Source> {
        let is = |set: Option<Bytes>| set.is_some_and(|set| set.min(LARGEST_PACKET) == mtu);
        if is(self.learnt_mtu) {
            Some(Source::PathMtu)
        } else if is(self.route_mtu) {
            Some(Source::RouteMtu)
        } else if is(self.interface_mtu) {
            Some(Source::InterfaceMtu)
        } else {
            None
        }
    }
}

/// Why a connection has its segment sizes.
pub fn why_mss(facts: &MssFacts) -> MssWhy {
    let sent = sent(facts);
    MssWhy { decision: decision(facts, &sent), advertised: advertised(facts), sent }
}

/// The MTUs, with what each leaves.
fn mtu_links(facts: &MssFacts, leaves: impl Fn(Bytes) -> Bytes) -> Vec<Link> {
    let link = |source, mtu: Option<Bytes>| Link::new(source, mtu, mtu.map(&leaves));
    vec![
        link(Source::InterfaceMtu, facts.interface_mtu),
        link(Source::RouteMtu, facts.route_mtu),
        link(Source::PathMtu, facts.learnt_mtu),
    ]
}

fn sent(facts: &MssFacts) -> Chain {
    let mss = facts.mss;
    let by_mtu = facts.payload(facts.path_mtu);
    let mut chain = Chain {
        effective: mss,
        links: mtu_links(facts, |mtu| facts.payload(mtu)),
        unexplained: None,
    };
    let source = facts.mtu_source(facts.path_mtu);
    if source.is_none() {
        unknown_mtu(facts, &mut chain);
    }
    if facts.is_opening {
        let waits = Link::new(Source::MssClamp, None, None);
        chain.links.push(waits.note("the peer's SYN brings it"));
        chain.unexplained = Some(
            "no SYN of the peer has come yet: it is what the kernel begins with, and no segment is sent by it"
                .to_owned(),
        );
        return chain;
    }
    let clamp = Bytes::new(mss.get() + facts.options().get());
    chain.links.push(Link {
        one_of: vec![Source::PeerOption, Source::PathClamp, Source::UserMss],
        ..Link::new(Source::MssClamp, Some(clamp), Some(mss)).at_least()
    });
    chain.links.push(peer_window(facts));
    if facts.mtu_probing.is_on() {
        chain.links.push(
            Link::new(Source::MtuProbing, None, None)
                .note("what a probe has found is not in tcp_info"),
        );
    }
    let floor = facts.least_mss.saturating_sub(facts.options());
    chain.links.push(Link::new(Source::Floor, Some(facts.least_mss), Some(floor)));
    if mss == by_mtu {
        chain.let_win(source.unwrap_or(Source::PathMtu));
    } else if mss > by_mtu {
        chain.unexplained = Some(format!(
            "an MTU of {} leaves {} bytes: the size is brought up to date with the next segment",
            facts.path_mtu.get(),
            by_mtu.get()
        ));
    } else if is_by_window(facts) {
        chain.let_win(Source::PeerWindow);
    } else if mss == floor {
        chain.let_win(Source::Floor);
    } else if let Some(searched) = by_search_as(facts) {
        by_search(facts, searched, &mut chain);
    } else {
        by_clamp(facts, &mut chain, clamp);
    }
    chain
}

/// The connection goes by an MTU that nothing on the host has now.
fn unknown_mtu(facts: &MssFacts, chain: &mut Chain) {
    let (mtu, leaves) = (facts.path_mtu, facts.payload(facts.path_mtu));
    if let Some(link) = chain.links.iter_mut().find(|link| link.source == Source::PathMtu) {
        (link.value, link.allows) = (Some(mtu), Some(leaves));
        link.note = Some(
            "the connection uses it, and neither route nor interface has it now: it was learnt \
             before, or they have changed since"
                .to_owned(),
        );
    }
}

/// Half of the largest window that the peer has offered: that is no less than the present one.
fn peer_window(facts: &MssFacts) -> Link {
    let allows = facts.peer_window.map(|window| facts.by_window(window));
    Link::new(Source::PeerWindow, facts.peer_window, allows).at_least()
}

fn is_by_window(facts: &MssFacts) -> bool {
    let window = facts.peer_window.filter(|window| *window > Bytes::ZERO);
    window.is_some_and(|window| facts.by_window(window) == facts.mss)
}

/// What of the search for the path MTU has this size (`tcp_mtu_probing`, `net/ipv4/tcp_timer.c`; `tcp_mtu_probe`,
/// `net/ipv4/tcp_output.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Searched {
    /// It is the size with which the search begins.
    Base,
    /// It is that halved again and again, as where segments vanish.
    Halved,
    /// It is one that probes find where all of them pass.
    Grown,
    /// It is one that probes find where longer ones vanish, and no router tells of it.
    OverSilentHop,
}

fn by_search_as(facts: &MssFacts) -> Option<Searched> {
    let (base, mss) = (facts.base_mss.get(), facts.mss.get());
    if !facts.mtu_probing.is_on() {
        return None;
    }
    if mss == base {
        return Some(Searched::Base);
    }
    if (1..u64::BITS).any(|halvings| base >> halvings == mss) {
        return Some(Searched::Halved);
    }
    if facts.probes_arrived == Some(0) {
        return None;
    }
    let (high, rules) = (facts.payload(facts.path_mtu).get(), MtuSearch::default());
    if rules.sizes(base, high).any(|size| size == mss) {
        return Some(Searched::Grown);
    }
    let ends_there = |low| rules.grown(low, high, Passes { told: high, silent: mss }) == mss;
    // Probes go on from a size that was halved as well. These end at so many sizes that one shows nothing where none may have arrived.
    let halvings = if facts.probes_arrived.is_some() { u64::BITS } else { 1 };
    let mut bases = (0..halvings).map(|times| base >> times);
    let is_found = bases.any(|low| low >= facts.least_mss.get() && ends_there(low));
    is_found.then_some(Searched::OverSilentHop)
}

fn by_search(facts: &MssFacts, searched: Searched, chain: &mut Chain) {
    let begins_small = facts.mtu_probing == MtuProbing::Always;
    let note = match searched {
        Searched::Base if begins_small => format!(
            "tcp_base_mss, with which tcp_mtu_probing = 2 begins; a probe goes once {} bytes wait to be sent and the congestion window \
             has {LEAST_PROBING_WINDOW} segments, and what vanishes halves it",
            MtuSearch::needed(facts.base_mss.get(), facts.payload(facts.path_mtu).get())
        ),
        Searched::Base | Searched::Halved => {
            "tcp_base_mss, with which the search begins; what vanishes halves it".to_owned()
        }
        Searched::Grown => {
            "found by probes, which begin with tcp_base_mss and halve what is left up to the MTU"
                .to_owned()
        }
        Searched::OverSilentHop => format!(
            "a size at which probes end where segments above it vanish and no router tells of it; mss_clamp of {} would give the same",
            facts.mss.get() + facts.options().get()
        ),
    };
    if let Some(link) = chain.links.iter_mut().find(|link| link.source == Source::MtuProbing) {
        (link.value, link.allows) = (Some(facts.base_mss), Some(facts.mss));
        link.note = Some(note);
    }
    chain.let_win(Source::MtuProbing);
}

/// The bound is `mss_clamp`, or one more that the socket does not show.
fn by_clamp(facts: &MssFacts, chain: &mut Chain, clamp: Bytes) {
    let Some(link) = chain.links.iter_mut().find(|link| link.source == Source::MssClamp) else {
        return;
    };
    link.wins = true;
    link.is_least = false;
    if facts.mtu_probing.is_on() {
        link.one_of.push(Source::MtuProbing);
    }
    // The largest window is hidden; it is no less than the present one.
    if facts.peer_window.is_none_or(|window| facts.by_window(window) < facts.mss) {
        link.one_of.push(Source::PeerWindow);
    }
    if clamp.get() == u64::from(default_mss(facts.ip)) {
        link.note = Some("the value for a peer that sends no MSS option".to_owned());
    } else if facts.advertised > facts.mss {
        // `tcp_mss_clamp` bounds the advertised MSS too.
        link.note = Some(format!(
            "TCP_MAXSEG would bound the advertised {} as well, where it was set before the connection began",
            facts.advertised.get() + facts.options().get()
        ));
    }
}

/// The option of this end's SYN (`ipv4_default_advmss`, `tcp_mss_clamp`).
fn advertised(facts: &MssFacts) -> Chain {
    let option = Bytes::new(facts.advertised.get() + facts.options().get());
    let mut links = mtu_links(facts, |mtu| facts.option(mtu));
    links.push(Link::new(Source::RouteAdvmss, facts.route_advmss, facts.route_advmss));
    let mut chain = Chain { effective: option, links, unexplained: None };
    let allows = |source| chain.link(source).and_then(|link| link.allows);
    let by_mtu = [Source::PathMtu, Source::RouteMtu, Source::InterfaceMtu]
        .into_iter()
        .find(|source| allows(*source).is_some());
    let source = if facts.route_advmss.is_some() { Some(Source::RouteAdvmss) } else { by_mtu };
    let expected = source.and_then(allows);
    match (source, expected) {
        (Some(source), Some(expected)) if expected == option => chain.let_win(source),
        (Some(Source::PathMtu), _) if of_syn(&chain).is_some() => {
            let source = of_syn(&chain).unwrap_or(Source::InterfaceMtu);
            chain.let_win(source);
            if let Some(link) = chain.links.iter_mut().find(|link| link.source == Source::PathMtu) {
                link.note = Some("it was learnt after the SYN".to_owned());
            }
        }
        (_, Some(expected)) if option < expected => {
            chain.unexplained = Some(format!(
                "route and MTU would give {}: the program has set TCP_MAXSEG, or they have changed since the SYN",
                expected.get()
            ));
        }
        _ => {
            chain.unexplained = Some(
                "route and MTU give another value: they have changed since the SYN".to_owned(),
            );
        }
    }
    chain
}

/// What the option of the SYN follows from where the path MTU was learnt later: the route's MTU, else the interface's.
fn of_syn(chain: &Chain) -> Option<Source> {
    let known = [Source::RouteMtu, Source::InterfaceMtu].into_iter().find_map(|source| {
        let allows = chain.link(source)?.allows?;
        Some((source, allows))
    });
    known.filter(|(_, allows)| *allows == chain.effective).map(|(source, _)| source)
}

/// The kernel's rule with the bounds as found.
fn decision(facts: &MssFacts, sent: &Chain) -> Option<linux::Decision> {
    let mtu = |bytes: Bytes| Mtu::new(bytes.get()).ok();
    let winner = sent.winner()?;
    let small = |bytes: Bytes| u16::try_from(bytes.get()).ok();
    let clamp = winner.value.filter(|_| winner.source == Source::MssClamp);
    let interface = facts.interface_mtu.unwrap_or(facts.path_mtu).min(LARGEST_PACKET);
    let inputs = linux::Inputs {
        ip: facts.ip,
        device_mtu: mtu(interface)?,
        route_mtu: if interface == facts.path_mtu { None } else { Some(mtu(facts.path_mtu)?) },
        route_advmss: facts.route_advmss.and_then(small),
        user_mss: None,
        peer_option: Some(clamp.and_then(small).unwrap_or(u16::MAX)),
        timestamps: facts.timestamps,
        ip_options: Bytes::ZERO,
        peer_max_window: facts.peer_window.filter(|_| winner.source == Source::PeerWindow),
    };
    let decision = linux::decide(&inputs);
    (decision.mss_cache.value() == facts.mss).then_some(decision)
}
