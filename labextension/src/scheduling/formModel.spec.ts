import { StateDB } from '@jupyterlab/statedb';
import { nullTranslator } from '@jupyterlab/translation';
import type { ScheduleCalls } from '../schedules/calls';
import { aSchedule } from '../schedules/testing';
import { ServiceError } from '../service';
import type { INote } from '../service/records/notes';
import type { IScheduleRecord } from '../service/records/schedules';
import { DraftStore } from './drafts';
import { valuesOf } from './formBody';
import { ScheduleFormModel } from './formModel';
import { newValues } from './formValues';
import type { INotebookSource } from './notebookSource';

const trans = nullTranslator.load('svc_jupyter');
const AWAY = new ServiceError('The service does not answer.', 503);
const refusal = (field: string, words: string): ServiceError =>
  new ServiceError('the service says no', 422, undefined, { [field]: words });
const UPDATED = 'Users/ann@example.com/Scheduled/0123456789ab-0123456789abcdef/report.ipynb';
const CELLS = [
  { cell_type: 'code', source: 'days = 7', metadata: { tags: ['parameters'] } },
  {
    cell_type: 'code',
    source: 'warn()',
    outputs: [{ output_type: 'stream', name: 'stderr', text: 'x.py:1: UserWarning: old' }]
  }
];

const DAYS = { name: 'days', code: '7', type: 'int', text: '7' };

