//! Throughput under loss.

use maxseg_core::model::cardwell::Cardwell;
use maxseg_core::model::cubic::{self, Cubic};
use maxseg_core::model::mathis;
use maxseg_core::model::pftk::Pftk;
use maxseg_core::model::tfrc::Tfrc;

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

pub(crate) const TFRC: Rule = Rule {
    file: "tfrc_rfc5348",
    check: |row| {
        let tfrc = Tfrc {
            segment: row.number("s_bytes"),
            rtt: row.number("R_s"),
            loss_events: row.number("p"),
            timeout: row.number("t_RTO_s"),
            per_ack: row.number("b"),
        };
        row.expect("X_bytes_per_s", tfrc.rate());
    },
};

pub(crate) const CUBIC: Rule = Rule { file: "cubic", check: cubic };

fn cubic(row: &mut Row) {
    let mss = row.number("mss_bytes");
    let cubic = Cubic {
        loss: row.number("p_loss"),
        rtt: row.number("rtt_s"),
        aggressiveness: row.number("C"),
        beta: row.number("beta"),
    };
    row.expect("W_cubic_segments", cubic.cubic_window());
    row.expect("W_reno_sqrt1p5overp_segments", cubic.reno_window());
    row.expect("W_used_segments", cubic.window());
    row.expect_text("region", cubic.region().name());
    row.expect("rate_bits_per_s", 8.0 * mss * cubic.rate());
    row.expect("crossover_rtt_s", cubic.crossover_rtt());
}

pub(crate) const CUBIC_TABLE: Rule = Rule {
    file: "cubic_rfc8312_table",
    check: |row| {
        let (rtt, loss) = (row.number("rtt_s"), row.number("p_loss"));
        let ours = cubic::window_in_rfc8312(loss, rtt, row.number("C"));
        row.ignore("rfc_reno_W_segments");
        let published = row.number("rfc_cubic_W_segments");
        let is_within = (ours - published).abs() <= (0.000_2 * published).max(1.0);
        row.expect("recomputed_max(1.054*(C/0.4)^.25*(rtt/p)^.75;1.2/sqrt(p))", ours);
        row.expect_text("within_1_or_0.02pct", if is_within { "yes" } else { "no" });
    },
};

pub(crate) const CARDWELL: Rule = Rule { file: "cardwell", check: cardwell };

fn cardwell(row: &mut Row) {
    let model = Cardwell {
        segments: row.number("data_segments"),
        loss: row.number("p_loss"),
        rtt: row.number("rtt_s"),
        first_timeout: row.number("t0_s"),
        initial_window: row.number("w1_segments"),
        per_ack: row.number("b_ack_ratio"),
        largest_window: row.number("wmax_segments"),
        syn_timeout: row.number("syn_timeout_Ts_s"),
        delayed_ack: row.number("delack_s"),
    };
    let latency = model.latency();
    row.expect("E_handshake_s", latency.handshake);
    row.expect("E_slowstart_s", latency.slow_start);
    row.expect("E_loss_s", latency.first_loss);
    row.expect("E_ca_s", latency.remainder);
    row.expect("E_delack_s", latency.delayed_ack);
    row.expect("E_total_s", latency.total());
}
