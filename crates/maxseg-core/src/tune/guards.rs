//! What must not be set, and what has to be said of it, as functions of facts (`docs/tune.md` has each with its reason).

mod value;

use std::fmt;

use super::facts::{Facts, LargerRoute, LearntPathMtu, Session};
use super::hazards::{loses, loses_of_v6, may_cut_off};
use super::plan::{Step, Value};
use super::prefix::Prefix;
use super::target::{RouteMetricName, Target};
use crate::framing::{Headers, IpVersion};
use crate::similar::closest;
use crate::tunables::ValueError;
use value::of_value;

/// What the user has allowed beyond the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowed {
    /// A route's MTU that routers' messages do not lower, and that clears DF (`--lock`).
    pub lock: bool,
    /// A route's MTU on a host that forwards (`--i-am-router`).
    pub router: bool,
    /// A change below this session, which ends by itself unless it is confirmed (`--confirm`).
    pub session: bool,
}

/// Why a step is not made.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The value is not of the kind that the target takes.
    NotAValue {
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// The catalogue says that it does not take the value.
    NotTaken(ValueError),
    /// The value is outside its range.
    OutOfRange {
        /// What was given.
        value: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// Where the least is from.
        source: String,
    },
    /// The MTU is above one that the kernel has learnt, and a change of the route would make it forget.
    AboveLearnt(LearntPathMtu),
    /// A change of the route would make the kernel forget what it has learnt.
    ForgetsLearnt(LearntPathMtu),
    /// The MTU of a route is above that of an interface that it leads through: the kernel goes by the route's, and the interface sends
    /// no packet of that size.
    AboveInterface {
        /// The interface.
        name: String,
        /// Its MTU, bytes.
        mtu: u32,
    },
    /// The MTU of an interface is below that of routes that lead through it, which the kernel does not lower.
    BelowRoutes(Vec<LargerRoute>),
    /// A lock was given without the option.
    Lock {
        /// Whether the route is one of IPv6.
        is_v6: bool,
    },
    /// The host forwards.
    Forwards,
    /// It is below the session over which this command runs.
    OwnSession,
    /// Whether it cuts off that session is not known.
    MayCutOff,
    /// What it changes beside its value would not be restored.
    Loses(&'static str),
    /// The kernel has no such congestion control.
    NoCongestionControl {
        /// What was given.
        name: String,
        /// What there is.
        there: Vec<String>,
    },
    /// Only the machine's first network namespace may have this congestion control as its default.
    NotAllowedHere {
        /// What was given.
        name: String,
        /// What is allowed.
        allowed: Vec<String>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAValue { value, takes } => write!(f, "it takes {takes}, not `{value}`"),
            Self::NotTaken(error) => write!(f, "{error}"),
            Self::OutOfRange { value, least, most, source } => {
                write!(f, "{value} is outside {least} to {most} ({source})")
            }
            Self::AboveLearnt(learnt) => write!(
                f,
                "the kernel has learnt a path MTU of {} to {} (for another {:.0} s), and a larger \
                 one on the route makes it forget that",
                learnt.mtu, learnt.to, learnt.expires_s
            ),
            Self::ForgetsLearnt(learnt) => write!(
                f,
                "the kernel has learnt a path MTU of {} to {} (for another {:.0} s), and forgets it \
                 when the route is replaced",
                learnt.mtu, learnt.to, learnt.expires_s
            ),
            Self::AboveInterface { name, mtu } => write!(
                f,
                "{name}, by which it leads, has an MTU of {mtu}: larger segments would not be sent, and \
                 connections would stall"
            ),
            Self::BelowRoutes(routes) => {
                let sizes = routes.iter().map(|route| format!("{} ({})", route.mtu, route.name));
                let sizes: Vec<String> = sizes.collect();
                write!(
                    f,
                    "routes by it have a larger MTU, which the kernel does not lower: {}; larger segments would not be \
                     sent, and connections would stall",
                    sizes.join(", ")
                )
            }
            Self::Lock { is_v6: false } => f.write_str(
                "a locked MTU clears DF and ignores what routers say: packets may be fragmented",
            ),
            Self::Lock { is_v6: true } => f.write_str(
                "a locked MTU of IPv6 does not follow that of its interface: where that is lowered, larger packets \
                 are not sent",
            ),
            Self::Forwards => f.write_str(
                "this host forwards packets, and an MTU on its route shrinks other hosts' \
                 connections too",
            ),
            Self::OwnSession => {
                f.write_str("it reaches the connection over which this session runs")
            }
            Self::MayCutOff => f.write_str(
                "what it does to the connection over which this session runs is not known here",
            ),
            Self::Loses(what) => write!(f, "undoing would not restore all of it: {what}"),
            Self::NoCongestionControl { name, .. } => {
                write!(f, "this kernel has no congestion control `{name}`, and no module of it")
            }
            Self::NotAllowedHere { name, allowed } => write!(
                f,
                "a network namespace other than the machine's first takes what \
                 net.ipv4.tcp_allowed_congestion_control has ({}), and {name} is not there",
                allowed.join(", ")
            ),
        }
    }
}

