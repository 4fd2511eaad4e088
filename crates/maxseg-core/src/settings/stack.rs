//! Stacks: complete profiles of settings, shipped as data.

use serde::Deserialize;
use thiserror::Error;

use super::SettingsSpec;

/// A profile of settings.
#[derive(Debug, Clone)]
pub struct Stack {
    /// What scenarios call it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: String,
    /// Where its values come from.
    pub sources: Vec<String>,
    /// Its values.
    pub settings: SettingsSpec,
    /// The data file as shipped.
    pub text: &'static str,
}

/// A stack that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is no stack `{asked}`")]
pub struct StackError {
    /// The name that was asked for.
    pub asked: String,
    /// A name that it may have meant.
    pub similar: Option<&'static str>,
}

impl StackError {
    /// How to mend it.
    pub fn hint(&self) -> String {
        if is_file(&self.asked) {
            return "a stack file is named by `--stack FILE`, by the scenario's sender.stack, or by a sweep of it"
                .to_owned();
        }
        match self.similar {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => {
                "`maxseg stacks` lists them; a stack file is named with its ending, as host.toml"
                    .to_owned()
            }
        }
    }
}

/// Name and text of every shipped stack, the default first.
const FILES: [(&str, &str); 12] = [
    ("linux", include_str!("../../stacks/linux.toml")),
    ("rfc", include_str!("../../stacks/rfc.toml")),
    ("ns2-tahoe", include_str!("../../stacks/ns2-tahoe.toml")),
    ("ns2-reno", include_str!("../../stacks/ns2-reno.toml")),
    ("ns2-newreno", include_str!("../../stacks/ns2-newreno.toml")),
    ("ns2-sack", include_str!("../../stacks/ns2-sack.toml")),
    ("stcp-14.6", include_str!("../../stacks/stcp-14.6.toml")),
    ("tcp-os", include_str!("../../stacks/tcp-os.toml")),
    ("ftx-2.4", include_str!("../../stacks/ftx-2.4.toml")),
    ("open-transport-1.3", include_str!("../../stacks/open-transport-1.3.toml")),
    ("freebsd-2.2.5", include_str!("../../stacks/freebsd-2.2.5.toml")),
    ("freebsd-2.2.5-patched", include_str!("../../stacks/freebsd-2.2.5-patched.toml")),
];

/// Whether a stack's name is that of a stack file.
pub(crate) fn is_file(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// What a scenario's endpoint is when it names no stack: a host of today.
pub const DEFAULT: &str = FILES[0].0;
/// What a stack file goes on from when it names no base.
pub(crate) const ROOT: &str = FILES[1].0;

#[derive(Deserialize)]
struct StackFile {
    about: String,
    sources: Vec<String>,
    /// The stack whose values hold where this one gives none.
    base: Option<String>,
    #[serde(flatten)]
    settings: toml::Table,
}

/// Every shipped stack, in the order in which they are listed.
///
/// # Panics
/// Never: that every shipped file is well formed is tested.
pub fn builtin_stacks() -> impl Iterator<Item = Stack> {
    FILES.iter().map(|(name, text)| parse(name, text))
}

/// The shipped stack called `name`.
///
/// # Errors
/// [`StackError`], with a similar name where there is one.
///
/// # Panics
/// Never: that every shipped file is well formed is tested.
pub fn stack(name: &str) -> Result<Stack, StackError> {
    match FILES.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => Ok(parse(name, text)),
        None => Err(StackError {
            asked: name.to_owned(),
            similar: crate::similar::closest(name, FILES.iter().map(|(known, _)| *known)),
        }),
    }
}

/// Reads a shipped file. That each is well formed and complete is tested below, so what fails here is
/// a bug of this crate.
fn parse(name: &'static str, text: &'static str) -> Stack {
    let file: StackFile = toml::from_str(text).expect("a shipped stack is well formed");
    let mut settings =
        SettingsSpec::deserialize(file.settings).expect("a shipped stack has known keys only");
    settings.stack = Some(name.to_owned());
    if let Some(base) = file.base {
        settings =
            settings.over(&stack(&base).expect("the base of a shipped stack is shipped").settings);
    }
    Stack { name, about: file.about, sources: file.sources, settings, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_stack_is_complete() {
        for stack in builtin_stacks() {
            stack.settings.complete().unwrap_or_else(|e| panic!("{}: {e}", stack.name));
            assert!(!stack.about.is_empty() && !stack.sources.is_empty(), "{}", stack.name);
        }
    }

    #[test]
    fn an_unknown_stack_suggests_the_nearest() {
        assert_eq!(stack("ns2-ren").unwrap_err().similar, Some("ns2-reno"));
        assert_eq!(stack("ns2-ren").unwrap_err().hint(), "did you mean `ns2-reno`?");
        assert_eq!(stack("windows-95").unwrap_err().similar, None);
        assert_eq!(
            stack("host").unwrap_err().hint(),
            "`maxseg stacks` lists them; a stack file is named with its ending, as host.toml"
        );
    }
}
