//! A plan as a shell script.

use std::fmt::Write as _;

use maxseg_core::advise::{NEXT_HOP_OBJECT, UNREADABLE_IN_ROUTE};
use maxseg_core::tune::{Plan, Prefix, RouteMetricName, Step, Target, Value};
use maxseg_linux::tune::{HeldByV6, ROUTE_PROTOCOL, held_by_v6};

/// The plan as a POSIX shell script, with the way back as a comment at its end.
pub fn script(plan: &Plan) -> String {
    let mut text = String::from("#!/bin/sh\n# maxseg tune apply --script\n");
    if let Some(why) = &plan.why {
        for line in why.lines() {
            let _ = writeln!(text, "# {line}");
        }
    }
    text += "set -eu\n\n";
    let has_routes = plan.steps.iter().any(|step| matches!(step.target, Target::Route { .. }));
    let holds = plan.steps.iter().any(|step| !held_by_v6(step).is_empty());
    let functions = [(has_routes, CHOSEN), (holds, HELD)].into_iter();
    let functions = functions.filter_map(|(is_used, of)| is_used.then_some(of));
    for function in functions.clone() {
        let _ = writeln!(text, "{function}\n");
    }
    for step in &plan.steps {
        let _ = writeln!(text, "# {}: {} -> {}", step.target, step.before, step.after);
        let _ = writeln!(text, "{}", command(step, &step.after));
    }
    text += "\n# Undo, in this order:\n";
    let undoing = plan.steps.iter().rev().map(|step| command(step, &step.before));
    for command in functions.map(str::to_owned).chain(undoing) {
        for line in command.lines() {
            let _ = writeln!(text, "#   {line}");
        }
    }
    text
}

