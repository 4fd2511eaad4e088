//! The one path between two hosts of a topology.

use std::collections::VecDeque;

use maxseg_core::similar::closest;

use super::Ends;
use super::miniedit::{Link, Node, NodeKind, Topology};
use super::notes::shown;
use crate::error::{Error, ImportError};

/// The links from one host to another, in order.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    pub(super) steps: Vec<Step<'a>>,
}

/// A link, walked from one of its ends to the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) from: &'a Node,
    pub(super) link: &'a Link,
    pub(super) to: &'a Node,
}

/// More hosts than anyone reads.
const MOST_NAMED: usize = 12;

impl<'a> Chain<'a> {
    /// The path between the hosts that `ends` chooses, or between the only two there are, from the one that
    /// MiniEdit counts first.
    ///
    /// # Errors
    /// It is not clear which hosts, or there is no path, or more than one.
    pub(super) fn between(topology: &'a Topology, ends: Ends<'_>) -> Result<Self, Error> {
        let (from, to) = chosen(topology, ends)?;
        let Some(path) = path(topology, from, to, None) else {
            return Err(no_path(topology, from, to));
        };
        // A second path leaves out at least one link of this one.
        let around = path.iter().find_map(|&(link, _)| {
            self::path(topology, from, to, Some(link)).map(|around| (link, around))
        });
        if let Some((_, around)) = around {
            return Err(ImportError::ManyPaths {
                from: shown(&topology.nodes[from].name),
                to: shown(&topology.nodes[to].name),
                path: Self::walked(topology, from, &path).words(),
                around: Self::walked(topology, from, &around).words(),
            }
            .into());
        }
        Ok(Self::walked(topology, from, &path))
    }

    fn walked(topology: &'a Topology, from: usize, path: &[(usize, usize)]) -> Self {
        let mut at = from;
        let step = |&(link, to): &(usize, usize)| {
            let step = Step {
                from: &topology.nodes[at],
                link: &topology.links[link],
                to: &topology.nodes[to],
            };
            at = to;
            step
        };
        Self { steps: path.iter().map(step).collect() }
    }

    /// Whether it leads over `node`, or begins or ends there.
    pub(super) fn has(&self, node: &Node) -> bool {
        self.nodes().any(|here| here.name == node.name)
    }

    /// Every node on the way, both hosts included.
    fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        let first = self.steps.first().map(|step| step.from);
        first.into_iter().chain(self.steps.iter().map(|step| step.to))
    }

    /// As in `h1 - s1 - h2`.
    pub(super) fn words(&self) -> String {
        let names: Vec<String> = self.nodes().map(|node| shown(&node.name)).collect();
        names.join(" - ")
    }
}

/// The hosts that the user chose, the only other one where one was chosen, or the only two.
fn chosen(topology: &Topology, ends: Ends<'_>) -> Result<(usize, usize), Error> {
    let hosts = topology.hosts();
    let chosen = |name: Option<&str>| name.map(|name| host(topology, &hosts, name)).transpose();
    let (from, to) = (chosen(ends.from)?, chosen(ends.to)?);
    let other = |than: usize| hosts.iter().copied().find(|&host| host != than);
    let names = || names(topology, &hosts);
    match (from, to, hosts.len()) {
        (Some(from), Some(to), _) if from != to => Ok((from, to)),
        (Some(_), Some(_), _) => Err(ImportError::SameHost { hosts: names() }.into()),
        (_, _, 0) => Err(ImportError::NoHost.into()),
        (_, _, 1) => Err(ImportError::OneHost { host: names() }.into()),
        (None, None, 2) => Ok((hosts[0], hosts[1])),
        (Some(from), None, 2) => Ok((from, other(from).unwrap_or(from))),
        (None, Some(to), 2) => Ok((other(to).unwrap_or(to), to)),
        (_, _, count) => Err(ImportError::ManyHosts { count, hosts: names() }.into()),
    }
}

/// The host called `name`.
fn host(topology: &Topology, hosts: &[usize], name: &str) -> Result<usize, Error> {
    let hosts_named = || names(topology, hosts);
    match topology.find(name) {
        Some(node) if topology.nodes[node].kind == NodeKind::Host => Ok(node),
        Some(_) => Err(ImportError::NotAHost { name: shown(name), hosts: hosts_named() }.into()),
        None => {
            let known = hosts.iter().map(|&host| topology.nodes[host].name.as_str());
            let similar = closest(name, known).map(shown);
            let hosts = hosts_named();
            Err(ImportError::UnknownHost { name: shown(name), similar, hosts }.into())
        }
    }
}

fn names(topology: &Topology, nodes: &[usize]) -> String {
    let mut names: Vec<String> =
        nodes.iter().take(MOST_NAMED).map(|&node| shown(&topology.nodes[node].name)).collect();
    if nodes.len() > MOST_NAMED {
        names.push(format!("… ({} in all)", nodes.len()));
    }
    names.join(", ")
}

/// A shortest path from one node to another: each link with the node behind it. Hosts pass nothing on, and
/// `without` is not there.
fn path(
    topology: &Topology,
    from: usize,
    to: usize,
    without: Option<usize>,
) -> Option<Vec<(usize, usize)>> {
    let reached = reached(topology, from, without);
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        let (link, before) = reached[at]?;
        path.push((link, at));
        at = before;
    }
    path.reverse();
    Some(path)
}

/// For every node that packets from `from` can reach, the link over which they first come, and from where.
fn reached(
    topology: &Topology,
    from: usize,
    without: Option<usize>,
) -> Vec<Option<(usize, usize)>> {
    let mut around: Vec<Vec<(usize, usize)>> = vec![Vec::new(); topology.nodes.len()];
    for (link, [one, other]) in topology.links.iter().map(|link| link.ends).enumerate() {
        if Some(link) != without {
            around[one].push((link, other));
            around[other].push((link, one));
        }
    }
    let mut reached = vec![None; topology.nodes.len()];
    let mut next = VecDeque::from([from]);
    while let Some(at) = next.pop_front() {
        if at != from && topology.nodes[at].kind == NodeKind::Host {
            continue;
        }
        for &(link, node) in &around[at] {
            if node != from && reached[node].is_none() {
                reached[node] = Some((link, at));
                next.push_back(node);
            }
        }
    }
    reached
}

/// Why no path leads there, by how far the links go.
fn no_path(topology: &Topology, from: usize, to: usize) -> Error {
    let name = |node: usize| shown(&topology.nodes[node].name);
    let reached = reached(topology, from, None);
    let there: Vec<usize> = (0..reached.len()).filter(|&node| reached[node].is_some()).collect();
    let reached = (!there.is_empty()).then(|| names(topology, &there));
    ImportError::NoPath { from: name(from), to: name(to), reached }.into()
}
