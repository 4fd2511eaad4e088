//! Whether a capture is to be explained, or connections of this host.

use std::path::Path;

use maxseg_workbench::file_error::missing_hint;

use super::ExplainArgs;
#[cfg(feature = "lab")]
use super::live;
use super::target::Target;
use crate::failure::Failure;
use crate::printer::Printer;

/// The connections of this host that an argument names; `None` for a capture. A file that is not there is an error.
pub(super) fn live_target(args: &ExplainArgs) -> Result<Option<Target>, Failure> {
    if let [argument] = args.files.as_slice()
        && let Some(target) = Target::of(argument)
    {
        return match args.of_captures_only() {
            None => Ok(Some(target)),
            Some(option) => Err(Failure::with_hint(
                format!("{option} is for captures, and there is no file {argument}"),
                missing_hint(Path::new(argument)),
            )),
        };
    }
    if let Some(missing) = args.files.iter().find(|file| *file != "-" && !Path::new(file).exists())
    {
        let hint = missing_hint(Path::new(missing));
        return Err(Failure::with_hint(format!("there is no file {missing}"), hint));
    }
    let of_connections =
        [("--interval", args.interval.is_some()), ("--netns", args.netns.is_some())];
    match of_connections.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(None),
        Some((option, _)) => Err(Failure::usage(
            format!("{option} is for connections of this host, and a capture is given"),
            "leave it out, or name a host, a PID or two ends instead of a file",
        )),
    }
}

/// Explains connections of this host.
#[cfg(feature = "lab")]
pub(super) fn run_live(
    target: &Target,
    args: &ExplainArgs,
    printer: Printer,
) -> Result<(), Failure> {
    let options = live::LiveOptions {
        argument: args.files.first().map_or("", String::as_str),
        interval: args.interval,
        netns: args.netns.as_deref(),
        json: args.json,
    };
    live::run(target, &options, printer)
}

/// This build knows no sockets.
#[cfg(not(feature = "lab"))]
pub(super) fn run_live(_: &Target, args: &ExplainArgs, _: Printer) -> Result<(), Failure> {
    Err(Failure::with_hint(
        format!("there is no file {}, and this build explains captures alone", args.files.concat()),
        "connections of this host need Linux and a build with the feature `lab`",
    ))
}

impl ExplainArgs {
    /// An option that was given and that connections of this host have not.
    fn of_captures_only(&self) -> Option<&'static str> {
        let given = [
            ("--connection", self.connection.is_some()),
            ("--filter", self.filter.is_some()),
            ("--interface", self.interface.is_some()),
            ("--csv", self.csv),
            ("--tshark-compat", self.tshark_compat),
            ("--report", self.report.is_some()),
            ("--scenario", self.scenario.is_some()),
            ("--jobs", self.jobs.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}
