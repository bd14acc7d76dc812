"""``sargo completion``: the script by which a shell completes the commands and options of ``sargo``."""

from __future__ import annotations

import click

from handler.cli.output.consoles import print_text

__all__ = ["COMPLETE_VARIABLE", "command"]

#: The variable in which a shell asks for completions.
COMPLETE_VARIABLE = "_SARGO_COMPLETE"


@click.command("completion", short_help="Print the script that completes commands and options in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands and options of sargo in SHELL.

    \b
    bash:  sargo completion bash > ~/.local/share/bash-completion/completions/sargo
    zsh:   sargo completion zsh > ~/.zfunc/_sargo      (in ~/.zshrc, before compinit: fpath+=~/.zfunc)
    fish:  sargo completion fish > ~/.config/fish/completions/sargo.fish

    Or for one session of bash or zsh: eval "$(sargo completion bash)"
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    root = click.get_current_context().find_root()
    print_text(found(root.command, {}, "sargo", COMPLETE_VARIABLE).source())
