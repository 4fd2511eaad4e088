//! What the kernel says of a process in a line (`/proc/PID/stat`, `proc_pid_stat(5)`).

/// State, parent and beginning of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStatus {
    /// As `ps` shows it: `R`, `S`, `T` of one that is stopped, `Z` of one that has ended.
    state: char,
    /// The number of its parent.
    pub(crate) parent: u32,
    /// When it began, in clock ticks since the boot.
    pub(crate) began: u64,
}

impl ProcessStatus {
    /// Of the process with this number; `None` where there is none.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Self::in_line(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    fn in_line(line: &[u8]) -> Option<Self> {
        // The name, in parentheses, may have spaces, parentheses and bytes that are no text.
        let behind = line.iter().rposition(|byte| *byte == b')')? + 1;
        let mut fields = std::str::from_utf8(line.get(behind..)?).ok()?.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let began = fields.nth(17)?.parse().ok()?;
        Some(Self { state, parent, began })
    }

    /// Whether a signal has stopped it.
    pub(crate) const fn is_stopped(self) -> bool {
        self.state == 'T'
    }

    /// Whether it has ended, though its parent has not asked for it.
    pub(crate) const fn has_ended(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_anything() {
        let line =
            b"42 (a) S (\xff) T 7 42 42 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 50";
        let status = ProcessStatus::in_line(line).unwrap();
        assert_eq!((status.parent, status.began), (7, 987_654));
        assert!(status.is_stopped() && !status.has_ended());
        assert_eq!(ProcessStatus::in_line(b"42 (a) S 7"), None);
    }

    #[test]
    fn this_process_runs() {
        let own = ProcessStatus::of(std::process::id()).unwrap();
        assert!(!own.is_stopped() && !own.has_ended() && own.began > 0);
        assert_eq!(own.parent, std::os::unix::process::parent_id());
    }
}
