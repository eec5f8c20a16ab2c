import { asServiceError, pathOf, type ServiceRequests } from '../service';
import type { ITap, ITapTables } from '../service/records/data';
import type { IScheduleList } from '../service/records/schedules';

/** How a connection was tested. */
export type TestResult = { seconds: number; tables: number } | { problem: string };

/** The schedules that use a tap; null when they cannot be read. */
export type Users = readonly string[] | null;

/** The calls of a tap's form. Rejects with `ServiceError`. */
export class TapCalls {
  constructor(private readonly _requests: ServiceRequests) {}

  create(body: Record<string, unknown>): Promise<ITap> {
    return this._requests.post('db_taps', body);
  }

  update(id: number, body: Record<string, unknown>): Promise<ITap> {
    return this._requests.put(pathOf('db_taps', id), body);
  }

  remove(id: number): Promise<unknown> {
    return this._requests.delete(pathOf('db_taps', id));
  }

  /** Connect to a tap's database, as `%svc_tap test` does. Never rejects. */
  async test(id: number): Promise<TestResult> {
    const began = performance.now();
    try {
      const { tables } = await this._requests.get<ITapTables>(pathOf('db_taps', id, 'tables'));
      return { seconds: (performance.now() - began) / 1000, tables: tables.length };
    } catch (reason) {
      return { problem: asServiceError(reason).message };
    }
  }

  /** Return the names of the schedules that use a tap and are not over. */
  async users(id: number): Promise<Users> {
    try {
      const read = (status: string): Promise<IScheduleList> =>
        this._requests.get('schedules', { page: 'all', status });
      const lists = await Promise.all(['RUNNING', 'SUSPENDED'].map(read));
      const all = lists.flatMap(({ schedules }) => schedules);
      return all.filter(({ command }) => uses(command, id)).map(({ name }) => name);
    } catch {
      return null; // the question says that it is not known
    }
  }
}

/** Return whether a command, or one within it, names a tap. */
export function uses(command: unknown, id: number): boolean {
  if (typeof command !== 'object' || command === null) {
    return false;
  }
  return Object.entries(command).some(([field, value]) =>
    field === 'db_tap_id' || field === 'dbtap_id' ? Number(value) === id : uses(value, id)
  );
}
