//! Packets in radio frames, and what becomes of them.

use maxseg_core::errors::{ErrorModel, Exposure, Per};
use maxseg_core::units::{Probability, Time};

use super::row::{Row, Rule};

pub(crate) const FRAMES: Rule = Rule { file: "frames_eq1_eq2", check: frames };

fn frames(row: &mut Row) {
    let (payload, header) = (row.count("s_payload_bytes"), row.count("H_header_bytes"));
    let frame = row.count("M_frame_payload_bytes");
    let rate = Probability::new(row.number("e_frame_error")).unwrap();
    let bytes = payload + header;
    let frames = bytes.div_ceil(frame);
    let exposure = Exposure {
        bytes: u32::try_from(bytes).unwrap(),
        frames: u32::try_from(frames).unwrap(),
        airtime: Time::ZERO,
    };
    let damaged = ErrorModel::Uniform { per: Per::Frame, rate }.chance(&exposure);
    let (share, whole) = (payload as f64 / bytes as f64, damaged.complement());
    row.expect_count("n_frames_eq1", frames);
    row.expect("p_segment_loss_eq2", damaged.get());
    row.expect_text("aligned", if bytes.is_multiple_of(frame) { "yes" } else { "no" });
    row.expect("protocol_efficiency_s_over_H_plus_s", share);
    row.expect("delivery_prob", whole);
    row.expect("goodput_factor_unpadded", share * whole);
    let padded = payload as f64 / (frames * frame) as f64;
    row.expect("goodput_factor_padded_channel", padded * whole);
}
