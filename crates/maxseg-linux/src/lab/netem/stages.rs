//! From a link to its qdiscs.

use maxseg_core::errors::{Clock, ErrorModel, GilbertElliott, Per};
use maxseg_core::framing::Framing;
use maxseg_core::path::{Discipline, IcmpPolicy, LinkSpec, QueueLimit};
use maxseg_core::units::{BitsPerSec, Bytes, Probability, Time};

use super::qdisc::{Chain, Kind, Loss, NetemParameters, Parent, Qdisc};
use super::red::red;
use super::shortfall::Shortfall;
use super::size_table::{SizeTable, Sizes};
use super::{Devices, Plan, PlanOptions};

/// More packets than netem ever holds where it only delays: it allocates nothing ahead, and what it has no
/// room for it drops in silence. Below 2³¹, since `tc` prints limits with a sign.
const UNLIMITED: u32 = 1_000_000_000;
/// More than a super-packet counts for: 64 KiB, and the headers of its segments unless they are tiny.
const SUPER_PACKET: u32 = 128 << 10;
/// Where `netem_change` caps the jitter.
const MOST_JITTER: Time = Time::from_nanos(i32::MAX as u64);
/// 100 years, the longest time of a scenario, with which `tc` can still reckon.
const MOST_DELAY: Time = Time::from_secs(100 * 365 * 86_400);

pub(super) fn plan(link: &LinkSpec, place: &Devices, options: &PlanOptions) -> Plan {
    let mut shortfalls = left_out(link);
    let behind = pipe(link, options, &mut shortfalls);
    let copies = link.duplicate > Probability::NEVER;
    let together = matches!(place, Devices::OneInterface { .. });
    // Some kernels refuse a netem that doubles beside another one on the same interface.
    let mut shaper = Line::of(link, options, &mut shortfalls);
    shaper.is_plain &= !(together && copies);
    let stages = shaper.kinds(&mut shortfalls);

    if copies && !together {
        shortfalls.push(Shortfall::CopiesBehindWire);
    }
    let before_wire = behind.as_ref().is_some_and(|pipe| {
        pipe.loss != Loss::None || pipe.jitter > Time::ZERO || pipe.reorder > Probability::NEVER
    });
    if together && before_wire {
        shortfalls.push(Shortfall::NetemBeforeWire);
    }
    let behind = behind.map(Kind::Netem);
    let qdiscs = match place {
        Devices::OneInterface { device } => {
            nested(device, shaper.sizes.table, behind.into_iter().chain(stages))
        }
        Devices::TwoInterfaces { wire, pipe } => {
            let mut qdiscs = nested(wire, shaper.sizes.table, stages);
            qdiscs.extend(nested(pipe, None, behind));
            qdiscs
        }
    };
    Plan { qdiscs, shortfalls }
}

/// Each the only child of the one before, the first on the interface.
fn nested(
    device: &str,
    sizes: Option<SizeTable>,
    kinds: impl IntoIterator<Item = Kind>,
) -> Vec<Qdisc> {
    let numbered = (0u16..).zip(kinds);
    let qdisc = |(above, kind)| Qdisc {
        device: device.to_owned(),
        parent: if above == 0 { Parent::Root } else { Parent::Only(above) },
        handle: above + 1,
        sizes: sizes.filter(|_| above == 0),
        kind,
    };
    numbered.map(qdisc).collect()
}

/// Parts of a link that no qdisc has.
fn left_out(link: &LinkSpec) -> Vec<Shortfall> {
    let parts = [
        (link.arq.is_some(), Shortfall::Arq),
        (link.policer.is_some(), Shortfall::Policer),
        (link.framing == Framing::SerialVj, Shortfall::HeaderCompression),
        (link.icmp == IcmpPolicy::Drop, Shortfall::BlackHole),
    ];
    parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, shortfall)| shortfall).collect()
}

