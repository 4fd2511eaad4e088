//! The test of RFC 6349: its steps, and its report.

mod best;
mod both;
mod report;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use maxseg_core::framing::Framing;
use maxseg_core::model::rfc6349::{max_throughput, throughput_with_window};
use maxseg_core::outcome::LimitShare;
use maxseg_core::rfc6349::{
    Facts, LinkLoad, RunMetrics, TrainsFound, WindowStep, interpret, judge, with_full_link,
};
use maxseg_core::units::{BitsPerSec, Bytes, Mtu, approx};
use maxseg_linux::far_end::{BulkPlan, FarEndError};
use maxseg_wire::responder::Towards;

use super::bottleneck::{Bottleneck, BottleneckRate, note_bound};
use super::bulk::{
    self, Filled, fill, limits, metrics, packet_share, plan_of, segment_bytes, window_of,
};
use super::far_end::{Baseline, DIRECTIONS, FarEnd, direction_word};
use super::options::SWEEP;
use super::trains::trains;
use super::under_load::{idle_row, loaded_row};
use super::{FarEndOptions, PathObserver, PathReport, Rfc6349Options, RttReport, note_once};
use crate::environment::Environment;
use best::best_bps;
use both::both_at_once;
pub use report::{
    BaselineEntry, BothAtOnce, BuffersEntry, DirectionReport, NegotiatedEntry, PathMtuEntry,
    Preconditions, Rfc6349Report, SweepStep,
};

/// In a shorter step the rate of some round trips is that of the whole.
const SHORT_STEP: Duration = Duration::from_secs(2);

/// With a smaller product of bandwidth and delay, half of it is no window that a TCP works with: segments.
const LEAST_SWEPT: f64 = 4.0;

/// A test with what it needs.
pub(super) struct Rfc6349Test<'a> {
    pub(super) options: &'a FarEndOptions,
    pub(super) asked: Rfc6349Options,
    pub(super) baseline: &'a Baseline,
}

/// What both directions have shown.
struct BothWays {
    bottleneck: Bottleneck,
    negotiated: Option<NegotiatedEntry>,
    directions: Vec<DirectionReport>,
    at_once: Option<BothAtOnce>,
}

/// What is known of a direction before the window sweep.
struct Known {
    filled: Filled,
    found: BottleneckRate,
    trains: Option<TrainsFound>,
}

/// The runs in equilibrium of a direction, with what limited each.
#[derive(Default)]
struct Repeated {
    runs: Vec<(RunMetrics, Vec<LimitShare>)>,
    began_s: Vec<Option<f64>>,
    buffers: Option<BuffersEntry>,
}

