//! A command as an argument vector, displayed as shell text and run without a shell.

use std::fmt;
use std::io;

/// A program and its arguments. `Display` quotes them for a POSIX shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcCommand {
    /// The program, looked up in `PATH`.
    pub program: &'static str,
    /// The arguments, unquoted.
    pub arguments: Vec<String>,
}

/// The result of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcReply {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl TcCommand {
    /// A command of `program` with these arguments.
    pub fn new<T: Into<String>>(
        program: &'static str,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// Runs the command in the calling thread's namespaces and waits for its end.
    ///
    /// # Errors
    /// The program is not found or cannot be started. A nonzero exit code is not an error.
    pub fn run(&self) -> io::Result<TcReply> {
        let output = std::process::Command::new(self.program)
            .args(&self.arguments)
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::null())
            .output()?;
        Ok(TcReply {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

impl fmt::Display for TcCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// The word for a shell: in single quotes unless it consists of plain characters.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+-./:=@_,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_is_printed() {
        let words = ["plain", "1%", "two words", "it's", "", "$HOME", "a;b", "*", "\\", "-14"];
        let command = TcCommand::new("printf", ["%s\\n"].iter().chain(&words).copied());
        let printed = std::process::Command::new("sh").args(["-c", &command.to_string()]).output();
        let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
        assert_eq!(printed.lines().collect::<Vec<_>>(), words);
    }
}
