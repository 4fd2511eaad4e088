//! From stored advice to what is to be set.

use std::net::{IpAddr, UdpSocket};

use maxseg_core::similar::closest;
use maxseg_core::tune::{Target, Value};
use maxseg_linux::observe::host::is_read_only;
use maxseg_linux::tune::read;
use serde::Deserialize;

use super::plan::wanted;
use crate::error::TuningError;

/// What is asked for by the names of advice.
#[derive(Debug, Clone, Default)]
pub struct Advised {
    /// What is to be set.
    pub wanted: Vec<(Target, Value)>,
    /// Why: the reasons of the advice.
    pub why: String,
    /// What a network namespace of its own may not set, and has no need of for its advice.
    pub left: Vec<Target>,
}

/// Of the document of `advise --json`, what is needed here.
#[derive(Debug, Deserialize)]
struct Stored {
    host: Option<String>,
    boot_id: Option<String>,
    hosts: Vec<StoredHost>,
    advice: Vec<StoredAdvice>,
}

#[derive(Debug, Deserialize)]
struct StoredHost {
    address: Option<String>,
    here: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct StoredAdvice {
    id: String,
    reason: String,
    settings: Vec<StoredSetting>,
}

#[derive(Debug, Deserialize)]
struct StoredSetting {
    target: String,
    value: String,
    on: String,
    here: Option<bool>,
}

fn refused(what: impl Into<String>, hint: impl Into<String>) -> TuningError {
    TuningError::Advice { what: what.into(), hint: hint.into() }
}

const AGAIN: &str =
    "ask again: `maxseg advise` with the same argument, then `maxseg tune apply ID`";

/// What advice of these names sets on this host, of the document that the last `maxseg advise` has stored. `host` and `boot` are
/// those of now.
///
/// # Errors
/// There is none of such a name; it is for another host, or was given before this boot or of another path; or it names nothing
/// that can be set.
pub fn advised(
    document: &str,
    ids: &[&str],
    (host, boot): (Option<&str>, Option<&str>),
) -> Result<Advised, TuningError> {
    let stored: Stored = serde_json::from_str(document)
        .map_err(|error| refused(format!("the stored advice cannot be read: {error}"), AGAIN))?;
    if stored.host.is_some() && stored.host.as_deref() != host {
        let of = stored.host.unwrap_or_default();
        return Err(refused(format!("the stored advice was given on another host, {of}"), AGAIN));
    }
    if stored.boot_id.is_some() && stored.boot_id.as_deref() != boot {
        return Err(refused("the stored advice was given before this host was booted", AGAIN));
    }
    let mut advised = Advised::default();
    let mut reasons = Vec::new();
    for id in ids {
        let advice = find(&stored, id)?;
        for setting in &advice.settings {
            add(&mut advised, id, setting)?;
        }
        if advice.settings.is_empty() {
            return Err(refused(
                format!(
                    "advice `{id}` has no setting for a known address, so that nothing can be applied"
                ),
                "ask about a host or a connection instead of a scenario: maxseg advise HOST",
            ));
        }
        reasons.push(format!("{id}: {}", advice.reason));
    }
    refuse_another_path(&stored)?;
    advised.why = reasons.join("; ");
    Ok(advised)
}

fn find<'s>(stored: &'s Stored, id: &str) -> Result<&'s StoredAdvice, TuningError> {
    let ids: Vec<&str> = stored.advice.iter().map(|advice| advice.id.as_str()).collect();
    stored.advice.iter().find(|advice| advice.id == id).ok_or_else(|| {
        let hint = match closest(id, ids.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if ids.is_empty() => {
                "the last `maxseg advise` found no change to apply".to_owned()
            }
            None => format!("there are {}", ids.join(", ")),
        };
        refused(format!("the last `maxseg advise` has no advice `{id}`"), hint)
    })
}

fn add(advised: &mut Advised, id: &str, setting: &StoredSetting) -> Result<(), TuningError> {
    match setting.here {
        Some(true) => {}
        Some(false) => {
            return Err(refused(
                format!("advice `{id}` is for another host, {}", setting.on),
                format!("there: maxseg tune apply --set '{}={}'", setting.target, setting.value),
            ));
        }
        None => {
            return Err(refused(
                format!(
                    "whether advice `{id}` is for this host is not known: it is for {}",
                    setting.on
                ),
                format!("if it is: maxseg tune apply --set '{}={}'", setting.target, setting.value),
            ));
        }
    }
    let one = wanted(&format!("{}={}", setting.target, setting.value))?;
    if is_raised_enough(&one) || advised.wanted.contains(&one) {
        return Ok(());
    }
    if is_of_the_host(&one.0) {
        if !advised.left.contains(&one.0) {
            advised.left.push(one.0);
        }
        return Ok(());
    }
    advised.wanted.push(one);
    Ok(())
}

