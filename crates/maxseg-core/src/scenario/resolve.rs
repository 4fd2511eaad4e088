//! From what a file says to a complete, checked scenario.

use super::host::check_hosts_keep_up;
use super::problem::{Problem, problem};
use super::resolve_flow::{check_flows_fit, flow};
use super::resolve_link::{LONGEST_ROUND_TRIP, LinkKeys, check_link};
use super::spec::{HopEntry, ReverseEntry, ScenarioSpec, UntilEntry};
use super::{End, Flow, FlowKind, HopRange, Scenario, Until};
use crate::errors::{Clock, ErrorModel, ErrorsSpec, Per, Schedule};
use crate::framing::IpVersion;
use crate::mss::linux::MAXSEG;
use crate::path::{HopSpec, LinkSpec, Path, QueueLimit};
use crate::settings::{CongestionName, RtoRuleName, Settings, SettingsSpec, stack};
use crate::units::{Bytes, Mtu, Time};

const DEFAULT_QUEUE: QueueLimit = QueueLimit::Packets(100);
const DEFAULT_TIME: Time = Time::from_secs(60);
/// Where a transfer of so many bytes is given up.
const LONGEST_TRANSFER: Time = Time::from_secs(24 * 3600);

impl ScenarioSpec {
    /// The scenario that this describes.
    pub(super) fn resolve(&self) -> Result<Scenario, Problem> {
        let ip = self.ip.0;
        let path = self.path()?;
        let scenario = Scenario {
            name: self.name.clone().unwrap_or_default(),
            seed: self.seed,
            ip,
            flows: self.flows(ip, &path)?,
            path,
            sender: settings("sender", &self.sender)?,
            receiver: settings("receiver", &self.receiver)?,
            until: until(self.until)?,
            lab: self.lab,
        };
        check_flows_fit(&scenario)?;
        check_windows_open(&scenario)?;
        check_hosts_keep_up(&scenario)?;
        Ok(scenario)
    }

    fn path(&self) -> Result<Path, Problem> {
        if self.hop.is_empty() {
            let hint = "add [[hop]] with rate = \"10 Mbit/s\" and delay = \"20 ms\"";
            return Err(problem("hop", "the path has no hop", hint));
        }
        let mut hops: Vec<HopSpec> = Vec::with_capacity(self.hop.len());
        for (index, entry) in self.hop.iter().enumerate() {
            let hop = hop(index, entry, self.ip.0)?;
            if hops.iter().any(|earlier| earlier.name == hop.name) {
                let what = format!("two hops are called `{}`", hop.name);
                let hint = format!("give each its own name, such as {}-2", hop.name);
                return Err(problem(format!("hop.{index}.name"), what, hint));
            }
            hops.push(hop);
        }
        let path = Path { hops };
        if path.propagation_rtt() > LONGEST_ROUND_TRIP {
            let what = format!(
                "a round trip of {} is beyond {LONGEST_ROUND_TRIP}",
                path.propagation_rtt()
            );
            return Err(problem("hop", what, "make the delays shorter, such as delay = \"20 ms\""));
        }
        Ok(path)
    }

    fn flows(&self, ip: IpVersion, path: &Path) -> Result<Vec<Flow>, Problem> {
        if self.flow.is_empty() {
            return Ok(vec![Flow {
                kind: FlowKind::Bulk,
                from: End::Sender,
                hops: HopRange::all(path),
                start: Time::ZERO,
                stop: Time::NEVER,
            }]);
        }
        self.flow.iter().enumerate().map(|(index, entry)| flow(index, entry, ip, path)).collect()
    }
}

fn hop(index: usize, entry: &HopEntry, ip: IpVersion) -> Result<HopSpec, Problem> {
    let name = entry.name.clone().unwrap_or_else(|| index.to_string());
    let awkward = name.is_empty() || name.contains(['.', '*', '=']) || name.trim() != name;
    if entry.name.is_some() && (awkward || name.parse::<usize>().is_ok()) {
        let hint = "a name is a word such as radio: keys like hop.radio.rate must find it";
        let what = format!("`{name}` cannot name a hop");
        return Err(problem(format!("hop.{index}.name"), what, hint));
    }
    let forward = LinkSpec {
        rate: entry.rate,
        delay: entry.delay,
        mtu: entry.mtu.unwrap_or(Mtu::ETHERNET),
        tunnel: entry.tunnel.and_then(|tunnel| tunnel.0),
        framing: entry.framing.unwrap_or_default(),
        frame: entry.frame.map(|size| size.0),
        pad: entry.pad.unwrap_or(false),
        queue: entry.queue.map_or(DEFAULT_QUEUE, |queue| queue.limit),
        discipline: entry.queue.map(|queue| queue.discipline).unwrap_or_default(),
        ..LinkSpec::plain(entry.rate, entry.delay)
    };
    let forward = LinkKeys::from(entry).over(forward);
    let errors = |key: String, link: LinkSpec, spec: Option<&ErrorsSpec>| match spec {
        None => Ok(link),
        Some(spec) => {
            let errors = spec.resolve().map_err(|error| {
                let key = format!("{key}.{}", error.key);
                problem(key.trim_end_matches('.'), error.what, error.hint)
            })?;
            if link.frame.is_none() && errors.entries().iter().any(|(_, model)| per_frame(model)) {
                let what = "errors per frame need to know the frame";
                return Err(problem(
                    key,
                    what,
                    "add frame = 128 (bytes) to the hop, or use per = \"packet\"",
                ));
            }
            Ok(LinkSpec { errors, ..link })
        }
    };
    let backward = entry.reverse.clone().unwrap_or_default();
    let reverse = differing(&forward, &backward);
    let forward = inside_tunnel(&format!("hop.{index}"), forward, ip)?;
    let reverse = inside_tunnel(&format!("hop.{index}.reverse"), reverse, ip)?;
    let forward = errors(format!("hop.{index}.errors"), forward, entry.errors.as_ref())?;
    let reverse = errors(format!("hop.{index}.reverse.errors"), reverse, backward.errors.as_ref())?;
    check_link(&format!("hop.{index}"), &forward)?;
    check_link(&format!("hop.{index}.reverse"), &reverse)?;
    Ok(HopSpec { name, forward, reverse })
}

