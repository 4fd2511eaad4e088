//! The metrics of a route, as text and as the kernel has them (`RTA_METRICS`).

use maxseg_core::tune::{RouteMetricName, Value};

use crate::netlink::raw::{RawRoute, attribute, write_attributes};

/// `RTAX_LOCK`: a bit for each metric that is locked.
const LOCK: u16 = 1;
/// `RTAX_*` of a metric.
const fn number_of(metric: RouteMetricName) -> u16 {
    match metric {
        RouteMetricName::Mtu => 2,
        RouteMetricName::Window => 3,
        RouteMetricName::Advmss => 8,
        RouteMetricName::InitCwnd => 11,
        RouteMetricName::RtoMin => 13,
        RouteMetricName::InitRwnd => 14,
        RouteMetricName::QuickAck => 15,
        RouteMetricName::CongestionControl => 16,
    }
}

/// Whether the metric acts only where it is locked, as ip-route(8) always sets it (`tcp_rto_min` in `net/ipv4/tcp_output.c`).
const fn is_locked_by_nature(metric: RouteMetricName) -> bool {
    matches!(metric, RouteMetricName::RtoMin)
}

/// The metric of a route. A lock is told as ip-route(8) does, `lock 1400`; where the metric is always locked, its absence is.
pub(in crate::tune) fn value_of(route: &RawRoute, metric: RouteMetricName) -> Value {
    let metrics = route.metrics();
    let number = number_of(metric);
    let Some((_, bytes)) = metrics.iter().find(|(kind, _)| *kind == number) else {
        return Value::Unset;
    };
    let text = if metric == RouteMetricName::CongestionControl {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    } else {
        u32_of(bytes).to_string()
    };
    Value::Text(match (locks(&metrics) & 1 << number != 0, is_locked_by_nature(metric)) {
        (true, false) => format!("lock {text}"),
        (false, true) => format!("unlocked {text}"),
        (true, true) | (false, false) => text,
    })
}

fn u32_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn locks(metrics: &[(u16, Vec<u8>)]) -> u32 {
    metrics.iter().find(|(kind, _)| *kind == LOCK).map_or(0, |(_, bytes)| u32_of(bytes))
}

/// Gives a route a metric, or takes it off.
pub(super) fn set_metric(route: &mut RawRoute, metric: RouteMetricName, value: &Value) {
    let mut metrics = route.metrics();
    let number = number_of(metric);
    let mut locks = locks(&metrics) & !(1 << number);
    metrics.retain(|(kind, _)| *kind != number && *kind != LOCK);
    if let Some(text) = value.text() {
        let (is_locked, text) = match (text.strip_prefix("lock "), text.strip_prefix("unlocked ")) {
            (Some(text), _) => (true, text),
            (_, Some(text)) => (false, text),
            (None, None) => (is_locked_by_nature(metric), text),
        };
        let bytes = if metric == RouteMetricName::CongestionControl {
            [text.as_bytes(), &[0]].concat()
        } else {
            // The guards have let numbers pass alone (`of_value`).
            text.parse::<u32>().unwrap_or(0).to_ne_bytes().to_vec()
        };
        locks |= u32::from(is_locked) << number;
        metrics.push((number, bytes));
    }
    if locks != 0 {
        metrics.push((LOCK, locks.to_ne_bytes().to_vec()));
    }
    metrics.sort_by_key(|(kind, _)| *kind);
    let bytes = (!metrics.is_empty()).then(|| write_attributes(&metrics));
    route.set_attribute(attribute::METRICS, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> RawRoute {
        let mut route = RawRoute::parse(&[2, 8, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0]).unwrap();
        route.set_attribute(attribute::DESTINATION, Some(vec![10, 0, 0, 0]));
        route
    }

    #[test]
    fn metrics_are_set_and_removed_without_touching_others() {
        let mut route = route();
        let before = route.bytes();
        let set = |route: &mut RawRoute, metric, text: &str| {
            set_metric(route, metric, &Value::of(text));
            value_of(route, metric).to_string()
        };
        assert_eq!(set(&mut route, RouteMetricName::Mtu, "1280"), "1280");
        assert_eq!(set(&mut route, RouteMetricName::Mtu, "lock 1280"), "lock 1280");
        assert_eq!(set(&mut route, RouteMetricName::RtoMin, "300"), "300");
        for name in ["lock reno", "reno"] {
            assert_eq!(set(&mut route, RouteMetricName::CongestionControl, name), name);
        }
        assert_eq!(set(&mut route, RouteMetricName::Mtu, "1300"), "1300");
        assert_eq!(locks(&route.metrics()), 1 << 13, "of rto_min alone");
        assert_eq!(set(&mut route, RouteMetricName::RtoMin, "unlocked 300"), "unlocked 300");
        assert_eq!(locks(&route.metrics()), 0);
        for metric in
            [RouteMetricName::Mtu, RouteMetricName::RtoMin, RouteMetricName::CongestionControl]
        {
            assert_eq!(set(&mut route, metric, "unset"), "unset");
        }
        assert_eq!(route.bytes(), before);
    }
}
