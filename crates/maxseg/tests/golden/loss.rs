//! Throughput under loss.

use maxseg_core::model::mathis;
use maxseg_core::model::pftk::Pftk;

use super::row::{Row, Rule};

pub(crate) const MATHIS: Rule = Rule {
    file: "mathis",
    check: |row| {
        let mss = row.number("mss_bytes");
        let (rtt, loss) = (row.number("rtt_s"), row.number("p_loss"));
        let per_ack = row.number("b_ack_ratio");
        let bytes = mss * mathis::rate(loss, rtt, per_ack);
        row.expect("C_const", mathis::constant(per_ack));
        row.expect("rate_bytes_per_s", bytes);
        row.expect("rate_bits_per_s", 8.0 * bytes);
    },
};

pub(crate) const PFTK: Rule = Rule { file: "pftk", check: pftk };

fn pftk(row: &mut Row) {
    let mss = row.number("mss_bytes");
    let model = Pftk {
        loss: row.number("p_loss"),
        rtt: row.number("rtt_s"),
        first_timeout: row.number("t0_s"),
        per_ack: row.number("b_ack_ratio"),
        largest_window: row.number("wmax_segments"),
    };
    row.expect("EWu_segments", model.unbounded_window());
    row.expect("Qhat_at_min_EW_wmax", model.timeout_share(model.window()));
    row.expect("f_poly", model.back_off());
    row.expect("B_full_send_pkt_per_s", model.send_rate());
    row.expect("T_full_goodput_pkt_per_s", model.goodput());
    row.expect("B_approx_pkt_per_s", model.approximate_send_rate());
    row.expect("B_approx_bits_per_s", 8.0 * mss * model.approximate_send_rate());
}
