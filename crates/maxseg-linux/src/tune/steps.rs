//! What is there now, for each thing that is to be set.

use maxseg_core::similar::closest;
use maxseg_core::tunables::{ChildNamespace, Tunable, retired};
use maxseg_core::tune::{Step, Target, Value, as_written_by_kernel};

use super::interface_order::with_followers;
use super::route::PlannedRoutes;
use super::socket::as_shown;
use super::sysctl as sysctls;
use super::{TuneError, interface, read, route};
use crate::observe::host::{sysctl, sysctl_file};

/// Where a sysctl is set that other namespaces do not have.
const FIRST_NAMESPACE: &str = "the machine's first network namespace alone has it: set it there";

/// The steps that set these targets, with the values before: in their order, but for interfaces that stand on each other and for routes that
/// are made, which come behind the wider ones whose metrics they have. Nothing is changed, and no privilege is needed.
///
/// # Errors
/// There is no such sysctl, interface or route; or a route cannot be replaced by itself.
pub fn steps(wanted: &[(Target, Value)]) -> Result<Vec<Step>, TuneError> {
    let mut routes = PlannedRoutes::default();
    let mut steps: Vec<Step> = Vec::new();
    for (target, after) in routes.wider_first(with_followers(wanted)?)? {
        let step = step(&target, &after, &mut routes)?;
        if let Target::Route { prefix, metric } = target
            && step.before != step.after
        {
            let set = routes.set(prefix, metric, &step.after);
            set.map_err(|error| TuneError::read(&step.target, error))?;
        }
        steps.push(step);
    }
    Ok(steps)
}

/// The same with the names that the kernel has for interfaces, where another one of theirs was given (`altname`).
pub fn own_names(wanted: &[(Target, Value)]) -> Vec<(Target, Value)> {
    let own = |name: &String| interface::own_name(name).unwrap_or_else(|| name.clone());
    let named = |target: &Target| match target {
        Target::InterfaceMtu(name) => Target::InterfaceMtu(own(name)),
        Target::Clamp(name) => Target::Clamp(own(name)),
        Target::Sysctl(_) | Target::Route { .. } | Target::Socket { .. } | Target::File(_) => {
            target.clone()
        }
    };
    wanted.iter().map(|(target, value)| (named(target), value.clone())).collect()
}

fn step(target: &Target, after: &Value, routes: &mut PlannedRoutes) -> Result<Step, TuneError> {
    let reading = if let Target::Route { prefix, metric } = *target {
        routes.read(prefix, metric)?
    } else {
        read(target, None)?
    };
    let (mut before, mut after) = (reading.value, after.clone());
    match target {
        Target::Sysctl(name) if before == Value::Absent => {
            let is_absent = |it: &&Tunable| it.child_namespace == ChildNamespace::Absent;
            let elsewhere = target.tunable().filter(is_absent).map(|_| FIRST_NAMESPACE);
            let (near, retired) = (with_slashes(name), retired(name).or(elsewhere));
            let near = near.or_else(|| sysctls::near(name));
            return Err(TuneError::NoSuch { target: target.clone(), near, retired });
        }
        Target::InterfaceMtu(name) if before == Value::Absent => {
            return Err(no_such_interface(target, name));
        }
        // The rules of one that is gone can be taken away.
        Target::Clamp(name) if before == Value::Unset && interface::index(name).is_none() => {
            return Err(no_such_interface(target, name));
        }
        Target::Route { prefix, .. } => {
            let nowhere = route::nowhere(*prefix);
            let nowhere = nowhere.map_err(|error| TuneError::read(target, error))?;
            // What is to be taken away may be from before that route.
            if let Some(why) = nowhere.filter(|_| after != Value::Unset) {
                return Err(TuneError::Nowhere { prefix: *prefix, why });
            }
            if reading.image.is_none() {
                return Err(TuneError::NoRoute { prefix: *prefix });
            }
            let refused = route::refuses(*prefix);
            let refused = refused.map_err(|error| TuneError::read(target, error))?;
            if let Some(why) = refused {
                return Err(TuneError::NotReplaceable { prefix: *prefix, why });
            }
            let alike = route::alike(*prefix);
            let count = alike.map_err(|error| TuneError::read(target, error))?;
            if count > 1 {
                return Err(TuneError::SeveralRoutes { prefix: *prefix, count });
            }
            // There is nothing to remove from it.
            if before == Value::Absent && after == Value::Unset {
                before = Value::Unset;
            }
        }
        Target::Socket { option, .. } => {
            after = as_shown(*option, &after);
            let known = target.tunable();
            let can_return =
                before.text().zip(known).is_none_or(|(text, it)| it.check(text).is_ok());
            if !can_return {
                return Err(TuneError::NoWayBack { target: target.clone(), before });
            }
        }
        Target::Sysctl(name) => {
            let known = sysctl("net.ipv4.tcp_available_congestion_control").unwrap_or_default();
            let known: Vec<&str> = known.split_whitespace().collect();
            after = as_written_by_kernel(name, &after.keeping(&before), &before, &known);
        }
        Target::InterfaceMtu(_) | Target::Clamp(_) | Target::File(_) => {}
    }
    Ok(Step { target: target.clone(), before, after, image: reading.image })
}

/// The sysctl of an interface whose name has dots, which are slashes in the sysctl's.
fn with_slashes(name: &str) -> Option<String> {
    let dotted = interface::names().into_iter().filter(|interface| interface.contains('.'));
    let mut names = dotted.map(|interface| {
        name.replace(&format!(".{interface}."), &format!(".{}.", interface.replace('.', "/")))
    });
    names.find(|other| other != name && sysctl_file(other).exists())
}

fn no_such_interface(target: &Target, name: &str) -> TuneError {
    let known = interface::names();
    let near = closest(name, known.iter().map(String::as_str)).map(str::to_owned);
    TuneError::NoSuch { target: target.clone(), near, retired: None }
}
