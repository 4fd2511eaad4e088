//! How often the congestion control that captures are said to show is the sender's.

use std::fmt::Write as _;

use maxseg_core::diagnose::CongestionAlgorithm;
use maxseg_core::outcome::LimitedBy;

use super::run::Run;
use super::score::{Grade, Scored, Verdict};
use super::stratum::Stratum;
use super::truth::Truth;
use super::view::View;
use crate::draws::Congestion;

/// So many lost packets, or round trips under load, are to show an algorithm.
const LEAST_LOST: u64 = 5;
const LEAST_ROUND_TRIPS: f64 = 20.0;

/// At the sender and at the receiver at least so many are to be right, and at most so many wrong.
const LEAST_RIGHT: f64 = 0.9;
const MOST_WRONG: f64 = 0.03;

/// Where a capture was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
    Between,
}

impl End {
    const ALL: [Self; 3] = [Self::Sender, Self::Receiver, Self::Between];

    fn of(view: &View) -> Self {
        match &view.interfaces[..] {
            [one] if one == "sender" => Self::Sender,
            [one] if one == "receiver" => Self::Receiver,
            _ => Self::Between,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Between => "between",
        }
    }
}

/// What was said of an algorithm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    right: usize,
    wrong: usize,
    unknown: usize,
}

impl Tally {
    /// Of the captures of both directions that were made at an end, of the runs and views that count.
    fn of(scored: &[Scored], counts: impl Fn(&Run, &View) -> bool) -> Self {
        let mut tally = Self::default();
        for one in scored.iter().filter(|one| shows_algorithm(&one.run, &one.truth)) {
            let verdicts = one.run.setup.views.iter().zip(&one.verdicts);
            for (view, verdict) in verdicts.filter(|(view, _)| view.only.is_none()) {
                if counts(&one.run, view) {
                    tally.add(grade(one.run.setup.congestion, verdict));
                }
            }
        }
        tally
    }

    const fn add(&mut self, grade: Grade) {
        match grade {
            Grade::Right => self.right += 1,
            Grade::False => self.wrong += 1,
            Grade::Unknown => self.unknown += 1,
        }
    }

    const fn all(self) -> usize {
        self.right + self.wrong + self.unknown
    }

    /// Whether the bars of an end are reached.
    fn is_reached(self) -> bool {
        let all = self.all().max(1) as f64;
        self.right as f64 / all >= LEAST_RIGHT && self.wrong as f64 / all <= MOST_WRONG
    }

    fn cells(self) -> String {
        let all = self.all().max(1) as f64;
        format!(
            "{} | {} ({:.1}%) | {} ({:.1}%) | {}",
            self.all(),
            self.right,
            100.0 * self.right as f64 / all,
            self.wrong,
            100.0 * self.wrong as f64 / all,
            self.unknown
        )
    }
}

fn grade(truth: Congestion, verdict: &Verdict) -> Grade {
    let name = verdict.said.congestion;
    if name == CongestionAlgorithm::Unknown {
        Grade::Unknown
    } else if name.word() == truth.word() {
        Grade::Right
    } else {
        Grade::False
    }
}

/// Whether the run lost enough packets, or had enough round trips in which its congestion window or the path limited it: not
/// the application, a window, a buffer or a pace. The kernel does not count all time in which a window or a buffer limits BBR, which
/// then paces at the rate that they left it: what the truth is decides, too.
fn shows_algorithm(run: &Run, truth: &Truth) -> bool {
    const HOST_LIMITS: [LimitedBy; 4] =
        [LimitedBy::ReceiveWindow, LimitedBy::SendBuffer, LimitedBy::Application, LimitedBy::Paced];
    let facts = &run.facts;
    let elsewhere = facts.window_limited_s + facts.buffer_limited_s;
    let loaded_s = if run.setup.pace.is_some() { 0.0 } else { facts.busy_s - elsewhere };
    let round_trip = run.outcome.rtt_mean_s.unwrap_or(facts.base_rtt_s).max(1e-4);
    let is_loaded = truth.limits.iter().any(|limit| !HOST_LIMITS.contains(limit));
    facts.dropped_packets() >= LEAST_LOST || is_loaded && loaded_s / round_trip >= LEAST_ROUND_TRIPS
}

