//! A case as a network of the lab's, and programs in it.

use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::draws::{Running, UpLab};

/// A network that is up; it ends with this value. The programs that are tried run in a host of their own, before the lab's
/// sender, which is a router for them: scamper needs an Ethernet interface, and the lab's are TUN.
///
/// ```text
/// tester ── veth ── sender (1) ── link 0 ── r1 (2) ── link 1 ── … ── receiver
/// ```
#[derive(Debug)]
pub(super) struct Network<'p> {
    // They end in this order.
    server: Option<Running>,
    lab: UpLab<'p>,
    tester: Tester,
    /// The receiver's address.
    pub(super) receiver: IpAddr,
}

/// A server that answers whatever is sent to it, and says when it listens.
const SERVER: &str = "\
import http.server, socket, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words): pass
server = Server((sys.argv[1], int(sys.argv[2])), Handler)
print('listening', flush=True)
server.serve_forever()
";

impl<'p> Network<'p> {
    /// Brings it up; its scenario is kept in `folder`.
    pub(super) fn up(program: &'p Path, folder: &Path, name: &str, case: &Case) -> Result<Self> {
        let lab = UpLab::up(program, folder, name, &case.scenario())?;
        let last = case.links.len() - 1;
        let receiver = if case.is_v6 {
            format!("fd00:77:0:{last:x}::2").parse()
        } else {
            format!("10.77.{last}.2").parse()
        };
        let mut network = Self {
            server: None,
            lab,
            tester: Tester(name.to_owned()),
            receiver: receiver.context("an address of the lab")?,
        };
        network.set_up(case)?;
        Ok(network)
    }

    fn set_up(&mut self, case: &Case) -> Result<()> {
        self.connect_tester(case)?;
        let routers = (1..case.links.len()).map(|router| format!("r{router}"));
        let routers = std::iter::once("sender".to_owned()).chain(routers);
        if case.has_icmp_limit {
            for host in routers.chain(["receiver".to_owned()]) {
                let limits = "net.ipv4.icmp_ratelimit=1000 net.ipv6.icmp.ratelimit=1000";
                self.shell(&host, &format!("sysctl -qw {limits}"))?;
            }
        }
        if let Some(router) = case.clamp_at {
            let rules = "add table inet clamp; add chain inet clamp f { type filter hook forward priority 0; }; \
                         add rule inet clamp f tcp flags syn tcp option maxseg size set rt mtu";
            self.shell(&format!("r{router}"), &format!("nft '{rules}'"))?;
        }
        if case.has_server {
            self.server = Some(self.serve()?);
        }
        Ok(())
    }

    fn connect_tester(&self, case: &Case) -> Result<()> {
        let (name, mtu) = (&self.tester.0, case.links[0].mtu);
        let (net, tester, router, version) = if case.is_v6 {
            ("fd00:78::/64", "fd00:78::1/64", "fd00:78::2/64", "-6")
        } else {
            ("10.78.0.0/30", "10.78.0.1/30", "10.78.0.2/30", "-4")
        };
        let plain = |address: &str| address.split('/').next().unwrap_or_default().to_owned();
        succeed(Command::new("ip").args(["netns", "add", name]))?;
        let nodad = if case.is_v6 { "nodad" } else { "" };
        self.shell(
            "sender",
            &format!(
                "ip link add tester mtu {mtu} type veth peer name eth0 mtu {mtu} netns {name} && \
                 ip addr add {router} dev tester {nodad} && ip link set tester up && \
                 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
            ),
        )?;
        let gateway = plain(router);
        let within = format!(
            "ip link set lo up && ip addr add {tester} dev eth0 {nodad} && ip link set eth0 up && \
             ip {version} route add default via {gateway}"
        );
        succeed(Command::new("ip").args(["netns", "exec", name, "sh", "-c", &within]))?;
        let routers = (1..case.links.len()).map(|router| format!("r{router}"));
        for (link, host) in routers.chain(["receiver".to_owned()]).enumerate() {
            self.shell(&host, &format!("ip {version} route add {net} dev l{link}"))?;
        }
        Ok(())
    }

    fn shell(&self, host: &str, line: &str) -> Result<()> {
        let output = self.lab.within(host).args(["sh", "-c", line]).output()?;
        ensure!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn serve(&self) -> Result<Running> {
        let address = self.receiver.to_string();
        let mut server = self.lab.within("receiver");
        server.args(["python3", "-c", SERVER, &address, &Case::PORT.to_string()]);
        Running::listening(server.stdin(Stdio::null()))
    }

    /// Runs a program in the tester, at most so many seconds: its exit code is 124 where it was stopped. What was learnt by
    /// the one before is forgotten.
    pub(super) fn run(&self, seconds: u64, words: &[&str]) -> Result<Output> {
        let tester = ["netns", "exec", &self.tester.0];
        let forget = ["sh", "-c", "ip route flush cache; ip -6 route flush cache"];
        succeed(Command::new("ip").args(tester).args(forget))?;
        let seconds = seconds.to_string();
        let patience = ["timeout", seconds.as_str()];
        Ok(Command::new("ip").args(tester).args(patience).args(words).output()?)
    }
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The network namespace of the tester, by its name.
#[derive(Debug)]
struct Tester(String);

impl Drop for Tester {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}
