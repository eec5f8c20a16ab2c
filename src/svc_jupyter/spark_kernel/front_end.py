"""What a front end with a toolbar tells the kernel, and the kernel it: a protocol for JupyterLab's extension.

The front end opens a comm of the target `svc_jupyter.notes`. Its messages are `{"forms": {NAME: VALUE}, "passwords":
[NAME], "cluster": LABEL}`, each key optional, sent before the cells that they are for. The metadata of a cell's reply
has `{"svc_jupyter": {"cluster": LABEL, "forms": {NAME: VALUE}}}`: where it ran, and what it set by `%%forms`. Other
front ends ignore both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_jupyter.spark_kernel.conversation import Conversation

TARGET = "svc_jupyter.notes"
KEY = "svc_jupyter"


def listen(comm_manager: Any, conversation: Conversation) -> None:
    """Take what front ends say from now on."""

    def opened(comm: Any, message: Any) -> None:
        comm.on_msg(take)
        take(message)

    def take(message: Any) -> None:
        hear(conversation, message["content"]["data"])

    comm_manager.register_target(TARGET, opened)


def hear(conversation: Conversation, said: Any) -> None:
    """Take one message; what it should not have is left."""
    if not isinstance(said, dict):
        return
    forms, passwords, cluster = said.get("forms"), said.get("passwords"), said.get("cluster")
    if isinstance(forms, dict):
        names = passwords if isinstance(passwords, list) else []
        conversation.forms.fill(forms, [name for name in names if isinstance(name, str)])
    if isinstance(cluster, str) and cluster:
        conversation.move_to(cluster)


def reply_metadata(conversation: Conversation) -> dict[str, Any]:
    """Return the metadata of the reply to a cell; empty before the first one that ran in a session."""
    reported: dict[str, Any] = {} if conversation.label is None else {"cluster": conversation.label}
    if typed := conversation.forms.newly_typed():
        reported["forms"] = typed
    return {KEY: reported} if reported else {}
