//! The path MTU, hop by hop: by the prober that this user and the destination allow.

mod hop_sizes;

use std::net::IpAddr;

use maxseg_core::path_mtu::{Confidence, ProbeFate, Refusal, Search, well_known_mtu};
use maxseg_linux::probe::learnt::{LearntMtu, TeachLog};
use maxseg_linux::probe::route_to_host;

use super::probing::{Flow, Probing, Sizes, Which};
use super::{Misleading, MssReport, MtuMethod, MtuReport, TaughtKernel, note_once};
use crate::error::PathError;
use hop_sizes::Reached;

/// Finds the hops, the largest packet that arrives, and where larger ones vanish. Where this user may send raw packets and a port
/// takes connections, no probe is sent that may teach the kernel anything.
pub(super) fn measure(probing: &mut Probing<'_>, mss: &MssReport) -> Result<MtuReport, PathError> {
    probing.find_hops()?;
    let by_dsack = match mss.open_port() {
        Some(port) => probing.mtu_by_dsack(port)?,
        None => None,
    };
    let mut report = match by_dsack {
        Some(report) => report,
        None if probing.options.quiet_probes => {
            let port = mss.open_port().map_or("a TCP port that is open and ", |_| "");
            MtuReport {
                hops: Reached::default().hops(probing),
                interface_bytes: Some(probing.route.interface_mtu),
                reason: Some(format!(
                    "probes that leave the route cache alone need {port}CAP_NET_RAW (root, or `setcap cap_net_raw+ep`)"
                )),
                ..MtuReport::default()
            }
        }
        None => {
            let (mut report, taught) = logged(probing, |probing| by_messages(probing, mss))?;
            report.taught_the_kernel = taught;
            report
        }
    };
    if let Some(mtu) = report.forward_bytes
        && mtu < probing.route.interface_mtu
        && report.confidence != Confidence::AtLeast
    {
        report.well_known = well_known_mtu(mtu);
    }
    Ok(report)
}

/// What may teach the kernel something, between two lines of the log; with what the kernel has learnt in between.
pub(super) fn logged<'t, T>(
    probing: &mut Probing<'t>,
    teach: impl FnOnce(&mut Probing<'t>) -> Result<T, PathError>,
) -> Result<(T, Option<TaughtKernel>), PathError> {
    // As the log has it: what `path --forget` would leave is not told as left behind.
    let known_before = learnt_now(probing.to);
    let log = TeachLog::open().and_then(|mut log| log.begin(probing.to).map(|()| log));
    if let Err(error) = &log {
        let note = format!(
            "what this test teaches the kernel is not logged, and `maxseg path --forget` will not know of it: {error}"
        );
        note_once(&mut probing.notes, note);
    }
    let done = teach(probing)?;
    if let Ok(mut log) = log
        && let Err(error) = log.end(probing.to)
    {
        probing.notes.push(format!("the end of the test is not logged: {error}"));
    }
    let taught = learnt_now(probing.to).filter(|after| after.is_news(known_before.as_ref())).map(
        |LearntMtu { mtu, until_s, is_locked }| TaughtKernel { mtu_bytes: mtu, until_s, is_locked },
    );
    Ok((done, taught))
}

/// The path MTU that the kernel remembers now.
fn learnt_now(to: IpAddr) -> Option<LearntMtu> {
    route_to_host(to).ok().and_then(|route| route.learnt)
}

/// By what the destination or routers answer, or by TCP connections.
fn by_messages(probing: &mut Probing<'_>, mss: &MssReport) -> Result<MtuReport, PathError> {
    let mut report = by_datagrams(probing)?;
    if let Some(port) = probing.payload_port(&mss.open_ports()) {
        if report.confidence != Confidence::Confirmed {
            probing.mtu_by_sizes(port, &mut report)?;
        }
        if report.large_loss.is_none() && !report.has_unequal_flows() {
            probing.losses_by_connections(port, &mut report)?;
        }
    }
    if report.large_loss.is_none()
        && report.size_that_passes().is_some()
        && !report.has_unequal_flows()
    {
        note_once(&mut probing.notes, LOSSES_UNKNOWN.to_owned());
    }
    Ok(report)
}

/// What is said where nobody answers often enough.
const LOSSES_UNKNOWN: &str = "it is not tested whether some of the large packets alone are lost: no echo is answered, or this user may send none, datagrams \
                              are not answered often enough, and no connection shows it (HOST:PORT of an open TCP port does, where time is left)";