/// Of routes as `ip -o route` lists them the one that is looked at here as well: of all services and sources, with the longest prefix and
/// the least metric. One that sends nothing (`blackhole`) is none to copy; the `tos` of a tunnel's header is none of the route.
const CHOSEN: &str = r#"chosen() { awk '
    { plain = $0; sub(/ encap ip id .* ttl [0-9]+ tos [^ ]+/, "", plain) }
    plain ~ / (tos|from) / { next }
    { held = $1 ~ /^[a-z]+$/ && $1 != "default"; prefix = held ? $2 : $1; split(prefix, part, "/") }
    { bits = prefix == "default" ? 0 : prefix ~ /\// ? part[2] + 0 : 128 }
    { metric = match($0, / metric [0-9]+/) ? substr($0, RSTART + 8, RLENGTH - 8) + 0 : 0 }
    !seen || bits > most || bits == most && metric < least { seen = 1; most = bits; least = metric; line = held ? "" : $0 }
    END { print line }'; }"#;

/// What IPv6 keeps of an interface's MTU, as `apply` and `undo` hold it: the kernel makes IPv6's own MTU the interface's, and raises routes that
/// have the same one with it. `hold` makes it one that no route has, and tells it and the interface's MTU; `let_go` takes these two, and what
/// it is to be behind that.
const HELD: &str = r#"mtu_of() { ip -o link show dev "$1" | sed 's/.* mtu \([0-9]*\).*/\1/'; }
hold() {
    own=/proc/sys/net/ipv6/conf/$1/mtu; mtu=$(mtu_of "$1"); held=1280
    echo "$(cat "$own") $mtu"
    while ip -6 -o route show table all | grep -q " mtu $held "; do held=$((held + 1)); done
    [ "$held" -le "$mtu" ] && echo "$held" > "$own"; }
let_go() {
    mtu=$(mtu_of "$1"); own=${4-}
    [ "$mtu" != "$3" ] || own=$2
    [ -z "$own" ] || [ "$own" -gt "$mtu" ] || echo "$own" > "/proc/sys/net/ipv6/conf/$1/mtu"; }"#;

/// The command that gives a target a value.
fn command(step: &Step, value: &Value) -> String {
    match &step.target {
        Target::Sysctl(name) => format!("sysctl -w {}", quoted(&format!("{name}={value}"))),
        Target::InterfaceMtu(name) => interface(name, step, value),
        Target::Route { prefix, metric } => route(*prefix, *metric, step, value),
        Target::File(path) => format!("# {path} is written by `maxseg tune persist`"),
        Target::Socket { .. } | Target::Clamp(_) => {
            format!("maxseg tune apply --yes --set {}", quoted(&format!("{}={value}", step.target)))
        }
    }
}

fn interface(name: &str, step: &Step, value: &Value) -> String {
    let set = format!("ip link set dev {} mtu {value}", quoted(name));
    let all: Vec<(usize, HeldByV6)> = held_by_v6(step).into_iter().enumerate().collect();
    // The way back has the MTUs of routes behind it: it goes on where no other MTU is left.
    let or_not = if *value == step.before { " || :" } else { "" };
    let before = all
        .iter()
        .map(|(number, held)| format!("was_{number}=$(hold {}{or_not})", quoted(&held.interface)));
    let behind = all.iter().map(|(number, held)| {
        let own = held.own.map(|own| format!(" {own}")).unwrap_or_default();
        format!("let_go {} $was_{number}{own}", quoted(&held.interface))
    });
    before.chain([set]).chain(behind).collect::<Vec<_>>().join("\n")
}

/// The route as it is, without the metric, and with it where there is to be one.
fn route(prefix: Prefix, metric: RouteMetricName, step: &Step, value: &Value) -> String {
    let ip = if prefix.is_v6() { "ip -6" } else { "ip" };
    let name = metric.name();
    if *value == Value::Absent {
        return format!("{ip} route del {prefix} table main proto {ROUTE_PROTOCOL}");
    }
    let metric_words = match value {
        Value::Text(text) if metric == RouteMetricName::RtoMin => format!(" {name} {text}ms"),
        Value::Text(text) => format!(" {name} {text}"),
        Value::Unset | Value::Absent => String::new(),
    };
    // A route as it is told in one line, without its destination, this metric, and what the kernel alone may say. Metrics stand
    // before next hops.
    let without = |unreadable: String| {
        format!(
            "chosen |\n    sed -e 's/^[^ ]*//' -e 's/ {name} \\(lock \\)\\{{0,1\\}}[^ ]*//' -e 's/ dead//g' \\\n    \
             -e '{unreadable}'"
        )
    };
    if step.before == Value::Absent {
        // It goes where the next wider route goes now, with its metrics: what one of the addresses takes may be a narrower one.
        let as_it_is = without(UNREADABLE_IN_ROUTE.join("; "));
        return format!(
            "{ip} route add {prefix} table main proto {ROUTE_PROTOCOL}{metric_words} $({ip} -o route show table main match {prefix} | {as_it_is} \\\n    \
             -e 's/ proto [^ ]*//')"
        );
    }
    // It keeps its next-hop object, and says the next hops no more.
    let of_object = r"/ nhid /{ s/[[:space:]]nexthop .*//; s/ via [^ ]*//; s/ dev [^ ]*//; }";
    let others = UNREADABLE_IN_ROUTE.into_iter().filter(|one| *one != NEXT_HOP_OBJECT);
    let others: Vec<&str> = others.chain([of_object]).collect();
    let as_it_is = without(others.join("; "));
    format!(
        "{ip} route replace {prefix} table main{metric_words} $({ip} -o route show table main exact {prefix} | {as_it_is})"
    )
}

/// One word of a POSIX shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("net.ipv4.tcp_sack=1"), "net.ipv4.tcp_sack=1");
        assert_eq!(quoted("net.ipv4.tcp_rmem=4096 1 2"), "'net.ipv4.tcp_rmem=4096 1 2'");
        assert_eq!(quoted("a'b;c"), r"'a'\''b;c'");
    }
}
