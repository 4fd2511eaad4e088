//! `maxseg connections`

mod dump;
mod recorded;
mod selection;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use maxseg_core::units::Time;
use maxseg_linux::observe::sockets::NamespaceError;
use maxseg_linux::sys::sleeps;
use maxseg_workbench::connections::{Connections, Listing, Snapshot, Watch, read_options};
use maxseg_workbench::environment::date_and_time;
use maxseg_workbench::report::connections::{
    ColumnName, ConnectionsDocument, ListTime, without_unit, write_csv, write_listeners_csv,
};

use crate::cli::count::at_least_one;
use crate::failure::Failure;
use crate::interrupt;
use crate::printer::Printer;
use crate::report::connections::{Shown, text};
use dump::{bytes_of, read_dump, shown_name};
pub(super) use selection::SelectionArgs;

/// List the TCP connections of this host with what limits each
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg connections
  maxseg connections --interval \"2 s\" --port 443
  maxseg connections --dst 192.0.2.0/24 --columns local,remote,mss,pmtu,rtt,limited_by
  maxseg connections --watch --process nginx
  maxseg connections --netns all --json | jq '.connections[] | select(.limited_by == \"receive-window\")'
  ss -tinmO -D sockets.bin; maxseg connections --from-dump sockets.bin
  maxseg connections --open sockets.pcapng --csv
  maxseg connections --open sockets.pcapng --whole

The numbers are the kernel's, the same as `ss -ti` prints. One sample shows what limited each connection since its \
beginning; --interval and --watch compare two and what was between them, and show what limits it now. What limits a connection that mostly receives is known to the other host alone, except for a process here that reads too slowly.

No privilege is needed for the sockets of all users; the processes of others are shown to root. JSON has every \
number with its unit in the key; --columns takes the same keys, with or without the unit. Exit codes: 0 done, 130 \
interrupted before --count was reached.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ConnectionsArgs {
    #[command(flatten)]
    selection: SelectionArgs,
    /// List the listening sockets with their accept queues instead
    #[arg(conflicts_with_all = ["interval", "columns", "sort", "limit"], long, short)]
    listening: bool,
    /// Compare two samples this time apart: what limits each connection now
    #[arg(long, value_name = "TIME", conflicts_with_all = ["watch", "from_dump"])]
    interval: Option<Time>,
    /// List repeatedly, every second or at this interval; connections that closed meanwhile are listed once
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1 s", conflicts_with = "from_dump")]
    watch: Option<Time>,
    /// End --watch after N lists
    #[arg(long, value_name = "N", requires = "watch", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Read what `ss -tinmO -D FILE` wrote; `-` for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["netns", "process"])]
    from_dump: Option<PathBuf>,
    /// Print the lists of a recording of `maxseg top --record FILE`, as --watch prints them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from_dump", "netns", "interval", "watch"])]
    open: Option<PathBuf>,
    /// With --open: one list of the whole recording, each connection once, since its first sample
    #[arg(long, requires = "open", conflicts_with = "listening")]
    whole: bool,
    /// Columns of the table or of CSV, by the keys of JSON: `local,remote,rtt,limited_by`; `all` for every one
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "json")]
    columns: Vec<String>,
    /// Sort by this column: numbers from the largest; default: the most traffic first
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// List no more connections than these
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
    /// Print JSON: one document, or one a line with --watch and --open (without --whole)
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV: a row for each connection; with --watch and --open each begins with the time of its list
    #[arg(long)]
    csv: bool,
    /// Leave the processes out: faster with many connections
    #[arg(long)]
    no_processes: bool,
}

/// Where a list is from.
struct Origin {
    /// Its place among several.
    time: Option<ListTime>,
    /// The name of the host; `None` where a file does not tell.
    host: Option<String>,
}

