//! What is sent, in which order, until the path MTU is known.

mod budget;
mod dropped;
mod flows;
mod hole;
mod hops;
mod large_loss;
mod loss_boundary;
mod refusals;
mod sizes;
mod trips;
mod unreachable;
mod vanishing;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use maxseg_core::framing::IpVersion;
use maxseg_core::path_mtu::{LossEstimate, Probe, Refusal};
use maxseg_linux::probe::{
    ProbeKind, Prober, Round, RoundEnd, RouteToHost, Shot, TRACEROUTE_PORT, TooBigWatch,
};
use maxseg_linux::sys::sleeps;

use super::{PathError, PathObserver, PathOptions, note_once};
pub(super) use budget::Budget;
pub(super) use dropped::Own;
pub(super) use flows::at_once;
pub(super) use hole::{Asked, EndOf, LARGE};
pub(super) use large_loss::{BETWEEN, FIRST_ROUNDS};
pub(super) use sizes::Sizes;
pub(super) use trips::Trips;
use unreachable::Unreachable;
pub(super) use vanishing::{Flow, MOST_STEPS, SPACING, TIMES, limited};

/// As long is waited for an answer before any has come.
const FIRST_PATIENCE: Duration = Duration::from_secs(1);
/// Added to twice the longest round trip: what links and hosts may take.
const MORE_PATIENCE: Duration = Duration::from_millis(100);
/// Pauses between packets: a burst may overflow a queue.
const PAUSES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(8)];

/// For so long messages may come that no answer has waited for.
pub(super) const LATE: Duration = Duration::from_millis(50);

/// What is said of `EPERM`.
const REFUSED_HERE: &str = "a firewall of this host refuses some of the test's packets (EPERM; `nft list ruleset`): what they would show is left out";

/// A test under way.
pub(super) struct Probing<'t> {
    pub(super) to: IpAddr,
    pub(super) port: Option<u16>,
    pub(super) options: PathOptions,
    pub(super) route: RouteToHost,
    pub(super) observer: &'t mut dyn PathObserver,
    pub(super) stop: &'t AtomicBool,
    pub(super) budget: Budget,
    /// UDP from one pair of ports; `None` where no such packet can be sent.
    pub(super) udp: Option<Prober>,
    /// ICMP echoes, where this user may send them.
    pub(super) echo: Option<Prober>,
    /// What comes to this host of routers' messages, and what its sockets receive; `None` without `CAP_NET_RAW`.
    pub(super) watch: Option<TooBigWatch>,
    /// Whether the destination answers UDP datagrams to closed ports.
    pub(super) is_udp_answered: bool,
    /// What routers have said of packets of each size that did not arrive.
    pub(super) heard: BTreeMap<u32, Refusal>,
    /// What finds the hops: what the destination answers.
    pub(super) hops_by: Which,
    /// What routers have said of packets of each size that arrived all the same.
    pub(super) contradicted: BTreeMap<u32, Refusal>,
    /// What somebody on the way says of packets to the destination.
    unreachable: Option<Unreachable>,
    /// What is said of those of each size, other than that they are too big.
    rejected: BTreeMap<u32, Unreachable>,
    /// Whether it answers echoes.
    pub(super) is_echo_answered: bool,
    /// The longest round trip of small packets.
    pub(super) longest_trip: Option<Duration>,
    /// Small packets that should have been answered.
    pub(super) loss: LossEstimate,
    /// The hops that answered, the first router's first.
    pub(super) hops: Vec<Hop>,
    /// The number of the destination among the hops, where it is known.
    pub(super) distance: Option<u8>,
    /// Bytes that were sent otherwise than by the probers.
    pub(super) other_bytes: u64,
    /// What could not be done.
    pub(super) notes: Vec<String>,
}

/// A hop that answered, or did not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::path) struct Hop {
    pub(super) address: Option<IpAddr>,
    pub(super) round_trip: Option<Duration>,
}

/// Which of the probers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Udp,
    Echo,
}

impl<'t> Probing<'t> {
    /// Opens the sockets; nothing is sent.
    pub(super) fn new(
        to: IpAddr,
        port: Option<u16>,
        options: PathOptions,
        observer: &'t mut dyn PathObserver,
        stop: &'t AtomicBool,
    ) -> Result<Self, PathError> {
        let no_route = |source: std::io::Error| {
            if source.kind() == std::io::ErrorKind::PermissionDenied {
                PathError::Refused { address: to, source }
            } else {
                PathError::NoRoute { address: to, source }
            }
        };
        let route = maxseg_linux::probe::route_to_host(to).map_err(no_route)?;
        let mut notes = Vec::new();
        let udp = Prober::new(to, ProbeKind::Udp { port: TRACEROUTE_PORT });
        let udp = udp.map_err(|error| notes.push(format!("no UDP probes: {error}"))).ok();
        let echo = Prober::new(to, ProbeKind::Echo).ok();
        if echo.is_none() {
            notes.push("no ICMP echoes: this user may not send them (CAP_NET_RAW, or net.ipv4.ping_group_range)".to_owned());
        }
        let watch = TooBigWatch::open(route.source, to).ok();
        Ok(Self {
            to,
            port,
            options,
            watch,
            budget: Budget::new(route.interface_mtu),
            route,
            observer,
            stop,
            udp,
            echo,
            is_udp_answered: false,
            heard: BTreeMap::new(),
            contradicted: BTreeMap::new(),
            hops_by: Which::Udp,
            unreachable: None,
            rejected: BTreeMap::new(),
            is_echo_answered: false,
            longest_trip: None,
            loss: LossEstimate::default(),
            hops: Vec::new(),
            distance: None,
            other_bytes: 0,
            notes,
        })
    }

