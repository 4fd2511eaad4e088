//! `maxseg tune apply`

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use maxseg_core::tune::{
    Allowed, Deadline, LEAST_CONNECTIONS, Prefix, Step, Target, Value, incomparable,
};
use maxseg_linux::sys::latest_state_file;
use maxseg_linux::tune::{
    Applied, Applying, Journal, SegmentsSeen, apply, author, deadline, recover, segments_seen,
    state_folder,
};
use maxseg_workbench::advise::ADVICE;
use maxseg_workbench::report::tune::{ApplyDocument, PlanResult};
use maxseg_workbench::tune::documents::Setting;
use maxseg_workbench::tune::{
    Advised, PreparedPlan, Request, advised, prepare, script, wanted as assignment,
    wanted_of_connection,
};

use super::duration::duration;
use super::undo::{tell_recovered, undo_command, undoing};
use super::{ask, document, guard, session};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::report::tune::{own_command, plan_text, seen_line};

/// Set values: plan, question, change, read back
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune apply --set route.10.0.0.0/8.mtu=1280
  maxseg tune apply --set \"sysctl.net.ipv4.tcp_rmem=- - 33554432\" --yes
  maxseg tune apply --set route.default.mtu=1400 --confirm 60s
  maxseg tune apply --set interface.eth0.mtu=9000 --for 10m
  maxseg tune apply --set route.10.0.0.0/8.mtu=1400 --revert-if-worse
  maxseg tune apply --set route.default.initcwnd=20 --script > set.sh
  maxseg advise www.example.org && maxseg tune apply ID
  maxseg tune apply ./modem.toml
  maxseg tune apply --connection 192.0.2.1:443-198.51.100.7:50123 --set congestion=cubic

The plan is printed first: the value before and after, what it reaches, whether it acts on existing connections, how it is undone. Without a terminal nothing is changed unless --yes is given. All steps are made, or none; each is read back, and \
in the journal before it is made: `maxseg tune undo` restores it whatever happened.")]
pub(crate) struct ApplyArgs {
    /// Advice by its ID, or a document: a path or a name ending in .toml
    #[arg(value_name = "ID|FILE")]
    what: Vec<String>,
    /// Set a target, such as route.10.0.0.0/8.mtu=1280
    #[arg(long = "set", value_name = "TARGET=VALUE")]
    assignments: Vec<String>,
    /// Options of a connection that runs: --set congestion=cubic
    #[arg(long, value_name = "A:PORT-B:PORT")]
    connection: Option<String>,
    /// Reason, as `tune status` shows it
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    manner: MannerArgs,
    /// Undo it after this time, such as 10m
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    lasts: Option<Duration>,
    /// Undo it after this time unless `tune confirm` is run
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        num_args = 0..=1,
        default_missing_value = "60s",
        conflicts_with = "lasts"
    )]
    confirm: Option<Duration>,
    /// Undo it where running connections that it reaches do worse
    #[arg(long)]
    revert_if_worse: bool,
    #[command(flatten)]
    allow: AllowArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How it is applied, or not.
#[derive(Debug, Args)]
struct MannerArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Print the plan and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the plan as a shell script and change nothing
    #[arg(long, conflicts_with = "json")]
    script: bool,
}

/// What is refused without a word.
#[derive(Debug, Args)]
struct AllowArgs {
    /// Allow a locked MTU, which clears DF
    #[arg(long)]
    lock: bool,
    /// Allow a route's MTU on a host that forwards
    #[arg(long)]
    i_am_router: bool,
}

