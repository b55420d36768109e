"""`ultracluster docs`: read the documentation offline."""

from typing import Annotated

import typer

from ultracluster_cli.project.project_files import shipped


def docs(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Name of a page. Default: list all.", show_default=False)
    ] = "",
) -> None:
    """Print a page of the documentation, or list the pages."""
    folder = shipped("docs")
    pages = {path.stem: path for path in sorted(folder.glob("*/*.md")) if path.stem != "index"}
    if topic and topic not in pages:
        raise typer.BadParameter(f"there is no page {topic!r}; `ultracluster docs` lists the pages")
    if topic:
        typer.echo(pages[topic].read_text(encoding="utf-8"), nl=False)
    else:
        for name, path in sorted(pages.items(), key=lambda page: page[1]):
            with path.open(encoding="utf-8") as text:
                typer.echo(f"{name:24} {text.readline().lstrip('# ').strip()}")
