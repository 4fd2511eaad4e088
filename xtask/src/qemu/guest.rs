//! A machine in qemu, and a line to it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use maxseg_linux::lab::netem::{self, TcReply};

/// A machine that takes commands. It is killed when this goes; and ends by itself if that cannot be.
pub struct Guest {
    qemu: Child,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    /// Read, but not taken yet.
    ahead: Vec<u8>,
    deadline: Instant,
}

/// The most that one line may have: what the line discipline holds, less a little.
const LONGEST_LINE: usize = 4000;

impl Guest {
    /// Boots, and waits until commands are taken. The kernel's own words go to `log`.
    pub(super) fn boot(
        kernel: &Path,
        initramfs: &Path,
        log: &Path,
        limit: Duration,
    ) -> Result<Self> {
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-accel", "tcg", "-m", "768", "-smp", "1"])
            .args(["-display", "none", "-nodefaults", "-no-user-config", "-no-reboot"])
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(initramfs)
            .args(["-append", "console=ttyS0 quiet panic=-1 ipv6.disable=1"])
            .arg("-serial")
            .arg(format!("file:{}", log.display()))
            .args(["-serial", "stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut qemu = qemu.spawn().context("qemu-system-x86_64")?;
        let input = qemu.stdin.take().context("a pipe to qemu")?;
        let mut from = qemu.stdout.take().context("a pipe from qemu")?;
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            // Ends with qemu, which closes the pipe, or with the receiver.
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let deadline = Instant::now() + limit;
        let mut guest = Self { qemu, input, output, ahead: Vec::new(), deadline };
        let ready = guest.line().with_context(|| format!("booting; see {}", log.display()))?;
        ensure!(ready == "ready", "the machine began with {ready:?}; see {}", log.display());
        Ok(guest)
    }

    /// Runs a line of shell, and gives what came of it.
    ///
    /// # Errors
    /// The machine is gone, or time is up; not that the command failed.
    pub fn run(&mut self, line: &str) -> Result<TcReply> {
        ensure!(line.len() < LONGEST_LINE && !line.contains('\n'), "not one short line: {line}");
        self.ask(line).with_context(|| line.to_owned())
    }

    fn ask(&mut self, line: &str) -> Result<TcReply> {
        self.input.write_all(format!("{line}\n").as_bytes())?;
        self.input.flush()?;
        let header = self.line()?;
        let numbers: Vec<usize> = header.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [code, out, err] = numbers[..] else { bail!("an answer that begins with {header:?}") };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (text(self.take(out)?), text(self.take(err)?));
        Ok(TcReply { success: code == 0, stdout, stderr })
    }

    /// What a line prints that must succeed.
    ///
    /// # Errors
    /// It fails.
    pub fn must(&mut self, line: &str) -> Result<String> {
        let reply = self.run(line)?;
        ensure!(reply.success, "`{line}` failed: {}{}", reply.stdout, reply.stderr);
        Ok(reply.stdout)
    }

    /// The same for a command of the library, in a network namespace.
    ///
    /// # Errors
    /// It fails.
    pub fn must_in(&mut self, namespace: &str, command: &netem::TcCommand) -> Result<String> {
        self.must(&format!("ip netns exec {namespace} {command}"))
    }

    /// Takes every network namespace away, and with them their interfaces.
    pub(super) fn tidy(&mut self) -> Result<()> {
        self.must("ip -all netns delete; ls /run/netns | wc -l | grep -qx 0").map(drop)
    }

    /// Switches the machine off.
    pub(super) fn power_off(mut self) -> Result<()> {
        self.input.write_all(b"poweroff -f\n")?;
        loop {
            match self.output.recv_timeout(self.left()) {
                Ok(_) => {} // nothing more to say
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.qemu.wait()?;
                    ensure!(status.success(), "qemu ended with {status}");
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => bail!("the machine did not switch itself off"),
            }
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn line(&mut self) -> Result<String> {
        let end = loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                break end;
            }
            self.receive()?;
        };
        let line = self.take(end + 1)?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.ahead.len() < length {
            self.receive()?;
        }
        Ok(self.ahead.drain(..length).collect())
    }

    fn receive(&mut self) -> Result<()> {
        match self.output.recv_timeout(self.left()) {
            Ok(bytes) => self.ahead.extend(bytes),
            Err(error) => bail!("no answer from the machine: {error}"),
        }
        Ok(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        drop(self.qemu.kill());
        drop(self.qemu.wait());
    }
}
