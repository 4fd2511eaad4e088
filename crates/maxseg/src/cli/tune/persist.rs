//! `maxseg tune persist`

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use maxseg_core::tune::{Allowed, Entry, EntryState, Target, Value};
use maxseg_linux::tune::{
    Applying, Journal, Surveyed, apply, author, forwards, is_first_namespace, made_way, moment,
    recover, state_folder, survey,
};
use maxseg_workbench::tune::documents::{Document, Setting};
use maxseg_workbench::tune::persist::{Files, Keeper, networkd_lines};
use maxseg_workbench::tune::{PreparedPlan, Request, outdated, prepare, without_effect};

use super::export::given_or_set;
use super::undo::{tell_recovered, undoing};
use super::{ask, document, guard};
use crate::failure::Failure;
use crate::printer::Printer;

/// Make what is set last beyond the next boot
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg tune persist
  maxseg tune persist --as unit --yes
  maxseg tune persist modem.toml --as sysctl.d --dry-run
  maxseg tune undo

Without a file, what `tune apply` has set and what still holds is made permanent: sysctls alone by a file of sysctl.d, \
anything else by a document and a service of systemd that applies it when the network is up. --as ifupdown writes the \
MTUs of interfaces; --as networkd prints lines from its documentation. The files are shown first, and undone like every \
other change. --root DIR writes them below another root, such as that of an image.")]
pub(super) struct PersistArgs {
    /// A document; default: what is set
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// sysctl.d, ifupdown, unit or networkd
    #[arg(long = "as", value_name = "HOW", value_parser = keeper)]
    keeper: Option<Keeper>,
    /// Write below this folder
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Print the files and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Allow the unit a route's MTU on a host that forwards
    #[arg(long)]
    i_am_router: bool,
}

fn keeper(word: &str) -> Result<Keeper, String> {
    document::by_word(Keeper::ALL, Keeper::word, word)
}

/// A unit runs the program as root: whoever may change the program is root then. In an image its path may be another file.
fn judge_program(program: &Path, root: &Path, printer: Printer) -> Result<(), Failure> {
    let Some(writable) = written_by_others(program) else { return Ok(()) };
    let what = format!(
        "the unit would run {} as root, and {} can be changed by others",
        program.display(),
        writable.display()
    );
    if root == Path::new("/") {
        let hint =
            "install it first: install -o root -m 755 maxseg /usr/local/bin/maxseg, and run that";
        return Err(Failure::with_hint(what, hint));
    }
    printer.note(&format!("warning: {what}"));
    Ok(())
}

/// The file, or a folder above it, that another user than root may change.
fn written_by_others(file: &Path) -> Option<&Path> {
    file.ancestors().find(|path| {
        path.symlink_metadata().is_ok_and(|about| {
            // In a sticky folder others add names, and cannot take ours.
            let is_sticky = about.is_dir() && about.mode() & 0o1000 != 0;
            about.uid() != 0 || (about.mode() & 0o022 != 0 && !is_sticky)
        })
    })
}

/// A unit with what `tune apply` refuses would fail at every start.
fn judge_routes(document: &Document, root: &Path) -> Result<(), Failure> {
    let is_refused = |one: &&Setting| {
        one.is_route_mtu() && one.target.destinations().is_some_and(|to| forwards(to.is_v6()))
    };
    let is_allowed = document.allows_router || root != Path::new("/");
    match document.settings.iter().find(is_refused).filter(|_| !is_allowed) {
        Some(one) => Err(Failure::with_hint(
            format!(
                "the unit would fail at every start: this host forwards, and {} reaches other hosts' connections",
                one.target
            ),
            "if it must be, add --i-am-router",
        )),
        None => Ok(()),
    }
}

/// A route that is made stays where the wider one led when it was made.
fn note_made_routes(document: &Document, root: &Path, printer: Printer) {
    let is_made = |one: &&Setting| one.target.destinations().and_then(made_way).is_some();
    let made = document.settings.iter().find(is_made);
    if let Some(one) = made.filter(|_| root == Path::new("/")) {
        printer.note(&format!(
            "the unit makes a route for {}: it goes where the wider route leads at that moment, until it is undone; while `maxseg tune watch` \
             runs, that withdraws it when the wider route leads elsewhere",
            one.target
        ));
    }
}

/// What is written is for the machine when it starts, which has other interfaces and routes than a network namespace of its own.
fn warn_of_namespace(document: &Document, root: &Path, printer: Printer) {
    let is_of_links = |one: &Setting| {
        matches!(one.target, Target::InterfaceMtu(_) | Target::Route { .. } | Target::Clamp(_))
    };
    let bound = document.settings.iter().find(|one| is_of_links(one));
    if root != Path::new("/") || is_first_namespace() != Some(false) {
        return;
    }
    let missing =
        bound.map_or_else(String::new, |one| format!(", where {} may not exist", one.target));
    printer.note(&format!(
        "warning: this is a network namespace of its own, and the files are read by the machine's first one when it starts{missing}"
    ));
}

