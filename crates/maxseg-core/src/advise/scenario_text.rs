//! The observed path as a scenario file: every key states its confidence and its source.

use std::fmt::Write as _;

use super::path::{Dialogue, Known, ObservedPath, four_digits, micros};
use crate::framing::Headers;
use crate::units::{Bytes, Mtu};
use crate::window::LARGEST;

/// What loses packets in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossModel {
    /// Errors: every packet with the same probability, or in bursts.
    Errors,
    /// Overflow of the queue before the bottleneck link.
    QueueOverflow,
    /// A policer before the queue.
    Policer,
}

/// The parts of a scenario that the path does not determine.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioRequest<'a> {
    /// The scenario's name.
    pub name: &'a str,
    /// The origin of the path, as a sentence.
    pub origin: &'a str,
    /// What loses its packets.
    pub loss: LossModel,
    /// Payload of the transfer, in bytes.
    pub bytes: u64,
}

/// The scenario of a path, as TOML.
pub fn scenario_text(path: &ObservedPath, request: &ScenarioRequest<'_>) -> String {
    let mut text = format!(
        "# {}\n# Beside each value: its confidence (high, medium or low) and its source.\n\n",
        one_line(request.origin)
    );
    let _ = writeln!(text, "name = {}", quoted(request.name));
    let _ = writeln!(text, "ip = {}\n", path.ip.number());
    hop(&mut text, path, request.loss);
    sender(&mut text, path);
    receiver(&mut text, path);
    if let Some(dialogue) = &path.dialogue {
        requests(&mut text, dialogue);
    }
    text.push_str("\n[until]\n");
    let acked = format!("{} acknowledged in {:.3} s", Bytes::new(path.bytes), path.seconds);
    let _ = match &path.dialogue {
        Some(_) => writeln!(text, "# the requests above end a run: {acked}"),
        None => writeln!(text, "bytes = \"{}\" # of {acked}", Bytes::new(request.bytes.max(1))),
    };
    let _ = writeln!(text, "time = \"{}\" # limit of a run", micros(4.0 * path.seconds + 10.0));
    text
}

fn requests(text: &mut String, dialogue: &Dialogue) {
    text.push_str("\n[[flow]]\nkind = \"request\"\n");
    let client = if dialogue.data_is_replies { "receiver" } else { "sender" };
    let _ = writeln!(text, "from = \"{client}\" # the client");
    let size = |bytes: u64| format!("\"{}\"", Bytes::new(bytes));
    let (request, reply) = (&dialogue.request_bytes, &dialogue.reply_bytes);
    key(text, "request", &size(request.value), request);
    key(text, "reply", &size(reply.value), reply);
    key(text, "think", &format!("\"{}\"", dialogue.think.value), &dialogue.think);
    key(text, "pause", &format!("\"{}\"", dialogue.pause.value), &dialogue.pause);
    let _ = writeln!(text, "count = {} # requests with a reply", dialogue.count);
}

fn hop(text: &mut String, path: &ObservedPath, loss: LossModel) {
    text.push_str("[[hop]]\nname = \"path\"\n");
    key(text, "rate", &format!("\"{}\"", path.link_rate()), &path.rate_bps);
    key(text, "delay", &format!("\"{}\"", path.one_way_delay()), &path.rtt_s);
    key(
        text,
        "mtu",
        &path.mtu.value.clamp(Mtu::MIN.into(), Mtu::MAX.into()).to_string(),
        &path.mtu,
    );
    key(text, "queue", &format!("\"{}\"", Bytes::new(path.queue_bytes.value)), &path.queue_bytes);
    let mut reverse = String::new();
    if let Some(link) = &path.reverse_link {
        key(
            &mut reverse,
            "rate",
            &format!("\"{}\"", four_digits(link.rate_bps.value)),
            &link.rate_bps,
        );
        let queue = format!("\"{}\"", Bytes::new(link.queue_bytes.value));
        key(&mut reverse, "queue", &queue, &link.queue_bytes);
    }
    if let Some(reorder) = &path.reorder {
        key(text, "reorder", &format!("\"{:.2}%\"", 100.0 * reorder.value), reorder);
        reverse.push_str("reorder = \"0%\" # acknowledgements in order, assumed\n");
    }
    losses(text, path, loss, &mut reverse);
    if !reverse.is_empty() {
        let _ = write!(text, "[hop.reverse]\n{reverse}");
    }
}

