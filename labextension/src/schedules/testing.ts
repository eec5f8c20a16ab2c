import type { ICommand } from '../service/records/commands';
import type { IActionRecord, IScheduleRecord } from '../service/records/schedules';

/** A schedule of a notebook as sent by the service; for tests. */
export function aSchedule(changes: Partial<IScheduleRecord> = {}): IScheduleRecord {
  return {
    id: 12,
    name: 'report',
    status: 'RUNNING',
    command_type: 'JupyterNotebookCommand',
    command: { path: 'Users/ann@example.com/Scheduled/report.ipynb', arguments: null },
    start_time: '2026-11-22 09:00',
    end_time: null,
    frequency: 1,
    time_unit: 'days',
    cron_expression: null,
    time_zone: 'Europe/Paris',
    time_out: 600,
    command_timeout: 129600,
    concurrency: 1,
    no_catch_up: false,
    // eslint-disable-next-line jupyter/no-untranslated-string -- an attribute of the service
    label: 'default',
    dependency_info: {},
    next_materialized_time: '2026-11-22 09:00',
    retry: 0,
    retry_delay: 1,
    notification: {
      is_digest: false,
      digest_time_hour: 0,
      digest_time_minute: 0,
      notify_failure: false,
      notify_success: false,
      notification_channels: []
    },
    description: 'every day at 09:00 (Europe/Paris)',
    last_action: null,
    ...changes
  };
}

/** An action as sent by the service; for tests. */
export function anAction(changes: Partial<IActionRecord> = {}): IActionRecord {
  return {
    id: 70,
    periodic_job_id: 12,
    sequence_id: 1,
    nominal_time: '2026-11-21T08:00:00Z',
    rerun_number: 0,
    is_rerun_of: null,
    done: true,
    status: 'done',
    query_hist_id: 400,
    dependencies: { found: [], not_found: [] },
    created_at: '2026-11-21T08:00:00Z',
    message: null,
    ...changes
  };
}

/** A command of a run by hand as sent by the service; for tests. */
export function aCommand(changes: Partial<ICommand> = {}): ICommand {
  return {
    id: 400,
    status: 'done',
    created_at: '2026-11-21T08:00:00Z',
    submit_time: 1_795_248_000,
    start_time: 1_795_248_001,
    end_time: 1_795_248_005,
    attempts: [],
    retry: 0,
    message: null,
    command: {},
    ...changes
  } as ICommand;
}