/// By UDP or echoes, or by what routers say where nothing answers these.
fn by_datagrams(probing: &mut Probing<'_>) -> Result<MtuReport, PathError> {
    let mut report =
        MtuReport { interface_bytes: Some(probing.route.interface_mtu), ..MtuReport::default() };
    let (mut reached, mut is_unequal) = (Reached::default(), false);
    let mut is_udp_limited = true;
    if let Some(mut sizes) = Sizes::new(probing) {
        sizes.run(probing)?;
        probing.listen()?;
        report.method = Some(match sizes.which {
            Which::Udp => MtuMethod::Udp,
            Which::Echo => MtuMethod::IcmpEcho,
        });
        report.take(&mut sizes, probing)?;
        (is_unequal, is_udp_limited) = (sizes.is_unequal, sizes.is_rate_limited);
        reached.take(&sizes.search, probing, report.black_hole.as_ref());
    } else {
        let refusals = probing.follow_refusals()?;
        report.take_refusals(&refusals, probing);
        reached.take_refusals(&refusals);
        report.dropped_here = probing.dropped_datagrams(Which::Udp, 0)?;
    }
    if report.wrong_message.is_none() {
        let heard = probing.contradicted.first_key_value();
        report.wrong_message =
            heard.map(|(size, refusal)| contradiction((*size, *refusal), *size)).or_else(|| {
                report
                    .wrongly_learnt(probing)
                    .filter(|_| !is_unequal && report.misleading.is_none())
            });
    }
    if let Some(dropped) = report.dropped_here.as_ref().filter(|dropped| dropped.is_certain) {
        reached.take_refusals(&[dropped.refusal()]);
    }
    report.hops = reached.hops(probing);
    if let Some(size) = report.size_that_passes() {
        report.large_loss = probing.losses_of_datagrams(size, is_udp_limited)?;
    }
    Ok(report)
}

impl MtuReport {
    /// The path MTU, where packets of it arrive and nothing is known to be wrong on the way.
    pub(super) fn size_that_passes(&self) -> Option<u32> {
        let is_known = self.confidence == Confidence::Confirmed;
        self.forward_bytes.filter(|_| is_known && self.black_hole.is_none())
    }

    /// What came how far, by a search and the place of a black hole.
    pub(super) fn take_hops(&mut self, search: &Search, probing: &Probing<'_>) {
        let mut reached = Reached::default();
        reached.take(search, probing, self.black_hole.as_ref());
        self.hops = reached.hops(probing);
    }

    /// What a search has found, with the place of a black hole and the other flows.
    fn take(&mut self, sizes: &mut Sizes, probing: &mut Probing<'_>) -> Result<(), PathError> {
        let search = &sizes.search;
        self.forward_bytes = Some(search.at_least());
        self.error_chance = Some(search.error());
        let Some(settled) = search.settled() else {
            self.take_unsettled(sizes, probing);
            return Ok(());
        };
        self.wrong_message = wrong_message(search);
        if sizes.refused_here.contains(&(settled.mtu + 1)) {
            self.take_refused_here(settled.mtu + 1, probing);
            return Ok(());
        }
        let is_by_echo = sizes.which == Which::Echo && !probing.is_udp_answered;
        if let Some(vanishes) = settled.vanishes.filter(|_| is_by_echo) {
            return self.take_silent_echoes((settled.mtu, vanishes), probing);
        }
        self.confidence = Confidence::Confirmed;
        if let Some(vanishes) = settled.vanishes {
            let found = (settled.mtu, vanishes);
            self.take_vanishing(sizes.which, Flow::Same, found, probing)?;
            if let Some(arrived) = self.forward_bytes.filter(|size| *size > settled.mtu) {
                sizes.search.on_fate(arrived, ProbeFate::Arrived);
            }
            if self.confidence != Confidence::Confirmed {
                return Ok(());
            }
        }
        if sizes.is_rate_limited && !sizes.is_unequal {
            probing
                .notes
                .push("other flows were not tried: the destination limits its answers".to_owned());
        } else {
            let mtu = self.forward_bytes.unwrap_or(settled.mtu);
            self.flows = if sizes.is_rate_limited {
                probing.try_flows_apart(sizes.which, mtu)?
            } else {
                probing.try_flows(mtu)?
            };
            // Another flow may have heard what a router that limits its messages did not say of the first.
            self.black_hole = self.black_hole.take().filter(|hole| !probing.is_told_of(hole));
        }
        probing.tell(&mut sizes.search);
        self.misleading = Misleading::of(&sizes.search);
        let least = self.flows.iter().filter_map(|flow| flow.mtu_bytes).min();
        self.forward_bytes = least.or(self.forward_bytes);
        Ok(())
    }

    /// A message that came too late for the probes, of which the kernel has learnt: of less than every flow carries.
    fn wrongly_learnt(&self, probing: &Probing<'_>) -> Option<String> {
        let arrived = self.forward_bytes.filter(|_| self.confidence == Confidence::Confirmed)?;
        let is_carried = self.flows.iter().all(|flow| flow.mtu_bytes == Some(arrived));
        let learnt = learnt_now(probing.to).filter(|_| is_carried)?;
        let is_wrong = learnt.mtu < arrived && learnt.is_news(probing.route.learnt.as_ref());
        is_wrong.then(|| {
            format!(
                "a router said that packets above {} bytes are too big, as this host's kernel has learnt, and {arrived} bytes arrive: a forgery, \
                 or a faulty router",
                learnt.mtu
            )
        })
    }

