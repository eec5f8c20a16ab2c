import { ServiceError, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import { Endings } from './endings';

const RUNNING = { id: 7, status: 'running', start_time: 100, end_time: null } as ICommand;
const DONE = { ...RUNNING, status: 'done', end_time: 160 } as ICommand;

describe('Endings', () => {
  const told: ICommand[] = [];
  const get = jest.fn<Promise<ICommand>, [string]>();
  let endings: Endings;

  beforeEach(() => {
    jest.useFakeTimers();
    told.length = 0;
    get.mockReset();
    endings = new Endings({ get } as unknown as ServiceRequests, command => told.push(command));
  });

  afterEach(() => {
    endings.dispose();
    jest.useRealTimers();
  });

  it('tells of a long command that was seen running', () => {
    endings.see([RUNNING]);
    endings.see([DONE]);
    endings.see([DONE]);
    expect(told).toEqual([DONE]);
  });

  it.each([
    ['a short one', { end_time: 159 }],
    [
      'one that is short by its exact times',
      { started_at: '1970-01-01T00:01:40.900Z', ended_at: '1970-01-01T00:02:40.100Z' }
    ],
    ['a cancelled one', { status: 'cancelled' }],
    ['one of a schedule', { command_source: 'SCHEDULED' }]
  ])('does not tell of %s', (_, change) => {
    endings.see([RUNNING]);
    endings.see([{ ...DONE, ...change } as ICommand]);
    expect(told).toEqual([]);
  });

  it('does not tell of one that had ended before', () => {
    endings.see([DONE]);
    expect(told).toEqual([]);
  });

  it('follows a command that no list shows, until it has ended', async () => {
    get.mockResolvedValueOnce(RUNNING).mockResolvedValueOnce(DONE);
    endings.see([RUNNING]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([DONE]);
    expect(get).toHaveBeenCalledTimes(2);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('asks nothing while lists show the command', async () => {
    endings.see([RUNNING]);
    for (let second = 0; second < 60; second += 3) {
      await jest.advanceTimersByTimeAsync(3_000);
      endings.see([RUNNING]);
    }
    expect(get).not.toHaveBeenCalled();
  });

  it('asks again when the service does not answer, and no more when the command is gone', async () => {
    get
      .mockRejectedValueOnce(new ServiceError('no answer', 503))
      .mockRejectedValueOnce(new ServiceError('there is no command 7', 404));
    endings.see([RUNNING]);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(get).toHaveBeenCalledTimes(2);
    expect(told).toEqual([]);
  });
});
