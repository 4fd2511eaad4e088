//! From what is asked for to a plan.

use maxseg_core::tunables::Scope;
use maxseg_core::tune::{
    Allowed, Facts, Plan, Refusal, RouteMetricName, SocketEnds, Step, Target, TargetError, Value,
    refusals, warnings,
};
use maxseg_core::units::Time;
use maxseg_linux::tune::{Peer, facts, made_way, own_names, steps, touched};

use super::zones::numbered;
use crate::error::TuningError;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is to be set, in this order.
    pub wanted: Vec<(Target, Value)>,
    /// Why.
    pub why: Option<String>,
    /// Targets of these with a reason of their own.
    pub reasons: Vec<(Target, String)>,
    /// What is allowed beyond the rules.
    pub allowed: Allowed,
    /// The other end of the connection over which this session runs.
    pub session: Option<Peer>,
}

/// A plan, with what has to be said of each of its steps.
#[derive(Debug, Clone, Default)]
pub struct PreparedPlan {
    /// What is applied.
    pub plan: Plan,
    /// One for each of its steps.
    pub steps: Vec<PlannedStep>,
    /// Targets that have the value already.
    pub unchanged: Vec<Target>,
}

/// What has to be said of a step.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// The step.
    pub step: Step,
    /// How many established connections of this network namespace it reaches; `None` where that cannot be seen here.
    pub connections: Option<usize>,
    /// What to know before.
    pub warnings: Vec<String>,
    /// Where the route that is made for it stays; `None` where none is.
    pub pinned: Option<String>,
}

impl PlannedStep {
    /// Whether it reaches connections of other network namespaces as well, which are not counted.
    pub fn counts_one_namespace(&self) -> bool {
        self.connections.is_some() && self.step.target.scope() == Scope::Machine
    }
}

/// Reads `TARGET=VALUE`.
///
/// # Errors
/// It is not of that form, or names nothing that can be set.
pub fn wanted(assignment: &str) -> Result<(Target, Value), TuningError> {
    let (target, value) = assignment
        .split_once('=')
        .ok_or_else(|| TuningError::NotAnAssignment(assignment.to_owned()))?;
    let target = target.trim();
    let target: Target =
        if target.starts_with("socket.") { numbered(target)?.parse()? } else { target.parse()? };
    if matches!(target, Target::File(_)) {
        // `tune persist` alone writes files.
        return Err(TargetError::Kind(target.to_string()).into());
    }
    let value = normal(&target, value);
    if value == Value::Text(String::new()) {
        return Err(TuningError::NotAnAssignment(assignment.to_owned()));
    }
    Ok((target, value))
}

/// Milliseconds with a unit, as ip-route(8) takes a time: `300ms`, `1s`.
fn whole_millis(text: &str) -> Option<u64> {
    const NS_PER_MS: u64 = 1_000_000;
    let time: Time = text.parse().ok()?;
    time.as_nanos().is_multiple_of(NS_PER_MS).then(|| time.as_nanos() / NS_PER_MS)
}

/// A value as the kernel tells it: a number without leading zeros.
fn normal(target: &Target, text: &str) -> Value {
    let is_rto_min = matches!(target, Target::Route { metric: RouteMetricName::RtoMin, .. });
    if let Some(ms) = whole_millis(text).filter(|_| is_rto_min) {
        return Value::Text(ms.to_string());
    }
    let value = Value::of(text);
    let is_number = match target {
        Target::Route { metric, .. } => *metric != RouteMetricName::CongestionControl,
        Target::InterfaceMtu(_) => true,
        Target::Sysctl(_) | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => false,
    };
    match value.number().filter(|_| is_number) {
        Some(number) => Value::Text(number.to_string()),
        None => value,
    }
}

/// Reads `OPTION=VALUE` of a connection.
///
/// # Errors
/// It is not of that form, or names no option that can be set while the connection runs.
pub fn wanted_of_connection(
    connection: &str,
    assignment: &str,
) -> Result<(Target, Value), TuningError> {
    let ends: SocketEnds = numbered(connection)?.parse()?;
    let option = assignment.split_once('=').map_or(assignment, |(option, _)| option).trim();
    if ["mss", "maxseg", "segment_size"].contains(&option.to_ascii_lowercase().as_str()) {
        return Err(TuningError::SegmentSize { remote: ends.remote.ip().to_canonical() });
    }
    wanted(&format!("socket.{ends}.{assignment}"))
}

