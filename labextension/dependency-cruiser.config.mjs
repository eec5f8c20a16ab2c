// The order of the rooms in src/, from the top; a room imports only rooms below it. Imports of types count.
const FEATURES = [
  'checking',
  'clusters',
  'commands',
  'contents',
  'data',
  'formatting',
  'highlighting',
  'leaving',
  'notes',
  'outputs',
  'results',
  'runs',
  'schedules',
  'scheduling'
];
const ORDER = [
  FEATURES,
  ['panel'],
  ['connection'],
  ['list', 'forms'],
  ['icons', 'notices', 'words', 'statuses', 'durations', 'zones'],
  ['service']
];
/** Features that use another one. */
const USES = {
  commands: ['results'],
  outputs: ['commands', 'results'],
  runs: ['schedules'],
  schedules: ['commands'],
  scheduling: ['notes', 'schedules']
};

const room = names => `^src/(${names.join('|')})(/|([.]spec)?[.](tsx?|json)$)`;

const upwards = ORDER.slice(1).map((floor, below) => ({
  name: `${floor.join(', ')} imports nothing above it`,
  severity: 'error',
  from: { path: room(floor) },
  to: { path: room([...ORDER.slice(0, below + 1).flat(), 'index']) }
}));

const sideways = FEATURES.map(feature => ({
  name: `${feature} leaves the other features alone`,
  severity: 'error',
  from: { path: room([feature]) },
  to: {
    path: room([
      ...FEATURES.filter(other => other !== feature && !USES[feature]?.includes(other)),
      'index'
    ])
  }
}));

export default {
  forbidden: [
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'every room has its place in the order',
      severity: 'error',
      from: { path: '^src/', pathNot: room([...ORDER.flat(), 'index']) },
      to: {}
    },
    {
      name: 'tests and their fixtures are for tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.](spec|fixture)[.]tsx?$' },
      to: { path: '[.](spec|fixture)[.]tsx?$' }
    },
    ...upwards,
    ...sideways
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.d.ts', '.js'] }
  }
};
