//! Packets in radio frames, and what becomes of them.

use maxseg_core::errors::{ErrorModel, Exposure, Per};
use maxseg_core::model::frames::Frames;
use maxseg_core::model::optimum::goodput_factor;
use maxseg_core::units::{Bytes, Probability, Time};

use super::row::{Row, Rule};

pub(crate) const FRAMES: Rule = Rule { file: "frames_eq1_eq2", check: frames };

fn frames(row: &mut Row) {
    let (bytes, header) = (row.count("s_payload_bytes"), row.count("H_header_bytes"));
    let frame = row.count("M_frame_payload_bytes");
    let rate = Probability::new(row.number("e_frame_error")).unwrap();
    let payload = Bytes::new(bytes);
    let frames = Frames::new(Bytes::new(header), Bytes::new(frame)).unwrap();
    let count = frames.count(payload);
    let exposure = Exposure {
        bytes: u32::try_from(bytes + header).unwrap(),
        frames: u32::try_from(count).unwrap(),
        airtime: Time::ZERO,
    };
    let damaged = ErrorModel::Uniform { per: Per::Frame, rate }.chance(&exposure);
    let (share, whole) = (bytes as f64 / (bytes + header) as f64, damaged.complement());
    let filled = bytes as f64 / frames.payload(count).get() as f64;
    row.expect_count("n_frames_eq1", count);
    row.expect("p_segment_loss_eq2", damaged.get());
    row.expect_text("aligned", if frames.is_aligned(payload) { "yes" } else { "no" });
    row.expect("protocol_efficiency_s_over_H_plus_s", share);
    row.expect("delivery_prob", whole);
    row.expect("goodput_factor_unpadded", share * whole);
    row.expect("goodput_factor_padded_channel", filled * goodput_factor(frames, count, rate));
}
