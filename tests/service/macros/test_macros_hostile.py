"""Each macro here hung, crashed or bloated the engine or the process around it when it was tried without limits."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from svc_jupyter.service.macros.macros import MacroError, resolve
from svc_jupyter.service.macros.sandbox import MacroSandbox

NOMINAL_TIME = datetime(2024, 3, 5, tzinfo=UTC)
MEMORY = r"memory|too long|too large"
STACK = r"stack size exceeded|memory"

ENDLESS = {
    "loop": "(() => { while (true); })()",
    "loop that catches": "(() => { for (;;) { try { for (;;); } catch {} finally { continue } } })()",
    "regular expression": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "native join": "Array(1e9).join()",
    "native reverse": "Array.prototype.reverse.call({length: 1e15})",
    "native search": "Array.prototype.indexOf.call({length: 1e15}, 1)",
    "comparator": "[3, 2, 1].sort(() => { for (;;); })",
    "toJSON": "({toJSON() { for (;;); }})",
    "getter": "({get a() { for (;;); }})",
    "toString of an error": "({toJSON() { throw {toString() { for (;;); }} }})",
    "value that unfolds": "(() => { let p = []; for (let i = 0; i < 30; i++) p = [p, p]; return p; })()",
    "proxy": "new Proxy({}, {ownKeys() { for (;;); }})",
}
GREEDY = {
    "string": "'x'.repeat(1e9)",
    "doubled string": "(() => { let s = 'x'; for (;;) s += s; })()",
    "padded string": "'a'.padStart(1e9)",
    "array": "Array(1e8).fill(1)",
    "growing array": "(() => { const a = []; for (;;) a.push('a'.repeat(1000) + a.length); })()",
    "generator": "Array.from((function* () { for (;;) yield 1; })())",
    "buffer": "new SharedArrayBuffer(1e9)",
    "replacement": "'a'.repeat(1e6).replace(/a/g, 'b'.repeat(1e3))",
    "closures": "(() => { let f = () => 1; for (;;) f = f.bind(); })()",
    "big integer": "(2n ** (2n ** 30n)) + ''",
    "normalisation": "'\\u0344'.repeat(5e6).normalize('NFKD')",
}
DEEP = {
    "recursion": "(function f() { return f() + 1; })()",
    "array": "(() => { let a = []; for (let i = 0; i < 2e5; i++) a = [a]; return a; })()",
    "JSON": "JSON.parse('['.repeat(1e6))",
    "parentheses": "eval('('.repeat(1e6))",
    "join of itself": "(() => { const a = []; a.push(a); return a.flat(Infinity); })()",
    "proxies": "(() => { let p = {}; for (let i = 0; i < 5e4; i++) p = new Proxy(p, {}); return p.x; })()",
}


@pytest.fixture
def refusal(value_of: Callable[..., Any]) -> Callable[[str], str]:
    """Return a function that gives the reason why a macro is refused; the sandbox goes on working."""

    def refusal(expression: str) -> str:
        with pytest.raises(MacroError) as failure:
            value_of(expression)
        assert len(failure.value.message) < 600
        assert value_of("[Service_nominal_time.format('YYYY'), [1, 2].join()]") == ["2024", "1,2"]
        return failure.value.reason

    return refusal


@pytest.mark.parametrize("expression", ENDLESS.values(), ids=ENDLESS)  # apart: each takes its second
def test_an_endless_macro_is_stopped(refusal: Callable[[str], str], expression: str) -> None:
    assert refusal(expression) == "all macros together took more than 1 s of processor time"


def test_a_macro_cannot_exhaust_the_memory(refusal: Callable[[str], str]) -> None:
    reasons = {name: refusal(expression) for name, expression in GREEDY.items()}
    assert {name: reason for name, reason in reasons.items() if not re.search(MEMORY, reason)} == {}


def test_a_macro_cannot_overflow_the_stack(refusal: Callable[[str], str]) -> None:
    reasons = {name: refusal(expression) for name, expression in DEEP.items()}
    assert {name: reason for name, reason in reasons.items() if not re.search(STACK, reason)} == {}


def test_time_is_counted_over_all_macros_of_a_command(sandbox: MacroSandbox) -> None:
    burn = "(() => { const end = Date.now() + 300; while (Date.now() < end); return 1; })()"
    with pytest.raises(MacroError, match="all macros together took more than 1 s"):
        resolve([{f"m{number}": burn} for number in range(100)], NOMINAL_TIME, sandbox=sandbox)


UNBOUNDED = {
    "'x'.repeat(65536)": "the value has more than 65536 characters",
    "Array(40000).fill(1)": "the value has more than 65536 characters",
    "(() => { let a = []; for (let i = 0; i < 100; i++) a = [a]; return a; })()": (
        "arrays and objects in the value are nested more than 32 deep"
    ),
    "(() => { let a = []; for (let i = 0; i < 1200; i++) a = [a]; return a; })()": (
        "RangeError: Maximum call stack size exceeded"
    ),
}


def test_a_value_is_bounded(refusal: Callable[[str], str]) -> None:
    assert {expression: refusal(expression) for expression in UNBOUNDED} == UNBOUNDED


def test_the_values_together_are_bounded(sandbox: MacroSandbox) -> None:
    macros = [{f"m{number}": "'x'.repeat(60000)"} for number in range(18)]
    with pytest.raises(MacroError, match="'m17': the values of all macros have more than 1048576 characters"):
        resolve(macros, NOMINAL_TIME, sandbox=sandbox)


OUTSIDE = {
    "require('fs')": "ReferenceError: require is not defined",
    "process.env": "ReferenceError: process is not defined",
    "std.getenv('HOME')": "ReferenceError: std is not defined",
    "os.readdir('/')": "ReferenceError: os is not defined",
    "scriptArgs": "ReferenceError: scriptArgs is not defined",
    "print(1)": "ReferenceError: print is not defined",
    "load('/etc/passwd')": "ReferenceError: load is not defined",
    "import('os')": "the value is a promise",
    "new Worker('x')": "ReferenceError: Worker is not defined",
    "fetch('http://localhost')": "ReferenceError: fetch is not defined",
}


def test_nothing_outside_the_language_is_at_hand(refusal: Callable[[str], str]) -> None:
    assert {expression: refusal(expression) for expression in OUTSIDE} == OUTSIDE


def test_an_answer_that_a_macro_forged_is_not_believed(refusal: Callable[[str], str]) -> None:
    forged = (
        "(Array.prototype.toJSON = () => 1, 1)",
        "(Object.prototype.toJSON = () => '[true, \"forged\"]', 1)",
        "(Array.prototype.toJSON = () => ['=', {}], 1)",
    )
    assert {refusal(expression) for expression in forged} == {"the value cannot be read"}


def test_replacing_what_the_language_offers_harms_nobody_else(value_of: Callable[..., Any]) -> None:
    assert value_of("(JSON.stringify = () => 'x', String.prototype.replace = Error = Promise = null, 5)") == 5
    assert value_of("'a'.replace('a', 'b') + JSON.stringify([1])") == "b[1]"


def test_jobs_left_behind_do_not_run(value_of: Callable[..., Any]) -> None:
    assert value_of("(Promise.resolve().then(function again() { for (;;); }), 1)") == 1
    assert value_of("(queueMicrotask(() => { for (;;); }), 2)") == 2
