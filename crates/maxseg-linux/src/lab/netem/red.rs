//! RED's parameters in the form of `tc`: in bytes, with a burst in place of the weight.

use maxseg_core::path::{QueueLimit, RedSettings};
use maxseg_core::units::Probability;

use super::qdisc::RedParameters;
use super::shortfall::Shortfall;

/// RED with these settings, and what differs from them; `None` where `tc` or the kernel cannot represent them.
pub(super) fn red(
    settings: &RedSettings,
    limit: u32,
    packet: u32,
    bandwidth: u64,
    ecn: bool,
) -> Option<(RedParameters, Vec<Shortfall>)> {
    let (min, max) = (in_bytes(settings.min, packet)?, in_bytes(settings.max, packet)?);
    let asked = settings.weight.get();
    let wanted = if asked > 0.0 { (-asked.log2()).round().clamp(1.0, 31.0) } else { 31.0 };
    let (burst, log) = burst_for(wanted, min, packet)?;
    // `red_check_params`.
    let fits = |bytes: u32| (u32::BITS - bytes.leading_zeros()) + log < 32;
    if min == 0 || min >= max || !fits(min) || !fits(max) {
        return None;
    }
    let mut shortfalls = Vec::new();
    if matches!(settings.min, QueueLimit::Packets(_)) {
        shortfalls.push(Shortfall::RedInBytes { packet });
    }
    let given = Probability::new(0.5f64.powi(log.cast_signed())).ok()?;
    if (given.get() - asked).abs() > f64::EPSILON {
        shortfalls.push(Shortfall::RedWeight { asked: settings.weight, given });
    }
    let parameters = RedParameters {
        limit,
        min,
        max,
        packet,
        burst,
        probability: settings.max_p,
        bandwidth,
        ecn,
    };
    Some((parameters, shortfalls))
}

fn in_bytes(threshold: QueueLimit, packet: u32) -> Option<u32> {
    match threshold {
        QueueLimit::Packets(n) => n.checked_mul(packet),
        QueueLimit::Bytes(bytes) => u32::try_from(bytes.get()).ok(),
    }
}

/// The burst from which `tc` computes the weight nearest to 2 to the power of `-wanted`, and the exponent of that
/// weight.
fn burst_for(wanted: f64, min: u32, packet: u32) -> Option<(u32, u32)> {
    let reaches =
        |burst: u32| weight_log(min, burst, packet).is_none_or(|log| f64::from(log) >= wanted);
    // The exponent grows with the burst, until tc finds none.
    let (mut below, mut at) = (min / packet.max(1), u32::MAX / 2);
    while below + 1 < at {
        let middle = below + (at - below) / 2;
        if reaches(middle) { at = middle } else { below = middle }
    }
    [at, below].into_iter().find_map(|burst| Some((burst, weight_log(min, burst, packet)?)))
}

/// `tc_red_eval_ewma` of iproute2: the least exponent for which a burst keeps the average below `min`.
fn weight_log(min: u32, burst: u32, packet: u32) -> Option<u32> {
    let burst = f64::from(burst);
    let above = burst + 1.0 - f64::from(min) / f64::from(packet.max(1));
    if above < 1.0 {
        return None;
    }
    (1..32)
        .find(|log| {
            let weight = 0.5f64.powi(*log);
            above <= (1.0 - (1.0 - weight).powf(burst)) / weight
        })
        .map(i32::cast_unsigned)
}
