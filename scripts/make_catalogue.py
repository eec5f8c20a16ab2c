"""Make the catalogues of translations: `python -m scripts.make_catalogue [--check]`.

The texts are read from the calls of `trans.__` and its like in `labextension/src`. Each language has a file that people
translate, `labextension/locale/LANGUAGE.po`. JupyterLab's server reads the JSON that is made of it. After a change of
texts, run this and translate what is printed.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message, pofile
from hatch_labextension import find_node

_ROOT = Path(__file__).parents[1]
_LAB = _ROOT / "labextension"
_CATALOGUES = _LAB / "locale"
_EXTRACTION = Path(__file__).with_name("extract_messages.mjs")
_DOMAIN = "svc_jupyter"
_CONTEXT_END = "\u0004"
_PLACEHOLDER = re.compile(r"%\d+")


def catalogues() -> list[Path]:
    """Return the files of the languages."""
    return sorted(_CATALOGUES.glob("*.po"))


def texts() -> Catalog:
    """Return the extension's texts as a catalogue without translations.

    Raises RuntimeError, with what to do, when Node.js or TypeScript is missing or a text is no literal.
    """
    node = find_node()
    if node is None or not (_LAB / "node_modules" / "typescript").is_dir():
        raise RuntimeError("this needs Node.js and the extension's packages: run `jlpm install` in labextension/")
    run = subprocess.run([node, str(_EXTRACTION), str(_LAB)], capture_output=True, text=True, timeout=100, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"the texts could not be read:\n{run.stderr.strip()[-2000:]}")
    catalogue = Catalog(domain=_DOMAIN, fuzzy=False)
    for entry in json.loads(run.stdout):
        names = (entry["id"], entry["plural"]) if "plural" in entry else entry["id"]
        catalogue.add(names, locations=[(entry["file"], 1)], context=entry.get("context"))
    return catalogue


def updated(path: Path, template: Catalog) -> Catalog:
    """Return a language's catalogue with exactly the template's texts; what is translated stays."""
    catalogue = _read(path)
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def po_text(catalogue: Catalog) -> str:
    """Return a catalogue as the text of its file, the same for the same translations."""
    out = io.BytesIO()
    pofile.write_po(out, catalogue, width=120, sort_by_file=True, omit_header=True, include_lineno=False)
    language = str(catalogue.locale)
    head = (
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language}\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    )
    return head + out.getvalue().decode().rstrip("\n") + "\n"


def json_text(catalogue: Catalog) -> str:
    """Return a catalogue in the form that JupyterLab reads (Jed's)."""
    head = {"domain": _DOMAIN, "language": str(catalogue.locale), "plural_forms": catalogue.plural_forms}
    messages = {
        _key(message): list(_strings(message)) for message in catalogue if message.id and all(_strings(message))
    }
    return json.dumps({"": head, **dict(sorted(messages.items()))}, ensure_ascii=False, indent=1) + "\n"


def missing(catalogue: Catalog) -> Iterator[str]:
    """Yield a line for each text without a translation, and for each whose placeholders differ."""
    for message in catalogue:
        if not message.id:
            continue
        if not all(_strings(message)) or message.fuzzy:
            yield f"not translated: {_key(message)!r}"
            continue
        wanted = set(_PLACEHOLDER.findall(" ".join(message.id) if message.pluralizable else str(message.id)))
        # A singular may write "one" where the plural has the number.
        if set(_PLACEHOLDER.findall(" ".join(_strings(message)))) != wanted:
            yield f"other placeholders: {_key(message)!r}"


def outdated() -> Iterator[str]:
    """Yield a line for everything that is not as `make` would leave it, or not translated."""
    template = texts()
    for path in catalogues():
        catalogue = updated(path, template)
        if path.read_text(encoding="utf-8") != po_text(catalogue):
            yield f"{path.name} is outdated: run python -m scripts.make_catalogue"
        if not _json(path).is_file() or _json(path).read_text(encoding="utf-8") != json_text(catalogue):
            yield f"{_json(path).relative_to(_ROOT)} is outdated: run python -m scripts.make_catalogue"
        yield from (f"{path.name}: {line}" for line in missing(catalogue))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the catalogues, or check them; return the exit code: 1 when a text is not translated."""
    parser = argparse.ArgumentParser(description=__doc__.partition(": ")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a catalogue is outdated")
    if parser.parse_args(arguments).check:
        lines = list(outdated())
    else:
        template, lines = texts(), []
        for path in catalogues():
            catalogue = updated(path, template)
            path.write_text(po_text(catalogue), encoding="utf-8")
            _json(path).parent.mkdir(parents=True, exist_ok=True)
            _json(path).write_text(json_text(catalogue), encoding="utf-8")
            lines += [f"{path.name}: {line}" for line in missing(catalogue)]
    sys.stdout.write("\n".join(lines or ["all texts are translated"]) + "\n")
    return 1 if lines else 0


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return pofile.read_po(file, locale=path.stem, domain=_DOMAIN)


def _json(path: Path) -> Path:
    """Return the place of a language's JSON, given by `jupyterlab_server`."""
    return _ROOT / "src" / "svc_jupyter" / "locale" / path.stem / "LC_MESSAGES" / f"{_DOMAIN}.json"


def _key(message: Message) -> str:
    name = message.id[0] if message.pluralizable else str(message.id)
    return f"{message.context}{_CONTEXT_END}{name}" if message.context else str(name)


def _strings(message: Message) -> tuple[str, ...]:
    given: Any = message.string or ""
    return tuple(given) or ("",) if message.pluralizable else (str(given),)


if __name__ == "__main__":
    sys.exit(main())