describe('the form', () => {
  const calls = {
    create: jest.fn(),
    edit: jest.fn(),
    one: jest.fn(),
    preview: jest.fn(),
    ofNotebook: jest.fn(),
    parameters: jest.fn(),
    runNotebook: jest.fn(),
    runStored: jest.fn()
  };
  const save = jest.fn();
  const source: INotebookSource = {
    path: 'a/report.ipynb',
    name: 'report.ipynb',
    isUntitled: false,
    save,
    read: () => Promise.resolve({ cells: CELLS, metadata: {} })
  };
  let state: StateDB;
  let model: ScheduleFormModel;

  function form(record?: IScheduleRecord, of = source): ScheduleFormModel {
    model = new ScheduleFormModel({
      source: of,
      calls: calls as unknown as ScheduleCalls,
      drafts: new DraftStore(state, source.path, record?.id ?? null),
      trans,
      values: record ? valuesOf(record, []) : newValues('report', 'UTC', '09:00', []),
      ...(record && { record })
    });
    return model;
  }

  beforeEach(() => {
    jest.useFakeTimers();
    Object.values(calls).forEach(call => call.mockReset());
    save.mockReset().mockResolvedValue('now');
    calls.ofNotebook.mockResolvedValue({ schedules: [], note: null });
    calls.parameters.mockResolvedValue({ parameters: [DAYS], problem: null });
    calls.preview.mockResolvedValue({ command: {}, description: 'every day', next_times: [] });
    state = new StateDB();
  });
  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  it('saves first, and shows what the notebook says of itself', async () => {
    await form().open();
    expect(model.state.saving).toBe('now');
    expect(model.state.values.parameters).toEqual([
      { name: 'days', type: 'int', text: '7', own: { type: 'int', text: '7' } }
    ]);
    expect(calls.parameters).toHaveBeenCalledWith({ cells: [CELLS[0]], metadata: {} });
    expect(model.state.warnings.map(one => one.number)).toEqual([2]);
  });

  describe('of a note', () => {
    const NOTE: INote = {
      id: 9,
      name: 'late',
      location: 'Common',
      note_type: 'spark',
      cluster_id: 3,
      updated_at: '2026-11-22T08:00:00Z',
      forms: [
        {
          name: 'carrier',
          type: 'text',
          default: 'AA',
          options: [],
          label: null,
          hidden: false,
          scope: null
        }
      ]
    };

    it('has the forms that are saved for parameters, and no warnings about cells', async () => {
      save.mockImplementation(() => {
        calls.ofNotebook.mockResolvedValue({ schedules: [], note: NOTE });
        return Promise.resolve('now');
      });
      await form().open();
      expect(model.state.note).toEqual(NOTE);
      expect(model.state.warnings).toEqual([]);
      expect(model.state.values.parameters.map(({ name, text }) => [name, text])).toEqual([
        ['carrier', 'AA']
      ]);
    });

    it.each([
      [{ cluster_id: null }, 'label', 'Choose the cluster that runs the note'],
      [{ note_type: 'presto' }, 'form', 'A Presto note cannot be scheduled.']
    ] as const)('is not sent with %j', async (changes, field, words) => {
      calls.ofNotebook.mockResolvedValue({ schedules: [], note: { ...NOTE, ...changes } });
      await form().open();
      expect(await model.submit()).toBeNull();
      expect(model.state.problems[field]).toBe(words);
      expect(calls.create).not.toHaveBeenCalled();
    });

    it('is edited with the values of its schedule', async () => {
      const command = { note_id: 9, language: 'notebook', arguments: '{"carrier": "UA"}' };
      const record = aSchedule({ command_type: 'SparkCommand', command, has_label: false });
      calls.one.mockResolvedValue(record);
      calls.edit.mockResolvedValue(record);
      form(record, { ...source, note: NOTE });
      await model.open();
      const [carrier] = model.state.values.parameters;
      expect(carrier).toMatchObject({ name: 'carrier', text: 'UA', own: { text: 'AA' } });
      expect([model.state.values.label, model.changedLabels]).toEqual(['', []]);
      model.set({ parameters: carrier ? [{ ...carrier, text: 'DL' }] : [] });
      await model.submit();
      expect(calls.edit).toHaveBeenCalledWith(12, {
        command: { ...command, arguments: { carrier: 'DL' } }
      });
      expect(calls.ofNotebook).not.toHaveBeenCalled();
    });
  });

  it('says why the parameters of a notebook cannot be read', async () => {
    calls.parameters.mockResolvedValue({ parameters: [], problem: 'line 2: invalid syntax' });
    await form().open();
    expect([model.state.unreadable, model.state.values.parameters]).toEqual([
      'line 2: invalid syntax',
      []
    ]);
  });

  it('is saved when its parameters cannot be asked for', async () => {
    calls.parameters.mockRejectedValue(AWAY);
    await form().open();
    expect([model.state.saving, model.state.unreadable]).toEqual(['now', AWAY.message]);
  });

  it('does not object to a value of the notebook that it could not send', async () => {
    const large = { ...DAYS, name: 'account', text: '1239162456494753671' };
    calls.parameters.mockResolvedValue({ parameters: [large], problem: null });
    calls.create.mockResolvedValue(aSchedule());
    await form().open();
    await model.submit();
    expect(model.state.problems).toEqual({});
    expect(calls.create).toHaveBeenCalled();
  });

  it('keeps a parameter that was typed before the notebook was read', async () => {
    form().set({ parameters: [{ name: 'days', type: 'int', text: '30', own: null }] });
    await model.open();
    expect(model.state.values.parameters).toEqual([
      { name: 'days', type: 'int', text: '30', own: { type: 'int', text: '7' } }
    ]);
  });

  it('asks the service once for several key presses, and shows its words at the field', async () => {
    const watch = form().preview.watch();
    await jest.advanceTimersByTimeAsync(0);
    calls.preview.mockClear().mockRejectedValue(refusal('frequency', 'must be at least 1'));
    '0123'.split('').forEach(every => model.set({ every }));
    await jest.advanceTimersByTimeAsync(300);
    expect(calls.preview).toHaveBeenCalledTimes(1);
    expect(calls.preview).toHaveBeenCalledWith(
      expect.not.objectContaining({ command: expect.anything() as unknown }),
      expect.anything()
    );
    expect(model.state.problems.every).toContain('whole number from 1');
    calls.preview.mockResolvedValue({ command: {}, next_times: [] });
    model.set({ every: '4' });
    expect(model.isPreviewCurrent).toBe(false);
    await jest.advanceTimersByTimeAsync(300);
    expect(model.state.problems).toEqual({});
    expect(model.isPreviewCurrent).toBe(true);
    watch.dispose();
  });

  it('saves again, then creates, once for many clicks', async () => {
    calls.create.mockResolvedValue(aSchedule());
    form();
    const [first, second] = await Promise.all([model.submit(), model.submit()]);
    expect([first?.id, second, await model.submit()]).toEqual([12, null, null]);
    expect(save).toHaveBeenCalledTimes(1);
    expect(calls.create).toHaveBeenCalledTimes(1);
    expect(calls.create).toHaveBeenCalledWith('a/report.ipynb', expect.anything());
  });

  it('schedules nothing that could not be saved, and says why', async () => {
    save.mockRejectedValue(new Error('report.ipynb is read-only'));
    expect(await form().submit()).toBeNull();
    expect(calls.create).not.toHaveBeenCalled();
    expect(model.state.failure).toBe('report.ipynb is read-only');
    expect(model.state.isWorking).toBe(false);
  });

  it('loses nothing while the service is away', async () => {
    calls.create.mockRejectedValueOnce(AWAY).mockResolvedValue(aSchedule());
    form().set({ name: 'typed' });
    expect(await model.submit()).toBeNull();
    expect(model.state.failure).toContain('What you typed is kept');
    expect(model.state.values.name).toBe('typed');
    expect((await model.submit())?.id).toBe(12);
    expect(calls.create).toHaveBeenLastCalledWith(
      'a/report.ipynb',
      expect.objectContaining({ name: 'typed' })
    );
  });

  it('says what to do about a notebook that is too large', async () => {
    calls.create.mockRejectedValue(new ServiceError('larger than 16777216 bytes', 413));
    await form().submit();
    expect(model.state.failure).toContain('Clear its outputs');
  });

  it('keeps a draft over a reload until it is done, without anything secret', async () => {
    form().set({ name: 'typed' });
    await jest.advanceTimersByTimeAsync(300);
    const kept = await new DraftStore(state, source.path, null).load();
    expect(kept?.values.name).toBe('typed');
    expect(JSON.stringify(await state.toJSON())).not.toMatch(/token/i);
    model.set({ name: 'typed again' });
    await model.discard();
    await jest.advanceTimersByTimeAsync(300);
    expect(await new DraftStore(state, source.path, null).load()).toBeNull();
  });

  it('shows the problems of a refused creation at their fields', async () => {
    calls.create.mockRejectedValue(refusal('name', 'must not contain <'));
    await form().submit();
    expect(model.state.problems.name).toContain('at most 255 characters');
  });

  it.each(['', '  '])('sends nothing without a name, and says so beside it: %p', async name => {
    form().set({ name });
    expect([await model.submit(), await model.runOnce()]).toEqual([null, null]);
    expect(model.state.problems).toEqual({ name: 'Give the schedule a name' });
    expect(save).not.toHaveBeenCalled();
    expect(calls.create).not.toHaveBeenCalled();
    expect(calls.runNotebook).not.toHaveBeenCalled();
  });

  it('marks three refused fields at once, and of a new row nothing before it is touched', async () => {
    const watch = form().preview.watch();
    await jest.advanceTimersByTimeAsync(0);
    const row = { table: '', columns: '', windowStart: '0', windowEnd: '0' };
    model.set({ tables: [row] });
    await jest.advanceTimersByTimeAsync(300);
    expect(model.state.problems).toEqual({});
    expect(calls.preview).toHaveBeenLastCalledWith(
      expect.objectContaining({ dependency_info: { files: [], hive_tables: [] } }),
      expect.anything()
    );
    model.set({ tables: [{ ...row, table: 's' }] });
    expect(model.state.problems).toEqual({});
    model.set({ tables: [{ ...row, table: '' }] });
    expect(Object.keys(model.state.problems)).toEqual(['tables.0.table']);
    expect(await model.submit()).toBeNull();
    expect(Object.keys(model.state.problems)).toEqual(['tables.0.table', 'tables.0.columns']);
    model.set({ tables: [] });
    expect(model.state.problems).toEqual({});
    const fields = { name: 'x', concurrency: 'y', 'command.arguments.days': 'z' };
    calls.create.mockRejectedValue(new ServiceError('no', 422, undefined, fields));
    await model.submit();
    expect(Object.keys(model.state.problems)).toEqual(['name', 'concurrency', 'parameters']);
    expect([model.state.failure, model.state.refusals]).toEqual(['Fix the marked fields.', 2]);
    model.set({ name: 'other' });
    expect(Object.keys(model.state.problems)).toEqual(['concurrency', 'parameters']);
    watch.dispose();
  });

  it('sends of an edit what was changed', async () => {
    calls.edit.mockResolvedValue(aSchedule());
    form(aSchedule()).set({ every: '2' });
    expect(model.changedLabels).toEqual(['Timetable']);
    model.set({ at: '', start: '' });
    expect(Object.keys(model.state.problems)).toEqual(['at']);
    model.set({ at: '09:00', start: '2026-11-22' });
    await model.submit();
    expect(calls.edit).toHaveBeenCalledWith(12, { frequency: 2 });
    expect(calls.create).not.toHaveBeenCalled();
  });

  it('runs an edited schedule once with what stands in the form, on the copy it has now', async () => {
    calls.one.mockResolvedValue(aSchedule({ command: { path: UPDATED, arguments: null } }));
    calls.runStored.mockResolvedValue({ id: 5 });
    await form(aSchedule()).runOnce();
    expect(calls.runStored).toHaveBeenCalledWith(
      12,
      expect.objectContaining({ command: { arguments: {}, path: UPDATED } })
    );
    await form().runOnce();
    expect(calls.runNotebook).toHaveBeenCalledWith('a/report.ipynb', expect.anything());
  });

  it('leaves an edited schedule the copy that it was given since the form was opened', async () => {
    calls.one.mockResolvedValue(aSchedule({ command: { path: UPDATED, arguments: null } }));
    calls.edit.mockResolvedValue(aSchedule());
    const edited = aSchedule({ command: { path: 'before.ipynb', arguments: { days: 7 } } });
    await form(edited).open();
    model.set({
      parameters: model.state.values.parameters.map(one => ({ ...one, text: '30' }))
    });
    await model.submit();
    expect(calls.edit).toHaveBeenCalledWith(12, {
      command: { arguments: { days: 30 }, path: UPDATED }
    });
  });

  it('tells of the schedules that the notebook has already, where a new one is made', async () => {
    calls.ofNotebook.mockResolvedValue({
      schedules: [aSchedule(), aSchedule({ id: 13 })],
      note: null
    });
    await form().open();
    expect(model.state.others.map(one => one.id)).toEqual([12, 13]);
    model.dispose();
    await form(aSchedule()).open();
    expect(calls.ofNotebook).toHaveBeenCalledTimes(1);
  });
});
