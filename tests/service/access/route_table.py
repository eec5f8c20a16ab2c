"""What each call needs, written from the contract by hand. Nothing here is computed from the service.

`permission` is the action and the resource that a role must allow; `a|b` means that either
suffices, `a&b` that both are needed. `any right` is for calls about oneself, open to whoever has a role or is in a
built-in group. `member` says whether `system-user` may make the call. Under `object` stands
whose own policy counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TABLE = """
method path                                            permission                       member object
GET    /account                                        any_right                        yes    -
GET    /account/features                               any_right                        yes    -
PUT    /account/features                               update_account                   no     -
GET    /account/retention                              read_account                     yes    -
PUT    /account/retention                              update_account                   no     -
POST   /account/retention/preview                      update_account                   no     -
GET    /account/storage                                read_account                     yes    -
PUT    /account/storage                                update_account                   no     -

GET    /users                                          read_user                        yes    -
POST   /users/invite_new                               create_user                      no     -
POST   /accounts/enable_user                           update_user                      no     -
POST   /accounts/disable_user                          update_user                      no     -
GET    /users/{user_id}/tokens                         manage_user                      no     -
POST   /users/{user_id}/tokens                         manage_user                      no     -
DELETE /users/{user_id}/tokens                         manage_user                      no     -
DELETE /users/{user_id}/tokens/{token_id}              manage_user                      no     -

GET    /groups                                         read_group                       yes    -
POST   /groups                                         create_group                     yes    -
GET    /groups/{group}                                 read_group                       yes    -
PUT    /groups/{group}                                 update_group                     yes    -
DELETE /groups/{group}                                 delete_group                     no     -
POST   /groups/{group}/duplicate                       create_group                     yes    -
PUT    /groups/{group}/service_users/{users}/add       update_group                     yes    -
PUT    /groups/{group}/service_users/{users}/remove    manage_group                     no     -
PUT    /groups/{group}/roles/{role}/assign             manage_group                     no     -
PUT    /groups/{group}/roles/{role}/unassign           manage_group                     no     -
GET    /roles                                          read_role                        yes    -
POST   /roles                                          create_role                      no     -
GET    /roles/{role}                                   read_role                        yes    -
PUT    /roles/{role}                                   update_role                      no     -
DELETE /roles/{role}                                   delete_role                      no     -
POST   /roles/{role}/duplicate                         create_role                      no     -

GET    /object_policy/policy                           read_object_policy               yes    owner
PUT    /object_policy/policy                           update_object_policy             no     owner
GET    /object_policy/history                          read_object_policy               yes    owner
GET    /object_policy/decision                         read_object_policy               yes    owner
GET    /audit                                          read_audit                       no     -

POST   /commands                                       create_command                   yes    -
GET    /commands                                       read_command|create_command      yes    -
GET    /commands/{command_id}                          read_command                     yes    -
PUT    /commands/{command_id}                          update_command                   yes    -
GET    /commands/{command_id}/results                  read_command                     yes    -
GET    /commands/{command_id}/files                    read_command                     yes    -
PUT    /commands/{command_id}/files                    update_command                   yes    -
GET    /commands/{command_id}/rows                     read_command                     yes    -
GET    /commands/{command_id}/rows/value               read_command                     yes    -
GET    /commands/{command_id}/columns/{name}/summary   read_command                     yes    -
GET    /commands/{command_id}/rows/points              read_command                     yes    -
GET    /commands/{command_id}/status_with_results      read_command                     yes    -
GET    /commands/{command_id}/logs                     read_command                     yes    -
GET    /commands/{command_id}/error_logs               read_command                     yes    -
GET    /v2/analyze                                      read_command                     yes    -
GET    /commands/{command_id}/jobs                     read_command                     yes    -
GET    /commands/{command_id}/events                   read_command                     yes    -
GET    /commands/{command_id}/messages                 read_command                     yes    -
POST   /commands/{command_id}/session/completions      update_command                   yes    -
POST   /commands/{command_id}/session/inspections      update_command                   yes    -
DELETE /commands/{command_id}/session                  update_command                   yes    -