pub(crate) fn run(args: &ConnectionsArgs, printer: Printer) -> Result<(), Failure> {
    let shown = args.shown()?;
    for (option, every) in [("--interval", args.interval), ("--watch", args.watch)] {
        every.map_or(Ok(()), |every| refuse_short(option, every))?;
    }
    if let Some(file) = &args.open {
        let print = if args.whole { recorded::print_whole } else { recorded::print };
        return print(args, file, &shown, printer);
    }
    if let Some(file) = &args.from_dump {
        let bytes = bytes_of(file)?;
        let listing = read_dump(file, &bytes)?;
        if listing.rest().is_cut {
            printer.note(&format!(
                "note: {} is cut: it ends before its list does, and sockets are missing",
                shown_name(file)
            ));
        }
        return args.print_listing(listing, &shown, printer);
    }
    let mut watch =
        Watch::new(args.selection.watch_options(!args.no_processes, args.watch.is_some())?)
            .map_err(|error| namespace_failure(&error))?;
    note_small_room(&watch, printer);
    if let Some(every) = args.watch {
        let mut look = || args.looked_at(watch.look());
        return args.watch(every, &mut look, &shown, printer);
    }
    if let Some(interval) = args.interval {
        let stop = interrupt::flag();
        watch.look().map_err(|error| namespace_failure(&error))?;
        if !watches(&mut watch, interval, stop)? {
            return Err(Failure::Interrupted("nothing was listed yet".to_owned()));
        }
        return args.print(
            args.looked_at(watch.look_last())?,
            &shown,
            &Origin { time: None, host: host_name() },
            printer,
        );
    }
    let listing = watch.list_once().map_err(|error| namespace_failure(&error))?;
    args.print_listing(listing, &shown, printer)
}

/// Refuses looks that follow each other so closely that nothing is to be seen between.
pub(super) fn refuse_short(option: &str, every: Time) -> Result<(), Failure> {
    if every >= Time::from_millis(100) {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{option} is shorter than 100 ms"),
        "what the kernel counts between two looks needs some round trips",
    ))
}

/// Says that events of closed connections may be missed.
pub(super) fn note_small_room(watch: &Watch, printer: Printer) {
    if let Some((granted, wanted)) = watch.small_room() {
        printer.note(&format!(
            "note: this user may have {granted} of {wanted} bytes for events of closed connections, and a burst of them may be \
             missed: sudo, or a larger net.core.rmem_max"
        ));
    }
}

impl ConnectionsArgs {
    /// One list of the sockets now.
    pub(super) fn list(selection: SelectionArgs, sort: Option<String>, json: bool) -> Self {
        Self {
            selection,
            listening: false,
            interval: None,
            watch: None,
            count: None,
            from_dump: None,
            open: None,
            whole: false,
            columns: Vec::new(),
            sort,
            limit: None,
            json,
            csv: false,
            no_processes: false,
        }
    }

    /// What was asked for of the sockets that were listed.
    fn looked_at(&self, looked: Result<Snapshot, NamespaceError>) -> Result<Snapshot, Failure> {
        let mut snapshot = looked.map_err(|error| namespace_failure(&error))?;
        if self.selection.finds_processes(!self.no_processes) {
            read_options(&mut snapshot.connections);
        }
        self.selection.retain(&mut snapshot);
        Ok(snapshot)
    }

    /// The list that is printed: its columns and their order.
    fn shown(&self) -> Result<Shown, Failure> {
        let columns = if self.columns.iter().any(|name| name == "all") {
            ColumnName::all()
        } else {
            self.columns.iter().map(|name| column(name)).collect::<Result<_, _>>()?
        };
        let sort = self.sort.as_deref().map(column).transpose()?;
        let of_process = self.selection.chooses_by_process();
        let is_here = self.from_dump.is_none() && self.open.is_none();
        Ok(Shown { columns, sort, listening: self.listening, of_process, is_here })
    }

    /// Lists again and again.
    fn watch(
        &self,
        every: Time,
        look: &mut dyn FnMut() -> Result<Snapshot, Failure>,
        shown: &Shown,
        printer: Printer,
    ) -> Result<(), Failure> {
        let stop = interrupt::flag();
        let mut lists = 0;
        look()?;
        while self.count.is_none_or(|count| lists < count) {
            if !waits(every, stop) {
                let many = self.count.is_some();
                let what = format!("{lists} lists were printed");
                return if many { Err(Failure::Interrupted(what)) } else { Ok(()) };
            }
            self.print_next(look()?, lists == 0, host_name(), shown, printer)?;
            lists += 1;
        }
        Ok(())
    }

    /// Prints one of several lists: text and CSV tell its time.
    fn print_next(
        &self,
        snapshot: Snapshot,
        is_first: bool,
        host: Option<String>,
        shown: &Shown,
        printer: Printer,
    ) -> Result<(), Failure> {
        let time = snapshot.time_s.map(|time_s| ListTime { time_s, is_first });
        if let Some(ListTime { time_s, .. }) = time.filter(|_| !self.json && !self.csv) {
            let gap = if is_first { "" } else { "\n" };
            printer.text(&format!("{gap}{} UTC\n", time_of(time_s)))?;
        }
        self.print(snapshot, shown, &Origin { time, host }, printer)
    }