    pub(super) fn version(&self) -> IpVersion {
        self.to.into()
    }

    /// Sends a round, and learns of the round trips.
    pub(super) fn round(
        &mut self,
        which: Which,
        packets: &[Probe],
        end: RoundEnd,
    ) -> Result<Round, PathError> {
        let (pause, patience) = (self.pause(), self.patience());
        let prober = match which {
            Which::Udp => self.udp.as_mut(),
            Which::Echo => self.echo.as_mut(),
        };
        let Some(prober) = prober else { return Ok(Round::default()) };
        let round = prober
            .round(packets, pause, patience, end, self.stop)
            .map_err(|source| PathError::socket("send a probe", source))?;
        self.heed()?;
        if self.prober(which).is_some_and(|prober| prober.refused_here > 0) {
            note_once(&mut self.notes, REFUSED_HERE.to_owned());
        }
        for shot in round.shots.iter().chain(&round.late) {
            self.learn(shot);
        }
        Ok(round)
    }

    /// Hears what comes late: a router's message may come after the answer that contradicts it.
    pub(super) fn listen(&mut self) -> Result<(), PathError> {
        self.wait(LATE)?;
        let small = [probe(self.small())];
        let answered = [(Which::Udp, self.is_udp_answered), (Which::Echo, self.is_echo_answered)];
        for (which, _) in answered.into_iter().filter(|(_, is_answered)| *is_answered) {
            self.round(which, &small, RoundEnd::AllAnswered)?;
        }
        Ok(())
    }

    pub(super) const fn prober(&self, which: Which) -> Option<&Prober> {
        match which {
            Which::Udp => self.udp.as_ref(),
            Which::Echo => self.echo.as_ref(),
        }
    }

    /// Notes how long an answer took. A message "unreachable" of a near router is none of how long a farther host takes.
    fn learn(&mut self, shot: &Shot) {
        if let Some(unreachable) = Unreachable::of(shot) {
            self.unreachable.get_or_insert(unreachable);
            self.rejected.entry(shot.probe.size).or_insert(unreachable);
        }
        if let Some(answer) = shot.arrival() {
            self.longest_trip = self.longest_trip.max(Some(answer.round_trip));
            if let Some(refusal) = shot.refusal {
                self.contradicted.entry(shot.probe.size).or_insert(refusal);
            }
        } else if let Some(refusal) = shot.refusal {
            self.heard.entry(shot.probe.size).or_insert(refusal);
        }
    }

    /// How long an answer is waited for.
    pub(super) fn patience(&self) -> Duration {
        self.longest_trip.map_or(FIRST_PATIENCE, |longest| longest * 2 + MORE_PATIENCE)
    }

    fn pause(&self) -> Duration {
        let [least, most] = PAUSES;
        self.longest_trip.map_or(most, |longest| (longest / 16).clamp(least, most))
    }

    /// Waits.
    pub(super) fn wait(&self, time: Duration) -> Result<(), PathError> {
        let is_done = sleeps(time, || self.stop.load(Ordering::Relaxed));
        if is_done { Ok(()) } else { Err(PathError::Stopped) }
    }

    /// Bytes of IP packets that were sent.
    pub(super) fn sent_bytes(&self) -> u64 {
        let of = |prober: &Option<Prober>| prober.as_ref().map_or(0, |prober| prober.sent_bytes);
        of(&self.udp) + of(&self.echo) + self.other_bytes
    }

    /// Whether time and bytes are left for more.
    pub(super) fn has_budget(&self) -> bool {
        self.budget.has_left(self.sent_bytes())
    }

    /// Whether time and bytes are left to search, and for what comes after it.
    pub(super) fn has_budget_to_search(&self) -> bool {
        self.budget.has_left_to_search(self.sent_bytes())
    }

    /// Small packets, as every host takes them.
    pub(super) fn small(&self) -> u32 {
        let least = |prober: &Option<Prober>| prober.as_ref().map_or(0, Prober::least_size);
        least(&self.udp).max(least(&self.echo))
    }

    /// The numbers of the routers, by their addresses.
    pub(super) fn numbers(&self) -> BTreeMap<IpAddr, u8> {
        let numbered = self.hops.iter().zip(1_u8..);
        numbered.filter_map(|(hop, number)| Some((hop.address?, number))).collect()
    }
}

/// A probe to the destination.
pub(super) const fn probe(size: u32) -> Probe {
    Probe { size, hop: None }
}