/// `link` but for what `entry` says.
fn differing(link: &LinkSpec, entry: &ReverseEntry) -> LinkSpec {
    LinkSpec {
        rate: entry.rate.unwrap_or(link.rate),
        delay: entry.delay.unwrap_or(link.delay),
        mtu: entry.mtu.unwrap_or(link.mtu),
        tunnel: link.tunnel,
        framing: entry.framing.unwrap_or(link.framing),
        frame: entry.frame.map_or(link.frame, |size| Some(size.0)),
        pad: entry.pad.unwrap_or(link.pad),
        queue: entry.queue.map_or(link.queue, |queue| queue.limit),
        discipline: entry.queue.map_or(link.discipline, |queue| queue.discipline),
        errors: Schedule::default(),
        ..LinkKeys::from(entry).over(link.clone())
    }
}

/// The link as its inner packets see it: the file's MTU is the outer packet's.
fn inside_tunnel(key: &str, link: LinkSpec, ip: IpVersion) -> Result<LinkSpec, Problem> {
    let Some(tunnel) = link.tunnel else {
        check_carries(key, &link, link.mtu, ip)?;
        return Ok(link);
    };
    check_carries(key, &link, link.mtu, tunnel.outer)?;
    if let Some(carried) = tunnel.carries().filter(|carried| *carried != ip) {
        let what = format!(
            "this tunnel carries IPv{}, and the scenario's packets are IPv{}",
            carried.number(),
            ip.number()
        );
        let hint = format!("write ip = {}, or another tunnel", carried.number());
        return Err(problem(format!("{key}.tunnel"), what, hint));
    }
    let Some(mtu) = tunnel.largest_inner(link.mtu) else {
        let what = format!(
            "of an MTU of {} the tunnel leaves less than the {} bytes that IP must carry",
            link.mtu,
            Mtu::MIN
        );
        return Err(problem(format!("{key}.mtu"), what, "write mtu = 1500"));
    };
    check_carries(key, &link, mtu, ip)?;
    Ok(LinkSpec { mtu, ..link })
}

/// IPv6 needs an MTU of [`Mtu::IPV6_MIN`] bytes on every link, inside a tunnel as well as below it.
fn check_carries(key: &str, link: &LinkSpec, mtu: Mtu, ip: IpVersion) -> Result<(), Problem> {
    if ip == IpVersion::V4 || mtu.get() >= Mtu::IPV6_MIN {
        return Ok(());
    }
    let shown = if mtu == link.mtu {
        format!("an MTU of {mtu}")
    } else {
        format!("an MTU of {}, of which the tunnel leaves {mtu},", link.mtu)
    };
    let least = Mtu::IPV6_MIN;
    let what = format!("{shown} is below the {least} bytes that IPv6 needs (RFC 8200 §5)");
    let hint = if mtu == link.mtu {
        format!("write mtu = {least} or more, or use IPv4")
    } else {
        format!("write mtu = {} or more", least + link.mtu.get() - mtu.get())
    };
    Err(problem(format!("{key}.mtu"), what, hint))
}

fn per_frame(model: &ErrorModel) -> bool {
    match model {
        ErrorModel::None | ErrorModel::List { .. } => false,
        ErrorModel::Uniform { per, .. } => *per == Per::Frame,
        ErrorModel::GilbertElliott(chain) => {
            matches!(chain.clock, Clock::Units { per: Per::Frame, .. })
        }
    }
}

