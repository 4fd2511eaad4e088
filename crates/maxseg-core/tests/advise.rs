//! From evidence to advice: observed path, scenario, gain, remedies, headline.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which may panic")]

#[path = "advise/caution.rs"]
mod caution;
#[path = "advise/gain.rs"]
mod gain;
#[path = "advise/middlebox.rs"]
mod middlebox;
#[path = "advise/path.rs"]
mod path;
#[path = "advise/remedy.rs"]
mod remedy;
#[path = "advise/scenario_text.rs"]
mod scenario_text;
#[path = "advise/settings.rs"]
mod settings;
#[path = "advise/subject.rs"]
mod subject;
