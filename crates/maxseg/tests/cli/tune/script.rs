//! `--script` does what `apply` does, and its comment what `undo` does.

use super::host::Host;

fn run(host: &Host, script: &str) {
    let output = host.command("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}\n{}", super::super::stderr(&output));
}

#[test]
fn a_script_does_the_same_and_has_the_way_back() {
    let Some(host) = Host::new() else { return };
    let before = host.kernel();
    let wanted = [
        "route.10.5.0.0/16.mtu=1300",
        "route.10.7.0.0/16.mtu=1280",
        "route.default.rto_min=300",
        "route.default.initcwnd=20",
        "interface.va.mtu=1450",
        "sysctl.net.ipv4.tcp_rmem=4096 131072 3000000",
    ];
    let sets = wanted.iter().flat_map(|assignment| ["--set", assignment]);
    let arguments: Vec<&str> = ["apply", "--script"].into_iter().chain(sets).collect();
    let script = host.tune_ends(&arguments, 0);
    assert_eq!(host.kernel(), before, "it is only printed");
    run(&host, &script);
    let by_script = host.kernel();
    let back: String = script
        .lines()
        .filter_map(|line| line.strip_prefix("#   "))
        .map(|line| format!("{line}\n"))
        .collect();
    run(&host, &back);
    assert_eq!(host.kernel(), before);
    host.apply(&wanted, &[]);
    assert_eq!(host.kernel(), by_script);
}