/// Looks at this host, and makes a plan of what is asked for. Nothing is changed.
///
/// # Errors
/// There is no such thing here, or a step must not be made.
pub fn prepare(request: &Request) -> Result<PreparedPlan, TuningError> {
    let request = &Request { wanted: own_names(&request.wanted), ..request.clone() };
    request.wanted.iter().try_for_each(|(target, value)| refuse_option(target, value))?;
    let all = Plan {
        steps: steps(&request.wanted)?,
        why: request.why.clone(),
        reasons: reasons(&request.reasons),
    };
    if let Some(target) = all.repeated() {
        return Err(TuningError::Repeated(target.clone()));
    }
    let so = all.steps.iter().filter(|step| step.before == step.after);
    let unchanged = so.map(|step| step.target.clone()).collect();
    let plan = all.without_what_is_so();
    // What was asked for is judged first: what goes with it is refused for its sake.
    let (asked, others): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|step| is_asked_for(step, request));
    for step in asked.into_iter().chain(others) {
        judge(step, &plan, request)?;
    }
    let steps = plan.steps.iter().map(|step| planned(step, &plan, request));
    Ok(PreparedPlan { steps: steps.collect::<Result<_, _>>()?, plan, unchanged })
}

/// Refuses an option of a socket by the value that was asked for: the kernel rounds some, and what it makes of them is judged later.
fn refuse_option(target: &Target, value: &Value) -> Result<(), TuningError> {
    let is_option = matches!(target, Target::Socket { .. });
    let known = target.tunable().filter(|_| is_option);
    let Some(Err(error)) = known.zip(value.text()).map(|(known, text)| known.check(text)) else {
        return Ok(());
    };
    let (target, after) = (target.clone(), value.clone());
    let step = Box::new(Step { target, before: Value::Unset, after, image: None });
    Err(TuningError::Refused { step, refusal: Refusal::NotTaken(error) })
}

/// What the kernel makes of a number that it does not keep as it is: it counts timers in ticks, and buffers twice.
fn rounded(step: &Step, request: &Request) -> Option<String> {
    let (_, asked) = request.wanted.iter().find(|(target, _)| *target == step.target)?;
    let (asked, after) = (asked.number()?, step.after.number()?);
    let is_option = matches!(step.target, Target::Socket { .. });
    let unit = step.target.tunable().map_or("", |tunable| tunable.unit.after_number());
    (is_option && asked != after)
        .then(|| format!("the kernel makes {after}{unit} of {asked}{unit}"))
}

/// Reasons of targets by the names that the kernel has for interfaces.
fn reasons(of: &[(Target, String)]) -> Vec<(Target, String)> {
    let named = own_names(&of.iter().map(|(it, _)| (it.clone(), Value::Unset)).collect::<Vec<_>>());
    named.into_iter().zip(of).map(|((target, _), (_, why))| (target, why.clone())).collect()
}

/// Whether a step is what was asked for; else it goes with an interface that is lowered.
fn is_asked_for(step: &Step, request: &Request) -> bool {
    request.wanted.iter().any(|(target, _)| *target == step.target)
}

/// Refuses a step that must not be made.
fn judge(step: &Step, plan: &Plan, request: &Request) -> Result<(), TuningError> {
    let facts = facts_of(step, plan, request)?;
    // What the kernel lowers with an interface is lowered whether it is a step or not.
    let router = request.allowed.router || !is_asked_for(step, request);
    let allowed = Allowed { router, ..request.allowed };
    let Some(refusal) = refusals(step, &facts, allowed).into_iter().next() else {
        return Ok(());
    };
    let is_interface = |other: &&Step| {
        is_asked_for(other, request) && matches!(other.target, Target::InterfaceMtu(_))
    };
    let with = plan.steps.iter().find(is_interface).filter(|_| !is_asked_for(step, request));
    let (step, with) = (Box::new(step.clone()), with.map(|with| Box::new(with.clone())));
    Err(match with {
        Some(with) => TuningError::RefusedWith { with, step, refusal: Box::new(refusal) },
        None => TuningError::Refused { step, refusal },
    })
}

