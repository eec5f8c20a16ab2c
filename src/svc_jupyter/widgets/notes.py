"""A note's dynamic forms as widgets, with a button that runs it, or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from svc_jupyter.widgets.panels.frame import PanelValue, close_widgets
from svc_jupyter.widgets.panels.rendering import muted_html, problem_html, text_html
from svc_jupyter.widgets.panels.worker import PanelWorker

if TYPE_CHECKING:
    from ipywidgets import Widget

    from svc_jupyter.api.notes import Note, NoteForm

RunNote = Callable[[dict[str, Any], Callable[[str], None]], list[tuple[str, str]]]
"""Runs the note with the values of its forms and reports progress; returns the tables as titles and HTML."""
_WIDTH = {"width": "28em"}
_LONGEST_LIST = 8
_NEVER = 3600.0


def form_text(note: Note) -> str:
    """Return the forms as text: their names, their values and how to set them."""
    forms = shown_forms(note.forms)
    lines = [f"note {note.id} · {note.location}/{note.name}"]
    lines += [f"  {form.label or form.name} ({form.name}, {form.type}): {_shown_value(form)}" for form in forms]
    return "\n".join([*lines, f"  %svc_spark_run {note.id} NAME=VALUE … runs it with other values"])


class NoteFormPanel(PanelValue):
    """The forms of a note. `close` removes them and ends their thread."""

    def __init__(self, note: Note, run: RunNote) -> None:
        import ipywidgets as widgets

        super().__init__(lambda: form_text(note))
        self._run = run
        self._worker = PanelWorker(lambda: None, lambda: _NEVER, on_failure=self._fail)
        self._forms = shown_forms(note.forms)
        self._fields: dict[str, Any] = {form.name: field_of(form) for form in self._forms}
        title = f"<b>{escape(note.name)}</b>"
        self._title = widgets.HTML(f'<span role="heading" aria-level="3">{title}</span>')
        self._button = widgets.Button(description="Run", icon="play", button_style="primary")
        self._status, self._result = widgets.HTML(), widgets.HTML()
        self._button.on_click(lambda _: self.start())
        self.box = widgets.VBox([self._title, *self._fields.values(), self._button, self._status, self._result])
        self._parts: list[Widget] = [*self.box.children, self.box]

    @property
    def values(self) -> dict[str, Any]:
        """The current values of the fields, by form name; multiple selections as a list."""
        found = {name: field.value for name, field in self._fields.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def start(self) -> None:
        """Run the note with the fields' values; a second press waits until the first run has ended."""
        self._button.disabled = True
        self._say("sent …")
        values = self.values
        self._worker.submit(lambda: self._run_now(values))

    def close(self) -> None:
        """Remove the forms."""
        self._worker.close()
        close_widgets(self._parts)

    def _run_now(self, values: dict[str, Any]) -> None:
        try:
            tables = self._run(values, self._say)
            self._result.value = "".join(f"<p><b>{escape(title)}</b></p>{table}" for title, table in tables)
        finally:
            self._button.disabled = False

    def _fail(self, error: Exception) -> None:
        self._status.value = problem_html(str(error) or type(error).__name__)

    def _say(self, text: str) -> None:
        self._status.value = muted_html(text)


def shown_forms(forms: Sequence[NoteForm]) -> list[NoteForm]:
    """Return the forms to fill in, each name once: one argument applies to all forms of its name."""
    return list({form.name: form for form in forms if not form.hidden}.values())


def field_of(form: NoteForm) -> Any:
    """Return the widget of a form, with its current value."""
    import ipywidgets as widgets

    usual = {
        "description": text_html(form.label or form.name),
        "description_allow_html": True,
        "style": {"description_width": "10em"},
        "layout": _WIDTH,
    }
    options = [(option["label"], option["value"]) for option in form.options]
    known = [value for _, value in options]
    value = form.default if form.value is None else form.value
    match form.type:
        case "password":
            return widgets.Password(**usual)
        case "select":
            return widgets.Dropdown(options=options, value=value if value in known else None, **usual)
        case "checkbox":
            chosen = value if isinstance(value, list) else [value]
            rows = min(len(options), _LONGEST_LIST)
            kept = [one for one in chosen if one in known]
            return widgets.SelectMultiple(options=options, value=kept, rows=rows, **usual)
    return widgets.Text(value=str(value), **usual)


def _shown_value(form: NoteForm) -> str:
    if form.type == "password":
        return "not kept"
    value = form.default if form.value is None else form.value
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    options = ", ".join(option["value"] for option in form.options)
    return f"{text or 'empty'}{f' (of {options})' if options else ''}"