pub(super) fn run(args: &ApplyArgs, printer: Printer) -> Result<(), Failure> {
    let request = request(args, printer)?;
    let only_looks = args.manner.dry_run || args.manner.script;
    if !only_looks && !args.manner.yes && !ask::can_ask() {
        refuse_blind(&request, printer)?;
    }
    if !only_looks {
        let mut journal = Journal::open(&state_folder()?)?;
        tell_recovered(&recover(&mut journal), printer);
    }
    let plan = prepare(&request)?;
    if args.manner.script {
        return Ok(printer.data(&script(&plan.plan))?);
    }
    if !args.json {
        let shown = printer.text(&plan_text(&plan, printer));
        ask::unless_unread(shown, only_looks || !args.manner.yes)?;
    }
    if only_looks || plan.plan.steps.is_empty() {
        return tell(args, &plan, &PlanResult::default(), printer);
    }
    if args.revert_if_worse {
        refuse_incomparable(&plan)?;
        warn_of_few(&plan, printer);
    }
    if !args.manner.yes && !ask::ask("Apply?")? {
        return Err(Failure::Interrupted("nothing was changed".to_owned()));
    }
    let (applied, ends) = change(args, &plan)?;
    let seen: Vec<Option<SegmentsSeen>> =
        plan.plan.steps.iter().map(|step| seen(step, &plan.plan.steps)).collect();
    let result = PlanResult {
        plan: Some(applied.plan),
        entries: applied.entries,
        expires: ends.map(|ends| ends.at_s),
        segments_seen: seen.iter().map(|seen| seen.map(|seen| seen.seen)).collect(),
    };
    if !args.json {
        note_seen(&plan, &seen, printer);
        note_undoing(args, &result, printer);
    }
    tell(args, &plan, &result, printer)
}

/// Makes the change; gives when it ends by itself, too. The journal is closed afterwards: others may write to it.
fn change(args: &ApplyArgs, plan: &PreparedPlan) -> Result<(Applied, Option<Deadline>), Failure> {
    let ends = match (args.lasts, args.confirm) {
        (Some(lasts), _) => Some(deadline(lasts, false)),
        (None, Some(confirm)) => Some(deadline(confirm, true)),
        (None, None) => None,
    };
    let mut journal = Journal::open(&state_folder()?)?;
    let applying = Applying {
        plan: &plan.plan,
        by: author(),
        ends,
        reverts_if_worse: args.revert_if_worse,
        allows_router: args.allow.i_am_router,
        start_guard: &guard::start,
    };
    Ok((apply(&mut journal, &applying)?, ends))
}

/// What connections did since, and routes that were pinned.
fn note_seen(plan: &PreparedPlan, seen: &[Option<SegmentsSeen>], printer: Printer) {
    for (step, seen) in plan.plan.steps.iter().zip(seen) {
        if let Some(seen) = seen {
            printer.note(&seen_line(step, seen));
        }
    }
    plan.steps.iter().filter_map(|step| step.pinned.as_ref()).for_each(|it| printer.note(it));
}

/// How and when it is undone.
fn note_undoing(args: &ApplyArgs, result: &PlanResult, printer: Printer) {
    printer.note(&match (args.confirm, args.lasts) {
        (Some(time), _) => format!(
            "undone in {} s unless you run: {}",
            time.as_secs(),
            own_command("tune confirm")
        ),
        (None, Some(time)) => {
            let undo = undo_command(&result.entries);
            format!("undone in {} s; before: {undo}", time.as_secs())
        }
        (None, None) => undoing(&result.entries),
    });
    if args.revert_if_worse {
        let status = own_command("tune status");
        printer.note(&format!("undone as well if existing connections get worse: see `{status}`"));
    }
}

fn request(args: &ApplyArgs, printer: Printer) -> Result<Request, Failure> {
    let is_file = |what: &&String| document::is_named(what);
    let (files, ids): (Vec<&String>, Vec<&String>) = args.what.iter().partition(is_file);
    let Advised { mut wanted, why, left } = of_advice(&ids, printer)?;
    for target in left {
        printer.note(&format!(
            "{target} stays: this network namespace has it read-only, and it limits only what programs ask for; raise it on the host"
        ));
    }
    let mut reasons = Vec::new();
    let mut why = args.why.clone().or((!why.is_empty()).then_some(why));
    for file in files {
        let document = document::read(Path::new(file), None, Prefix::ALL_V4, printer)?;
        why = why.or(document.why);
        for Setting { target, value, why, .. } in document.settings {
            // What --why says is said of all.
            let own = why.filter(|_| args.why.is_none());
            reasons.extend(own.map(|why| (target.clone(), why)));
            wanted.push((target, value));
        }
    }
    wanted.extend(assigned(args)?);
    if wanted.is_empty() {
        return Err(Failure::usage(
            "nothing to set",
            "for example --set route.10.0.0.0/8.mtu=1280; `maxseg tune list` has what there is",
        ));
    }
    let allowed = Allowed {
        lock: args.allow.lock,
        router: args.allow.i_am_router,
        session: args.confirm.is_some(),
    };
    Ok(Request { wanted, why, reasons, allowed, session: session::peer() })
}

