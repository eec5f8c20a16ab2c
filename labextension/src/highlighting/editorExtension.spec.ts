import { StreamLanguage, language } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { magicHighlighting } from './editorExtension';

const define = (name: string): StreamLanguage<unknown> =>
  StreamLanguage.define({ name, token: stream => (stream.skipToEnd(), null) });
const python = define('python');
const known = new Map(['SQL', 'Pig'].map(name => [name, define(name)]));

const load = jest.fn((name: string) => Promise.resolve(known.get(name) ?? null));
let editor: EditorView;

function open(doc: string): void {
  editor = new EditorView({ doc, extensions: [python, magicHighlighting(load)] });
}

async function shown(): Promise<string | undefined> {
  await Promise.resolve();
  await Promise.resolve();
  return editor.state.facet(language)?.name;
}

const type = (from: number, to: number, insert: string): void =>
  editor.dispatch({ changes: { from, to, insert } });

beforeEach(() => load.mockClear());
afterEach(() => editor.destroy());

test('a cell of a magic is in the language of the magic', async () => {
  open('%%svc_db --tap flights\nSELECT 1');
  expect(await shown()).toBe('SQL');
});

test('any other cell stays as it is', async () => {
  open('print(1)');
  expect(await shown()).toBe('python');
  expect(load).not.toHaveBeenCalled();
});

test('the language follows the first line', async () => {
  open('%%svc_db\nSELECT 1');
  type(6, 8, 'pig');
  expect(await shown()).toBe('Pig');
  type(0, 1, '');
  expect(await shown()).toBe('python');
});

test('typing in the body changes nothing but the text', async () => {
  open('%%svc_db\nSELECT 1');
  await shown();
  const changes = jest.spyOn(editor, 'dispatch');
  type(17, 17, '23');
  expect(await shown()).toBe('SQL');
  expect(load).toHaveBeenCalledTimes(1);
  expect(changes).toHaveBeenCalledTimes(1);
});

test('a language that comes too late is not taken', async () => {
  open('%%svc_db\nSELECT 1');
  type(0, 2, '');
  expect(await shown()).toBe('python');
});

test('a language that comes after the editor has gone does no harm', async () => {
  open('%%svc_db\nSELECT 1');
  const changes = jest.spyOn(editor, 'dispatch');
  editor.destroy();
  await shown();
  expect(changes).not.toHaveBeenCalled();
});

test('a language that JupyterLab does not know leaves the cell as it is', async () => {
  open('%%svc_shell\nls');
  expect(await shown()).toBe('python');
});