impl Refusal {
    /// What to do instead.
    pub fn hint(&self, step: &Step) -> String {
        match self {
            Self::NotAValue { .. } | Self::NotTaken(_) => format!("`maxseg tune show {}` lists the values it takes", step.target),
            Self::OutOfRange { value, least, most, .. } => {
                format!("for example --set {}={}", step.target, value.min(most).max(least))
            }
            Self::AboveLearnt(learnt) => format!(
                "--set {}={} is no lower than that path; or wait until it has expired: ip route get {}",
                step.target, learnt.mtu, learnt.to
            ),
            Self::ForgetsLearnt(learnt) => format!(
                "set the MTU as well: --set {}={}; or wait until it has expired: ip route get {}",
                mtu_of(&step.target),
                learnt.mtu,
                learnt.to
            ),
            Self::AboveInterface { name, mtu } => format!(
                "--set {}={mtu}; or raise that one as well: --set interface.{name}.mtu={}",
                step.target,
                step.after.size().unwrap_or_default()
            ),
            Self::BelowRoutes(routes) => lower_as_well(routes, &step.after),
            Self::Lock { .. } => format!(
                "without a lock: --set {}={}; if it must be, add --lock",
                step.target,
                step.after.to_string().trim_start_matches("lock ")
            ),
            Self::Forwards => match clamp_for(step) {
                Some(mss) => format!(
                    "a clamp reaches new connections alone: --set clamp.IFACE={mss}; if it must be, add --i-am-router"
                ),
                None => "if it must be, add --i-am-router".to_owned(),
            },
            Self::OwnSession | Self::MayCutOff => {
                "add --confirm 60s: it is undone after that time unless you run `maxseg tune confirm`"
                    .to_owned()
            }
            Self::Loses(_) => {
                format!("without a way back: {}", plain_command(&step.target, &step.after))
            }
            Self::NotAllowedHere { name, allowed } => format!(
                "on the host: sysctl -w net.ipv4.tcp_allowed_congestion_control='{} {name}'; or for a route: \
                 --set route.default.congctl={name}",
                allowed.join(" ")
            ),
            Self::NoCongestionControl { name, there } => {
                match closest(name, there.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", there.join(", ")),
                }
            }
        }
    }
}

/// What lowers routes with their interface; one that no target names has to be lowered by hand.
fn lower_as_well(routes: &[LargerRoute], mtu: &Value) -> String {
    let named: Vec<String> = routes
        .iter()
        .filter_map(|route| route.prefix)
        .map(|prefix| Target::Route { prefix, metric: RouteMetricName::Mtu })
        .map(|target| format!("--set {target}={mtu}"))
        .collect();
    if named.len() == routes.len() {
        return format!("lower them as well: {}", named.join(" "));
    }
    format!("lower them first, by ip-route(8): `ip route change ROUTE mtu {mtu}`")
}

/// The MSS that keeps segments within the MTU of a route: packets without headers of IP and TCP. That of the routes themselves (`rt mtu`) is the
/// one that they have now.
pub(super) fn clamp_for(step: &Step) -> Option<u64> {
    let Target::Route { prefix, .. } = step.target else { return None };
    let ip = if prefix.is_v6() { IpVersion::V6 } else { IpVersion::V4 };
    step.after.size()?.checked_sub(Headers::plain(ip).bytes().get())
}

