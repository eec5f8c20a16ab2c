"""Loading and unloading the extension."""

import subprocess
import sys

from IPython.core.interactiveshell import InteractiveShell

from svc_jupyter import load_ipython_extension, unload_ipython_extension

MAGICS = {
    *("svc_shell", "svc_db", "svc_composite", "svc_command", "svc_history", "svc_status", "svc_config"),
    *("svc_schedule", "svc_notebook", "svc_notebooks", "svc_folders", "svc_notes", "svc_policy"),
    *("svc_pig", "svc_hive", "svc_hadoop", "svc_table", "svc_sensor", "svc_cluster", "svc_clusters"),
    *("svc_spark", "svc_sql", "svc_spark_run", "svc_note", "svc_presto", "svc_environment", "svc_pipeline", "svc_tap"),
    *("svc_attach", "svc_format", "svc_plot"),
}


def test_loading_imports_neither_the_http_client_nor_pandas(home):
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell()\n"
        "shell.run_line_magic('load_ext', 'svc_jupyter')\n"
        "heavy = ('pandas', 'pyarrow', 'numpy', 'httpx', 'pydantic', 'ipywidgets', 'sqlglot', 'sqlfmt')\n"
        "heavy += ('svc_jupyter.client',)\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_loading_touches_neither_network_nor_disk(unconnected, home):
    assert not (home / "data").exists()


def registered(shell):
    return {name for kind in ("line", "cell") for name in shell.magics_manager.magics[kind] if name.startswith("svc_")}


def test_loading_twice_leaves_everything_once(unconnected):
    shell = unconnected.shell
    load_ipython_extension(shell)
    assert registered(shell) == MAGICS
    assert sum(type(thing).__name__ == "SvcMagics" for thing in shell.configurables) == 1
    matchers = [matcher.matcher_identifier for matcher in shell.Completer.custom_matchers]
    assert matchers == ["svc_jupyter.magic_matcher", "svc_jupyter.sql_matcher"]


def test_unloading_takes_everything_back(unconnected):
    shell = unconnected.shell
    before = len(shell.configurables)
    unload_ipython_extension(shell)
    assert registered(shell) == set()
    assert shell.Completer.custom_matchers == []
    assert shell.custom_exceptions == ()
    assert len(shell.configurables) < before
    unload_ipython_extension(shell)


def test_a_users_handler_of_errors_stays(unconnected):
    shell = unconnected.shell
    unload_ipython_extension(shell)
    shell.set_custom_exc((ZeroDivisionError,), lambda *given, **named: None)
    load_ipython_extension(shell)
    assert shell.custom_exceptions == (ZeroDivisionError,)
    unload_ipython_extension(shell)
    assert shell.custom_exceptions == (ZeroDivisionError,)


def test_settings_of_the_configuration_file_count(home):
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.SvcMagics.default_tap = "flights"
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    try:
        load_ipython_extension(shell)
        [settings] = [thing for thing in shell.configurables if type(thing).__name__ == "SvcMagics"]
        assert settings.default_tap == "flights"
    finally:
        unload_ipython_extension(shell)
        InteractiveShell.clear_instance()


def test_every_magic_has_help(unconnected):
    magics = unconnected.shell.magics_manager.magics
    functions = {magic: magics["line"].get(magic) or magics["cell"][magic] for magic in MAGICS}
    assert functions
    assert [magic for magic, found in functions.items() if len(found.__doc__.strip().split("\n")) <= 3] == []
