//! `maxseg lab up`, `exec`, `set`, `status`, `down`: a lab that stays, as whoever runs the tests and, where
//! that is root, as an ordinary user too.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use super::kernel::{held_by, interfaces, namespaces, runs, skipped, users, wait_until};
use super::{command, stderr, stdout};

const PATH: &str = r#"
name = "two hops"
[[hop]]
name = "wired"
rate = "100 Mbit/s"
delay = "1 ms"
[[hop]]
name = "radio"
rate = "10 Mbit/s"
delay = "5 ms"
errors = { model = "uniform", per = "packet", rate = 0 }
[until]
time = "1 s"
"#;

/// A lab of its own for each test, taken down whatever happens.
struct Lab {
    name: String,
    user: Option<u32>,
}

impl Lab {
    fn named(user: Option<u32>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("test-{}-{count}", std::process::id()), user }
    }

    fn up(user: Option<u32>) -> Self {
        let lab = Self::named(user);
        let output = lab.fed(&["lab", "up", "-", "--json"], PATH);
        assert!(output.status.success(), "{}", stderr(&output));
        lab
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.env("MAXSEG_LAB", &self.name).current_dir("/");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn fed(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn exec(&self, host: &str, command: &[&str]) -> Output {
        self.run(&[&["lab", "exec", host, "--"], command].concat())
    }

    fn set(&self, assignments: &[&str]) -> Output {
        self.run(&[&["lab", "set"], assignments].concat())
    }

    fn status(&self) -> Value {
        let output = self.run(&["lab", "status", "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Whether a SYN comes to the receiver, where nobody listens, and its RST comes back.
    fn is_reached(&self) -> bool {
        let knock = "exec 2>&1; timeout 1 bash -c 'echo > /dev/tcp/$MAXSEG_RECEIVER_ADDRESS/9'";
        let output = self.exec("sender", &["bash", "-c", knock]);
        match output.status.code() {
            Some(1) if stdout(&output).contains("refused") => true,
            Some(124) => false,
            _ => panic!("{output:?}"),
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.run(&["lab", "down"]);
    }
}

#[test]
fn links_change_while_the_lab_is_up() {
    for user in users() {
        let lab = Lab::up(user);
        assert!(lab.is_reached());
        let told = lab.set(&["hop.radio.errors.rate=100%"]);
        assert_eq!(stdout(&told), "hop.radio.errors.rate: 0 -> 100%\n", "{}", stderr(&told));
        assert!(!lab.is_reached());
        let told = lab.set(&["hop.radio.errors.rate=0", "hop.radio.rate=1 Mbit/s"]);
        let want = "hop.radio.rate: 10 Mbit/s -> 1 Mbit/s\nhop.radio.errors.rate: 100% -> 0\n";
        assert_eq!(stdout(&told), want);
        assert!(lab.is_reached());
        let status = lab.status();
        let damaged = |link: usize| status["links"][link]["damaged"].as_u64().unwrap();
        assert_eq!(status["links"][2]["link"], "hop.radio");
        assert!(damaged(2) > 0, "{status}");
        assert_eq!(damaged(0) + damaged(1), 0);
    }
}

#[test]
fn every_interface_gets_its_mtu_and_says_on_which_link_it_is() {
    for user in users() {
        let lab = Lab::up(user);
        let mtus = |status: &Value| -> Vec<u64> {
            let hosts = status["hosts"].as_array().unwrap().iter();
            let plugs = hosts.flat_map(|host| host["interfaces"].as_array().unwrap());
            plugs.map(|plug| plug["mtu"].as_u64().unwrap()).collect()
        };
        assert_eq!(mtus(&lab.status()), [1500; 4]);
        let told = lab.set(&["hop.*.mtu=9000", "hop.radio.mtu=2000"]);
        assert!(told.status.success(), "{}", stderr(&told));
        assert_eq!(mtus(&lab.status()), [9000, 9000, 2000, 2000]);
        let r1 = &lab.status()["hosts"][1];
        assert_eq!(r1["interfaces"][0]["link"], "hop.wired.reverse");
        assert_eq!(r1["interfaces"][1]["towards"], "receiver");
        let known = lab.exec("r1", &["ip", "-o", "link"]);
        if known.status.code() == Some(127) {
            skipped("for want of iproute2");
            continue;
        }
        let text = stdout(&known);
        for (interface, mtu) in [("wired", "mtu 9000 "), ("radio", "mtu 2000 ")] {
            let line = text.lines().find(|line| line.contains(interface)).unwrap();
            assert!(line.contains(mtu), "{line}");
        }
        lab.exec("r1", &["ip", "link", "set", "radio", "mtu", "1300"]);
        assert_eq!(mtus(&lab.status()), [9000, 9000, 1300, 2000]);
    }
}

#[test]
fn a_command_in_a_host_is_the_command_itself() {
    for user in users() {
        let lab = Lab::up(user);
        for code in [0, 1, 42, 255] {
            let output = lab.exec("r1", &["sh", "-c", &format!("exit {code}")]);
            assert_eq!(output.status.code(), Some(code));
        }
        assert_eq!(lab.exec("r1", &["sh", "-c", "kill -TERM $$"]).status.signal(), Some(15));
        assert_eq!(lab.exec("r1", &["/etc/passwd"]).status.code(), Some(126));
        assert_eq!(lab.exec("r1", &["no-such-command"]).status.code(), Some(127));
        let echoed = lab.fed(&["lab", "exec", "receiver", "--", "cat"], "typed\n");
        assert_eq!(stdout(&echoed), "typed\n");
        let known =
            lab.exec("r1", &["sh", "-c", "echo $MAXSEG_LAB $MAXSEG_HOST $MAXSEG_SENDER_ADDRESS"]);
        assert_eq!(stdout(&known), format!("{} r1 10.77.0.1\n", lab.name));
        let shell = lab.command(&["lab", "shell", "receiver"]).env("SHELL", "/bin/pwd").output();
        assert_eq!(stdout(&shell.unwrap()), "/\n");
    }
}

#[test]
fn what_cannot_be_is_said_with_what_can() {
    let Some(user) = users().pop() else { return };
    let lab = Lab::up(user);
    let cases: [(&[&str], &str, &str); 6] = [
        (&["lab", "exec", "recever", "--", "true"], "no host", "did you mean `receiver`?"),
        (&["lab", "up", "slow-tunnel"], "is already up", "maxseg lab down"),
        (&["lab", "set", "seed=9"], "cannot change while", "`maxseg lab up` with --set"),
        (&["lab", "set", "hop.air.rate=1 Mbit/s"], "no hop is called `air`", "wired, radio"),
        (&["lab", "status", "--name", "other"], "no lab called `other` is up", "maxseg lab up"),
        (&["lab", "up", "slow-tunnel", "--name", "a/b"], "cannot be a lab's name", "letters"),
    ];
    for (arguments, what, hint) in cases {
        let output = lab.run(arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains(what) && told.contains("hint: ") && told.contains(hint), "{told}");
    }
    // All keys or none.
    let before = lab.status()["hosts"].clone();
    let told = lab.set(&["hop.*.mtu=9000", "hop.radio.rate=fast"]);
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(lab.status()["hosts"], before);
    // A scenario's fault is told as everywhere.
    let wrong = Lab::named(user).fed(&["lab", "up", "-"], "[[hop]]\nrate = 7\ndelay = \"1 ms\"\n");
    assert!(stderr(&wrong).contains("<stdin>:2:8"), "{}", stderr(&wrong));
}

/// Whether a lab of this name listens.
fn listens(name: &str) -> bool {
    let sockets = fs::read_to_string("/proc/net/unix").unwrap();
    sockets.lines().any(|line| line.ends_with(&format!("/{name}")))
}

#[test]
fn nothing_is_left_of_a_lab_that_is_killed_or_taken_down() {
    for (user, how) in users().into_iter().flat_map(|user| [(user, "kill"), (user, "down")]) {
        let (before, own) = (interfaces(), held_by(std::process::id().into()));
        let lab = Lab::up(user);
        let process = lab.status()["process"].as_u64().unwrap();
        let held: BTreeSet<_> = held_by(process).difference(&own).cloned().collect();
        assert!(held.len() >= 3, "three hosts: {held:?}");
        assert!(listens(&lab.name));
        assert_eq!(interfaces(), before, "nothing of a lab is outside it");
        let ended = match how {
            "kill" => {
                Command::new("sh").args(["-c", &format!("kill -9 {process}")]).status().unwrap()
            }
            _ => lab.run(&["lab", "down"]).status,
        };
        assert!(ended.success());
        if how == "down" {
            assert!(!listens(&lab.name), "`lab down` waits for the end");
        }
        wait_until("the process ends", || !runs(process));
        wait_until("its socket closes", || !listens(&lab.name));
        wait_until("its namespaces end", || namespaces().is_disjoint(&held));
        assert_eq!(lab.run(&["lab", "status"]).status.code(), Some(1));
        assert_eq!(interfaces(), before);
    }
}

#[test]
fn in_front_it_stays_until_it_is_interrupted() {
    struct Reaped(Child);
    impl Drop for Reaped {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    for user in users() {
        let lab = Lab::named(user);
        let mut command = lab.command(&["lab", "up", "slow-tunnel", "--foreground"]);
        let mut child = Reaped(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("process"), "{line}");
        assert!(lab.exec("sender", &["true"]).status.success());
        Command::new("sh").args(["-c", &format!("kill -INT {}", child.0.id())]).status().unwrap();
        assert_eq!(child.0.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_run_over_the_lab_needs_no_root() {
    for user in users() {
        let output = Lab::named(user).fed(&["run", "-", "--engine", "lab", "--json"], PATH);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let outcome = &document["rows"][0]["outcome"];
        // Whether the machine was quiet enough is not the question here.
        assert!(outcome["goodput_bps"].as_f64().unwrap() > 1e6, "{outcome}");
    }
}

#[test]
fn one_argument_sets_the_mtu_of_the_whole_path() {
    let hops = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nreverse = { mtu = 576 }\n\
                [[hop]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nmtu = 1400\n";
    let lab = Lab::named(None);
    let effective = |more: &[&str]| -> u64 {
        let output = lab.fed(&[&["check", "-", "--engine", "sim", "--json"], more].concat(), hops);
        assert!(output.status.success(), "{}", stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["mss"][0]["effective"].as_u64().unwrap()
    };
    // Less 12 bytes of timestamps each.
    assert_eq!(effective(&[]), 1348);
    assert_eq!(effective(&["--mtu", "9000"]), 8948);
    assert_eq!(effective(&["--mtu", "9000", "--set", "hop.b.mtu=576"]), 524);
    for wrong in ["67", "65536", "big"] {
        let output = lab.run(&["run", "slow-tunnel", "--mtu", wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--mtu <N>"), "{}", stderr(&output));
    }
}

#[test]
fn hosts_resolve_each_others_names() {
    for user in users() {
        let lab = Lab::up(user);
        let outside = fs::read_to_string("/etc/hosts").unwrap();
        let cases = [
            ("sender", "receiver", "10.77.1.2"),
            ("sender", "r1", "10.77.0.2"),
            ("receiver", "r1", "10.77.1.1"),
            ("r1", "sender", "10.77.0.1"),
            ("receiver", "receiver", "10.77.1.2"),
        ];
        for (host, name, address) in cases {
            let output = lab.exec(host, &["getent", "hosts", name]);
            let told = stdout(&output);
            assert_eq!(told.split_whitespace().collect::<Vec<_>>(), [address, name], "{output:?}");
        }
        let inside = stdout(&lab.exec("sender", &["cat", "/etc/hosts"]));
        assert!(inside.ends_with(&outside) && inside.len() > outside.len(), "{inside}");
        assert_eq!(
            fs::read_to_string("/etc/hosts").unwrap(),
            outside,
            "the file outside is as before"
        );
        let file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
        let path = file.path().to_str().unwrap();
        assert!(lab.exec("sender", &["test", "-e", path]).status.success(), "/tmp is covered");
    }
}

#[test]
fn a_lab_at_its_descriptor_limit_still_answers() {
    for user in users() {
        let lab = Lab::up(user);
        let process = lab.status()["process"].as_u64().unwrap();
        let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
        let open: BTreeSet<u64> =
            open.filter_map(|file| file.file_name().to_str()?.parse().ok()).collect();
        let first_free = (0..u64::MAX).find(|number| !open.contains(number)).unwrap();
        let limit = format!("--nofile={first_free}:{first_free}");
        let limited =
            Command::new("prlimit").args(["--pid", &process.to_string(), &limit]).status();
        if !limited.is_ok_and(|status| status.success()) {
            skipped("`prlimit` is not installed");
            return;
        }
        let down = lab.command(&["lab", "down"]);
        let mut command = Command::new("timeout");
        command.arg("30").arg(down.get_program()).args(down.get_args()).current_dir("/");
        command.envs(down.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn a_congestion_control_that_no_namespace_may_have_is_that_of_the_routes() {
    let words = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let (available, allowed, default) = (
        words("tcp_available_congestion_control"),
        words("tcp_allowed_congestion_control"),
        words("tcp_congestion_control"),
    );
    let of_scenarios = ["reno", "cubic", "bbr"];
    let wanted = available.iter().find(|name| {
        of_scenarios.contains(&name.as_str()) && !allowed.contains(name) && !default.contains(name)
    });
    let Some(wanted) = wanted else {
        return skipped("every congestion control here is allowed in namespaces");
    };
    for user in users() {
        let lab = Lab::named(user);
        let setting = format!("sender.congestion={wanted}");
        let output = lab.fed(&["lab", "up", "-", "--set", &setting], PATH);
        let told = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("sender: its routes have {wanted} (congctl)")), "{told}");
        let routes = stdout(&lab.run(&["lab", "exec", "sender", "--", "ip", "route"]));
        assert!(routes.contains(&format!("congctl {wanted}")), "{routes}");
        // Another that is allowed takes its place.
        if let Some(other) = allowed.iter().find(|name| of_scenarios.contains(&name.as_str())) {
            lab.run(&["lab", "set", &format!("sender.congestion={other}")]);
            let routes = stdout(&lab.run(&["lab", "exec", "sender", "--", "ip", "route"]));
            assert!(!routes.contains("congctl"), "{routes}");
        }
        assert!(told.contains("sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="), "{told}");
    }
}

#[test]
fn programs_that_outlive_a_lab_are_named() {
    for user in users() {
        let lab = Lab::up(user);
        let script = "sleep 600 </dev/null >/dev/null 2>&1 & echo $!";
        let process = stdout(&lab.exec("r1", &["sh", "-c", script])).trim().to_owned();
        let told = stderr(&lab.run(&["lab", "down"]));
        let ended = Command::new("kill").arg(&process).status().unwrap();
        assert!(ended.success(), "it runs on");
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        let want = format!("sleep (process {process}, of r1); kill {process} ends them");
        assert!(told.contains(&want), "{told}");
    }
}
