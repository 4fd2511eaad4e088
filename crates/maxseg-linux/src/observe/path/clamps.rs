//! Rules of this host's firewall that change the MSS option: nftables by `nft -j list ruleset`, iptables by `iptables-save`.
//!
//! Neither reads anything into existence: `iptables-save` without a table lists those that there are, where `-t mangle` of the
//! legacy variant would create one.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use thiserror::Error;

use crate::sys::find_program;

/// A rule that changes the MSS option of a SYN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clamp {
    /// `nft` or `iptables`.
    pub by: &'static str,
    /// The family: `ip`, `ip6` or `inet`.
    pub family: String,
    /// Table and chain, separated by a blank.
    pub chain: String,
    /// Where packets meet it: `output`, `forward`, `input` …; `None` of a chain that others jump to.
    pub hook: Option<String>,
    /// The MSS that it sets at most; `None` where it goes by the path MTU.
    pub mss: Option<u32>,
}

/// The rules, as far as they can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clamps {
    /// Those that were found.
    pub rules: Vec<Clamp>,
    /// Why there may be more; `None` where these are all.
    pub unknown: Option<NotRead>,
}

/// Why what a program lists is not known.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotRead {
    /// The program that lists them is not installed.
    #[error("{0} is not installed")]
    NoProgram(&'static str),
    /// This user may not read them.
    #[error("this user may not read the firewall's rules: root may")]
    Denied,
    /// The program failed.
    #[error("{program} failed: {why}")]
    Failed {
        /// The program.
        program: String,
        /// What it said first.
        why: String,
    },
    /// Its output is not understood.
    #[error("the output of {0} is not understood")]
    Odd(&'static str),
}

impl Clamps {
    /// The rules of the calling thread's network namespace.
    pub(crate) fn read() -> Self {
        let mut rules = Vec::new();
        let mut unknown = None;
        let mut by_iptables = legacy_tables();
        match run("nft", &["-j", "list", "ruleset"]).map(|text| of_nft(&text)) {
            Ok(Some(found)) => {
                rules = found.rules;
                by_iptables |= found.has_iptables;
            }
            Ok(None) => unknown = Some(NotRead::Odd("nft")),
            Err(why) => unknown = Some(why),
        }
        if by_iptables && unknown != Some(NotRead::Denied) {
            for (programs, family) in SAVE {
                match save(programs) {
                    Ok(texts) => {
                        rules.extend(texts.iter().flat_map(|text| of_iptables(text, family)));
                    }
                    Err(why) => unknown = unknown.or(Some(why)),
                }
            }
        }
        rules.dedup();
        Self { rules, unknown }
    }
}

/// The programs that list the rules of a family, for nftables and for the legacy tables; what distributions without both call it.
const SAVE: [([&str; 3], &str); 2] = [
    (["iptables-nft-save", "iptables-legacy-save", "iptables-save"], "ip"),
    (["ip6tables-nft-save", "ip6tables-legacy-save", "ip6tables-save"], "ip6"),
];

/// Whether there are tables of the legacy kind; of the calling thread's namespace.
fn legacy_tables() -> bool {
    ["ip_tables_names", "ip6_tables_names"].iter().any(|file| {
        let names = fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        names.is_ok_and(|names| !names.trim().is_empty())
    })
}

/// What both variants list, or the one that there is.
fn save([nft, legacy, only]: [&'static str; 3]) -> Result<Vec<String>, NotRead> {
    let both: Vec<_> =
        [nft, legacy].into_iter().filter(|program| find_program(program).is_some()).collect();
    let programs = if both.is_empty() { vec![only] } else { both };
    programs.into_iter().map(|program| run(program, &[])).collect()
}

fn run(program: &'static str, arguments: &[&str]) -> Result<String, NotRead> {
    let file = find_program(program).ok_or(NotRead::NoProgram(program))?;
    let failed =
        |why: String| NotRead::Failed { program: program.to_owned(), why: first_line(&why) };
    let output =
        Command::new(file).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_denied = ["not permitted", "ermission denied", "must be root"];
    if is_denied.iter().any(|words| why.contains(words)) {
        return Err(NotRead::Denied);
    }
    Err(failed(why))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("without a word").to_owned()
}

struct FromNft {
    rules: Vec<Clamp>,
    /// Whether there are rules whose values only iptables knows.
    has_iptables: bool,
}

/// The rules in what `nft -j` prints; `None` where that is something else.
fn of_nft(text: &str) -> Option<FromNft> {
    let document: Value = serde_json::from_str(text).ok()?;
    let objects = document.get("nftables")?.as_array()?;
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let chain_of = |value: &Value, name: &str| {
        (word(value, "family"), format!("{} {}", word(value, "table"), word(value, name)))
    };
    let hooks: HashMap<_, _> = objects
        .iter()
        .filter_map(|object| object.get("chain"))
        .map(|chain| (chain_of(chain, "name"), chain["hook"].as_str().map(str::to_owned)))
        .collect();
    let mut found = FromNft { rules: Vec::new(), has_iptables: false };
    for rule in objects.iter().filter_map(|object| object.get("rule")) {
        let key = chain_of(rule, "chain");
        let hook = hooks.get(&key).cloned().flatten();
        for statement in rule["expr"].as_array().into_iter().flatten() {
            // Of a target that nft was built without it tells no name.
            let may_clamp = |xt: &Value| xt["name"].as_str().is_none_or(|name| name == "TCPMSS");
            found.has_iptables |= statement.get("xt").is_some_and(may_clamp);
            let mangle = &statement["mangle"];
            if mangle["key"]["tcp option"]["name"] != "maxseg" {
                continue;
            }
            let (family, chain) = key.clone();
            let mss = mangle["value"].as_u64().and_then(|mss| u32::try_from(mss).ok());
            found.rules.push(Clamp { by: "nft", family, chain, hook: hook.clone(), mss });
        }
    }
    Some(found)
}

/// The rules in what `iptables-save` prints.
fn of_iptables(text: &str, family: &str) -> Vec<Clamp> {
    let mut table = "";
    let mut rules = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('*') {
            table = name.trim();
        }
        let mut words = line.split_whitespace();
        if words.next() != Some("-A") || !line.contains("-j TCPMSS") {
            continue;
        }
        let chain = words.next().unwrap_or_default();
        let mut after = line.split_whitespace().skip_while(|word| *word != "--set-mss");
        let is_hook = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"].contains(&chain);
        rules.push(Clamp {
            by: "iptables",
            family: family.to_owned(),
            chain: format!("{table} {chain}"),
            hook: is_hook.then(|| chain.to_ascii_lowercase()),
            mss: after.nth(1).and_then(|mss| mss.parse().ok()),
        });
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clamp(by: &'static str, family: &str, chain: &str, hook: &str, mss: Option<u32>) -> Clamp {
        let hook = (!hook.is_empty()).then(|| hook.to_owned());
        Clamp { by, family: family.to_owned(), chain: chain.to_owned(), hook, mss }
    }

    #[test]
    fn rules_of_nft_have_their_hook_and_value() {
        let text = r#"{"nftables": [{"metainfo": {"version": "1.0.6"}},
            {"chain": {"family": "inet", "table": "t", "name": "out", "type": "filter", "hook": "output"}},
            {"chain": {"family": "inet", "table": "t", "name": "other"}},
            {"rule": {"family": "inet", "table": "t", "chain": "out", "expr": [
                {"match": {"op": "in", "right": "syn"}},
                {"mangle": {"key": {"tcp option": {"name": "maxseg", "field": "size"}}, "value": 1200}}]}},
            {"rule": {"family": "inet", "table": "t", "chain": "other", "expr": [
                {"mangle": {"key": {"tcp option": {"name": "maxseg", "field": "size"}}, "value": {"rt": {"key": "mtu"}}}},
                {"mangle": {"key": {"meta": {"key": "mark"}}, "value": 7}}]}},
            {"rule": {"family": "ip", "table": "mangle", "chain": "FORWARD", "expr": [
                {"xt": {"type": "target", "name": "TCPMSS"}}]}}]}"#;
        let found = of_nft(text).unwrap();
        let want = [
            clamp("nft", "inet", "t out", "output", Some(1200)),
            clamp("nft", "inet", "t other", "", None),
        ];
        assert_eq!(found.rules, want);
        assert!(found.has_iptables);
        for odd in ["", "{}", "[]", r#"{"nftables": 3}"#] {
            assert!(of_nft(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn rules_of_iptables_have_their_table_and_value() {
        let text = "*mangle\n:OUTPUT ACCEPT [0:0]\n\
            -A OUTPUT -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1100\n\
            -A OUTPUT -p tcp -j ACCEPT\nCOMMIT\n*filter\n\
            -A vpn -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\nCOMMIT\n";
        let want = [
            clamp("iptables", "ip", "mangle OUTPUT", "output", Some(1100)),
            clamp("iptables", "ip", "filter vpn", "", None),
        ];
        assert_eq!(of_iptables(text, "ip"), want);
    }
}