impl Rfc6349Test<'_> {
    /// Both directions, into the report: bottleneck, load and the test itself.
    pub(super) fn run(
        &self,
        end: &mut FarEnd<'_>,
        report: &mut PathReport,
        observer: &mut dyn PathObserver,
    ) -> Result<(), FarEndError> {
        let baseline = self.baseline;
        report.notes.extend(unfit(&report.rtt));
        let began_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64());
        report.under_load = idle_row(Some(baseline)).into_iter().collect();
        let mut found = BothWays {
            bottleneck: Bottleneck::default(),
            negotiated: None,
            directions: Vec::new(),
            at_once: None,
        };
        let ended = self.both_ways(end, report, observer, &mut found);
        if self.options.step < SHORT_STEP {
            report.notes.push(format!(
                "steps of {:.1} s are short, and the window sweep is coarse: what a queue held before counts too, and rates may exceed the link's by some percent; \
                 --duration \"12 s\" and more makes them longer",
                self.options.step.as_secs_f64()
            ));
        }
        report.bottleneck = Some(found.bottleneck);
        let Environment { system, kernel, .. } = Environment::of(&[]);
        report.rfc6349 = Some(Rfc6349Report {
            began_s,
            planned_s: self.options.load_s(),
            repeats: self.asked.repeats.max(1),
            preconditions: Preconditions {
                is_layer_2_tested: self.asked.is_layer_2_tested,
                stated_bps: self.asked.bandwidth.map(|(rate, _)| rate.get()),
                stated_framing: self.asked.bandwidth.map(|(_, framing)| framing),
                loss_share: report.rtt.loss_share(),
                jitter_s: report.rtt.jitter_s(),
            },
            system,
            kernel,
            path_mtu: PathMtuEntry::of(&report.path_mtu),
            baseline: BaselineEntry {
                rtt_s: baseline.rtt_s,
                method: baseline.method.to_owned(),
                sent: baseline.sent,
            },
            negotiated: found.negotiated,
            thresholds: self.asked.thresholds,
            directions: found.directions,
            both_at_once: found.at_once,
        });
        ended
    }

    /// What is measured before a fault stays in the report.
    fn both_ways(
        &self,
        end: &mut FarEnd<'_>,
        report: &mut PathReport,
        observer: &mut dyn PathObserver,
        found: &mut BothWays,
    ) -> Result<(), FarEndError> {
        let baseline = Some(self.baseline);
        for towards in DIRECTIONS {
            let word = direction_word(towards);
            let shown =
                trains(end, towards, (&report.path_mtu, &mut report.notes), baseline, observer)?;
            observer.on_step(&format!("{word}: bottleneck"));
            let filled = fill(end, self.options, towards, (baseline, shown.as_ref()))?;
            let filled = match filled {
                Ok(filled) => filled,
                Err(why) => {
                    report.leave_unmeasured(word, &why);
                    continue;
                }
            };
            if found.negotiated.is_none() {
                found.negotiated = NegotiatedEntry::of(&filled.result);
            }
            let narrowest = BottleneckRate::of(&filled, shown.as_ref(), end.most_bps());
            note_bound(towards, (&filled, narrowest.as_ref()), end.most_bps(), report);
            report.under_load.extend(loaded_row(towards, &filled, baseline));
            let Some(narrowest) = narrowest else { continue };
            found.bottleneck.set(towards, narrowest);
            let known = Known { filled, found: narrowest, trains: shown };
            let notes = &mut report.notes;
            let direction = self.direction(end, towards, known, observer, notes)?;
            let bps = direction.bottleneck_bps;
            found.bottleneck.set(towards, BottleneckRate { bps, ..narrowest });
            found.directions.push(direction);
        }
        observer.on_step("both directions at once");
        found.at_once = both_at_once(end, self.options, self.baseline, &found.directions)?;
        Ok(())
    }

    fn direction(
        &self,
        end: &mut FarEnd<'_>,
        towards: Towards,
        known: Known,
        observer: &mut dyn PathObserver,
        notes: &mut Vec<String>,
    ) -> Result<DirectionReport, FarEndError> {
        let (word, baseline) = (direction_word(towards), self.baseline);
        let Known { mut filled, found, trains } = known;
        let mss = segment_bytes(&filled.result).unwrap_or(536);
        let headers = bulk::header_bytes(&filled.result);
        let mtu = mss + headers;
        let of_rate = |packet_bps: f64| baseline.rtt_s * packet_bps / 8.0;
        let bdp = of_rate(found.bps);
        let ideal = self.ideal_bps(found.bps, mtu, headers);
        let bdp = self.stated_bps(ideal, mtu, mss).map_or(bdp, of_rate);
        let swept = self.swept(end, towards, (bdp, mss), observer, notes)?;
        let Repeated { mut runs, began_s, buffers } =
            self.repeats(end, towards, observer, notes)?;
        let share = packet_share(&filled.result);
        let best = best_bps(&filled, (&found, trains.as_ref()), &runs, &swept);
        let packet_bps = best * share;
        let ideal = self.ideal_bps(packet_bps, mtu, headers);
        let bdp = of_rate(self.stated_bps(ideal, mtu, mss).unwrap_or(packet_bps));
        let step = |(window_bytes, run): (u32, _)| SweepStep {
            of_bdp: f64::from(window_bytes) / bdp,
            window_bytes,
            connections: 1,
            expected_bps: ideal
                .map(|ideal| throughput_with_window(window_bytes.into(), baseline.rtt_s, ideal)),
            run,
        };
        let mut sweep: Vec<SweepStep> = swept.into_iter().map(step).collect();
        let swept = sweep.iter_mut().filter_map(|step| step.run.as_mut());
        let repeated = runs.iter_mut().map(|(run, _)| run);
        swept.chain(repeated).chain([&mut filled.run]).for_each(|run| run.expect(ideal));
        let typical = median_run(&runs).map(|(run, held)| {
            let load = LinkLoad {
                rate_bps: run.throughput_bps,
                best_bps: best,
                rtt_mean_s: run.rtt_mean_s,
                baseline_s: baseline.rtt_s,
            };
            (run.clone(), with_full_link(held, &load))
        });
        let checks =
            typical.as_ref().map(|(run, _)| judge(&self.asked.thresholds, run)).unwrap_or_default();
        let interpretation = typical.as_ref().map(|(run, held)| {
            let steps = steps_of(&sweep, mss, baseline.rtt_s);
            interpret(&Facts {
                run,
                many: &filled.run,
                baseline_s: baseline.rtt_s,
                best_bps: best,
                limited_by: held.first().map(|limit| (limit.kind, limit.share)),
                steps: &steps,
                trains,
            })
        });
        Ok(DirectionReport {
            direction: word.to_owned(),
            bottleneck_bps: packet_bps,
            bottleneck_method: found.method_words().to_owned(),
            bottleneck_confidence: found.confidence.word().to_owned(),
            is_lower_bound: found.is_lower_bound(),
            trains,
            bdp_bytes: bdp,
            least_window_bytes: bdp,
            mss_bytes: mss,
            packet_bytes: mtu,
            ideal_bps: ideal,
            buffers: buffers
                .unwrap_or_else(|| BuffersEntry::of(&filled.result.granted, &filled.run, None)),
            sweep,
            runs: runs.into_iter().map(|(run, _)| run).collect(),
            runs_began_s: began_s,
            many: filled.run,
            limits: typical.map(|(_, held)| held).unwrap_or_default(),
            checks,
            interpretation,
        })
    }

    /// The window sweep: each window with its run, where there is one.
    fn swept(
        &self,
        end: &mut FarEnd<'_>,
        towards: Towards,
        (bdp, mss): (f64, u32),
        observer: &mut dyn PathObserver,
        notes: &mut Vec<String>,
    ) -> Result<Vec<(u32, Option<RunMetrics>)>, FarEndError> {
        let (word, baseline) = (direction_word(towards), self.baseline);
        let mut swept = Vec::new();
        let is_swept = bdp >= LEAST_SWEPT * f64::from(mss);
        if !is_swept {
            notes.push(format!(
                "{word}: no window sweep, as the product of bandwidth and delay, {bdp:.0} bytes, is below {LEAST_SWEPT} segments: a TCP \
                 works with no window below two of them, so that the steps would be the same"
            ));
        }
        for of_bdp in SWEEP.into_iter().filter(|_| is_swept) {
            let window = granted_window(of_bdp * bdp, mss, end, notes);
            observer.on_step(&format!("{word}: window of {:.0}% of the BDP", 100.0 * of_bdp));
            let step = BulkPlan {
                window: Some(window),
                pings: None,
                ..plan_of(towards, 1, self.options.step)
            };
            let result = end.bulk_with_window(&step, baseline.calm_s(), notes)?;
            let duration = self.options.step.as_secs_f64();
            let run = result.and_then(|result| metrics(&result, duration, Some(baseline.rtt_s)));
            swept.push((window, run));
        }
        Ok(swept)
    }

    /// The runs in equilibrium.
    fn repeats(
        &self,
        end: &mut FarEnd<'_>,
        towards: Towards,
        observer: &mut dyn PathObserver,
        notes: &mut Vec<String>,
    ) -> Result<Repeated, FarEndError> {
        let baseline = self.baseline;
        let (word, buffer) = (direction_word(towards), self.asked.buffer);
        let mut repeated = Repeated::default();
        for repeat in 1..=self.asked.repeats.max(1) {
            observer.on_step(&format!("{word}: equilibrium, run {repeat}"));
            let alone = plan_of(towards, 1, self.asked.duration);
            let plan = BulkPlan { window: buffer, send_buffer: buffer, ..alone };
            let Some(result) = end.bulk_with_window(&plan, baseline.calm_s(), notes)? else {
                break;
            };
            let duration = self.asked.duration.as_secs_f64();
            let Some(run) = metrics(&result, duration, Some(baseline.rtt_s)) else { continue };
            let held = limits(&result, run.equilibrium.from_s);
            repeated.buffers = Some(BuffersEntry::of(&result.granted, &run, buffer));
            let began = result.began.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            repeated.began_s.push(began.map(|since| since.as_secs_f64()));
            repeated.runs.push((run, held));
        }
        Ok(repeated)
    }

    /// What the stated bandwidth carries of IP packets; `None` where none is stated.
    fn stated_bps(&self, ideal_bps: Option<f64>, packet: u32, payload: u32) -> Option<f64> {
        self.asked.bandwidth?;
        ideal_bps.map(|ideal| ideal * f64::from(packet) / f64::from(payload.max(1)))
    }

    /// The throughput to be expected: whole packets of this size that fit into a second of the stated or measured bandwidth.
    fn ideal_bps(&self, packet_bps: f64, mtu: u32, headers: u32) -> Option<f64> {
        let (rate, framing) = match self.asked.bandwidth {
            Some(stated) => stated,
            None => (whole_rate(packet_bps)?, Framing::Ip),
        };
        let mtu = Mtu::new(mtu.into()).ok()?;
        Some(max_throughput(rate, framing, mtu, Bytes::new(headers.into())))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn whole_rate(bps: f64) -> Option<BitsPerSec> {
    BitsPerSec::new(bps.max(0.0).round() as u64)
}

/// Losses and jitter with which the throughput of TCP says nothing of the path: guidelines of RFC 6349 §3.
fn unfit(rtt: &RttReport) -> Option<String> {
    const MOST_LOSS: f64 = 0.05;
    const MOST_JITTER_S: f64 = 0.150;
    let loss = rtt
        .loss_share()
        .filter(|share| *share > MOST_LOSS)
        .map(|share| format!("{} of small packets are lost", approx::whole_percent(share)));
    let jitter = rtt
        .jitter_s()
        .filter(|jitter| *jitter > MOST_JITTER_S)
        .map(|jitter| format!("round trips without load vary by {}", approx::time(jitter)));
    let found: Vec<String> = loss.into_iter().chain(jitter).collect();
    (!found.is_empty()).then(|| {
        format!(
            "{}: RFC 6349 (§3) calls throughput not meaningful with losses above 5% or jitter above 150 ms",
            found.join(", and ")
        )
    })
}

fn steps_of(sweep: &[SweepStep], mss: u32, baseline_s: f64) -> Vec<WindowStep> {
    let step = |step: &SweepStep| {
        let (resent_share, resent_bytes) = step.run.as_ref()?.lasting_loss(baseline_s)?;
        let resent_segments = resent_bytes / f64::from(mss.max(1));
        Some(WindowStep { of_bdp: step.of_bdp, resent_share, resent_segments })
    };
    sweep.iter().filter_map(step).collect()
}

/// A window in bytes, at most what kernels grant.
fn granted_window(bytes: f64, mss: u32, end: &FarEnd<'_>, notes: &mut Vec<String>) -> u32 {
    let (wanted, most) = (window_of(bytes, mss), end.most_window());
    if wanted > most {
        let note = format!(
            "windows above {most} bytes were not asked for: this host grants no larger buffer (net.core.rmem_max, net.core.wmem_max)"
        );
        note_once(notes, note);
    }
    wanted.min(most)
}

/// The run of median throughput, with what limited it.
fn median_run(runs: &[(RunMetrics, Vec<LimitShare>)]) -> Option<&(RunMetrics, Vec<LimitShare>)> {
    let mut sorted: Vec<_> = runs.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.throughput_bps.total_cmp(&b.throughput_bps));
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}
