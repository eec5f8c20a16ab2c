// JupyterLab's packages are ES modules: they are transformed as the sources are.
const ES_MODULES = [
  '@jupyterlab',
  '@jupyter',
  '@lumino',
  '@codemirror',
  '@microsoft',
  'exenv-es6',
  'd3-dsv',
  'eventsource-parser',
  'lib0',
  'nanoid',
  'y-protocols',
  'y-websocket',
  'yjs',
  'vscode-ws-jsonrpc'
];

// In UTC a test of times would pass, whichever zone the code takes.
process.env.TZ = 'America/New_York';

module.exports = {
  testEnvironment: '<rootDir>/jest.environment.js',
  // A busy machine is slow; what hangs ends all the same.
  testTimeout: 30_000,
  testRegex: 'src/.*\\.spec\\.tsx?$',
  modulePathIgnorePatterns: ['<rootDir>/build/'],
  moduleNameMapper: { '\\.(css|svg)$': '<rootDir>/jest.asset.js' },
  transform: {
    '\\.m?[jt]sx?$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
          target: 'es2022'
        },
        module: { type: 'commonjs' }
      }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${ES_MODULES.join('|')})/)`]
};