GET    /db_taps                                        read_db_tap                      yes    -
POST   /db_taps                                        create_db_tap                    yes    -
GET    /db_taps/{db_tap_id}                            read_db_tap                      yes    -
PUT    /db_taps/{db_tap_id}                            update_db_tap                    yes    -
DELETE /db_taps/{db_tap_id}                            delete_db_tap                    yes    -
GET    /db_taps/{db_tap_id}/tables                     read_db_tap                      yes    -
GET    /db_taps/{db_tap_id}/catalogue                  read_db_tap                      yes    -
GET    /db_taps/{db_tap_id}/catalogue/tables           read_db_tap                      yes    -
GET    /db_taps/{db_tap_id}/catalogue/columns          read_db_tap                      yes    -
GET    /db_taps/{db_tap_id}/catalogue/functions        read_db_tap                      yes    -
POST   /db_taps/{db_tap_id}/check                      read_db_tap                      yes    -

GET    /notification_channels                          read_notification_channel        yes    -
POST   /notification_channels                          create_notification_channel      yes    -
GET    /notification_channels/{channel_id}             read_notification_channel        yes    -
PUT    /notification_channels/{channel_id}             update_notification_channel      yes    -
DELETE /notification_channels/{channel_id}             delete_notification_channel      yes    -

GET    /jupyter_notebooks/contents                     read_jupyter_notebook            yes    -
GET    /jupyter_notebooks/contents/{path}              read_jupyter_notebook            yes    -
POST   /jupyter_notebooks/contents/{path}              create_jupyter_notebook          yes    -
PUT    /jupyter_notebooks/contents/{path}              update_jupyter_notebook          yes    -
PATCH  /jupyter_notebooks/contents/{path}              update_jupyter_notebook          yes    -
DELETE /jupyter_notebooks/contents/{path}              delete_jupyter_notebook          yes    -

GET    /folders                                        read_folder                      yes    -
POST   /folders                                        create_folder                    yes    -
PUT    /folders/rename                                 update_folder                    yes    -
POST   /folders/move                                   update_folder                    yes    -
GET    /folders/delete                                 delete_folder                    yes    -
DELETE /folders/delete                                 delete_folder                    yes    -
GET    /notebooks                                      read_note                        yes    -
POST   /notebooks                                      create_note                      yes    -
POST   /notebooks/import                               create_note                      yes    -
POST   /notebooks/forms                                read_note                        yes    -
GET    /notebooks/{note_id}                            read_note                        yes    -
PUT    /notebooks/{note_id}                            read_note&update_note            yes    -
DELETE /notebooks/{note_id}                            delete_note                      yes    -
PUT    /notebooks/{note_id}/import                     read_note&update_note            yes    -
PUT    /notebooks/{note_id}/clone                      read_note&create_note            yes    -
GET    /notebooks/{note_id}/export                     read_note                        yes    -
GET    /notebooks/{note_id}/list_dashboards            read_note                        yes    -
GET    /notebooks/{note_id}/revisions                  read_note                        yes    -
GET    /notebooks/{note_id}/revisions/{number}         read_note                        yes    -
PUT    /notebooks/{note_id}/revisions/{number}/restore read_note&update_note            yes    -
POST   /notebook_dashboard                             read_note&create_notebook_dashboard yes -
GET    /notebook_dashboard/{dashboard_id}              read_notebook_dashboard          yes    -
PUT    /notebook_dashboard/{dashboard_id}              read_notebook_dashboard&update_notebook_dashboard yes -
PUT    /notebook_dashboard/{dashboard_id}/clone        read_notebook_dashboard&create_notebook_dashboard yes -
DELETE /notebook_dashboard/{dashboard_id}              delete_notebook_dashboard        yes    -

POST   /scheduler                                      create_scheduler                 yes    -
GET    /clusters                                       read_cluster                     yes    listed
POST   /clusters                                       create_cluster                   yes    -
PUT    /clusters/reassign-label                        update_cluster                   yes    -
GET    /clusters/{cluster}                             read_cluster                     yes    policy
PUT    /clusters/{cluster}                             update_cluster                   yes    policy
DELETE /clusters/{cluster}                             delete_cluster                   yes    policy
POST   /clusters/{cluster}/clone                       clone_cluster&create_cluster     yes    -
GET    /clusters/{cluster}/state                       read_cluster                     yes    policy
PUT    /clusters/{cluster}/state?start                 start_cluster                    yes    policy
PUT    /clusters/{cluster}/state?terminate             terminate_cluster                yes    policy
GET    /clusters/{cluster}/live_cluster_health         read_cluster                     yes    -
GET    /clusters/{cluster}/metrics                     read_cluster                     yes    -
POST   /clusters/{cluster}/nodes                       manage_cluster                   no     -
DELETE /clusters/{cluster}/nodes                       manage_cluster                   no     -

