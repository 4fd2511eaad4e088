//! From evidence to advice: observed path, scenario, gain, remedies, headline.

#[path = "advise/gain.rs"]
mod gain;
#[path = "advise/path.rs"]
mod path;
#[path = "advise/remedy.rs"]
mod remedy;
#[path = "advise/scenario_text.rs"]
mod scenario_text;
