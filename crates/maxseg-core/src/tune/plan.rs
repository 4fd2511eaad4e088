//! What is to be changed, in order.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::target::{SocketOption, Target};

/// What a target is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// This, as the kernel has it: words separated by one space each.
    Text(String),
    /// Nothing: the route is there and has no such metric.
    Unset,
    /// There is no such thing: no route, interface, clamp or sysctl of this name.
    Absent,
}

impl Value {
    /// A text with its words separated by one space each; `unset` is no text.
    pub fn of(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["unset"] => Self::Unset,
            _ => Self::Text(words.join(" ")),
        }
    }

    /// The text, where there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unset | Self::Absent => None,
        }
    }

    /// Whether it is a metric that is locked, as ip-route(8) has it: `lock 1400`.
    pub fn is_locked(&self) -> bool {
        self.text().is_some_and(|text| text.starts_with("lock "))
    }

    /// The same with the words of `before` where it has `-`, or `>=` before a number that is no larger: what stays as it is. Else the
    /// number behind `>=` is meant. A text without such words, or with another number of words, is as it was.
    #[must_use]
    pub fn keeping(&self, before: &Self) -> Self {
        let (Some(text), Some(before)) = (self.text(), before.text()) else { return self.clone() };
        let (words, kept): (Vec<&str>, Vec<&str>) =
            (text.split(' ').collect(), before.split(' ').collect());
        if words.len() != kept.len() {
            return self.clone();
        }
        let words = words.into_iter().zip(kept).map(|(word, before)| kept_or_set(word, before));
        Self::Text(words.collect::<Vec<_>>().join(" "))
    }

    /// Whether it has words that stand for what is there: `-`, and `>=` before a number.
    pub fn keeps_words(&self) -> bool {
        let is_kept = |word: &str| word == "-" || word.starts_with(">=");
        self.text().is_some_and(|text| text.split(' ').any(is_kept))
    }

    /// The number of a size, locked or not.
    pub fn size(&self) -> Option<u64> {
        let text = self.text()?;
        let digits = text.strip_prefix("lock ").unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }

    /// The number that it is.
    pub fn number(&self) -> Option<u64> {
        self.text()?.parse().ok()
    }
}

/// The word that `-` or `>=5` stands for, where another was before.
fn kept_or_set<'w>(word: &'w str, before: &'w str) -> &'w str {
    if word == "-" {
        return before;
    }
    let Some(least) = word.strip_prefix(">=") else { return word };
    let numbers = before.parse::<u64>().ok().zip(least.parse::<u64>().ok());
    if numbers.is_some_and(|(before, least)| before >= least) { before } else { least }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(text) if text.contains('\n') => {
                let count = text.lines().count();
                return write!(f, "{count} line{}", if count == 1 { "" } else { "s" });
            }
            Self::Text(text) => text,
            Self::Unset => "unset",
            Self::Absent => "absent",
        })
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What is changed.
    pub target: Target,
    /// The value before.
    pub before: Value,
    /// The value after.
    pub after: Value,
    /// What else is needed to restore it: text that the reader of this kind of target wrote, and that its writer reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

impl Step {
    /// Whether it sets what an earlier step has set, as the same target does: two interfaces may have had one name, one after the other,
    /// which the images of their MTUs and sysctls tell. A receive buffer raises the window clamp of its socket with it.
    pub fn sets_the_same_as(&self, other: &Self) -> bool {
        // The index is the second word; more may be behind it.
        let index = |image: &str| image.split(' ').nth(1).map(str::to_owned);
        let is_one = match (&self.target, &self.image, &other.image) {
            (Target::InterfaceMtu(_) | Target::Sysctl(_), Some(image), Some(of_other)) => {
                index(image) == index(of_other)
            }
            _ => true,
        };
        is_one && (self.target == other.target || self.raises_clamp_of(other))
    }

    /// Whether it sets the receive buffer of the connection whose window clamp the other one sets: the clamp goes with the buffer.
    pub fn raises_clamp_of(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (
                Target::Socket { ends, option: SocketOption::ReceiveBuffer },
                Target::Socket { ends: of_other, option: SocketOption::WindowClamp },
            ) => ends == of_other,
            _ => false,
        }
    }
}

/// Changes that are made together, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// In the order in which they are made; undone in the opposite order.
    pub steps: Vec<Step>,
    /// Why, in a line: the reason of the advice, or what the user gave.
    pub why: Option<String>,
    /// Targets with a reason of their own.
    pub reasons: Vec<(Target, String)>,
}

impl Plan {
    /// The same without what is so already.
    #[must_use]
    pub fn without_what_is_so(self) -> Self {
        let steps = self.steps.into_iter().filter(|step| step.before != step.after).collect();
        Self { steps, ..self }
    }

    /// The reason that a target has of its own.
    pub fn reason(&self, target: &Target) -> Option<&str> {
        let of = self.reasons.iter().find(|(other, _)| other == target);
        of.map(|(_, why)| why.as_str())
    }

    /// The first target that occurs twice.
    pub fn repeated(&self) -> Option<&Target> {
        let mut steps = self.steps.iter();
        while let Some(step) = steps.next() {
            if steps.clone().any(|later| later.target == step.target) {
                return Some(&step.target);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receive_buffer_sets_the_clamp_of_its_socket_and_none_the_buffer() {
        let step = |target: &str| {
            let (before, after) = (Value::of("1"), Value::of("2"));
            Step { target: target.parse().unwrap(), before, after, image: None }
        };
        let clamp = step("socket.10.0.0.1:80-10.0.0.2:443.window_clamp");
        let buffer = step("socket.10.0.0.1:80-10.0.0.2:443.rcvbuf");
        let other = step("socket.10.0.0.1:81-10.0.0.2:443.rcvbuf");
        assert!(buffer.sets_the_same_as(&clamp) && clamp.sets_the_same_as(&clamp));
        assert!(!clamp.sets_the_same_as(&buffer) && !other.sets_the_same_as(&clamp));
    }
}
