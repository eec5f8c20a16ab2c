import { Notification } from '@jupyterlab/apputils';
import { StateDB } from '@jupyterlab/statedb';
import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import { act } from 'react';
import type { ScheduleCalls } from '../schedules/calls';
import { aSchedule } from '../schedules/testing';
import type { ISvcSchedules } from '../schedules/tokens';
import type { ServiceRequests } from '../service';
import { DraftStore } from './drafts';
import { ScheduleFormModel } from './formModel';
import { newValues } from './formValues';
import { scheduleFormWidget } from './formWidget';
import type { INotebookSource } from './notebookSource';

const trans = nullTranslator.load('svc_jupyter');

describe('the form’s tab', () => {
  const create = jest
    .fn()
    .mockResolvedValue(aSchedule({ next_materialized_time: '2090-11-22 09:00' }));
  const shown = jest.fn();
  const changed = jest.fn();
  const channels = jest.fn().mockResolvedValue([]);
  let model: ScheduleFormModel;
  let state: StateDB;
  let widget: Widget;

  beforeEach(async () => {
    state = new StateDB();
    const calls = {
      create,
      ofNotebook: () => Promise.resolve({ schedules: [], note: null }),
      channels,
      preview: () => Promise.resolve({ command: {}, description: 'every day', next_times: [] })
    } as unknown as ScheduleCalls;
    const source: INotebookSource = {
      path: 'report.ipynb',
      name: 'report.ipynb',
      isUntitled: false,
      save: () => Promise.resolve('now'),
      read: () => Promise.resolve({ cells: [], metadata: {} })
    };
    const drafts = new DraftStore(state, source.path, null);
    const values = newValues('report', 'UTC', '09:00', []);
    await drafts.save({ values, record: null });
    model = new ScheduleFormModel({ source, calls, drafts, trans, values });
    const requests = { get: () => Promise.resolve({ clusters: [] }) } as unknown as ServiceRequests;
    const ofNotebooks = { refresh: () => Promise.resolve() };
    widget = scheduleFormWidget(model, {
      requests,
      schedules: { calls, show: shown, changed, ofNotebooks } as unknown as ISvcSchedules,
      commands: new CommandRegistry(),
      trans,
      rename: () => undefined
    });
  });
  afterEach(() => act(() => widget.dispose()));

  const show = (): Promise<void> =>
    act(async () => {
      Widget.attach(widget, document.body);
      await model.open();
    });

  it('takes the keyboard to the name when it is shown, and leaves it where it is in the form', async () => {
    await show();
    MessageLoop.sendMessage(widget, Widget.Msg.ActivateRequest);
    expect(document.activeElement).toHaveProperty('value', 'report');
    const other = widget.node.querySelectorAll('input')[1];
    other?.focus();
    MessageLoop.sendMessage(widget, Widget.Msg.ActivateRequest);
    expect(document.activeElement).toBe(other);
  });

  it('is gone for good when it is closed, with what was typed', async () => {
    await show();
    await act(async () => {
      widget.close();
      await Promise.resolve();
    });
    expect(widget.isDisposed).toBe(true);
    expect(await state.list('')).toMatchObject({ ids: [] });
  });

  it('closes once the schedule is made, shows it, and has the lists read again', async () => {
    await show();
    const closed = new Promise<void>(resolve => widget.disposed.connect(() => resolve()));
    await act(async () => {
      widget.node.querySelector('form')?.requestSubmit();
      await closed;
    });
    expect(create).toHaveBeenCalledTimes(1);
    expect(shown).toHaveBeenCalledWith(await create.mock.results[0]?.value);
    const messages = Notification.manager.notifications.map(one => one.message);
    expect(messages.at(-1)).toMatch(
      /^report is scheduled: next \w+ \d+ \w+ 2090 09:00 \(Europe\/Paris\)\.$/
    );
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('is painted first without what is folded in, and asks for nothing until then', async () => {
    jest.useFakeTimers();
    try {
      const folded = (): Element | null => widget.node.querySelector('.jp-SvcFold-content > *');
      act(() => Widget.attach(widget, document.body));
      await act(() => Promise.resolve());
      expect(widget.node.querySelector('h2')).not.toBeNull();
      expect(folded()).toBeNull();
      expect(channels).not.toHaveBeenCalled();
      await act(() => jest.advanceTimersByTimeAsync(100));
      expect(folded()).not.toBeNull();
      const zone = widget.node.querySelector('input[list] ~ datalist > [value="America/New_York"]');
      expect(zone?.getAttribute('label')).toBe('America/New York');
      await act(() => jest.advanceTimersByTimeAsync(100));
      expect(channels).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });
});