fn losses(text: &mut String, path: &ObservedPath, model: LossModel, reverse: &mut String) {
    if path.loss.value <= 0.0 {
        let _ = writeln!(text, "# no errors: {}", path.loss.how);
        return;
    }
    match model {
        LossModel::Errors => {
            let rate = path.loss.value.min(0.99);
            let value = match &path.loss_burst {
                Some(burst) => format!(
                    "{{ model = \"gilbert-elliott\", per = \"packet\", rate = {rate:.8}, burst = {:.1} }}",
                    burst.value
                ),
                None => format!("{{ model = \"uniform\", per = \"packet\", rate = {rate:.8} }}"),
            };
            key(text, "errors", &value, &path.loss);
        }
        LossModel::QueueOverflow => {
            let _ = writeln!(
                text,
                "# no errors: {}, while packets were queued: the queue above overflowed",
                path.loss.how
            );
        }
        LossModel::Policer => {
            if let Some(policer) = &path.policer {
                let (rate, burst) = (policer.value.rate, policer.value.burst);
                let value = format!("{{ rate = \"{rate}\", burst = \"{burst}\" }}");
                key(text, "policer", &value, policer);
                reverse.push_str("policer = false\n");
            }
        }
    }
}

fn sender(text: &mut String, path: &ObservedPath) {
    text.push_str("\n[sender]\n");
    text.push_str(STACK);
    let name = path.congestion.value.word();
    key(text, "congestion", &format!("\"{name}\""), &path.congestion);
    options(text, path);
    // The MSS option does not count TCP's own options (RFC 6691).
    let options = path.headers() - Headers::plain(path.ip).octets();
    let mss = (path.segment.value + options).clamp(1, 65_495);
    key(text, "mss", &mss.to_string(), &path.segment);
    if let Some(window) = &path.initial_window {
        let segments = window.value.div_ceil(u64::from(path.segment.value.max(1))).clamp(1, 10_000);
        key(text, "initial_window", &format!("\"{segments} segments\""), window);
    }
    if let Some(size) = &path.send_buffer_size {
        key(text, "send_buffer", &format!("\"{}\"", Bytes::new(size.value)), size);
    }
}

fn receiver(text: &mut String, path: &ObservedPath) {
    text.push_str("\n[receiver]\n");
    text.push_str(STACK);
    options(text, path);
    let flight = path.send_buffer.as_ref().filter(|_| path.runs_buffer_as_window());
    let window = flight.unwrap_or(&path.window_bytes);
    let bytes = Bytes::new(window.value.clamp(1, LARGEST));
    key(text, "window", &format!("\"{bytes}\""), window);
    if let Some(read) = &path.read_rate_bps {
        key(text, "read_rate", &format!("\"{}\"", four_digits(read.value)), read);
    }
}

fn options(text: &mut String, path: &ObservedPath) {
    match path.sack {
        Some(sack) if path.has_syn_options => {
            let _ = writeln!(text, "sack = {sack} # both SYNs");
        }
        Some(sack) => {
            let how = if sack {
                "retransmissions follow SACK blocks"
            } else {
                "duplicate ACKs carry no SACK blocks"
            };
            let _ = writeln!(text, "sack = {sack} # low: {how}; {NO_SYN}");
        }
        None => {
            let _ = writeln!(text, "# no sack: {NO_SYN}");
        }
    }
    let timestamps = path.timestamps;
    let how = match (path.has_syn_options, timestamps) {
        (true, _) => "both SYNs".to_owned(),
        (false, true) => format!("low: segments carry them; {NO_SYN}"),
        (false, false) => format!("low: no captured segment carries them; {NO_SYN}"),
    };
    let _ = writeln!(text, "timestamps = {timestamps} # {how}");
}

/// The TCP of the rerun; other systems' differs in its timers and buffers.
const STACK: &str = "stack = \"linux\" # its timers and acknowledgements are assumed\n";

/// Why options are unknown.
const NO_SYN: &str = "the options of both SYNs were not captured";

/// `rate = "20 Mbit/s" # medium: spacing of trains …`.
fn key<T>(text: &mut String, name: &str, value: &str, known: &Known<T>) {
    let _ =
        writeln!(text, "{name} = {value} # {}: {}", known.confidence.word(), one_line(&known.how));
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A text for a comment: without line ends.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
