//! The observed path as a scenario file: every key says how it is known, and how far that can be trusted.

use std::fmt::Write as _;

use maxseg_core::framing::Headers;
use maxseg_core::units::{BitsPerSec, Bytes, Time};
use maxseg_core::window::LARGEST_SHIFT;

use super::path::{Known, ObservedPath, whole};

/// How losses came about: which of two explanations a scenario follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossBy {
    /// Each packet with the same chance, whatever waits.
    Chance,
    /// The queue was full.
    FullQueue,
}

/// What a scenario is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// What it is called.
    pub(crate) name: &'a str,
    /// Where the path comes from, in a sentence.
    pub(crate) origin: &'a str,
    /// How losses came about.
    pub(crate) loss: LossBy,
    /// So much payload ends it.
    pub(crate) bytes: u64,
}

/// The scenario of a path.
pub(crate) fn scenario_text(path: &ObservedPath, wanted: &Wanted<'_>) -> String {
    let mut text = format!(
        "# {}\n# Each value says how it is known, and how far that can be trusted: high, medium or low.\n\n",
        one_line(wanted.origin)
    );
    let _ = writeln!(text, "name = {}", quoted(wanted.name));
    let _ = writeln!(text, "ip = {}\n", path.ip.number());
    hop(&mut text, path, wanted.loss);
    sender(&mut text, path);
    receiver(&mut text, path);
    let _ = write!(
        text,
        "\n[until]\nbytes = \"{}\" # of {} that were acknowledged in {:.3} s\ntime = \"{}\" # where it takes far longer than it did\n",
        Bytes::new(wanted.bytes.max(1)),
        Bytes::new(path.bytes),
        path.seconds,
        seconds(4.0 * path.seconds + 10.0)
    );
    text
}

fn hop(text: &mut String, path: &ObservedPath, loss: LossBy) {
    text.push_str("[[hop]]\nname = \"path\"\n");
    key(text, "rate", &rate(path.rate_bps.value), &path.rate_bps);
    // A full packet and its acknowledgement take their time on the wire besides.
    let packet = f64::from(path.segment.value + 2 * path.headers());
    let on_wire = 8.0 * packet / path.rate_bps.value.max(1.0);
    let delay = ((path.rtt_s.value - on_wire) / 2.0).max(0.0);
    key(text, "delay", &format!("\"{}\"", seconds(delay)), &path.rtt_s);
    key(text, "mtu", &path.mtu.value.clamp(68, 65_535).to_string(), &path.mtu);
    key(text, "queue", &format!("\"{}\"", Bytes::new(path.queue_bytes.value)), &path.queue_bytes);
    match loss {
        LossBy::Chance if path.loss.value > 0.0 => {
            let rate = path.loss.value.min(0.99);
            let value = format!("{{ model = \"uniform\", per = \"packet\", rate = {rate:.8} }}");
            key(text, "errors", &value, &path.loss);
        }
        LossBy::FullQueue if path.loss.value > 0.0 => {
            let _ = writeln!(
                text,
                "# no errors: {}, while round trips were long: the queue above was full",
                path.loss.how
            );
        }
        LossBy::Chance | LossBy::FullQueue => {
            let _ = writeln!(text, "# no errors: {}", path.loss.how);
        }
    }
}

fn sender(text: &mut String, path: &ObservedPath) {
    text.push_str("\n[sender]\n");
    options(text, path);
    text.push_str(
        "rto = { rule = \"linux\", initial = \"1 s\", min = \"200 ms\", max = \"120 s\", tick = \"4 ms\" } # low: Linux's, assumed\n",
    );
    // The option's value: options of every segment are not subtracted from it.
    let options = path.headers() - Headers::plain(path.ip).octets();
    let mss = (path.segment.value + options).clamp(1, 65_495);
    key(text, "mss", &mss.to_string(), &path.segment);
    if let Some(buffer) = &path.send_buffer {
        key(text, "send_buffer", &format!("\"{}\"", Bytes::new(buffer.value)), buffer);
    }
    if let Some(window) = &path.initial_window {
        let segments = window.value.div_ceil(u64::from(path.segment.value.max(1))).clamp(1, 10_000);
        key(text, "initial_window", &format!("\"{segments} segments\""), window);
    }
}

fn receiver(text: &mut String, path: &ObservedPath) {
    text.push_str("\n[receiver]\n");
    options(text, path);
    text.push_str("delayed_ack = { timeout = \"40 ms\", every = 2 } # low: Linux's, assumed\n");
    let window = path.window_bytes.value.clamp(1, maxseg_core::window::LARGEST);
    key(text, "window", &format!("\"{}\"", Bytes::new(window)), &path.window_bytes);
    let scale = match path.window_scale {
        Some(shift) => format!("{} # as its SYN says", shift.min(LARGEST_SHIFT)),
        None if path.syns_seen && window <= 65_535 => "\"off\" # as its SYN says".to_owned(),
        None => format!("\"auto\" # low: assumed, {NO_SYN}"),
    };
    let _ = writeln!(text, "window_scale = {scale}");
    if let Some(read) = &path.read_rate_bps {
        key(text, "read_rate", &rate(read.value), read);
    }
}

