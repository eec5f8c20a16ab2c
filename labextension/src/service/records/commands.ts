import type { IPagingInfo, Schemas, Sent } from './contract';

/** Status of a command; the last three are final. */
export type CommandStatus = Schemas['CommandStatus'];

/** When something ran: Unix seconds and, where the service tells, exact as ISO 8601. */
export interface ITimes {
  start_time: number | null;
  end_time: number | null;
  started_at?: string | null;
  ended_at?: string | null;
}

/** One run of a command. */
export type IAttempt = Required<Omit<Schemas['Attempt'], keyof ITimes>> & ITimes;

/** A command as sent by the service; times as in `ITimes`. Other services may omit fields. */
export type ICommand = Omit<
  Sent<Schemas['CommandRecord'], 'start_time' | 'end_time' | 'progress' | 'name' | 'label'>,
  'attempts'
> & { attempts?: IAttempt[] };

/** Answer of `GET commands`, newest first. */
export interface ICommandPage {
  commands: ICommand[];
  paging_info: IPagingInfo;
}

/** Answer to a cancellation. */
export type ICancelAnswer = Schemas['CancelAnswer'];

/** Answer of `GET commands/ID/results`: text, or its location when it is too large. */
export type IResults = Schemas['Results'];

const FINAL: readonly CommandStatus[] = ['done', 'error', 'cancelled'];

/** Return for how many seconds something ran: exact where its times are, else whole; null before its end. */
export function secondsTaken({
  start_time: start,
  end_time: end,
  started_at: startedAt,
  ended_at: endedAt
}: ITimes): number | null {
  if (start === null || end === null) {
    return null;
  }
  return secondsBetween(startedAt, endedAt) ?? end - start;
}

/** Return the seconds between two exact times; null where one is not known. */
export function secondsBetween(
  start: string | null | undefined,
  end: string | null | undefined
): number | null {
  const seconds = (Date.parse(end ?? '') - Date.parse(start ?? '')) / 1000;
  return Number.isNaN(seconds) ? null : seconds;
}

/** Return whether the status is final. */
export function hasEnded(command: Pick<ICommand, 'status'>): boolean {
  return FINAL.includes(command.status);
}