GET    /package/list_environments                      read_environment                 yes    -
POST   /package                                        create_environment               yes    -
GET    /package/{env_id}                               read_environment                 yes    -
DELETE /package/{env_id}                               delete_environment               yes    -
GET    /package/{env_id}/list_packages                 read_environment                 yes    -
POST   /package/{env_id}/packages                      update_environment               yes    -
DELETE /package/{env_id}/packages                      update_environment               yes    -
POST   /package/{env_id}/attach_cluster                update_environment               yes    -
POST   /package/{env_id}/detach_cluster                update_environment               yes    -
GET    /package/{env_id}/activity_history              read_environment                 yes    -
POST   /package/{env_id}/activity_history              update_environment               yes    -

GET    /pipelines                                      read_pipeline                    yes    -
POST   /pipelines                                      create_pipeline&create_command   yes    -
GET    /pipelines/{pipeline_id}                        read_pipeline                    yes    -
PUT    /pipelines/{pipeline_id}                        update_pipeline                  yes    -
PUT    /pipelines/{pipeline_id}/start                  update_pipeline                  yes    -
PUT    /pipelines/{pipeline_id}/pause                  update_pipeline                  yes    -
PUT    /pipelines/{pipeline_id}/archive                update_pipeline                  yes    -
PUT    /pipelines/{pipeline_id}/delete                 delete_pipeline                  yes    -

GET    /hive_catalogue                                 read_hive                        yes    -
GET    /hive_catalogue/tables                          read_hive                        yes    -
GET    /hive_catalogue/columns                         read_hive                        yes    -
GET    /hive_catalogue/functions                       read_hive                        yes    -
POST   /hive_catalogue/check                           read_hive                        yes    -
GET    /hive                                           read_hive                        yes    -
GET    /hive/{schema}                                  read_hive                        yes    -
GET    /hive/{schema}/{table}                          read_hive                        yes    -
GET    /hive/{schema}/{table}/partitions               read_hive                        yes    -
GET    /hive/{schema}/{table}/properties               read_hive                        yes    -
POST   /hive/{schema}/{table}/properties               update_hive                      yes    -
DELETE /hive/{schema}/{table}/properties               delete_hive                      yes    -
POST   /sensors/partition_sensor                       create_sensor                    yes    -
POST   /partition_sensor                               create_sensor                    yes    -
POST   /sensors/file_sensor                            create_sensor                    yes    -