/// The tables of the page.
pub(super) fn section(scored: &[Scored]) -> String {
    let mut text = format!(
        "## Congestion control\n\nOf captures of both directions, of runs with at least {LEAST_LOST} lost packets or \
         {LEAST_ROUND_TRIPS} round trips under load: those in which neither window, buffer, application nor pace was the \
         sender's limit, by its own count and by the truth. At least {:.0}% right and at most {:.0}% wrong are asked, at the sender and at the \
         receiver.\n\n| end | congestion control | captures | right | wrong | unknown |\n|---|---|---|---|---|---|\n",
        100.0 * LEAST_RIGHT,
        100.0 * MOST_WRONG
    );
    for end in End::ALL {
        for congestion in Congestion::ALL {
            let tally = Tally::of(scored, |run, view| {
                End::of(view) == end && run.setup.congestion == congestion
            });
            let _ =
                writeln!(text, "| {} | {} | {} |", end.word(), congestion.word(), tally.cells());
        }
        let tally = Tally::of(scored, |_, view| End::of(view) == end);
        let _ = writeln!(text, "| {} | **all** | {} |", end.word(), tally.cells());
    }
    let named = missed(scored);
    let verdict = if named.is_empty() {
        "reached".to_owned()
    } else {
        format!("**missed**: {}", named.join("; "))
    };
    let with =
        Tally::of(scored, |run, view| End::of(view) == End::Receiver && run.setup.timestamps);
    let _ = writeln!(text, "| receiver, timestamps | all | {} |", with.cells());
    let _ = writeln!(text, "\nBoth bars at both ends: {verdict}.");
    text.push_str("\n| stratum | captures | right | wrong | unknown |\n|---|---|---|---|---|\n");
    for stratum in Stratum::ALL {
        let tally = Tally::of(scored, |run, _| run.setup.stratum == stratum);
        let _ = writeln!(text, "| {} | {} |", stratum.word(), tally.cells());
    }
    text.push('\n');
    text
}

/// The bars that are missed, in words.
pub(super) fn missed(scored: &[Scored]) -> Vec<String> {
    let of = |end| (end, Tally::of(scored, |_, view| End::of(view) == end));
    let short = [End::Sender, End::Receiver].map(of).into_iter();
    short
        .filter(|(_, tally)| tally.all() > 0 && !tally.is_reached())
        .map(|(end, tally)| {
            let (right, wrong, all) = (tally.right, tally.wrong, tally.all());
            format!(
                "congestion control at the {}: {right} right and {wrong} wrong of {all}",
                end.word()
            )
        })
        .collect()
}

/// Prints how often it was right at each end.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub(super) fn say(scored: &[Scored]) {
    for end in End::ALL {
        let tally = Tally::of(scored, |_, view| End::of(view) == end);
        println!(
            "congestion control, {}: {} right of {}, {} wrong, {} unknown",
            end.word(),
            tally.right,
            tally.all(),
            tally.wrong,
            tally.unknown
        );
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::outcome::LimitedBy::Congestion as Limit;

    use super::super::score::tests::scored;
    use super::*;

    #[test]
    fn only_runs_that_show_an_algorithm_count() {
        let mut lossy = scored(Stratum::FarEnds, 1, &[Limit], Limit);
        lossy.run.facts.damaged_packets = LEAST_LOST;
        lossy.run.setup.congestion = Congestion::Cubic;
        lossy.verdicts[0].said.congestion = CongestionAlgorithm::Cubic;
        lossy.verdicts[1].said.congestion = CongestionAlgorithm::Reno;
        let mut short = lossy.clone();
        short.run.facts.damaged_packets = 0;
        short.run.facts.refused_packets = 0;
        short.run.facts.policed_packets = 0;
        short.run.facts.busy_s = 0.0;
        let tally = Tally::of(&[lossy, short], |_, _| true);
        assert_eq!((tally.right, tally.wrong, tally.unknown), (1, 1, 0));
        let good = Tally { right: 92, wrong: 3, unknown: 5 };
        assert!(good.is_reached());
        assert!(!Tally { right: 89, unknown: 8, ..good }.is_reached());
        assert!(!Tally { right: 96, wrong: 4, unknown: 0 }.is_reached());
    }
}
