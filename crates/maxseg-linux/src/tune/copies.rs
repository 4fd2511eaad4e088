//! Routes that were made from another one, and have its metrics: where a metric of that one is undone, theirs is as well.

use maxseg_core::tune::{Entry, History, Place, Prefix, RouteMetricName, Target, Value};

use super::TuneError;
use super::route::{self, Image, made_from, same_key};
use crate::netlink::raw::RawRoute;

/// A metric that a route was given because the one that it was made from had it.
pub(super) struct Copied {
    prefix: Prefix,
    metric: RouteMetricName,
    image: String,
    from: Value,
    to: Value,
}

impl Copied {
    /// Of the route.
    pub(super) const fn destinations(&self) -> Prefix {
        self.prefix
    }

    /// Gives it the value of before; what has another value by now is left alone.
    pub(super) fn follow(&self) -> Result<(), TuneError> {
        let image = Some(self.image.as_str());
        if route::read(self.prefix, self.metric, image)?.value == self.from {
            route::write(self.prefix, self.metric, &self.to, image)?;
        }
        Ok(())
    }
}

/// What has to follow where an entry is undone.
pub(super) fn copied_of(history: &History, place: &Place, entry: &Entry) -> Vec<Copied> {
    let Some((metric, own, to)) = undone_of(entry) else { return Vec::new() };
    let of_copy = |(prefix, image)| {
        let (from, to) = (entry.step.after.clone(), to.clone());
        Copied { prefix, metric, image, from, to }
    };
    let sets_its_own = |prefix: Prefix| later_on(history, place, entry, prefix, metric).is_some();
    let copies = routes_made_from(history, place, entry, own).into_iter();
    copies.filter(|(prefix, _)| !sets_its_own(*prefix)).map(of_copy).collect()
}

/// A later entry that has changed the metric of a route after that had it from the one of this entry: its value before would be
/// wrong once this one is undone.
pub(super) fn changed_after_copying(
    history: &History,
    place: &Place,
    entry: &Entry,
) -> Option<u64> {
    let (metric, own, _) = undone_of(entry)?;
    let copies = routes_made_from(history, place, entry, own).into_iter();
    let mut later = copies.filter_map(|(prefix, _)| {
        let later = later_on(history, place, entry, prefix, metric)?;
        (later.step.before == entry.step.after).then_some(later.id)
    });
    later.next()
}

/// The metric that an entry has set, its route, and what undoing gives to those that were made from it.
fn undone_of(entry: &Entry) -> Option<(RouteMetricName, RawRoute, Value)> {
    let Target::Route { prefix, metric } = entry.step.target else { return None };
    let image = Image::parse(entry.step.image.as_deref()?)?;
    let raw = image.raw()?;
    let to = match &entry.step.before {
        // Without the route they would have been made from the one that it was made from.
        Value::Absent => route::value_of(&raw, metric),
        before @ (Value::Text(_) | Value::Unset) => before.clone(),
    };
    let own = if image.added { made_from(&raw, prefix) } else { raw };
    Some((metric, own, to))
}

/// The routes that later entries have made from this one, and from those: destinations, and image.
fn routes_made_from(
    history: &History,
    place: &Place,
    entry: &Entry,
    own: RawRoute,
) -> Vec<(Prefix, String)> {
    let mut sources = vec![own];
    let mut made = Vec::new();
    for later in history.live(place) {
        let Target::Route { prefix, .. } = later.step.target else { continue };
        let (Value::Absent, Some(text)) = (&later.step.before, later.step.image) else { continue };
        let image = Image::parse(&text).filter(|image| image.added && later.id > entry.id);
        let Some(from) = image.and_then(|image| image.raw()) else { continue };
        if sources.iter().any(|source| same_key(source, &from)) {
            sources.push(made_from(&from, prefix));
            made.push((prefix, text));
        }
    }
    made
}

/// The first later entry that sets this metric of this route.
fn later_on(
    history: &History,
    place: &Place,
    entry: &Entry,
    prefix: Prefix,
    metric: RouteMetricName,
) -> Option<Entry> {
    let target = Target::Route { prefix, metric };
    let live = history.live(place);
    live.into_iter().find(|later| later.id > entry.id && later.step.target == target)
}