fn options(text: &mut String, path: &ObservedPath) {
    match path.sack {
        Some(sack) if path.syns_seen => {
            let _ = writeln!(text, "sack = {sack} # both SYNs");
        }
        Some(sack) => {
            let _ =
                writeln!(text, "sack = {sack} # low: retransmissions follow its blocks; {NO_SYN}");
        }
        None => {
            let _ = writeln!(text, "# no sack: {NO_SYN}");
        }
    }
    let timestamps = path.timestamps;
    let how = match (path.syns_seen, timestamps) {
        (true, _) => "both SYNs".to_owned(),
        (false, true) => format!("low: segments carry them; {NO_SYN}"),
        (false, false) => format!("low: no segment was seen to carry them; {NO_SYN}"),
    };
    let _ = writeln!(text, "timestamps = {timestamps} # {how}");
}

/// Why options are not known.
const NO_SYN: &str = "the SYNs of both sides were not seen";

/// `rate = "20 Mbit/s" # medium: spacing of trains …`.
fn key<T>(text: &mut String, name: &str, value: &str, known: &Known<T>) {
    let _ =
        writeln!(text, "{name} = {value} # {}: {}", known.confidence.word(), one_line(&known.how));
}

/// A rate as a file writes it, in four digits: it is known no better.
fn rate(bps: f64) -> String {
    let step = 10_f64.powf((bps.max(1.0).log10().floor() - 3.0).max(0.0));
    let rounded = whole((bps / step).round() * step).max(1);
    BitsPerSec::new(rounded).map_or_else(String::new, |rate| format!("\"{rate}\""))
}

/// A time as a file writes it, to the microsecond.
fn seconds(seconds: f64) -> String {
    Time::from_nanos(whole(seconds * 1e6).saturating_mul(1000)).to_string()
}

/// As TOML writes a text.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A text for a comment: nothing in it ends the line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use maxseg_core::scenario::Scenario;

    use super::*;
    use crate::explain::made::{explanation, windowed};

    fn text(loss: f64, by: LossBy) -> String {
        let mut evidence = windowed(0);
        evidence.forward.data_packets = 10_000;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small share"
        )]
        let resent = (loss * 10_000.0) as u64;
        evidence.forward.retransmitted_packets = resent;
        let explained = explanation(vec![evidence]);
        let path = ObservedPath::of(&explained.connection(0).unwrap()).unwrap();
        let wanted =
            Wanted { name: "a\n\"b\"", origin: "from a\n[hop] file", loss: by, bytes: path.bytes };
        scenario_text(&path, &wanted)
    }

    #[test]
    fn every_form_is_a_scenario() {
        for (loss, by) in [(0.0, LossBy::Chance), (0.02, LossBy::Chance), (0.02, LossBy::FullQueue)]
        {
            let text = text(loss, by);
            let scenario = Scenario::from_toml("test", &text)
                .unwrap_or_else(|error| panic!("{}\n{text}", error.what));
            assert_eq!(scenario.name, "a\n\"b\"");
            assert_eq!(scenario.is_random(), loss > 0.0 && by == LossBy::Chance, "{text}");
            assert_eq!(scenario.bottleneck_rate().get() / 1000, 20_000);
        }
    }

    #[test]
    fn without_syns_nothing_is_said_of_them() {
        let mut evidence = windowed(0);
        evidence.handshake = maxseg_core::evidence::Handshake::default();
        evidence.forward.sack_permitted = false;
        evidence.reverse.sack_permitted = false;
        let explained = explanation(vec![evidence]);
        let path = ObservedPath::of(&explained.connection(0).unwrap()).unwrap();
        let wanted = Wanted { name: "a", origin: "b", loss: LossBy::Chance, bytes: path.bytes };
        let text = scenario_text(&path, &wanted);
        assert!(!text.contains("both SYNs\n") && !text.contains("SYN says"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("sack")), "{text}");
        assert!(text.contains("window_scale = \"auto\" # low"), "{text}");
        assert!(text.contains("timestamps = true # low: segments carry them"), "{text}");
        Scenario::from_toml("test", &text).unwrap();
    }

    #[test]
    fn every_value_says_how_it_is_known() {
        let text = text(0.02, LossBy::Chance);
        for name in ["rate", "delay", "mtu", "queue", "errors", "mss", "window"] {
            let line = text.lines().find(|line| line.starts_with(&format!("{name} ="))).unwrap();
            let known = ["# high: ", "# medium: ", "# low: "];
            assert!(known.iter().any(|mark| line.contains(mark)), "{line}");
        }
    }
}
