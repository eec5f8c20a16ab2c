import { StreamLanguage, syntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { magicLanguage } from './magicLanguage';

/** Strings may span lines, so a quote from the magic's line would change the rest of the body. */
const quoting = StreamLanguage.define<{ isQuoted: boolean }>({
  name: 'quoting',
  startState: () => ({ isQuoted: false }),
  token: (stream, state) => {
    if (stream.next() === '"') {
      state.isQuoted = !state.isQuoted;
      return 'string';
    }
    return state.isQuoted ? 'string' : 'keyword';
  },
  languageData: { commentTokens: { line: '--' } }
});

function namesIn(cell: string): string[] {
  const state = EditorState.create({ doc: cell, extensions: magicLanguage(quoting) });
  const names: string[] = [];
  syntaxTree(state).iterate({
    enter: ({ name, from, to }) => void names.push(`${name} ${state.sliceDoc(from, to)}`)
  });
  return names;
}

test('the first line is the magic, the others are of the other language', () => {
  const cell = '\n%%svc_db "tap\nAB\nCD';
  expect(namesIn(cell)).toEqual([
    `MagicCell ${cell}`,
    'MagicLine \n%%svc_db "tap',
    'Document \nAB\nCD',
    'keyword AB',
    'keyword CD'
  ]);
});

test.each(['%%svc_db', '%%svc_db --tap x', '  '])('%j has no body', cell => {
  expect(namesIn(cell)).toEqual([`MagicCell ${cell}`, `MagicLine ${cell}`]);
});

test('lines are commented out as the language of the body does it', () => {
  const state = EditorState.create({ doc: '%%svc_db\nAB', extensions: magicLanguage(quoting) });
  expect(state.languageDataAt('commentTokens', 10)).toEqual([{ line: '--' }]);
});