fn plain_command(target: &Target, value: &Value) -> String {
    if let Target::InterfaceMtu(name) = target {
        return format!("ip link set dev {name} mtu {value}");
    }
    let name = target.to_string();
    // Some have several numbers.
    format!("sysctl -w '{}={value}'", name.trim_start_matches("sysctl."))
}

fn mtu_of(target: &Target) -> Target {
    if let Target::Route { prefix, .. } = target {
        Target::Route { prefix: *prefix, metric: RouteMetricName::Mtu }
    } else {
        target.clone()
    }
}

/// Why a step must not be made; nothing where it may.
pub fn refusals(step: &Step, facts: &Facts, allowed: Allowed) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = of_value(step, facts).into_iter().collect();
    if facts.session == Session::Reached && !allowed.session {
        refusals.push(Refusal::OwnSession);
    }
    let has_session = facts.session != Session::None;
    if has_session && may_cut_off(&step.target) && !allowed.session {
        refusals.push(Refusal::MayCutOff);
    }
    refusals.extend(loses(&step.target, &step.after).map(Refusal::Loses));
    refusals.extend(facts.v6_loss.map(loses_of_v6).map(Refusal::Loses));
    refusals.extend(of_congestion_control(step, facts));
    refusals.extend(of_routes(step, facts));
    if let Target::Route { prefix, metric } = &step.target {
        let is_mtu = *metric == RouteMetricName::Mtu;
        if is_mtu && step.after.is_locked() && !allowed.lock {
            refusals.push(Refusal::Lock { is_v6: prefix.is_v6() });
        }
        if is_mtu && facts.forwards && !allowed.router {
            refusals.push(Refusal::Forwards);
        }
        if is_mtu {
            refusals.extend(of_interfaces(&step.after, facts));
        }
        refusals.extend(of_learnt(*prefix, *metric, &step.after, facts));
    }
    refusals
}

/// A name that nobody knows would be refused by the kernel in the middle of a plan.
fn of_congestion_control(step: &Step, facts: &Facts) -> Option<Refusal> {
    let there = facts.congestion_controls.as_ref()?;
    let name = step.after.text().filter(|_| step.target.is_congestion_control())?;
    let name = name.strip_prefix("lock ").unwrap_or(name);
    let is_in = |names: &[String]| names.iter().any(|one| one == name);
    if !is_in(there) {
        return Some(Refusal::NoCongestionControl { name: name.to_owned(), there: there.clone() });
    }
    let allowed = facts.allowed_congestion_controls.as_ref().filter(|allowed| !is_in(allowed))?;
    Some(Refusal::NotAllowedHere { name: name.to_owned(), allowed: allowed.clone() })
}

/// A metric of a route is not bounded by the interface (`ip_dst_mtu_maybe_forward`, `ip6_mtu`).
fn of_interfaces(after: &Value, facts: &Facts) -> Option<Refusal> {
    let (name, mtu) = facts.out.iter().min_by_key(|(_, mtu)| *mtu)?;
    let is_above = after.size().is_some_and(|size| size > u64::from(*mtu));
    is_above.then(|| Refusal::AboveInterface { name: name.clone(), mtu: *mtu })
}

/// The other way round: the kernel lowers routes of IPv6 with their interface (`rt6_mtu_change_route`), and none of IPv4.
fn of_routes(step: &Step, facts: &Facts) -> Option<Refusal> {
    let is_lowered = matches!(step.target, Target::InterfaceMtu(_));
    (is_lowered && !facts.larger_routes.is_empty())
        .then(|| Refusal::BelowRoutes(facts.larger_routes.clone()))
}

/// A replaced route forgets what was learnt of it (measured on 6.18): a lower or equal MTU makes up for it.
fn of_learnt(
    prefix: Prefix,
    metric: RouteMetricName,
    after: &Value,
    facts: &Facts,
) -> Option<Refusal> {
    let within = facts.learnt.iter().filter(|learnt| prefix.includes(learnt.to));
    let lowest = within.min_by_key(|learnt| learnt.mtu)?;
    if metric != RouteMetricName::Mtu {
        return Some(Refusal::ForgetsLearnt(*lowest));
    }
    match after.size() {
        Some(mtu) if mtu <= u64::from(lowest.mtu) => None,
        Some(_) => Some(Refusal::AboveLearnt(*lowest)),
        None => Some(Refusal::ForgetsLearnt(*lowest)),
    }
}