/// The files that earlier runs have written below this root, and that hold what they wrote.
fn earlier(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    let all = survey(&Journal::read(&state_folder()?)?, &moment()?);
    let of = |one: Surveyed| match (one.state, one.entry.step.target, one.entry.step.after) {
        (EntryState::Set, Target::File(path), Value::Text(text)) => Some((path, text)),
        _ => None,
    };
    let files = all.into_iter().filter_map(of);
    Ok(files.filter(|(path, _)| Path::new(path).starts_with(root)).collect())
}

/// Why a change does not outlast this boot.
fn ends(entry: &Entry) -> Option<&'static str> {
    match entry.ends {
        Some(ends) if ends.unless_confirmed => {
            Some("it ends by itself unless it is confirmed: `maxseg tune confirm`")
        }
        Some(_) => Some("it ends by itself (--for)"),
        None => entry
            .reverts_if_worse
            .then_some("it is undone yet where connections do worse (--revert-if-worse)"),
    }
}

pub(super) fn run(args: &PersistArgs, printer: Printer) -> Result<(), Failure> {
    let mut document = given_or_set(args.file.as_deref(), ends, printer)?;
    document.allows_router |= args.i_am_router;
    let keeper = args.keeper.unwrap_or_else(|| Keeper::of(&document));
    if keeper == Keeper::Networkd {
        return print_networkd(&document, printer);
    }
    let root = std::path::absolute(&args.root)
        .map_err(|error| Failure::file("find", &args.root, &error))?;
    let files = files(keeper, &document, &root, printer)?;
    let removed = match args.file {
        None => outdated(&earlier(&root)?, &document, &files),
        Some(_) => Vec::new(),
    };
    let plan = prepare(&request(&document, &files, &removed))?;
    let shown = printer.text(&contents(&files, &removed, printer));
    ask::unless_unread(shown, args.dry_run || !args.yes)?;
    if plan.plan.steps.is_empty() {
        printer.note("the files hold this already");
        return Ok(());
    }
    if args.dry_run {
        return Ok(());
    }
    if !args.yes {
        ask_to_write()?;
    }
    let entries = write(&plan, printer)?;
    printer.note(&undoing(&entries));
    for command in &files.then {
        printer.note(&format!("then run: {command}"));
    }
    Ok(())
}

fn print_networkd(document: &Document, printer: Printer) -> Result<(), Failure> {
    let (lines, left_out) = networkd_lines(document);
    document::tell(&left_out, printer);
    Ok(printer.data(&lines)?)
}

/// What keeps the settings, with what has to be said of it.
fn files(
    keeper: Keeper,
    document: &Document,
    root: &Path,
    printer: Printer,
) -> Result<Files, Failure> {
    let program = std::env::current_exe()
        .map_or_else(|_| "/usr/bin/maxseg".to_owned(), |file| file.display().to_string());
    if keeper == Keeper::Unit {
        judge_program(Path::new(&program), root, printer)?;
        judge_routes(document, root)?;
        note_made_routes(document, root, printer);
    }
    warn_of_namespace(document, root, printer);
    let files = keeper.files(document, root, &program);
    document::tell(&files.left_out, printer);
    if files.files.is_empty() {
        return Err(Failure::with_hint(
            format!("{} keeps none of these settings", keeper.word()),
            "--as unit keeps all but those of connections",
        ));
    }
    for why in without_effect(keeper, document, root) {
        printer.note(&format!("warning: {why}"));
    }
    Ok(files)
}

fn request(document: &Document, files: &Files, removed: &[Target]) -> Request {
    let removed = removed.iter().map(|target| (target.clone(), Value::Absent));
    Request {
        wanted: files.files.iter().cloned().chain(removed).collect(),
        why: document.why.clone(),
        reasons: Vec::new(),
        allowed: Allowed::default(),
        session: None,
    }
}

/// The files with their lines, and those that are removed.
fn contents(files: &Files, removed: &[Target], printer: Printer) -> String {
    let heading = |target: &Target| {
        let path = target.to_string();
        format!("{}\n", printer.bold(path.trim_start_matches("file.")))
    };
    let mut text = String::new();
    for (target, value) in &files.files {
        text += &heading(target);
        for line in value.text().unwrap_or_default().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    for target in removed {
        text += &heading(target);
        text += "  is removed: it keeps what is set no more\n";
    }
    text
}

fn ask_to_write() -> Result<(), Failure> {
    if !ask::can_ask() {
        return Err(Failure::with_hint(
            "nothing was written: there is no terminal to ask on",
            "add --yes to write these files, or --dry-run to see them alone",
        ));
    }
    if ask::ask("Write?")? {
        Ok(())
    } else {
        Err(Failure::Interrupted("nothing was written".to_owned()))
    }
}

/// Writes the files as a change that can be undone; gives the numbers of its entries in the journal.
fn write(plan: &PreparedPlan, printer: Printer) -> Result<Vec<u64>, Failure> {
    let mut journal = Journal::open(&state_folder()?)?;
    tell_recovered(&recover(&mut journal), printer);
    let applying = Applying {
        plan: &plan.plan,
        by: author(),
        ends: None,
        reverts_if_worse: false,
        allows_router: false,
        start_guard: &guard::start,
    };
    Ok(apply(&mut journal, &applying)?.entries)
}