/// netem's part after the wire: errors, delay, reordering, duplicates; `None` where there is none.
fn pipe(
    link: &LinkSpec,
    options: &PlanOptions,
    shortfalls: &mut Vec<Shortfall>,
) -> Option<NetemParameters> {
    let delay = link.delay.min(MOST_DELAY);
    let jitter = link.jitter.min(delay);
    if jitter > MOST_JITTER {
        shortfalls.push(Shortfall::Jitter { asked: jitter, most: MOST_JITTER });
    }
    let mut pipe = NetemParameters {
        delay,
        jitter: jitter.min(MOST_JITTER),
        // Nothing is overtaken by leaving out what takes no time.
        reorder: if delay > Time::ZERO { link.reorder } else { Probability::NEVER },
        duplicate: link.duplicate,
        loss: loss(link, shortfalls),
        ..NetemParameters::idle(UNLIMITED)
    };
    if pipe == NetemParameters::idle(UNLIMITED) {
        return None;
    }
    let losses = pipe.loss != Loss::None;
    let chance = losses
        || pipe.jitter > Time::ZERO
        || pipe.reorder > Probability::NEVER
        || pipe.duplicate > Probability::NEVER;
    if chance {
        pipe.seed = options.seed;
        if options.seed.is_none() {
            shortfalls.push(Shortfall::Unseeded);
        }
    }
    if losses && pipe.duplicate > Probability::NEVER {
        shortfalls.push(Shortfall::CopiesSurvive);
    }
    Some(pipe)
}

fn loss(link: &LinkSpec, shortfalls: &mut Vec<Shortfall>) -> Loss {
    let entries = link.errors.entries();
    if entries.len() > 1 {
        shortfalls.push(Shortfall::ErrorSchedule);
    }
    let Some((_, model)) = entries.first().filter(|(_, model)| model.is_active()) else {
        return Loss::None;
    };
    match model {
        ErrorModel::None => return Loss::None,
        ErrorModel::Uniform { per, rate } => match unit(link, *per) {
            Per::Packet if is_told(*rate) => return Loss::Random(*rate),
            Per::Packet => shortfalls.push(Shortfall::ErrorsTooRare(*rate)),
            per @ (Per::Frame | Per::Byte) => shortfalls.push(Shortfall::ErrorsPer(per)),
        },
        ErrorModel::GilbertElliott(chain) => match chain.clock {
            Clock::Time { .. } => shortfalls.push(Shortfall::ErrorsInTime),
            Clock::Units { per, burst } => match unit(link, per) {
                Per::Packet => return chain_of(chain, burst, shortfalls),
                per @ (Per::Frame | Per::Byte) => shortfalls.push(Shortfall::ErrorsPer(per)),
            },
        },
        ErrorModel::List { .. } => shortfalls.push(Shortfall::ErrorsListed),
    }
    Loss::None
}

/// What an error hits: on a link without frames, a packet is one.
fn unit(link: &LinkSpec, per: Per) -> Per {
    if per == Per::Frame && link.frame.is_none() { Per::Packet } else { per }
}

/// Whether this probability is above zero in netem's 32 bits.
fn is_told(chance: Probability) -> bool {
    chance.get() * f64::from(u32::MAX) >= 0.5
}

fn chain_of(chain: &GilbertElliott, burst: f64, shortfalls: &mut Vec<Shortfall>) -> Loss {
    let (to_bad, to_good) = chain.steps(burst);
    let share = |p: f64| Probability::new(p.clamp(0.0, 1.0)).unwrap_or(Probability::NEVER);
    let chain = Chain {
        to_bad: share(to_bad),
        to_good: share(to_good),
        in_bad: chain.bad,
        in_good: chain.good,
    };
    if is_told(chain.in_good) || (is_told(chain.to_bad) && is_told(chain.in_bad)) {
        return Loss::Chain(chain);
    }
    shortfalls.push(Shortfall::ErrorsTooRare(share(to_bad)));
    Loss::None
}

/// Queue and wire.
struct Line<'a> {
    link: &'a LinkSpec,
    options: &'a PlanOptions,
    sizes: Sizes,
    /// Bytes per second.
    rate: u64,
    /// Whether netem's rate can be it.
    is_plain: bool,
}

impl<'a> Line<'a> {
    fn of(link: &'a LinkSpec, options: &'a PlanOptions, shortfalls: &mut Vec<Shortfall>) -> Self {
        // A size table would count one header for a whole super-packet; without one the kernel
        // counts that of each segment (`qdisc_pkt_len_init`).
        let sizes = if options.as_netem {
            Sizes::of_device(link, options.device_header)
        } else {
            Sizes::of_link(link, options.device_header)
        };
        if sizes.off_by > 0 {
            shortfalls.push(Shortfall::Framing { off_by: sizes.off_by });
        }
        let bits = link.framing.bits_per_byte();
        let rate = (link.rate.get() / bits).max(1);
        let given = rate.saturating_mul(bits);
        if let Some(given) = BitsPerSec::new(given).filter(|given| *given != link.rate) {
            shortfalls.push(Shortfall::Rate { asked: link.rate, given });
        }
        let is_plain = link.burst == Bytes::ZERO
            && link.discipline == Discipline::TailDrop
            && matches!(link.queue, QueueLimit::Packets(_));
        Self { link, options, sizes, rate, is_plain }
    }

