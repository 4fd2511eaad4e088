//! Later changes that depend on an earlier one, and have to be undone before it.

use maxseg_core::tune::{Entry, History, Place, RouteMetricName, Step, Target, Value};

use super::copies::changed_after_copying;
use super::interface_image::InterfaceImage;
use super::read;
use super::route::{Image, interfaces_of, main_routes, parent, value_of};

/// A later entry that an earlier one cannot be undone without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependent {
    /// It has changed the same target, or a copy of it.
    Target(u64),
    /// It has set the window clamp, which a receive buffer has with it, and restores with it.
    Clamp(u64),
    /// It is another metric of the route that the earlier one has made.
    OnRoute(u64),
    /// It has let a route and its interface have MTUs that do not fit without the earlier one.
    Fits(u64),
}

impl Dependent {
    /// Its number.
    pub(super) const fn id(self) -> u64 {
        match self {
            Self::Target(id) | Self::Clamp(id) | Self::OnRoute(id) | Self::Fits(id) => id,
        }
    }
}

/// The last of them, those of the same target first; `tried` are no more asked about.
pub(super) fn dependent(
    history: &History,
    place: &Place,
    entry: &Entry,
    tried: &[u64],
) -> Option<Dependent> {
    let same = history.superseding(entry);
    if let Some(id) = same.or_else(|| changed_after_copying(history, place, entry)) {
        return Some(Dependent::Target(id));
    }
    let live = history.live(place);
    let mut later = live.iter().rev().take_while(|later| later.id > entry.id);
    if let Some(clamp) = later.clone().find(|later| entry.step.raises_clamp_of(&later.step)) {
        return Some(Dependent::Clamp(clamp.id));
    }
    let fits = |later: &&Entry| !tried.contains(&later.id) && fits_by(&entry.step, &later.step);
    if let Some(later) = later.clone().find(fits) {
        return Some(Dependent::Fits(later.id));
    }
    let has_made_a_route = entry.step.before == Value::Absent;
    later
        .find(|later| has_made_a_route && later.step.target.shares_a_route_with(&entry.step.target))
        .map(|later| Dependent::OnRoute(later.id))
}

/// Whether a route would have a larger MTU than its interface without the earlier step, with what the kernel has of the later one: what
/// somebody has changed since may fit.
fn fits_by(earlier: &Step, later: &Step) -> bool {
    let leads_by = |route: &Step, interface: &Step| {
        let below = route.image.as_deref().map(interfaces_of).unwrap_or_default();
        let image = InterfaceImage::of_step(&interface.target, interface.image.as_deref());
        image.is_some_and(|image| image.indices().any(|index| below.contains(&index)))
    };
    let is_mtu =
        |target: &Target| matches!(target, Target::Route { metric: RouteMetricName::Mtu, .. });
    let (is_raised, is_of_one) = match (&earlier.target, &later.target) {
        (Target::InterfaceMtu(_), route) if is_mtu(route) => (true, leads_by(later, earlier)),
        (route, Target::InterfaceMtu(_)) if is_mtu(route) => (false, leads_by(earlier, later)),
        _ => return false,
    };
    let sizes = || {
        let now = read(&later.target, later.image.as_deref()).ok()?;
        Some((earlier.before.size()?, now.value.size()?))
    };
    let is_larger = |(before, now)| if is_raised { now > before } else { before > now };
    is_of_one && sizes().is_some_and(is_larger)
}

/// The first later entry of the route that an entry has made, and what the route has for the entry's metric without the entry: what the
/// route has that it would be made from now, or had when it was made.
pub(super) fn heir(history: &History, place: &Place, entry: &Entry) -> Option<(u64, Value)> {
    let Target::Route { prefix, metric } = entry.step.target else { return None };
    let live = history.live(place);
    let heir = live.iter().find(|later| {
        later.id > entry.id && later.step.target.shares_a_route_with(&entry.step.target)
    })?;
    let routes = main_routes(prefix.is_v6()).unwrap_or_default();
    let was = || Image::parse(entry.step.image.as_deref()?)?.raw();
    let wider = parent(&routes, prefix).cloned().or_else(was)?;
    Some((heir.id, value_of(&wider, metric)))
}