    /// Larger echoes are not answered: whether this host drops what routers say of them.
    fn take_silent_echoes(
        &mut self,
        (passes, vanishes): (u32, u32),
        probing: &mut Probing<'_>,
    ) -> Result<(), PathError> {
        self.dropped_here = probing.dropped_of_echoes(passes, vanishes)?;
        // A router has said so of what went there, as its message shows that came to this host.
        let is_told = self
            .dropped_here
            .as_ref()
            .is_some_and(|dropped| dropped.is_certain && dropped.stated_mtu_bytes == passes);
        if is_told {
            self.confidence = Confidence::Confirmed;
        } else {
            self.confidence = Confidence::AtLeast;
            self.reason = Some(
                "larger echoes are not answered, and a reply is as large: they may be lost on the way back".to_owned(),
            );
        }
        Ok(())
    }

    /// Larger packets never left this host.
    fn take_refused_here(&mut self, size: u32, probing: &Probing<'_>) {
        self.confidence = Confidence::AtLeast;
        self.error_chance = None;
        self.reason = Some(format!(
            "a firewall of this host refuses to send packets of {size} bytes (EPERM), so that they never left it"
        ));
        if self.forward_bytes.is_some_and(|mtu| mtu <= probing.small()) {
            (self.forward_bytes, self.confidence) = (None, Confidence::Unknown);
        }
    }

    /// Who is at fault that packets of `vanishes` bytes vanish, where larger ones than `passes` do not arrive.
    pub(super) fn take_vanishing(
        &mut self,
        which: Which,
        by: Flow,
        (passes, vanishes): (u32, u32),
        probing: &mut Probing<'_>,
    ) -> Result<(), PathError> {
        let why = probing.why_vanished(which, by, (passes, vanishes))?;
        self.dropped_here = why.dropped_here.or(self.dropped_here.take());
        self.black_hole = why.black_hole;
        if let Some(size) = why.refused_here {
            self.take_refused_here(size, probing);
        }
        if let Some(size) = why.arrived {
            self.forward_bytes = Some(size);
            self.error_chance = None;
            let lost = format!("packets of {size} bytes were lost at first, and one arrived later");
            if size >= probing.route.interface_mtu {
                // This host sends no larger one.
                note_once(&mut probing.notes, format!("{lost}: losses, or paths of equal cost"));
            } else {
                self.confidence = Confidence::AtLeast;
                self.reason = Some(format!("{lost}: losses leave open what the path takes"));
            }
        }
        Ok(())
    }

    /// Time or bytes were over first.
    fn take_unsettled(&mut self, sizes: &Sizes, probing: &Probing<'_>) {
        self.confidence = Confidence::AtLeast;
        let limited = if sizes.is_rate_limited {
            ": the destination answers few packets a second"
        } else {
            ""
        };
        self.reason = Some(format!("time or bytes of the test were over{limited}"));
        if sizes.search.at_least() <= probing.small() {
            self.forward_bytes = None;
            self.confidence = Confidence::Unknown;
        }
    }

    /// What routers say where nothing at the destination answers.
    fn take_refusals(&mut self, refusals: &[(u32, Refusal)], probing: &Probing<'_>) {
        let nobody = "nothing at the destination answers UDP or ICMP echoes";
        if let Some((_, last)) = refusals.last() {
            self.method = Some(MtuMethod::Udp);
            self.confidence = Confidence::IcmpOnly;
            self.forward_bytes = Some(last.mtu);
            self.reason =
                Some(format!("{nobody}: a router's message alone says it, and it may be forged"));
        } else {
            let hint =
                if probing.port.is_none() { "; an open TCP port may, as HOST:443" } else { "" };
            self.reason = Some(format!("{nobody}{hint}"));
        }
    }
}

/// A message that a packet contradicts which arrived.
pub(super) fn wrong_message(search: &Search) -> Option<String> {
    let wrong = search.wrong_refusal()?;
    Some(contradiction(wrong, search.at_least()))
}

/// That a message about a packet of a size is wrong, as a packet of `arrived` bytes shows.
fn contradiction((size, refusal): (u32, Refusal), arrived: u32) -> String {
    let router = refusal.router.map_or_else(|| "a router".to_owned(), |router| router.to_string());
    let mtu = match refusal.mtu {
        0 => String::new(),
        mtu => format!(" for an MTU of {mtu}"),
    };
    format!(
        "{router} said that a packet of {size} bytes is too big{mtu}, and {arrived} bytes arrived: a forgery, a faulty router, or paths of \
         different MTUs that are taken packet by packet"
    )
}