/// What the arguments set.
fn assigned(args: &ApplyArgs) -> Result<Vec<(Target, Value)>, Failure> {
    let of = |text: &String| match &args.connection {
        Some(connection) => wanted_of_connection(connection, text),
        None => assignment(text),
    };
    Ok(args.assignments.iter().map(of).collect::<Result<_, _>>()?)
}

/// What the stored advice of these names sets.
fn of_advice(ids: &[&String], printer: Printer) -> Result<Advised, Failure> {
    if ids.is_empty() {
        return Ok(Advised::default());
    }
    let stored = latest_state_file(ADVICE);
    let stored = stored.map_err(|(file, error)| Failure::file("read", &file, &error))?;
    let Some((file, document)) = stored else {
        return Err(Failure::with_hint(
            format!("there is no advice `{}`: none is stored", ids[0]),
            "ask for it first: `maxseg advise HOST`; a FILE has a slash, or ends in .toml",
        ));
    };
    if state_folder().is_ok_and(|own| !file.starts_with(own)) {
        printer.note(&format!("the advice is that of {}", file.display()));
    }
    let read = |file: &str| Some(std::fs::read_to_string(file).ok()?.trim().to_owned());
    let host = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
    Ok(advised(&document, &ids, (host.as_deref(), boot.as_deref()))?)
}

/// Without a terminal and without `--yes`: the plan is shown, and nothing is changed.
fn refuse_blind(request: &Request, printer: Printer) -> Result<(), Failure> {
    let plan = prepare(request)?;
    printer.note_verbatim(plan_text(&plan, printer).trim_end());
    Err(Failure::usage(
        "nothing was changed: there is no terminal to ask on",
        "add --yes to apply this plan, or --dry-run to see it alone",
    ))
}

/// How long to look for a segment that was sent by a new MTU, and how often.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(50);

/// The segments of the connections that a step reaches, where it changes them: an idle connection has not sent any.
fn seen(step: &Step, steps: &[Step]) -> Option<SegmentsSeen> {
    let mtu = step.after.number().filter(|_| step.target.decides_segment_size())?;
    let until = Instant::now() + PATIENCE;
    loop {
        let seen = segments_seen(&step.target, mtu, steps).ok()?;
        if seen.seen == seen.connections || Instant::now() >= until {
            return Some(seen);
        }
        std::thread::sleep(LOOK);
    }
}

/// Refuses `--revert-if-worse` where no step can be compared with the time before.
fn refuse_incomparable(plan: &PreparedPlan) -> Result<(), Failure> {
    let reasons: Option<Vec<&str>> = plan.plan.steps.iter().map(incomparable).collect();
    match reasons.unwrap_or_default().first() {
        Some(why) => Err(Failure::with_hint(
            format!("--revert-if-worse has nothing to compare: {why}"),
            "--for 10m undoes it after a time, whatever came of it",
        )),
        None => Ok(()),
    }
}

fn warn_of_few(plan: &PreparedPlan, printer: Printer) {
    let most = plan.steps.iter().filter_map(|step| step.connections).max().unwrap_or(0);
    if most < LEAST_CONNECTIONS {
        let count = if most == 1 {
            "1 connection is".to_owned()
        } else {
            format!("{most} connections are")
        };
        printer.note(&format!(
            "{count} established: a comparison takes {LEAST_CONNECTIONS} that last, so that nothing would be \
             undone as it is now"
        ));
    }
}

fn tell(
    args: &ApplyArgs,
    plan: &PreparedPlan,
    result: &PlanResult,
    printer: Printer,
) -> Result<(), Failure> {
    if !args.json {
        return Ok(());
    }
    let told = printer.data(&ApplyDocument::new(plan, result).json());
    if told.is_err()
        && let Some(plan) = result.plan
    {
        // What is set must not stay untold with the document.
        printer.note(&format!("plan {plan} is applied; {}", undoing(&result.entries)));
    }
    Ok(told?)
}
