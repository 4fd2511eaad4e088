//! `maxseg guide`

mod markdown;

use clap::Args;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::wrap::labelled;

/// Read a page of the documentation
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg guide
  maxseg guide glossary | less")]
pub(crate) struct GuideArgs {
    /// Topic; without it, all topics are listed
    topic: Option<String>,
}

/// A page that travels with the program.
#[derive(Debug)]
struct Page {
    /// What it is called by, and the name of its file in `docs/`.
    name: &'static str,
    /// Its content in a line.
    about: &'static str,
    /// Its text, in Markdown.
    text: &'static str,
}

const PAGES: [Page; 12] = [
    Page {
        name: "glossary",
        about: "Every limit, finding and column, with its RFC or kernel name and its unit",
        text: include_str!("../../../../../docs/glossary.md"),
    },
    Page {
        name: "explain",
        about: "What explain reads from a capture, and how it judges",
        text: include_str!("../../../../../docs/explain.md"),
    },
    Page {
        name: "explain-live",
        about: "Why a live connection has its segment size and window, bound by bound",
        text: include_str!("../../../../../docs/explain-live.md"),
    },
    Page {
        name: "path",
        about: "What path sends, what it believes, and how sure it is",
        text: include_str!("../../../../../docs/path.md"),
    },
    Page {
        name: "connections",
        about: "The connections of this host, and how their limits are judged",
        text: include_str!("../../../../../docs/connections.md"),
    },
    Page {
        name: "capture",
        about: "Capture packets, filters, files",
        text: include_str!("../../../../../docs/capture.md"),
    },
    Page {
        name: "rfc6349",
        about: "TCP throughput of a path with a far end, as RFC 6349 has it",
        text: include_str!("../../../../../docs/rfc6349.md"),
    },
    Page {
        name: "links",
        about: "The parts of a link: queue, errors, policer, jitter, fragments",
        text: include_str!("../../../../../docs/links.md"),
    },
    Page {
        name: "requests",
        about: "Request and reply traffic",
        text: include_str!("../../../../../docs/requests.md"),
    },
    Page {
        name: "pcap",
        about: "Packets of a run as a capture file",
        text: include_str!("../../../../../docs/pcap.md"),
    },
    Page {
        name: "lab",
        about: "Run a scenario with the real kernel",
        text: include_str!("../../../../../docs/lab.md"),
    },
    Page {
        name: "lab-up",
        about: "A lab to work in with other tools",
        text: include_str!("../../../../../docs/lab-up.md"),
    },
];

/// The page of this name.
fn page(name: &str) -> Result<&'static Page, Failure> {
    PAGES.iter().find(|page| page.name == name).ok_or_else(|| {
        let names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        Failure::usage(
            format!("there is no guide `{}`", name.escape_debug()),
            format!("the topics are {}", names.join(", ")),
        )
    })
}

pub(crate) fn run(args: &GuideArgs, printer: Printer) -> Result<(), Failure> {
    let text = match &args.topic {
        Some(name) => markdown::for_terminal(page(name)?.text, printer.width()),
        None => topics(printer.width()),
    };
    Ok(printer.data(&text)?)
}

fn topics(width: usize) -> String {
    let topic = |page: &Page| labelled(&format!("{:10} ", page.name), page.about, width);
    PAGES.iter().map(topic).collect()
}
