//! The page of `maxseg demo`: both of its parts.

use maud::html;
use maxseg_core::advise::{SegmentSizeAdvice, Trial};

use super::Swept;
use super::advise::trials_table;
use super::document::Document;
use super::html::report;
use super::page::{facts, lead, prose, whole_page};

/// The first part: a slow transfer, its limit, and the gain of each change.
#[derive(Debug)]
pub struct TunnelPart<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// Its path in words.
    pub path: String,
    /// What to change, in a sentence; empty where nothing gains.
    pub conclusion: String,
    /// As it is, and with changes.
    pub trials: &'a [Trial],
    /// What there is to know of limit and change: heading and sentence.
    pub said: Vec<(&'static str, String)>,
}

/// Why a size that fills its radio frames is better than its neighbours.
#[derive(Debug)]
pub struct FrameEnd {
    /// The sizes, as a question.
    pub question: String,
    /// What they take of frames.
    pub why: String,
    /// Two sizes, and what the first gains over the second at each error rate.
    pub gains: Vec<(String, String)>,
}

/// The page: the tunnel, and the report of the radio link's sweep with the scenario's text.
pub fn demo_page(
    tunnel: &TunnelPart<'_>,
    frame_end: Option<&FrameEnd>,
    document: &Document,
    text: &str,
    swept: Swept<'_>,
    advice: &[SegmentSizeAdvice],
) -> String {
    let body = html! {
        section {
            h2.part { "1. " (tunnel.name) }
            (lead(&tunnel.conclusion))
            (prose(&tunnel.path))
            (trials_table(tunnel.trials))
            (facts(&tunnel.said))
        }
        section {
            h2.part { "2. " (swept.scenario.name) }
            @if let Some(frame_end) = frame_end {
                h3 { (frame_end.question) }
                p { (frame_end.why) }
                (facts(&frame_end.gains))
            }
            (report(document, text, swept, advice))
        }
    };
    whole_page("maxseg demo", &body)
}
