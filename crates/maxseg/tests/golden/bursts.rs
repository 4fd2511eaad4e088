//! What repeats, parity and bursts make of frame errors, and the datagram that fits frames best.

use maxseg_core::errors::{Arq, Clock, ErrorModel, Exposure, GilbertElliott, Per};
use maxseg_core::model::fec::Fec;
use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum;
use maxseg_core::units::{Bytes, Probability, Time};

use super::row::{Row, Rule};

pub(crate) const ARQ: Rule = Rule { file: "arq_residual", check: arq };
pub(crate) const GILBERT_AND_FEC: Rule =
    Rule { file: "gilbert_elliott_and_fec", check: gilbert_and_fec };
pub(crate) const OPTIMAL_DATAGRAM: Rule =
    Rule { file: "optimal_size_datagram", check: optimal_datagram };

fn share(row: &mut Row, column: &str) -> Probability {
    Probability::new(row.number(column)).unwrap()
}

fn frames(row: &mut Row, header: &str, frame: &str) -> Frames {
    let (header, frame) = (row.count(header), row.count(frame));
    Frames::new(Bytes::new(header), Bytes::new(frame)).unwrap()
}

fn arq(row: &mut Row) {
    let frames = frames(row, "H_bytes", "M_bytes");
    let error = share(row, "e_frame_error");
    let arq = Arq {
        retries: u32::try_from(row.count("R_max_retransmissions")).unwrap(),
        delay: Time::ZERO,
    };
    let count = frames.count(Bytes::new(row.count("s_bytes")));
    let residual = arq.residual(error);
    row.expect("residual_frame_loss", residual.get());
    row.expect("mean_transmissions_per_frame", arq.mean_tries(error));
    row.expect("residual_segment_loss", residual.at_least_once_in(count).get());
    row.expect("channel_efficiency_1_minus_e", Arq::channel_efficiency(error));
}

/// Two kinds of row: the fourth column says which.
fn gilbert_and_fec(row: &mut Row) {
    let frames = u32::try_from(row.count("n_frames")).unwrap();
    if row.text("p_bad_to_good_or_fec") == "fec" {
        fec(row, frames);
    } else {
        gilbert(row, frames);
    }
}

fn gilbert(row: &mut Row, frames: u32) {
    let to_bad = row.number("p_good_to_bad_or_parity_m");
    let to_good = row.number("p_bad_to_good_or_fec");
    let chain = GilbertElliott {
        clock: Clock::Units { per: Per::Frame, burst: 1.0 / to_good },
        rate: Probability::new(to_bad / (to_bad + to_good)).unwrap(),
        good: share(row, "e_good"),
        bad: share(row, "e_bad"),
    };
    let mean = chain.mean();
    let exposure = Exposure { bytes: 0, frames, airtime: Time::ZERO };
    row.expect("mean_frame_error", mean.get());
    row.expect("segment_loss", ErrorModel::GilbertElliott(chain).chance(&exposure).get());
    row.expect("iid_segment_loss", mean.at_least_once_in(u64::from(frames)).get());
}

fn fec(row: &mut Row, data: u32) {
    let parity = u32::try_from(row.count("p_good_to_bad_or_parity_m")).unwrap();
    let error = share(row, "mean_frame_error");
    row.ignore("e_good");
    row.ignore("e_bad");
    row.expect("segment_loss", Fec { data, parity }.segment_loss(error).get());
    row.expect("iid_segment_loss", error.at_least_once_in(u64::from(data)).get());
}

/// The reference searches up to a thousand frames.
const MOST_FRAMES: u64 = 1000;

fn optimal_datagram(row: &mut Row) {
    let frames = frames(row, "H_bytes", "M_bytes");
    let error = share(row, "e_frame_error");
    let best = optimum::datagram(frames, error, MOST_FRAMES).unwrap();
    row.expect("n_star_continuous", best.continuous_frames);
    row.expect_count("n_best_integer", best.frames);
    row.expect_count("s_best_bytes", best.payload.get());
    row.expect("goodput_factor_padded", best.goodput_factor);
}
