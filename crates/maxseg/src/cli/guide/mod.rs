//! `maxseg guide`

mod markdown;
mod of_commands;

use std::borrow::Cow;

use clap::Args;
use maxseg_core::similar::closest;

pub(crate) use of_commands::with_guides;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::reference::Reference;
use crate::wrap::labelled;

/// Read a page of the documentation
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg guide
  maxseg guide scenario | less
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
    text: PageText,
}

/// Where the text of a page comes from.
#[derive(Debug)]
enum PageText {
    /// A file of the documentation.
    Written(&'static str),
    /// Made of what the program knows.
    Made(fn() -> String),
}

const PAGES: [Page; 19] = [
    Page {
        name: "scenario",
        about: "The scenario file: every key with its values, default, example and engines",
        text: PageText::Made(scenario_reference),
    },
    Page {
        name: "glossary",
        about: "Every limit, finding and column, with its RFC or kernel name and its unit",
        text: PageText::Written(include_str!("../../../../../docs/glossary.md")),
    },
    Page {
        name: "explain",
        about: "What explain reads from a capture, and how it judges",
        text: PageText::Written(include_str!("../../../../../docs/explain.md")),
    },
    Page {
        name: "explain-live",
        about: "Why a live connection has its segment size and window, bound by bound",
        text: PageText::Written(include_str!("../../../../../docs/explain-live.md")),
    },
    Page {
        name: "advise",
        about: "How advice is found, proven and priced; goals, guides, what is kept",
        text: PageText::Written(include_str!("../../../../../docs/advise.md")),
    },
    Page {
        name: "path",
        about: "The packets that path sends, what its results rest on, their confidence",
        text: PageText::Written(include_str!("../../../../../docs/path.md")),
    },
    Page {
        name: "connections",
        about: "The connections of this host, and how their limits are judged",
        text: PageText::Written(include_str!("../../../../../docs/connections.md")),
    },
    Page {
        name: "capture",
        about: "Capture packets, filters, files",
        text: PageText::Written(include_str!("../../../../../docs/capture.md")),
    },
    Page {
        name: "tune",
        about: "Change settings of this host, and undo it",
        text: PageText::Written(include_str!("../../../../../docs/tune.md")),
    },
    Page {
        name: "rfc6349",
        about: "TCP throughput of a path with a far end, as RFC 6349 has it",
        text: PageText::Written(include_str!("../../../../../docs/rfc6349.md")),
    },
    Page {
        name: "links",
        about: "The parts of a link: queue, errors, policer, jitter, fragments",
        text: PageText::Written(include_str!("../../../../../docs/links.md")),
    },
    Page {
        name: "requests",
        about: "Request and reply traffic",
        text: PageText::Written(include_str!("../../../../../docs/requests.md")),
    },
    Page {
        name: "pcap",
        about: "Packets of a run as a capture file",
        text: PageText::Written(include_str!("../../../../../docs/pcap.md")),
    },
    Page {
        name: "data-frames",
        about: "Results in pandas and polars",
        text: PageText::Written(include_str!("../../../../../docs/data-frames.md")),
    },
    Page {
        name: "compare",
        about: "Two runs, engines, stacks or captures beside each other",
        text: PageText::Written(include_str!("../../../../../docs/compare.md")),
    },
    Page {
        name: "experiments",
        about: "The documents' experiments, and the grade of every number",
        text: PageText::Written(include_str!("../../../../../docs/experiments.md")),
    },
    Page {
        name: "lab",
        about: "Run a scenario with the real kernel",
        text: PageText::Written(include_str!("../../../../../docs/lab.md")),
    },
    Page {
        name: "lab-up",
        about: "A lab to work in with other tools",
        text: PageText::Written(include_str!("../../../../../docs/lab-up.md")),
    },
    Page {
        name: "lab-import",
        about: "Topologies of Mininet's MiniEdit as scenarios",
        text: PageText::Written(include_str!("../../../../../docs/lab-import.md")),
    },
];

/// The reference of the scenario file, in Markdown.
pub fn scenario_reference() -> String {
    Reference::new().to_markdown()
}

impl PageText {
    fn markdown(&self) -> Cow<'static, str> {
        match self {
            Self::Written(text) => Cow::Borrowed(text),
            Self::Made(make) => Cow::Owned(make()),
        }
    }
}

/// The page of this name.
fn page(name: &str) -> Result<&'static Page, Failure> {
    PAGES.iter().find(|page| page.name == name).ok_or_else(|| {
        let names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        Failure::usage(
            format!("there is no guide `{}`", name.escape_debug()),
            match closest(name, names.iter().copied()) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("the topics are {}", names.join(", ")),
            },
        )
    })
}

pub(crate) fn run(args: &GuideArgs, printer: Printer) -> Result<(), Failure> {
    let text = match &args.topic {
        Some(name) => markdown::for_terminal(&page(name)?.text.markdown(), printer.width()),
        None => topics(printer.width()),
    };
    Ok(printer.data(&text)?)
}

fn topics(width: usize) -> String {
    let topic = |page: &Page| labelled(&format!("{:12} ", page.name), page.about, width);
    PAGES.iter().map(topic).collect()
}
