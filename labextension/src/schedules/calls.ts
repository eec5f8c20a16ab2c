import { pathOf, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import type {
  IActionList,
  IActionRecord,
  ICopyState,
  INotificationChannel,
  INotificationChannelList,
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

  /** Return the running and suspended schedules of a notebook of this server. */
  async ofNotebook(notebook: string, signal?: AbortSignal): Promise<IScheduleRecord[]> {
    return (await this._requests.get<IScheduleList>('schedules', { notebook }, signal)).schedules;
  }

  one(id: number, signal?: AbortSignal): Promise<IScheduleRecord> {
    return this._requests.get(pathOf('schedules', id), {}, signal);
  }

  /** Store a copy of a saved notebook, and create a schedule that runs it. */
  create(notebook: string, body: IScheduleBody): Promise<IScheduleRecord> {
    return this._requests.post('schedules', { ...body, notebook });
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

  /** Store a copy of a saved notebook and run it once; return the command. */
  runNotebook(notebook: string, body: IScheduleBody): Promise<ICommand> {
    return this._requests.post('runs', { ...body, notebook });
  }

  /** Run the stored notebook of the body's command once; return the command. */
  runStored(body: IScheduleBody): Promise<ICommand> {
    return this._requests.post('runs', body);
  }

  preview(body: IScheduleBody, signal: AbortSignal): Promise<ISchedulePreview> {
    return this._requests.json('POST', 'schedules/preview', { body, signal });
  }

  copyState(notebook: string, signal?: AbortSignal): Promise<ICopyState> {
    return this._requests.get('schedules/copy', { notebook }, signal);
  }

  /** Store the saved notebook again; later runs use it. */
  updateCopy(notebook: string): Promise<ICopyState> {
    return this._requests.put('schedules/copy', { notebook });
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

  async actionLog(id: number, signal?: AbortSignal): Promise<string> {
    const options = signal ? { signal } : {};
    return (await this._requests.send('GET', pathOf('actions', id, 'logs'), options)).text();
  }

  /** Return the executed notebook as an HTML page. */
  async actionPage(id: number): Promise<string> {
    const path = pathOf('actions', id, 'notebook');
    return (await this._requests.send('GET', path, { query: { format: 'html' } })).text();
  }

  /** Return the executed notebook as a notebook. */
  actionNotebook<T>(id: number): Promise<T> {
    return this._requests.get(pathOf('actions', id, 'notebook'), { format: 'ipynb' });
  }

  /** Return the notification channels; empty when the service has none. */
  async channels(): Promise<INotificationChannel[]> {
    const list = await this._requests.get<INotificationChannelList>('notification_channels', {
      per_page: 100
    });
    return list.notification_channels;
  }
}
