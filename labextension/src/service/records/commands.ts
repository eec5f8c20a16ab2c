import type { IPagingInfo, Schemas, Sent } from './contract';

/** Status of a command; the last three are final. */
export type CommandStatus = Schemas['CommandStatus'];

/** One run of a command; times are Unix seconds. */
export type IAttempt = Required<Schemas['Attempt']>;

/** A command as sent by the service; times are Unix seconds. Other services may omit fields. */
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

/** Return whether the status is final. */
export function hasEnded(command: Pick<ICommand, 'status'>): boolean {
  return FINAL.includes(command.status);
}
