//! A network of the lab's that a built program brings up, and programs in it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::first_of_all;

/// A lab that is up; it ends with this value.
#[derive(Debug)]
pub(crate) struct UpLab<'p> {
    program: &'p Path,
    name: String,
}

impl<'p> UpLab<'p> {
    /// Brings a scenario up, which is written to a file in `folder`.
    pub(crate) fn up(program: &'p Path, folder: &Path, name: &str, scenario: &str) -> Result<Self> {
        let file = folder.join("path.toml");
        fs::write(&file, scenario).with_context(|| file.display().to_string())?;
        let up =
            first_of_all(program).args(["-q", "lab", "up", "--name", name]).arg(&file).output()?;
        ensure!(up.status.success(), "lab up: {}", String::from_utf8_lossy(&up.stderr));
        Ok(Self { program, name: name.to_owned() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What begins a command in a host.
    pub(crate) fn within(&self, host: &str) -> Command {
        let mut command = Command::new(self.program);
        command.args(["-q", "lab", "exec", "--name", &self.name, host, "--"]);
        command
    }
}

impl Drop for UpLab<'_> {
    fn drop(&mut self) {
        let down = ["-q", "lab", "down", "--name", &self.name];
        // There is nobody to tell: the next network has another name.
        let _ = Command::new(self.program).args(down).stdout(Stdio::null()).status();
    }
}

/// A process that ends with this value.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a server, which says when it listens.
    pub(crate) fn listening(command: &mut Command) -> Result<Self> {
        let mut server = Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
        let mut line = String::new();
        let output = server.0.stdout.take().context("its output")?;
        BufReader::new(output).read_line(&mut line)?;
        ensure!(line.starts_with("listening"), "the server does not listen: {line}");
        Ok(server)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
