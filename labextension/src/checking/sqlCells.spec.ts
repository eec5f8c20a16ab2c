import { defaultTapOf, hasSql } from './sqlCells';

test.each(['%%svc_db', '\n  %%svc_hive --label x\nSELECT', '%%svc_presto', '%%svc_sql\n'])(
  '%j has SQL',
  cell => {
    expect(hasSql(cell)).toBe(true);
  }
);

test.each(['', 'x = 1\n%%svc_db', '%%svc_dbs', '%%svc_shell', `%%svc_db\n${'x'.repeat(100_000)}`])(
  'a cell like %.20j is not checked',
  cell => {
    expect(hasSql(cell)).toBe(false);
  }
);

test.each([
  [[], null],
  [['%%svc_db --tap other\nSELECT 1'], null],
  [['%svc_config default_tap flights'], 'flights'],
  [['import x\n  svc_config default_tap "my tap" '], 'my tap'],
  [["%config SvcMagics.default_tap = 'a'", '%svc_config default_tap b', 'x = 1'], 'b']
])('the tap after the cells %j is %j', (cells, tap) => {
  expect(defaultTapOf(cells)).toBe(tap);
});
