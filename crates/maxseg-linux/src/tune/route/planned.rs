//! The routes of the main table as they are once the steps before are made: a route that a plan makes has the metrics that the plan gives
//! to the one that it is made from.

use std::collections::BTreeMap;
use std::io;

use maxseg_core::tune::{Prefix, RouteMetricName, Target, Value};

use super::{Image, exact, made_from, main_routes, parent, reading_of, set_metric};
use crate::netlink::raw::RawRoute;
use crate::tune::{Reading, TuneError};

/// Routes of the two IP versions, each looked at once.
#[derive(Debug, Default)]
pub(in crate::tune) struct PlannedRoutes {
    v4: Option<Vec<RawRoute>>,
    v6: Option<Vec<RawRoute>>,
    /// What the steps before have made, with the images of what each is made from.
    made: BTreeMap<Prefix, String>,
}

impl PlannedRoutes {
    fn of(&mut self, is_v6: bool) -> io::Result<&mut Vec<RawRoute>> {
        let routes = if is_v6 { &mut self.v6 } else { &mut self.v4 };
        match routes {
            Some(routes) => Ok(routes),
            None => Ok(routes.insert(main_routes(is_v6)?)),
        }
    }

    /// These settings with those of a route that has to be made behind those of all wider ones, whose metrics it has; else in their order.
    pub(in crate::tune) fn wider_first(
        &mut self,
        wanted: Vec<(Target, Value)>,
    ) -> Result<Vec<(Target, Value)>, TuneError> {
        let mut rest = Vec::new();
        for (target, value) in wanted {
            let made = match target.destinations() {
                Some(prefix) => {
                    let routes = self.of(prefix.is_v6());
                    let routes = routes.map_err(|error| TuneError::read(&target, error))?;
                    exact(routes, prefix).is_none().then_some(prefix)
                }
                None => None,
            };
            rest.push((made, (target, value)));
        }
        Ok(behind_wider(rest))
    }

    /// As [`super::read`] without an image.
    pub(in crate::tune) fn read(
        &mut self,
        prefix: Prefix,
        metric: RouteMetricName,
    ) -> Result<Reading, TuneError> {
        let made = self.made.get(&prefix).cloned();
        let routes = self.of(prefix.is_v6());
        let routes =
            routes.map_err(|error| TuneError::read(&super::target(prefix, metric), error))?;
        let reading = reading_of(routes, prefix, metric);
        // All metrics of a route that is made have the image by which it is known to be ours.
        Ok(Reading { image: made.or(reading.image), ..reading })
    }

    /// The same once a step is made.
    pub(in crate::tune) fn set(
        &mut self,
        prefix: Prefix,
        metric: RouteMetricName,
        value: &Value,
    ) -> io::Result<()> {
        let routes = self.of(prefix.is_v6())?;
        if let Some(found) = exact(routes, prefix).cloned() {
            let same = routes.iter_mut().find(|route| **route == found);
            if let Some(route) = same {
                set_metric(route, metric, value);
            }
            return Ok(());
        }
        if let Some(parent) = parent(routes, prefix).cloned() {
            let mut route = made_from(&parent, prefix);
            set_metric(&mut route, metric, value);
            routes.push(route);
            self.made.insert(prefix, Image::of(&parent, true).text());
        }
        Ok(())
    }
}

/// What is wanted, with the destinations of each route that has to be made.
type Ordered<T> = (Option<Prefix>, (Target, T));

/// Each of a route that has to be made behind those of wider ones; else in their order.
fn behind_wider<T>(mut rest: Vec<Ordered<T>>) -> Vec<(Target, T)> {
    let mut ordered = Vec::new();
    while !rest.is_empty() {
        let waits = |(made, _): &Ordered<T>| {
            let wider = |of: Prefix, made: &Prefix| of != *made && of.covers(made);
            let mut others = rest.iter().filter_map(|(_, (target, _))| target.destinations());
            made.is_some_and(|made| others.any(|of| wider(of, &made)))
        };
        // The widest one waits for none.
        let next = rest.iter().position(|one| !waits(one)).unwrap_or(0);
        ordered.push(rest.remove(next).1);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_that_are_made_come_behind_wider_ones() {
        let of = |text: &str, is_made: bool| {
            let target: Target = text.parse().unwrap();
            (target.destinations().filter(|_| is_made), (target, ()))
        };
        let wanted = vec![
            of("route.10.1.2.0/24.mtu", true),
            of("route.10.9.0.0/16.mtu", false),
            of("sysctl.net.ipv4.tcp_sack", true),
            of("route.10.0.0.0/8.window", true),
            of("route.2001:db8::/32.mtu", true),
            of("route.default.mtu", false),
            of("route.10.1.2.0/24.window", true),
        ];
        let ordered = behind_wider(wanted).into_iter();
        let ordered: Vec<String> = ordered.map(|(target, ())| target.to_string()).collect();
        assert_eq!(
            ordered,
            [
                "route.10.9.0.0/16.mtu",
                "sysctl.net.ipv4.tcp_sack",
                "route.2001:db8::/32.mtu",
                "route.default.mtu",
                "route.10.0.0.0/8.window",
                "route.10.1.2.0/24.mtu",
                "route.10.1.2.0/24.window",
            ]
        );
    }
}
