import { Text } from '@codemirror/state';
import { languageOfBody } from './magicCells';

const languageOf = (cell: string): string | null => languageOfBody(Text.of(cell.split('\n')));

test.each([
  ['%%svc_db --tap flights -o delays', 'SQL'],
  ['%%svc_hive', 'SQL'],
  ['%%svc_presto\nSELECT 1', 'SQL'],
  ['%%svc_sql', 'SQL'],
  ['%%svc_shell -o lines\nls', 'Shell'],
  ['%%svc_pig\nDUMP a;', 'Pig'],
  ['\n  \n%%svc_pig\nDUMP a;', 'Pig'],
  ['%sql(limit=5)\nSELECT 1', 'SQL'],
  ['%%sql -o rows\nSELECT 1', 'SQL'],
  ['%spark\nprintln(1)', 'Scala']
])('the body of %j is %s', (cell, language) => {
  expect(languageOf(cell)).toBe(language);
});

test.each([
  '',
  'svc_db = 1',
  '%svc_db --tap flights',
  '%sql SELECT 1',
  '# comment\n%%svc_db',
  ' %%svc_db',
  '%%svc_dbs',
  '%%svc_schedule',
  '%%constructor',
  `${'\n'.repeat(100)}%%svc_db`
])('%j is not highlighted', cell => {
  expect(languageOf(cell)).toBeNull();
});
