"""Measurements inside a page of JupyterLab, as JavaScript that runs there: only the page knows its own times."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlparse

from playwright.sync_api import CDPSession, Page
from tests.browser.lab_page import LabPage

HOOK_ACTIVATION = """
window.__activation = 0;
window._JUPYTERLAB = new Proxy({}, {
  set(known, name, container) {
    known[name] = name !== 'svc-jupyter-labextension' ? container : { ...container, get: async path => {
      const factory = await container.get(path);
      const module = factory();
      window.__entry = performance.getEntriesByType('resource').map(entry => entry.name);
      if (!Array.isArray(module.default)) return factory;
      const timed = module.default.map(plugin => ({ ...plugin, activate: (...parts) => {
        const started = performance.now();
        try { return plugin.activate(...parts); } finally { window.__activation += performance.now() - started; }
      } }));
      return () => ({ ...module, __esModule: true, default: timed });
    } };
    return true;
  }
});
"""
"""Wraps the extension's plugins before Lab activates them: times `activate`, and keeps what was loaded before."""

_SECONDS_UNTIL = """async ([press, ...seen]) => {
  const find = ([selector, text]) =>
    [...document.querySelectorAll(selector)].find(node => text === '' || node.textContent.includes(text));
  const started = performance.now();
  find(press).click();
  return Promise.all(seen.map(async one => {
    do await new Promise(done => requestAnimationFrame(done)); while (!find(one));
    await new Promise(done => setTimeout(done));
    return (performance.now() - started) / 1000;
  }));
}"""
"""What is in the page when a frame begins is painted in that frame; the first task after it runs after painting."""

_SCROLL = """async ([selector, wanted, step]) => {
  const list = document.querySelector(selector);
  const rows = () => Number(list.getAttribute('aria-rowcount')) || list.scrollHeight / 28;
  const frames = [];
  let most = 0, last = performance.now();
  while (list.scrollTop + list.clientHeight < list.scrollHeight - 1 || rows() < wanted) {
    list.scrollTop += step;
    await new Promise(done => requestAnimationFrame(done));
    const now = performance.now();
    frames.push((now - last) / 1000);
    last = now;
    most = Math.max(most, list.querySelectorAll('[role=row]').length);
  }
  return { frames, most, rows: rows() };
}"""


def seconds_until(page: LabPage, press: tuple[str, str], seen: tuple[str, str]) -> float:
    """Press the element with a selector and a text; return the seconds until another element has been painted."""
    return seconds_until_each(page, press, seen)[0]


def seconds_until_each(page: LabPage, press: tuple[str, str], *seen: tuple[str, str]) -> list[float]:
    """Press an element; return for each of others the seconds until it has been painted."""
    return list(page.page.evaluate(_SECONDS_UNTIL, [press, *seen]))


def entry_files(page: LabPage) -> set[str]:
    """Return the names of the extension's files that Lab loads before it activates the plugins."""
    addresses: list[str] = page.page.evaluate("window.__entry")
    paths = [urlparse(address).path for address in addresses]
    return {path.rsplit("/", 1)[1] for path in paths if "/svc-jupyter-labextension/static/" in path}


_FIRST_PAINT = """async ([id, seen]) => {
  const started = performance.now();
  window.jupyterapp.shell.activateById(id);
  do await new Promise(done => requestAnimationFrame(done)); while (!document.querySelector(seen)?.offsetHeight);
  await new Promise(done => setTimeout(done));
  return (performance.now() - started) / 1000;
}"""


def first_paint(page: LabPage, widget: str, seen: str) -> float:
    """Show a widget of the sidebar; return the seconds until an element within it has been painted."""
    return float(page.page.evaluate(_FIRST_PAINT, [widget, seen]))


_FRAMES = """async seconds => {
  const frames = [];
  let last = performance.now();
  const end = last + 1000 * seconds;
  while (last < end) {
    await new Promise(done => requestAnimationFrame(done));
    const now = performance.now();
    frames.push((now - last) / 1000);
    last = now;
  }
  return frames;
}"""


def frames_during(page: LabPage, seconds: float) -> list[float]:
    """Return the lengths of the frames that the page shows in so many seconds."""
    return list(page.page.evaluate(_FRAMES, seconds))


def scroll_through(page: LabPage, selector: str, rows: int, *, step: int = 2000) -> dict[str, Any]:
    """Scroll a list to its end, a step per frame; return `frames` in seconds, and the most rows in the page at once."""
    return dict(page.page.evaluate(_SCROLL, [selector, rows, step]))


class Heap:
    """The page's JavaScript heap."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)

    def used(self) -> int:
        """Return the bytes in use after a collection."""
        self._session.send("HeapProfiler.collectGarbage")
        return int(self._session.send("Runtime.getHeapUsage")["usedSize"])