    fn kinds(&self, shortfalls: &mut Vec<Shortfall>) -> Vec<Kind> {
        match self.link.queue {
            QueueLimit::Packets(limit) if self.is_plain => {
                vec![Kind::Netem(self.rate_of_netem(limit, shortfalls))]
            }
            QueueLimit::Packets(_) | QueueLimit::Bytes(_) => self.bucket(shortfalls),
        }
    }

    /// netem's limit counts the packet on the wire as well.
    fn rate_of_netem(&self, limit: u32, shortfalls: &mut Vec<Shortfall>) -> NetemParameters {
        let cell = self.link.frame.filter(|frame| self.link.pad && *frame > 0);
        if cell.is_some() && self.options.as_netem {
            shortfalls.push(Shortfall::Padding);
        }
        NetemParameters {
            rate: Some(self.rate),
            cell: cell.filter(|_| !self.options.as_netem),
            ..NetemParameters::idle(limit.saturating_add(1).min(UNLIMITED))
        }
    }

    /// tbf, and who keeps its queue.
    fn bucket(&self, shortfalls: &mut Vec<Shortfall>) -> Vec<Kind> {
        if self.link.pad && self.link.frame.is_some() {
            shortfalls.push(Shortfall::Padding);
        }
        let asked = self.link.burst;
        let late = if asked == Bytes::ZERO { self.options.tick } else { Time::ZERO };
        let in_that_time = u128::from(self.rate) * u128::from(late.as_nanos()) / 1_000_000_000;
        let burst = saturated(in_that_time.max(asked.get().into())).max(self.largest());
        if Bytes::new(burst.into()) != asked {
            shortfalls.push(Shortfall::Bucket { asked, given: Bytes::new(burst.into()) });
        }
        let tbf = |limit| Kind::Tbf { rate: self.rate, burst, limit };
        match (self.child(shortfalls), self.link.queue) {
            // Its own queue is gone with the first child.
            (Some(child), _) => vec![tbf(self.largest()), child],
            (None, queue) => match queue {
                QueueLimit::Bytes(bytes) => vec![tbf(self.room(bytes))],
                QueueLimit::Packets(limit) => {
                    vec![tbf(self.largest()), Kind::Pfifo { limit: self.places(limit) }]
                }
            },
        }
    }

    /// The discipline, where there is one.
    fn child(&self, shortfalls: &mut Vec<Shortfall>) -> Option<Kind> {
        let (link, packet) = (self.link, self.sizes.full_packet);
        match &link.discipline {
            Discipline::TailDrop => None,
            Discipline::Codel(settings) => {
                let limit = match link.queue {
                    QueueLimit::Packets(limit) => limit,
                    QueueLimit::Bytes(asked) => {
                        let given = saturated(asked.get().into()) / packet;
                        shortfalls.push(Shortfall::CodelLimit { asked, given });
                        given
                    }
                };
                Some(Kind::Codel { limit: self.places(limit), settings: *settings, ecn: link.ecn })
            }
            Discipline::Red(settings) => {
                let limit = match link.queue {
                    QueueLimit::Packets(limit) => self.places(limit).saturating_mul(packet),
                    QueueLimit::Bytes(bytes) => self.room(bytes),
                };
                let Some((red, differs)) = red(settings, limit, packet, self.rate, link.ecn) else {
                    shortfalls.push(Shortfall::Red);
                    return None;
                };
                shortfalls.extend(differs);
                Some(Kind::Red(red))
            }
        }
    }

    /// The most that the kernel hands over at once.
    fn largest(&self) -> u32 {
        if self.options.as_netem { SUPER_PACKET } else { self.sizes.full_packet }
    }

    /// Packets that may wait in tbf: who waits for tokens is on the wire of a link without a bucket.
    fn places(&self, limit: u32) -> u32 {
        let on_wire = u32::from(self.link.burst == Bytes::ZERO);
        limit.saturating_add(on_wire).clamp(1, UNLIMITED)
    }

    /// Bytes, likewise.
    fn room(&self, bytes: Bytes) -> u32 {
        let on_wire = if self.link.burst == Bytes::ZERO { self.largest() } else { 0 };
        saturated(bytes.get().into()).saturating_add(on_wire).max(1)
    }
}

fn saturated(n: u128) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
