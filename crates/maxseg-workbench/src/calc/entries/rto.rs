//! `rto`

use maxseg_core::settings::{RtoRule, RtoSettings, stack};
use maxseg_core::tcp::Rto;
use maxseg_core::units::Time;

use crate::calc::parameter::Parameter;
use crate::calc::quantity::Samples;
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const SAMPLES: Parameter<Samples> =
    Parameter::required("samples", "round trips in the order in which they were measured");
const STACK: Parameter<String> =
    Parameter::with_default("stack", "rfc", "TCP stack; `maxseg stacks` lists them");
const MIN: Parameter<Time> = Parameter::optional(
    "min",
    "the stack's holds",
    "least timeout: 1 s by RFC 6298; Linux: least of what is added to SRTT",
);
const MAX: Parameter<Time> =
    Parameter::optional("max", "the stack's holds", "largest timeout: at least 60 s by RFC 6298");
const GRANULARITY: Parameter<Time> =
    Parameter::optional("granularity", "the stack's holds", "of the clock, G");

pub(super) const ENTRY: Entry = Entry {
    name: "rto",
    group: Group::WindowsAndTimers,
    about: "The retransmission timeout after each round-trip sample",
    parameters: &[
        SAMPLES.described(),
        STACK.described(),
        MIN.described(),
        MAX.described(),
        GRANULARITY.described(),
    ],
    formula: "first sample r: SRTT = r, RTTVAR = r/2; then RTTVAR = ¾·RTTVAR + ¼·|SRTT − r| with the old \
              SRTT, and SRTT = ⅞·SRTT + ⅛·r; RTO = SRTT + max(G, 4·RTTVAR), at least min, at most max. Linux: RTO = SRTT + max(4·RTTVAR, min) \
              rounded up to whole jiffies, at most max, where RTTVAR rises at once and falls once a round trip",
    source: "RFC 6298 §2; a stack with a coarse clock has 4.3BSD's integers instead; Linux: tcp_rtt_estimator and __tcp_set_rto, \
             net/ipv4/tcp_input.c",
    range: || {
        "Exact. Samples of retransmitted segments do not count (Karn). Without back-off: each timeout doubles the \
         value."
            .to_owned()
    },
    example: "samples=80ms,95ms,300ms min=200ms",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let settings = settings(inputs)?;
    let mut rto = Rto::new(settings);
    let mut unbounded = Rto::new(RtoSettings { max: Time::NEVER, ..settings });
    let mut answer =
        Answer::default().number("rto_before", rto.current().as_secs_f64(), Unit::Seconds);
    let mut now = Time::ZERO;
    for (index, sample) in inputs.get(&SAMPLES)?.0.into_iter().enumerate() {
        let sent = now;
        now += sample;
        rto.on_sample(sent, now);
        unbounded.on_sample(sent, now);
        let at = index + 1;
        if let Some(srtt) = rto.srtt() {
            answer = answer.number(format!("srtt_{at}"), srtt.as_secs_f64(), Unit::Seconds);
        }
        answer = answer.number(format!("rto_{at}"), rto.current().as_secs_f64(), Unit::Seconds);
    }
    let least = match settings.rule {
        RtoRule::Rfc6298 { .. } | RtoRule::Ticks { .. } => settings.min,
        // On top of the round trip, and up to a jiffy more.
        RtoRule::Linux { tick } => {
            rto.srtt().unwrap_or_default().saturating_add(settings.min).saturating_add(tick)
        }
    };
    let is_at_least = match settings.rule {
        RtoRule::Rfc6298 { .. } | RtoRule::Ticks { .. } => rto.current() == least,
        RtoRule::Linux { .. } => rto.srtt().is_some() && rto.current() <= least,
    };
    let is_at_most = rto.srtt().is_some() && unbounded.current() > settings.max;
    let answer =
        answer.warn_if(is_at_most, "the maximum applies: these round trips alone give more");
    let is_at_least = is_at_least && !is_at_most;
    Ok(answer.warn_if(is_at_least, "the minimum applies: these round trips alone give less"))
}

fn settings(inputs: &Inputs<'_>) -> Result<RtoSettings, Error> {
    let name = inputs.get(&STACK)?;
    let found = stack(&name).map_err(|error| inputs.refuse(&STACK, error.to_string()))?;
    let complete = found.settings.complete();
    let mut rto = complete.map_err(|error| inputs.refuse(&STACK, error.to_string()))?.rto;
    rto.min = inputs.maybe(&MIN)?.unwrap_or(rto.min);
    rto.max = inputs.maybe(&MAX)?.unwrap_or(rto.max);
    if rto.min > rto.max {
        let what = format!("the least timeout {} is above the largest {}", rto.min, rto.max);
        return Err(inputs.refuse(&MIN, what));
    }
    match (&mut rto.rule, inputs.maybe(&GRANULARITY)?) {
        (_, None) => {}
        (RtoRule::Rfc6298 { granularity }, Some(given)) => *granularity = given,
        (RtoRule::Ticks { .. } | RtoRule::Linux { .. }, Some(_)) => {
            let what = format!("the stack `{name}` counts ticks, which have no granularity G");
            return Err(inputs.refuse(&GRANULARITY, what));
        }
    }
    Ok(rto)
}
