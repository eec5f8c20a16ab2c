import { ServiceError } from '../service';
import type { IActionList } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';
import { ScheduleDetailModel } from './detailModel';
import { guarded } from './executedNotebook';
import { aCommand, anAction, aSchedule } from './testing';

function page(number: number, ids: number[], next: number | null): IActionList {
  const actions = ids.map(id => anAction({ id, sequence_id: id }));
  return {
    actions,
    paging_info: { page: number, per_page: 2, next_page: next, previous_page: null }
  };
}

describe('a schedule with its actions', () => {
  it('keeps the older pages when the newest one moves on', async () => {
    const actions = jest.fn();
    const calls = {
      one: () => Promise.resolve(aSchedule()),
      runsByHand: () => Promise.resolve([aCommand({ created_at: '2026-11-21T08:00:01Z' })]),
      actions
    } as unknown as ScheduleCalls;
    const model = new ScheduleDetailModel(calls, 12);
    actions.mockResolvedValueOnce(page(1, [4, 3], 2));
    await model.look.refresh();
    expect(model.look.state.value?.hasMore).toBe(true);
    actions.mockResolvedValueOnce(page(2, [2, 1], null)).mockResolvedValueOnce(page(1, [5, 4], 2));
    expect(await model.more()).toBeNull();
    const ids = model.look.state.value?.runs.map(run => run.action?.id ?? 'by hand');
    expect(ids).toEqual(['by hand', 5, 4, 3, 2, 1]);
    expect(model.look.state.value?.hasMore).toBe(false);
    expect(await model.more()).toBeNull();
    expect(actions).toHaveBeenCalledTimes(3);
    model.dispose();
  });

  it('can be asked again for a page that could not be read', async () => {
    const actions = jest.fn().mockResolvedValueOnce(page(1, [4, 3], 2));
    const calls = {
      one: () => Promise.resolve(aSchedule()),
      runsByHand: () => Promise.resolve([aCommand({ created_at: '2026-11-21T08:00:01Z' })]),
      actions
    } as unknown as ScheduleCalls;
    const model = new ScheduleDetailModel(calls, 12);
    await model.look.refresh();
    actions.mockRejectedValueOnce(new ServiceError('away', 503));
    expect((await model.more())?.message).toBe('away');
    actions.mockResolvedValueOnce(page(2, [2], null)).mockResolvedValueOnce(page(1, [4, 3], 2));
    await model.more();
    expect(model.look.state.value?.runs).toHaveLength(4);
    model.dispose();
  });
});

it('puts the policy before anything that an executed notebook says', () => {
  const document = new DOMParser().parseFromString(
    guarded(
      '<!DOCTYPE html><html><head><img src="https://elsewhere.example/x"></head><body>b</body></html>'
    ),
    'text/html'
  );
  const [first] = document.head.children;
  expect(first?.getAttribute('http-equiv')).toBe('Content-Security-Policy');
  expect(first?.getAttribute('content')).toContain("default-src 'none'");
});
