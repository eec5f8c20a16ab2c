import type { IPagingInfo } from './paging';

/** Status of a command; the last three are final. */
export type CommandStatus = 'waiting' | 'running' | 'done' | 'error' | 'cancelled';

/** One run of a command; times are Unix seconds. */
export interface IAttempt {
  number: number;
  start_time: number | null;
  end_time: number | null;
  exit_code: number | null;
  message: string | null;
}

/** A command, as the service tells it; times are Unix seconds. Fields of other services may be missing. */
export interface ICommand {
  id: number;
  status: CommandStatus;
  command_type: string;
  command: Record<string, unknown>;
  command_source?: string;
  created_at: string;
  submit_time: number;
  start_time: number | null;
  end_time: number | null;
  progress: number;
  name: string | null;
  label: string | null;
  user_id: number;
  timeout?: number | null;
  resolved_macros?: Record<string, unknown>[] | null;
  throttled?: boolean;
  attempts?: IAttempt[];
  /** Why it waits, failed or was cancelled. */
  message?: string | null;
  result_rows?: number | null;
  result_bytes?: number | null;
  parent_id?: number | null;
  tags?: string | null;
}

/** Answer of `GET commands`, newest first. */
export interface ICommandPage {
  commands: ICommand[];
  paging_info: IPagingInfo;
}

/** Answer to a cancellation. */
export interface ICancelAnswer {
  kill_succeeded: boolean;
  result: string;
}

/** Answer of `GET commands/ID/results`: text, or where it lies when it is too large for that. */
export interface IResults {
  inline: boolean;
  results?: string | null;
  result_location?: string[] | null;
}

const FINAL: readonly CommandStatus[] = ['done', 'error', 'cancelled'];

/** Whether nothing will change any more. */
export function hasEnded(command: Pick<ICommand, 'status'>): boolean {
  return FINAL.includes(command.status);
}
