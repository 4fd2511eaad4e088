//! `maxseg completions`

use clap::Args;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::printer::Printer;

/// Print shell completions
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  maxseg completions bash > ~/.local/share/bash-completion/completions/maxseg
  maxseg completions zsh > \"${fpath[1]}/_maxseg\"
  maxseg completions fish > ~/.config/fish/completions/maxseg.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, printer: Printer) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "maxseg", &mut text);
    printer.data(&String::from_utf8_lossy(&text))?;
    Ok(())
}