/// Limits of what programs ask for (`SO_RCVBUF`, `SO_SNDBUF`), which advice raises beside those of autotuning.
const ASKED_FOR: [&str; 2] = ["net.core.rmem_max", "net.core.wmem_max"];

/// Whether only the machine's first network namespace may raise such a limit. The limits of autotuning act without it.
fn is_of_the_host(target: &Target) -> bool {
    let Target::Sysctl(name) = target else { return false };
    ASKED_FOR.contains(&name.as_str()) && is_read_only(name)
}

/// Limits that advice raises and never lowers.
const RAISED: [&str; 4] =
    ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max"];

/// Whether a limit that is to be raised is as high already, or is not there, as in a network namespace of its own.
fn is_raised_enough((target, value): &(Target, Value)) -> bool {
    let Target::Sysctl(name) = target else { return false };
    RAISED.contains(&name.as_str())
        && read(target, None)
            .is_ok_and(|now| now.value == Value::Absent || value.keeping(&now.value) == now.value)
}

/// Whether packets to the other host leave by another address than when the advice was given. Nothing is sent.
fn refuse_another_path(stored: &Stored) -> Result<(), TuningError> {
    let address = |is_here: bool| -> Option<IpAddr> {
        let host = stored.hosts.iter().find(|host| host.here == Some(is_here))?;
        host.address.as_ref()?.parse().ok()
    };
    let (Some(own), Some(other)) = (address(true), address(false)) else { return Ok(()) };
    let source = || -> Option<IpAddr> {
        let any: IpAddr = if other.is_ipv6() { [0; 16].into() } else { [0; 4].into() };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((other, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    match source() {
        Some(now) if now == own => Ok(()),
        Some(now) => Err(refused(
            format!(
                "the path to {other} has changed: packets leave from {now}, and left from {own}"
            ),
            AGAIN,
        )),
        None => {
            Err(refused(format!("the path to {other} has changed: there is no route now"), AGAIN))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(here: &str, address: &str) -> String {
        format!(
            r#"{{"host":"h","boot_id":"b","hosts":[{{"address":"127.0.0.1","here":true}},{{"address":"{address}","here":false}}],
                "advice":[{{"id":"mtu-a","reason":"because","settings":[
                  {{"target":"route.192.0.2.0/24.mtu","value":"1400","on":"127.0.0.1","here":{here}}}]}},
                  {{"id":"none","reason":"because","settings":[]}}]}}"#
        )
    }

    fn refusal(document: &str, id: &str, host: &str, boot: &str) -> String {
        let error = advised(document, &[id], (Some(host), Some(boot))).unwrap_err();
        format!("{error}\n{}", error.hint())
    }

    #[test]
    fn advice_of_this_host_and_path_is_taken() {
        let given = advised(&document("true", "127.0.0.1"), &["mtu-a"], (Some("h"), Some("b")));
        let given = given.unwrap();
        assert_eq!(given.why, "mtu-a: because");
        let (target, value) = &given.wanted[0];
        assert_eq!(format!("{target}={value}"), "route.192.0.2.0/24.mtu=1400");
    }

    #[test]
    fn other_advice_is_refused() {
        let good = document("true", "127.0.0.1");
        for (document, id, host, boot, why) in [
            (&good, "mtu-b", "h", "b", "did you mean `mtu-a`?"),
            (&good, "window", "h", "b", "there are mtu-a, none"),
            (&good, "none", "h", "b", "nothing can be applied"),
            (&good, "mtu-a", "other", "b", "given on another host, h"),
            (&good, "mtu-a", "h", "later", "before this host was booted"),
            (&document("false", "127.0.0.1"), "mtu-a", "h", "b", "for another host, 127.0.0.1"),
            (&document("null", "127.0.0.1"), "mtu-a", "h", "b", "is not known"),
            (&document("true", "::1"), "mtu-a", "h", "b", "the path to ::1 has changed"),
            (&"{}".to_owned(), "mtu-a", "h", "b", "cannot be read"),
        ] {
            let told = refusal(document, id, host, boot);
            assert!(told.contains(why), "{told}");
        }
    }
}
