import { forEachDiagnostic } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { nullTranslator } from '@jupyterlab/translation';
import { sqlChecks } from './editorExtension';
import { checkAgain, sqlLinter } from './linting';
import type { IProblem } from './sqlCells';

const CELL = '%%svc_db\nSELECT orign';
const trans = nullTranslator.load('');
const found: IProblem[] = [{ start: 16, end: 21, message: 'no', did_you_mean: ['origin', 'day'] }];
const check = jest.fn<Promise<IProblem[]>, [string]>(() => Promise.resolve(found));
const views = new Set<EditorView>();
let editor: EditorView;

function open(doc: string, readOnly = false): void {
  const checks = sqlChecks(() => Promise.resolve(sqlLinter(check, trans)), views);
  editor = new EditorView({ doc, extensions: [checks, EditorState.readOnly.of(readOnly)] });
}

async function marks(): Promise<Diagnostic[]> {
  await jest.advanceTimersByTimeAsync(1000);
  const all: Diagnostic[] = [];
  forEachDiagnostic(editor.state, each => all.push(each));
  return all;
}

beforeEach(() => {
  jest.useFakeTimers();
  check.mockClear();
});
afterEach(() => {
  editor.destroy();
  jest.useRealTimers();
});

test('a problem is marked, and what was meant takes its place', async () => {
  open(CELL);
  const [mark, ...others] = await marks();
  expect(others).toEqual([]);
  expect(mark).toMatchObject({ from: 16, to: 21, message: 'no', severity: 'warning' });
  expect(mark?.actions?.map(({ name }) => name)).toEqual(['Change to origin', 'Change to day']);
  mark?.actions?.[0]?.apply(editor, mark.from, mark.to);
  expect(editor.state.doc.toString()).toBe('%%svc_db\nSELECT origin');
});

test('a cell is asked about when it has SQL, after a pause, and again when tables have changed', async () => {
  open('x = 1');
  expect(await marks()).toEqual([]);
  editor.dispatch({ changes: { from: 0, to: 5, insert: CELL } });
  expect(await marks()).toHaveLength(1);
  editor.dispatch({ changes: { from: 16, insert: 'a' } });
  editor.dispatch({ changes: { from: 16, insert: 'b' } });
  await marks();
  expect(check.mock.calls).toEqual([[CELL], [CELL.replace('orign', 'baorign')]]);
  check.mockResolvedValueOnce([]);
  checkAgain(editor);
  expect(await marks()).toEqual([]);
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: 'x = 1' } });
  expect(await marks()).toEqual([]);
  expect(check).toHaveBeenCalledTimes(3);
});

test('nothing is marked where nobody can tell, and nothing can be changed where nothing may be', async () => {
  check.mockRejectedValueOnce(new Error('no service'));
  open(CELL, true);
  expect(await marks()).toEqual([]);
  checkAgain(editor);
  expect((await marks()).map(({ actions }) => actions)).toEqual([[]]);
});

test('an editor that has gone is not asked about', async () => {
  open(CELL);
  expect(views.size).toBe(1);
  editor.destroy();
  expect(views.size).toBe(0);
  await jest.advanceTimersByTimeAsync(1000);
  expect(check).not.toHaveBeenCalled();
});
