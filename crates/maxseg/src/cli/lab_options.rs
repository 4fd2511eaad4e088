//! How the lab is to run a scenario, from the command line: short for keys under `[lab]`.

use clap::{Args, ValueEnum};
use maxseg_core::engine::EngineName;

use crate::failure::Failure;
use maxseg_workbench::report::words;

/// Where the help lists these options.
const HEADING: &str = "Lab options (--engine lab)";

/// The lab's own keys as options.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LabOptionArgs {
    /// Link emulation (--set `lab.backend=…`)
    #[arg(long, value_enum, value_name = "BACKEND", help_heading = HEADING)]
    lab_backend: Option<Backend>,
    /// Drop whole TSO super-packets, as netem on a host does, not single packets (--set `lab.as_netem=true`)
    #[arg(long, help_heading = HEADING)]
    as_netem: bool,
    /// Traffic generator (--set `lab.traffic=…`)
    #[arg(long, value_enum, value_name = "TRAFFIC", help_heading = HEADING)]
    traffic: Option<Traffic>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Backend {
    /// This program's links, in real time
    Relay,
    /// The kernel's netem and tbf qdiscs
    Netem,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Traffic {
    /// This program
    Builtin,
    /// The installed iperf3, for bulk flows
    Iperf3,
}

impl LabOptionArgs {
    /// The keys to set, as `--set` takes them.
    ///
    /// # Errors
    /// The lab is not among `engines`: then they would mean nothing.
    pub(crate) fn assignments(&self, engines: &[EngineName]) -> Result<Vec<String>, Failure> {
        let backend = self.lab_backend.map(|backend| match backend {
            Backend::Relay => ("--lab-backend relay", "lab.backend=relay"),
            Backend::Netem => ("--lab-backend netem", "lab.backend=netem"),
        });
        let as_netem = self.as_netem.then_some(("--as-netem", "lab.as_netem=true"));
        let traffic = self.traffic.map(|traffic| match traffic {
            Traffic::Builtin => ("--traffic builtin", "lab.traffic=builtin"),
            Traffic::Iperf3 => ("--traffic iperf3", "lab.traffic=iperf3"),
        });
        let asked: Vec<(&str, &str)> = [backend, as_netem, traffic].into_iter().flatten().collect();
        match asked.first() {
            Some((flag, _)) if !engines.contains(&EngineName::Lab) => {
                let engines: Vec<&str> = engines.iter().map(|engine| engine.word()).collect();
                Err(Failure::with_hint(
                    format!(
                        "{flag} is for the lab, which is not asked for: the engines are {}",
                        words::listed(&engines)
                    ),
                    "--engine lab, or --engine model,sim,lab for all three side by side",
                ))
            }
            Some(_) | None => {
                Ok(asked.iter().map(|(_, assignment)| (*assignment).to_owned()).collect())
            }
        }
    }
}
