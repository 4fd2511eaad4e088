//! What the kernel has forgotten, as text.

use maxseg_workbench::path::{Forgotten, ForgottenOutcome};

/// A line for each destination.
pub(crate) fn forget_text(forgotten: &[Forgotten]) -> String {
    if forgotten.is_empty() {
        return "Nothing to remove: no test is logged that may have changed this host's route cache.\n".to_owned();
    }
    forgotten.iter().map(line).collect()
}

fn line(forgotten: &Forgotten) -> String {
    let to = forgotten.destination;
    let mtu = forgotten.mtu_bytes.map_or_else(String::new, |mtu| format!(" (path MTU {mtu})"));
    match forgotten.outcome {
        ForgottenOutcome::NothingLearnt => format!("{to}: the tests taught the kernel nothing\n"),
        ForgottenOutcome::NothingThere => format!("{to}: the kernel remembers nothing any more\n"),
        ForgottenOutcome::Removed => format!("{to}: forgotten{mtu}\n"),
        ForgottenOutcome::NotOurs => format!(
            "{to}: left{mtu}: it was there before the test, or another connection has learnt it since\n"
        ),
        ForgottenOutcome::Failed => format!("{to}: not removed{mtu}\n"),
    }
}
