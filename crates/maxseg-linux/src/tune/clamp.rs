//! The MSS clamp of a gateway: an nftables table of this program's own, a chain pair for each interface.
//!
//! The chains are base chains of hooks `forward` and `output` with priority 150, behind those of firewalls: what an earlier
//! chain accepts still passes later base chains of the same hook, whatever their table (nft(8)); only what it drops or what
//! never reaches the hook does not. The rules act on SYNs that are forwarded by the interface in either direction, and on those
//! of this host that leave by it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use maxseg_core::tune::{Target, Value};
use serde_json::Value as Json;

use super::TuneError;
use crate::sys::find_program;

/// The table, which nothing else is in.
const TABLE: &str = "maxseg";
/// `mangle + 300`: behind the filters of firewalls, before source NAT of `postrouting`.
const PRIORITY: i32 = 150;
/// What a clamp without a number is.
const ROUTE_MTU: &str = "rt mtu";
/// Where packets pass it, and how rules there tell that they do: of what is forwarded both directions count, since the MSS of a SYN
/// bounds what comes back.
const HOOKS: [(&str, &[&str]); 2] =
    [("forward", &["oifname", "iifname"]), ("output", &["oifname"])];

/// The value of an interface's clamp: a number, `rt mtu`, or that there is none. The rules are there without the interface, too.
pub(super) fn read(name: &str) -> Result<Value, TuneError> {
    let values = values(&table(&target(name))?, name);
    Ok(match values.as_slice() {
        [] => Value::Unset,
        [first, others @ ..] if others.len() == 2 && others.iter().all(|other| other == first) => {
            Value::Text(first.clone())
        }
        // Somebody has changed one of the rules.
        others => Value::Text(others.join(" / ")),
    })
}

/// Sets it in one transaction: both chains, or none.
pub(super) fn write(name: &str, value: &Value) -> Result<(), TuneError> {
    let target = target(name);
    // In a rule a star is any end of a name.
    if name.contains(['"', '\\', '*']) {
        return Err(TuneError::CannotBe { target, value: value.clone() });
    }
    let existing = table(&target)?;
    let mut lines = vec![format!("add table inet {TABLE}")];
    for (hook, matches) in HOOKS {
        let chain = format!("inet {TABLE} {}", chain(hook, name));
        // Adding it first makes deleting it possible whether it is there or not.
        lines.extend([format!("add chain {chain}"), format!("flush chain {chain}")]);
        lines.push(format!("delete chain {chain}"));
        if let Value::Text(size) = value {
            lines.push(format!(
                "add chain {chain} {{ type filter hook {hook} priority {PRIORITY}; policy accept; }}"
            ));
            lines.extend(matches.iter().map(|by| rule(&chain, by, name, size)));
        }
    }
    let is_own = |one: &String| HOOKS.iter().any(|(hook, _)| *one == chain(hook, name));
    if value.text().is_none() && chains(&existing).iter().all(is_own) {
        lines.push(format!("delete table inet {TABLE}"));
    }
    let script = lines.join("\n") + "\n";
    run(&["-f", "-"], Some(&script)).map(drop).map_err(|why| failed(&target, value, why))
}

/// A number bounds the MSS from above; of `rt mtu` the kernel takes the smaller MTU of both directions.
fn rule(chain: &str, by: &str, name: &str, size: &str) -> String {
    let of = format!("add rule {chain} {by} \"{name}\" tcp flags syn");
    if size == ROUTE_MTU {
        format!("{of} tcp option maxseg size set rt mtu")
    } else {
        format!("{of} tcp option maxseg size gt {size} tcp option maxseg size set {size}")
    }
}

/// A chain's name: an interface's may have characters that a chain's may not.
fn chain(hook: &str, name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_string() } else { format!("_{:x}", u32::from(c)) }
    };
    format!("{hook}_{}", name.chars().map(plain).collect::<String>())
}

fn target(name: &str) -> Target {
    Target::Clamp(name.to_owned())
}

/// The objects of the table; none where it is not there.
fn table(target: &Target) -> Result<Vec<Json>, TuneError> {
    let text = match run(&["-j", "list", "table", "inet", TABLE], None) {
        Ok(text) => text,
        Err(Failed::Said(why)) if why.contains("No such file") => return Ok(Vec::new()),
        Err(why) => return Err(TuneError::open(target, why.into())),
    };
    let document: Json = serde_json::from_str(&text)
        .map_err(|error| TuneError::read(target, std::io::Error::other(error)))?;
    Ok(document["nftables"].as_array().cloned().unwrap_or_default())
}

fn chains(objects: &[Json]) -> Vec<String> {
    let names = objects.iter().filter_map(|object| object["chain"]["name"].as_str());
    names.map(str::to_owned).collect()
}

/// The values of an interface's rules, of each hook.
fn values(objects: &[Json], name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for (hook, _) in HOOKS {
        let chain = chain(hook, name);
        for rule in objects.iter().map(|object| &object["rule"]) {
            if rule["chain"].as_str() != Some(&chain) {
                continue;
            }
            let statements = rule["expr"].as_array().into_iter().flatten();
            values.extend(statements.filter_map(|statement| {
                let value = &statement["mangle"]["value"];
                let is_mtu = value["rt"]["key"].as_str() == Some("mtu");
                value.as_u64().map(|size| size.to_string()).or(is_mtu.then(|| ROUTE_MTU.to_owned()))
            }));
        }
    }
    values
}

/// Why `nft` did not do it.
enum Failed {
    Missing,
    NotRun(std::io::Error),
    Said(String),
}

impl From<Failed> for std::io::Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Missing => Self::other("nft is not installed (package nftables)"),
            Failed::NotRun(error) => error,
            Failed::Said(why) if why.contains("not permitted") => {
                Self::new(std::io::ErrorKind::PermissionDenied, why)
            }
            Failed::Said(why) => Self::other(format!("nft: {why}")),
        }
    }
}

fn failed(target: &Target, value: &Value, why: Failed) -> TuneError {
    TuneError::write(target, value, why.into())
}

fn run(arguments: &[&str], input: Option<&str>) -> Result<String, Failed> {
    let file = find_program("nft").ok_or(Failed::Missing)?;
    let mut child = Command::new(file)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Failed::NotRun)?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // Where nft ends early, what it says of that is the error.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(Failed::NotRun)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failed::Said(said.lines().next().unwrap_or("it failed without a word").to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_s_name_is_one_word_and_of_one_interface() {
        assert_eq!(chain("forward", "eth0"), "forward_eth0");
        let odd = ["eth0.1", "eth0_1", "eth0-1", "eth0@1"].map(|name| chain("output", name));
        assert_eq!(
            odd,
            ["output_eth0_2e1", "output_eth0_5f1", "output_eth0_2d1", "output_eth0_401"]
        );
    }
}