    /// Prints sockets that are compared with nothing: a long list of data from the kernel's messages as they are.
    fn print_listing(
        &self,
        mut listing: Listing<'_>,
        shown: &Shown,
        printer: Printer,
    ) -> Result<(), Failure> {
        let host = self.from_dump.is_none().then(host_name).flatten();
        let origin = Origin { time: None, host };
        let finds_processes = self.selection.finds_processes(!self.no_processes);
        let reads_options =
            self.from_dump.is_none() && finds_processes && !listing.leave_too_many_unread();
        if reads_options || shown.sort.is_some() || !(self.json || self.csv) {
            let mut snapshot = listing.into_snapshot();
            if reads_options {
                read_options(&mut snapshot.connections);
            }
            self.selection.retain(&mut snapshot);
            return self.print(snapshot, shown, &origin, printer);
        }
        self.selection.retain(listing.rest_mut());
        listing.sort_by_traffic();
        let has = self.selection.chooser();
        let chosen = listing.chosen(&has, self.limit.unwrap_or(usize::MAX));
        self.print_data(listing.rest(), &chosen, shown, &origin, printer)
    }

    fn print(
        &self,
        mut snapshot: Snapshot,
        shown: &Shown,
        origin: &Origin,
        printer: Printer,
    ) -> Result<(), Failure> {
        match &shown.sort {
            Some(column) => snapshot.sort_by(column).map_err(std::io::Error::from)?,
            // With the keys aside: connections are large, and sorting them would need room for all of them again.
            None => snapshot.connections.sort_by_cached_key(|c| std::cmp::Reverse(c.moved_bytes())),
        }
        if let Some(limit) = self.limit {
            snapshot.connections.truncate(limit);
        }
        if self.json || self.csv {
            self.print_data(&snapshot, &snapshot.connections, shown, origin, printer)
        } else {
            Ok(printer.text(&text(&snapshot, shown, printer))?)
        }
    }

    /// Prints JSON or CSV.
    fn print_data(
        &self,
        snapshot: &Snapshot,
        connections: &dyn Connections,
        shown: &Shown,
        origin: &Origin,
        printer: Printer,
    ) -> Result<(), Failure> {
        if self.csv && self.listening {
            let listeners = &snapshot.listeners;
            return Ok(printer.stream(|out| write_listeners_csv(out, listeners, origin.time))?);
        }
        if self.csv {
            return Ok(
                printer.stream(|out| write_csv(out, connections, &shown.columns, origin.time))?
            );
        }
        let none = Vec::new();
        let connections: &dyn Connections = if self.listening { &none } else { connections };
        let document = ConnectionsDocument::new(snapshot, connections, origin.host.as_deref());
        Ok(printer.stream(|out| document.write(out))?)
    }
}

/// A date and a time of seconds since 1970.
fn time_of(time_s: f64) -> String {
    date_and_time(Duration::try_from_secs_f64(time_s).unwrap_or_default().as_secs())
}

fn column(name: &str) -> Result<ColumnName, Failure> {
    ColumnName::find(name.trim()).map_err(|error| {
        let all = ColumnName::all();
        let names: Vec<&str> = all.iter().map(|column| without_unit(column.key())).collect();
        Failure::usage(
            error.to_string(),
            format!(
                "columns are the keys of `maxseg connections --json`, or `all`: {}",
                names.join(", ")
            ),
        )
    })
}

pub(super) fn namespace_failure(error: &NamespaceError) -> Failure {
    Failure::with_hint(error.to_string(), error.hint())
}

/// Waits so long between two looks, and looks now and then meanwhile; gives whether the time has passed.
///
/// # Errors
/// The kernel gives no list.
pub(super) fn watches(
    watch: &mut Watch,
    interval: Time,
    stop: &AtomicBool,
) -> Result<bool, Failure> {
    /// So often, where there is time between.
    const LOOKS: u64 = 16;
    const LEAST: Time = Time::from_millis(20);
    let pause = Time::from_nanos(interval.as_nanos() / LOOKS).max(LEAST);
    let mut left = interval;
    while left > pause {
        if !waits(pause, stop) {
            return Ok(false);
        }
        left = left.since(pause);
        watch.look_between().map_err(|error| namespace_failure(&error))?;
    }
    Ok(waits(left, stop))
}

/// Waits for so long; false when the user interrupts it.
pub(super) fn waits(time: Time, stop: &AtomicBool) -> bool {
    sleeps(Duration::from_nanos(time.as_nanos()), || stop.load(Ordering::Relaxed))
}

pub(super) fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim_end().to_owned())
}