GET    /scheduler                                      read_scheduler                   yes    listed
POST   /scheduler/preview_macro                        read_scheduler                   yes    -
GET    /scheduler/{schedule_id}                        read_scheduler                   yes    policy
PUT    /scheduler/{schedule_id}                        update_scheduler                 yes    policy
PUT    /scheduler/{schedule_id}?suspend                update_scheduler|manage_scheduler yes   policy
PUT    /scheduler/{schedule_id}?kill                   delete_scheduler|manage_scheduler yes   policy
GET    /scheduler/{schedule_id}/actions                read_scheduler                   yes    policy
GET    /scheduler/{schedule_id}/actions/{sequence_id}  read_scheduler                   yes    policy
GET    /scheduler/{schedule_id}/instances              read_scheduler                   yes    policy
GET    /scheduler/{schedule_id}/instances/{instance}   read_scheduler                   yes    policy
GET    /scheduler/{schedule_id}/instances/{instance}/logs    read_scheduler             yes    policy
GET    /scheduler/{schedule_id}/instances/{instance}/results read_scheduler             yes    policy
POST   /scheduler/{schedule_id}/instances/{instance}/rerun   update_scheduler|manage_scheduler yes policy
GET    /actions                                        read_scheduler                   yes    listed
GET    /actions/{action_id}                            read_scheduler                   yes    policy
PUT    /actions/{action_id}/kill                       update_scheduler|manage_scheduler yes   policy
POST   /actions/{action_id}/rerun                      update_scheduler|manage_scheduler yes   policy
"""

_SENSOR = {"schema": "default", "table": "nothing", "columns": [{"column": "day", "values": ["2026-11-21"]}]}
BODIES: dict[str, Any] = {
    "PUT /account/storage": {"url": "gopher://nowhere"},
    "POST /users/invite_new": {"invitee_email": "new@example.org", "groups": "no such group"},
    "POST /accounts/enable_user": {"user_id": 999_999},
    "POST /accounts/disable_user": {"user_id": 999_999},
    "POST /users/{user_id}/tokens": {"name": "laptop"},
    "DELETE /users/{user_id}/tokens": {"token_id": 999_999},
    "POST /groups": {"name": "analysts"},
    "POST /groups/{group}/duplicate": {"name": "analysts"},
    "POST /roles": {"name": "reader"},
    "POST /roles/{role}/duplicate": {"name": "reader"},
    "PUT /object_policy/policy": {"source_type": "scheduler", "policy": []},
    "POST /commands": {"command_type": "NoSuchCommand"},
    "PUT /commands/{command_id}": {"status": "kill"},
    "PUT /clusters/reassign-label": {"destination_cluster": 1, "label": "default"},
    "PUT /clusters/{cluster}/state?start": {"state": "start"},
    "PUT /clusters/{cluster}/state?terminate": {"state": "terminate"},
    "POST /db_taps": {"name": "tap", "db_type": "no such type"},
    "POST /notification_channels": {"name": "ops", "type": "email", "target": "no address"},
    "PATCH /jupyter_notebooks/contents/{path}": {"path": "Common/other.txt"},
    "POST /jupyter_notebooks/contents/{path}": {"type": "directory"},
    "PUT /jupyter_notebooks/contents/{path}": {"type": "file", "format": "text", "content": ""},
    "POST /folders": {"name": "made", "location": "Common", "type": "notes"},
    "PUT /folders/rename": {"name": "there", "location": "Common/there", "type": "notes"},
    "POST /folders/move": {"destination_location": "Common", "location": "Common/there", "type": "notes"},
    "DELETE /folders/delete": {"folder_id": 999_999, "type": "notes"},
    "POST /notebooks": {"name": "note", "location": "Common"},
    "POST /notebooks/import": {"name": "note", "location": "Common", "paragraphs": []},
    "POST /notebooks/forms": {"paragraphs": []},
    "PUT /notebooks/{note_id}/import": {"paragraphs": []},
    "POST /notebook_dashboard": {"name": "shown", "location": "Common"},
    "POST /pipelines": {"name": "orders", "code": "1"},
    "POST /package": {"name": "an environment", "packages": ["-r /etc/passwd"]},
    "POST /package/{env_id}/packages": {"packages": ["six"]},
    "DELETE /package/{env_id}/packages": {"packages": ["six"]},
    "POST /package/{env_id}/attach_cluster": {"cluster_id": 1},
    "POST /package/{env_id}/activity_history": {"package_id": 999_999},
    "POST /hive/{schema}/{table}/properties": {"properties": {"team": "ops"}},
    "DELETE /hive/{schema}/{table}/properties": {"properties": ["team"]},
    "POST /sensors/partition_sensor": _SENSOR,
    "POST /partition_sensor": _SENSOR,
    "POST /sensors/file_sensor": {"files": ["nowhere/file"]},
    "POST /scheduler": {"command_type": "NoSuchCommand", "command": {}, "cron_expression": "0 0 1 1 *"},
    "POST /scheduler/preview_macro": {"command": {}, "macros": []},
    "PUT /scheduler/{schedule_id}?suspend": {"status": "suspend"},
    "PUT /scheduler/{schedule_id}?kill": {"status": "kill"},
}
"""Bodies that pass as far as the rules, and change nothing or little there."""


@dataclass(frozen=True)
class Row:
    method: str
    path: str
    permissions: tuple[tuple[str, str], ...]
    """Pairs of action and resource; none where any right suffices."""
    all_needed: bool
    """Whether all of them are needed, or each suffices."""
    member: bool
    object: str

    @property
    def call(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def template(self) -> tuple[str, str]:
        return self.method, self.path.partition("?")[0]

    @property
    def body(self) -> Any:
        return BODIES.get(self.call, {})


def _row(line: str) -> Row:
    method, path, permission, member, kind = line.split()
    words = [] if permission == "any_right" else permission.replace("&", "|").split("|")
    pairs = tuple((word.partition("_")[0], word.partition("_")[2]) for word in words)
    return Row(method, path, pairs, "&" in permission, member == "yes", kind)


ROWS = [_row(line) for line in TABLE.strip().splitlines()[1:] if line.strip()]