fn settings(end: &str, spec: &SettingsSpec) -> Result<Settings, Problem> {
    let name = spec.stack.as_deref().unwrap_or(crate::settings::DEFAULT_STACK);
    let base = stack(name)
        .map_err(|error| problem(format!("{end}.stack"), error.to_string(), error.hint()))?;
    refuse_what_has_no_effect(end, spec, &base.settings)?;
    check_maxseg(end, spec, &base.settings)?;
    spec.over(&base.settings).complete().map_err(|error| {
        problem(format!("{end}.{}", error.key()), error.to_string(), error.hint(name))
    })
}

/// A key that the other settings make meaningless is a mistake; what a stack brings along is not.
fn refuse_what_has_no_effect(
    end: &str,
    spec: &SettingsSpec,
    base: &SettingsSpec,
) -> Result<(), Problem> {
    let whole = spec.over(base);
    refuse_mixed_stacks(end, spec, base, &whole)?;
    if spec.ns2.is_some() && whole.congestion != Some(CongestionName::Ns2Reno) {
        let hint = "write congestion = \"ns2-reno\", or take it out";
        return Err(problem(
            format!("{end}.ns2"),
            "`ns2` goes with ns-2's congestion control",
            hint,
        ));
    }
    let rto = spec.rto.unwrap_or_default();
    let rule = whole.rto.and_then(|rto| rto.rule);
    let known: &[&str] = match rule {
        Some(RtoRuleName::Rfc6298) => &["granularity"],
        Some(RtoRuleName::Ticks) => &["tick", "phase"],
        Some(RtoRuleName::Linux) => &["tick"],
        None => return Ok(()),
    };
    let given = [
        ("granularity", rto.granularity.is_some()),
        ("tick", rto.tick.is_some()),
        ("phase", rto.phase.is_some()),
    ];
    match given.iter().find(|(key, given)| *given && !known.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let what = format!("`{key}` means nothing to this rule of the timer");
            Err(problem(
                format!("{end}.rto.{key}"),
                what,
                "rules are rfc6298 (granularity), ticks (tick, phase) and linux (tick)",
            ))
        }
    }
}

/// Keys of one stack upon another.
fn refuse_mixed_stacks(
    end: &str,
    spec: &SettingsSpec,
    base: &SettingsSpec,
    whole: &SettingsSpec,
) -> Result<(), Problem> {
    if base.linux.is_some() && whole.congestion == Some(CongestionName::Ns2Reno) {
        return Err(problem(
            format!("{end}.congestion"),
            "Linux's own TCP has no `ns2-reno`",
            "write stack = \"ns2-reno\", or congestion = \"reno\"",
        ));
    }
    if base.linux.is_none() && spec.linux.is_some() {
        return Err(problem(
            format!("{end}.linux"),
            "keys under `linux` go with the stack `linux`",
            "write stack = \"linux\", or take them out",
        ));
    }
    Ok(())
}

/// A segment size that a socket of Linux does not take (`TCP_MAXSEG` in `do_tcp_setsockopt`, `net/ipv4/tcp.c`).
fn check_maxseg(end: &str, spec: &SettingsSpec, base: &SettingsSpec) -> Result<(), Problem> {
    let (least, most) = (MAXSEG.start(), MAXSEG.end());
    let asked = spec.mss.or(base.mss).map(|mss| mss.bytes().get());
    let Some(mss) = asked.filter(|mss| base.linux.is_some() && !MAXSEG.contains(mss)) else {
        return Ok(());
    };
    let bound = if mss < *least { format!("{least} or more") } else { format!("{most} or less") };
    Err(problem(
        format!("{end}.mss"),
        format!("Linux's TCP_MAXSEG takes {least} to {most} bytes, and {mss} is asked for"),
        format!("write mss = {bound}, or stack = \"rfc\""),
    ))
}

/// A window that its header field rounds down to nothing lets nothing through.
fn check_windows_open(scenario: &Scenario) -> Result<(), Problem> {
    for flow in &scenario.ways_of_data() {
        let mss = scenario.mss(flow).unbound.bytes();
        let (end, receiver) = match flow.from {
            End::Sender => ("receiver", &scenario.receiver),
            End::Receiver => ("sender", &scenario.sender),
        };
        if receiver.offered_window(mss) == Bytes::ZERO {
            let what = "with this scale the window is rounded down to 0 bytes";
            return Err(problem(
                format!("{end}.window_scale"),
                what,
                "write window_scale = \"auto\"",
            ));
        }
    }
    Ok(())
}

fn until(entry: UntilEntry) -> Result<Until, Problem> {
    if entry.time == Some(Time::ZERO) {
        return Err(problem("until.time", "a run of 0 s is no run", "write time = \"60 s\""));
    }
    if entry.bytes == Some(Bytes::ZERO) {
        return Err(problem("until.bytes", "0 bytes are no transfer", "write bytes = \"1 MiB\""));
    }
    let unbounded = if entry.bytes.is_some() { LONGEST_TRANSFER } else { DEFAULT_TIME };
    Ok(Until { time: entry.time.unwrap_or(unbounded), bytes: entry.bytes })
}
