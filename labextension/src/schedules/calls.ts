import { notify } from '../notices';
import { pathOf, type ServiceRequests } from '../service';
import type { ICommand, ICommandPage } from '../service/records/commands';
import type { INote } from '../service/records/notes';
import type {
  IActionList,
  IActionRecord,
  IByHandList,
  IComparison,
  ICopyAnswer,
  ICopyState,
  IDeclaredParameters,
  IDeclaringNotebook,
  INotebookScheduleList,
  INotificationChannel,
  INotificationChannelList,
  IRecentRuns,
  IScheduleBody,
  IScheduleList,
  ISchedulePreview,
  IScheduleRecord,
  ScheduleChange
} from '../service/records/schedules';

/** Actions on one page of a schedule's history. */
export const ACTIONS_PER_PAGE = 50;

/** The calls about schedules and their actions. All reject with `ServiceError`. */
export class ScheduleCalls {
  constructor(private readonly _requests: ServiceRequests) {}

  /** Return all schedules that are not over; with `ended`, also those that are. */
  async all(ended: boolean, signal?: AbortSignal): Promise<IScheduleRecord[]> {
    const wanted = ended ? [''] : ['RUNNING', 'SUSPENDED'];
    const lists = await Promise.all(
      wanted.map(status =>
        this._requests.get<IScheduleList>('schedules', { page: 'all', status }, signal)
      )
    );
    return lists.flatMap(list => list.schedules);
  }

  /** Return the parameters that a notebook declares. */
  parameters(notebook: IDeclaringNotebook): Promise<IDeclaredParameters> {
    return this._requests.post('notebook_parameters', { notebook });
  }

  /** Return the running and suspended schedules of a notebook of this server, and the note that it is. */
  ofNotebook(notebook: string, signal?: AbortSignal): Promise<INotebookScheduleList> {
    return this._requests.get('schedules', { notebook }, signal);
  }

  /** Return a note with its forms. */
  note(id: number): Promise<INote> {
    return this._requests.get(pathOf('notes', id, 'document'));
  }

  one(id: number, signal?: AbortSignal): Promise<IScheduleRecord> {
    return this._requests.get(pathOf('schedules', id), {}, signal);
  }

  /** Create a schedule that runs a copy of a saved notebook, or the note that it is. */
  create(notebook: string, body: IScheduleBody): Promise<IScheduleRecord> {
    return withRepairs(
      this._requests.post<IScheduleRecord & ICopyAnswer>('schedules', { ...body, notebook })
    );
  }

  /** Change the given attributes. */
  edit(id: number, changes: IScheduleBody): Promise<IScheduleRecord> {
    return this._requests.put(pathOf('schedules', id), changes);
  }

  changeState(id: number, status: ScheduleChange): Promise<unknown> {
    return this._requests.put(pathOf('schedules', id), { status });
  }

  /** Run a schedule's command once, now; return the command. */
  run(id: number): Promise<ICommand> {
    return this._requests.post(pathOf('schedules', id, 'run'));
  }

  /** Run a copy of a saved notebook once, or the note that it is; return the command. */
  runNotebook(notebook: string, body: IScheduleBody): Promise<ICommand> {
    return withRepairs(this._requests.post<ICommand & ICopyAnswer>('runs', { ...body, notebook }));
  }

  /** Run the stored notebook, or the note, of the body's command once, as a run of a schedule by hand; return the command. */
  runStored(schedule: number, body: IScheduleBody): Promise<ICommand> {
    return this._requests.post('runs', { ...body, schedule });
  }

  /** Return the commands of a schedule's runs by hand, newest first. */
  async runsByHand(id: number, signal?: AbortSignal): Promise<ICommand[]> {
    const path = pathOf('schedules', id, 'runs');
    return (await this._requests.get<Pick<ICommandPage, 'commands'>>(path, {}, signal)).commands;
  }

  /** Return the newest run by hand of each schedule in the last seven days, by the schedule's id. */
  async newestByHand(signal?: AbortSignal): Promise<Map<number, ICommand>> {
    const { runs } = await this._requests.get<IByHandList>('runs', {}, signal);
    return new Map(runs.map(run => [run.schedule_id, run.command]));
  }

  /** Return the runs of all schedules in the last eight days. */
  recentRuns(signal?: AbortSignal): Promise<IRecentRuns> {
    return this._requests.get('runs/recent', {}, signal);
  }

  /** Return the next times of at most 100 timetables; null for one that the service refuses. */
  async nextTimes(timetables: readonly IScheduleBody[]): Promise<(string[] | null)[]> {
    const answer = await this._requests.post<{ next_times: (string[] | null)[] }>(
      'schedules/next_times',
      { timetables }
    );
    return answer.next_times;
  }

  preview(body: IScheduleBody, signal: AbortSignal): Promise<ISchedulePreview> {
    return this._requests.json('POST', 'schedules/preview', { body, signal });
  }

  copyState(notebook: string, signal?: AbortSignal): Promise<ICopyState> {
    return this._requests.get('schedules/copy', { notebook }, signal);
  }

  /** Return what differs between the copy that a notebook's schedules run, on the left, and the saved notebook. */
  compareCopy(notebook: string): Promise<IComparison> {
    return this._requests.get('schedules/copy/comparison', { notebook });
  }

  /** Return what differs between the notebooks that two commands executed. */
  compare(left: number, right: number): Promise<IComparison> {
    return this._requests.get(pathOf('commands', right, 'comparison', left));
  }

  /** Store the saved notebook again; later runs use it. */
  updateCopy(notebook: string): Promise<ICopyState> {
    return withRepairs(
      this._requests.put<ICopyState & ICopyAnswer>('schedules/copy', { notebook })
    );
  }

  actions(id: number, page: number, signal?: AbortSignal): Promise<IActionList> {
    return this._requests.get(
      pathOf('schedules', id, 'actions'),
      { page, per_page: ACTIONS_PER_PAGE },
      signal
    );
  }

  action(id: number, signal?: AbortSignal): Promise<IActionRecord> {
    return this._requests.get(pathOf('actions', id), {}, signal);
  }

  killAction(id: number): Promise<unknown> {
    return this._requests.put(pathOf('actions', id, 'kill'), {});
  }

  rerunAction(id: number): Promise<unknown> {
    return this._requests.post(pathOf('actions', id, 'rerun'));
  }

  cancelCommand(id: number): Promise<unknown> {
    return this._requests.put(pathOf('commands', id), { status: 'kill' });
  }

  /** Return the notebook that a command executed, as an HTML page. */
  async executedPage(command: number): Promise<string> {
    const path = pathOf('commands', command, 'notebook');
    return (await this._requests.send('GET', path, { query: { format: 'html' } })).text();
  }

  /** Return the notebook that a command executed. */
  executedNotebook<T>(command: number): Promise<T> {
    return this._requests.get(pathOf('commands', command, 'notebook'), { format: 'ipynb' });
  }

  /** Return the notification channels; empty when the service has none. */
  async channels(): Promise<INotificationChannel[]> {
    const list = await this._requests.get<INotificationChannelList>('notification_channels', {
      per_page: 100
    });
    return list.notification_channels;
  }
}

/** Return an answer, and show what of a notebook was repaired for the copy that was stored. */
async function withRepairs<T extends ICopyAnswer>(answer: Promise<T>): Promise<T> {
  const { copy_message } = await answer;
  if (copy_message) {
    notify(copy_message);
  }
  return answer;
}