/// What is known of this host for a step, once all of the plan is made.
fn facts_of(step: &Step, plan: &Plan, request: &Request) -> Result<Facts, TuningError> {
    let mut facts = facts(step, request.session.as_ref())?;
    // A step of the same plan that lowers the MTU keeps what was learnt from being exceeded.
    let lowers = |learnt: &maxseg_core::tune::LearntPathMtu| {
        plan.steps.iter().any(|other| {
            matches!(other.target, Target::Route { metric: RouteMetricName::Mtu, .. })
                && other.target != step.target
                && other.target.shares_a_route_with(&step.target)
                && other.after.number().is_some_and(|mtu| mtu <= u64::from(learnt.mtu))
        })
    };
    facts.learnt.retain(|learnt| !lowers(learnt));
    let sets_advmss = |other: &Step| {
        matches!(other.target, Target::Route { metric: RouteMetricName::Advmss, .. })
            && other.target.shares_a_route_with(&step.target)
    };
    if let Some(other) = plan.steps.iter().find(|other| sets_advmss(other)) {
        facts.advmss = other.after.number().and_then(|mss| u32::try_from(mss).ok());
    }
    // What counts is the MTU of an interface once all of the plan is made.
    for (name, mtu) in &mut facts.out {
        let target = Target::InterfaceMtu(name.clone());
        let of = plan.steps.iter().find(|other| other.target == target);
        let after = of.and_then(|of| u32::try_from(of.after.number()?).ok());
        *mtu = after.unwrap_or(*mtu);
    }
    // A step of the same plan that lowers the route.
    facts.larger_routes.retain(|route| {
        let target =
            route.prefix.map(|prefix| Target::Route { prefix, metric: RouteMetricName::Mtu });
        let of = plan.steps.iter().find(|other| Some(&other.target) == target.as_ref());
        of.is_none_or(|of| of.after.size() > step.after.number())
    });
    Ok(facts)
}

fn planned(step: &Step, plan: &Plan, request: &Request) -> Result<PlannedStep, TuningError> {
    let facts = facts_of(step, plan, request)?;
    // A list that this kernel does not give is no reason not to change anything.
    let connections = touched(&step.target, &plan.steps).unwrap_or_default();
    let mut warnings = warnings(step, &facts);
    if !is_asked_for(step, request) {
        let why = "the kernel lowers it with the interface below it, and would not raise it again: lowered \
                   first, so that undoing restores it";
        warnings.insert(0, why.to_owned());
    }
    warnings.extend(rounded(step, request));
    let pinned = pinned(step);
    warnings.extend(pinned.clone());
    Ok(PlannedStep { step: step.clone(), connections, warnings, pinned })
}

/// What a route that is made does not do: follow the one that it was made from.
fn pinned(step: &Step) -> Option<String> {
    let Target::Route { prefix, .. } = step.target else { return None };
    let way = made_way(prefix).filter(|_| step.before == Value::Absent)?;
    Some(format!(
        "{prefix} goes {way} until this is undone, wherever the wider route leads by then; while `maxseg tune watch` runs, that withdraws it \
         when the wider route leads elsewhere"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_a_route_may_have_its_unit() {
        for (written, ms) in
            [("300", "300"), ("300ms", "300"), ("3.5 s", "3500"), ("1us", "1us"), ("x", "x")]
        {
            let (_, value) = wanted(&format!("route.10.31.0.9/32.rto_min={written}")).unwrap();
            assert_eq!(value, Value::of(ms), "{written}");
        }
    }

    #[test]
    fn an_option_is_refused_by_the_number_that_was_written() {
        for (option, why) in [
            ("rto_min=50", "rto_min = 50 µs is refused: 50 is not in the range 4001 to 200000"),
            ("rto_max=500", "rto_max = 500 ms is refused"),
        ] {
            let wanted = wanted_of_connection("10.0.0.1:80-10.0.0.2:50", option).unwrap();
            let request = Request { wanted: vec![wanted], ..Request::default() };
            let told = prepare(&request).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
        }
    }
}
