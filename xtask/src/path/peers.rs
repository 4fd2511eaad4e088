//! tracepath (iputils) and scamper, which find path MTUs too.

use std::net::IpAddr;
use std::time::Instant;

use anyhow::Result;

use super::Answer;
use super::network::Network;
use crate::is_installed;

/// Seconds after which a peer is stopped: tracepath waits up to three for each hop, thrice.
const PATIENCE_S: u64 = 60;

/// The peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Tracepath,
    Scamper,
}

impl Peer {
    /// Those that are installed.
    pub(super) fn installed() -> Vec<Self> {
        [Self::Tracepath, Self::Scamper]
            .into_iter()
            .filter(|peer| is_installed(peer.word()))
            .collect()
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Tracepath => "tracepath",
            Self::Scamper => "scamper",
        }
    }

    /// What it says.
    pub(super) fn asked(self, network: &Network<'_>) -> Result<Answer> {
        let address = network.receiver.to_string();
        let started = Instant::now();
        let output = match self {
            Self::Tracepath => network.run(PATIENCE_S, &["tracepath", "-n", &address])?,
            Self::Scamper => {
                let command = "trace -P UDP -M";
                network.run(PATIENCE_S, &["scamper", "-c", command, "-i", &address])?
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(Answer {
            mtu: self.mtu(&text, network.receiver),
            elapsed_s: started.elapsed().as_secs_f64(),
            exit: output.status.code(),
            ..Answer::default()
        })
    }

    /// The path MTU in its output; `None` where it did not reach the receiver.
    fn mtu(self, text: &str, receiver: IpAddr) -> Option<u64> {
        match self {
            Self::Tracepath => tracepath(text),
            Self::Scamper => scamper(text, receiver),
        }
    }
}

/// The summary: `Resume: pmtu 1280 hops 3 back 3`; without `hops` it did not arrive.
fn tracepath(text: &str) -> Option<u64> {
    let resume = text.lines().find(|line| line.trim_start().starts_with("Resume:"))?;
    let mut words = resume.split_whitespace();
    let has_arrived = resume.contains("hops");
    words.find(|word| *word == "pmtu")?;
    words.next()?.parse().ok().filter(|_| has_arrived)
}

/// Each hop with the MTU up to it in brackets; the receiver's is that of the path.
fn scamper(text: &str, receiver: IpAddr) -> Option<u64> {
    let address = receiver.to_string();
    let reached = text.lines().rfind(|line| line.split_whitespace().nth(1) == Some(&address))?;
    let (_, rest) = reached.split_once("[mtu: ")?;
    rest.split_once(']')?.0.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mtu_is_read_where_the_receiver_was_reached() {
        assert_eq!(tracepath("     Resume: pmtu 1280 hops 3 back 3 \n"), Some(1280));
        assert_eq!(tracepath("     Too many hops: pmtu 1500\n     Resume: pmtu 1500 \n"), None);
    }
}
