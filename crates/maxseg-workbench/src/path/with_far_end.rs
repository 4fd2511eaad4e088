//! All that is measured with a far end.

use std::time::Duration;

use maxseg_linux::far_end::{FarEndError, Pings};

use super::bottleneck::{Bottleneck, BottleneckRate, note_bound};
use super::far_end::{Baseline, DIRECTIONS, FarEnd, direction_word};
use super::measure_mtu::logged;
use super::probing::Probing;
use super::rfc6349::Rfc6349Test;
use super::table::table;
use super::trains::trains;
use super::under_load::{idle_row, loaded_row};
use super::{FarEndFault, FarEndOptions, PathObserver, PathReport, far_end_mtu};
use crate::error::PathError;

/// Measures with the far end, into the report. A far end that does not do its part is told in the report too.
pub(super) fn measure(
    options: &FarEndOptions,
    report: &mut PathReport,
    probing: &mut Probing<'_>,
) -> Result<(), PathError> {
    let options = &options.for_round_trip(report.rtt.min_s);
    // Bulk data may provoke messages of routers, which the kernel acts on.
    let ((), taught) = logged(probing, |probing| match measure_all(options, report, probing) {
        Ok(()) => Ok(()),
        Err(FarEndError::Stopped) => Err(PathError::Stopped),
        Err(source) => {
            let hint = source.hint();
            let text = PathError::FarEnd { source }.to_string();
            report.far_end_fault = Some(FarEndFault { text, hint });
            Ok(())
        }
    })?;
    report.path_mtu.taught_the_kernel = taught.or(report.path_mtu.taught_the_kernel);
    Ok(())
}

fn measure_all(
    options: &FarEndOptions,
    report: &mut PathReport,
    probing: &mut Probing<'_>,
) -> Result<(), FarEndError> {
    probing.observer.on_warning(&options.warning());
    probing.observer.on_step("reaching the far end");
    let mut end = FarEnd::reach(report.address, options, probing.stop)?;
    if let FarEnd::Responder(client) = &end {
        options.refuse_limits(client.limits())?;
    }
    let baseline = baseline(&mut end, report)?;
    if let FarEnd::Responder(client) = &mut end {
        let (sent, received) = client.syn_as_received()?;
        if let Some(syn) = received {
            report.mss.compare_syn(sent, &syn);
            report.syn_as_received = Some(syn);
        }
        let trip = Duration::from_secs_f64(baseline.as_ref().map_or(0.1, |base| base.rtt_s));
        far_end_mtu::back(client, &mut report.path_mtu, probing, trip)?;
        far_end_mtu::forth(client, &mut report.path_mtu, probing, trip)?;
    }
    let observer = &mut *probing.observer;
    let known = baseline.as_ref();
    if let Some((asked, baseline)) = options.rfc6349.zip(known) {
        Rfc6349Test { options, asked, baseline }.run(&mut end, report, observer)?;
    } else {
        if options.rfc6349.is_some() {
            report.notes.push(
                "no test of RFC 6349: without a round trip there is no baseline to compare with"
                    .to_owned(),
            );
        }
        fill_both_ways(options, &mut end, report, observer, baseline.as_ref())?;
    }
    if let Some(asked) = &options.table {
        table(asked, &mut end, report, observer, baseline.as_ref())?;
    }
    Ok(())
}

/// Fills the path each way, with pings beside the data.
fn fill_both_ways(
    options: &FarEndOptions,
    end: &mut FarEnd<'_>,
    report: &mut PathReport,
    observer: &mut dyn PathObserver,
    baseline: Option<&Baseline>,
) -> Result<(), FarEndError> {
    let mut bottleneck = Bottleneck::default();
    let mut rows = idle_row(baseline).into_iter().collect::<Vec<_>>();
    for towards in DIRECTIONS {
        let shown =
            trains(end, towards, (&report.path_mtu, &mut report.notes), baseline, observer)?;
        let word = direction_word(towards);
        observer.on_step(&format!("filling the path, {word}"));
        let filled = super::bulk::fill(end, options, towards, (baseline, shown.as_ref()))?;
        let filled = match filled {
            Ok(filled) => filled,
            Err(why) => {
                report.leave_unmeasured(word, &why);
                continue;
            }
        };
        let found = BottleneckRate::of(&filled, shown.as_ref(), end.most_bps());
        note_bound(towards, (&filled, found.as_ref()), end.most_bps(), report);
        rows.extend(loaded_row(towards, &filled, baseline));
        if let Some(found) = found {
            bottleneck.set(towards, found);
        }
    }
    report.bottleneck = Some(bottleneck);
    report.under_load = rows;
    Ok(())
}

/// Pings for the baseline.
const BASELINE_PINGS: usize = 40;

fn baseline(end: &mut FarEnd<'_>, report: &PathReport) -> Result<Option<Baseline>, FarEndError> {
    let FarEnd::Responder(client) = end else {
        return Ok(report.rtt.min_s.map(|rtt_s| Baseline {
            rtt_s,
            method: "the least round trip of small packets",
            sent: usize::try_from(report.rtt.sent).unwrap_or(usize::MAX),
            pings: Pings::default(),
        }));
    };
    let pings = client.pings(Duration::from_millis(20), |count, _| count >= BASELINE_PINGS)?;
    let least = pings.trips.iter().map(|(_, trip)| *trip).min();
    Ok(pings.kernel_min.or(least).map(|least| Baseline {
        rtt_s: least.as_secs_f64(),
        method: "the least TCP round trip of small segments, by the kernel's clock (tcpi_min_rtt)",
        sent: pings.trips.len(),
        pings,
    }))
}
