import { nullTranslator } from '@jupyterlab/translation';
import { healthEntries, worstOf } from './healthWords';
import { cluster, health, NOW, worker } from './look.fixture';
import { obstacleTo, obstacleToRemoval, possibleSteps, questionText, yesText } from './steps';
import { containersOn, pagesOf } from './view';
import { doing, engineWords, listWords, since, startWords, stateWords, workersLine } from './words';

const trans = nullTranslator.load('svc_jupyter');
const two = [worker('ip-1'), worker('ip-2')];

describe('a cluster in words', () => {
  it('tells the state and since when', () => {
    expect(stateWords(trans, cluster('UP', ...two), NOW)).toBe('up 2 h 14 min');
    expect(stateWords(trans, cluster('DOWN'), NOW)).toBe('down');
    expect(since(trans, 'yesterday', NOW)).toBe('');
  });

  it('tells why it is down and what a start does', () => {
    const down = cluster('DOWN');
    expect(doing(trans, down)).toBe('Never started.');
    down.state.terminate_reason = 'idle for 2 h';
    expect(doing(trans, down)).toBe('Last: idle for 2 h.');
    expect(startWords(trans, down.record)).toBe(
      'A start makes a coordinator and 2 workers; about 12 s.'
    );
  });

  it('counts what runs on a worker', () => {
    const view = cluster('UP', ...two);
    expect(containersOn(view, 'ip-1')).toBeNull();
    const workers = [
      { private_dns: 'ip-1', containers: 0 },
      { private_dns: 'ip-2', containers: 1 }
    ];
    Object.assign(view.health?.metrics.system ?? {}, { workers });
    expect(['ip-1', 'ip-2', 'ip-3'].map(name => containersOn(view, name))).toEqual([0, 1, null]);
    const text = (node: string): string =>
      questionText(trans, { step: 'remove', view, target: 2, node });
    expect(text('ip-1')).toContain('finishes what runs on it, then leaves');
    expect(text('ip-2')).toContain('finishes its 1 container, then leaves');
  });

  it('counts its workers', () => {
    expect(workersLine(trans, cluster('UP', ...two))).toBe('2 of 2–4');
  });
});

describe('the pages of its engines', () => {
  const view = cluster('UP', ...two);
  const pages = (here: string, ...urls: string[]): string[] =>
    pagesOf(
      { ...view, health: { ...health(), pages: urls.map(url => ({ name: 'YARN', url })) } },
      here
    ).map(({ url, isReachable }) => `${url.host} ${isReachable}`);

  it('are none where the service does not know any', () => {
    expect(pagesOf(view, 'localhost')).toEqual([]);
  });

  it('are reached from elsewhere unless they are at a loopback address', () => {
    const theirs = 'https://trino.example.com/ui/';
    for (const own of ['http://127.9.0.1:8088/', 'http://localhost:8088/', 'http://[::1]:8088/']) {
      const { host } = new URL(own);
      expect(pages('hub.example.com', own, theirs)).toEqual([
        `${host} false`,
        'trino.example.com true'
      ]);
      expect(pages('localhost', own, theirs)).toEqual([`${host} true`, 'trino.example.com true']);
    }
  });

  it('are no scripts and no other texts', () => {
    expect(pages('localhost', 'javascript:alert(1)', 'nowhere', '', 'http://a:1/')).toEqual([
      'a:1 true'
    ]);
  });
});

describe('a cluster that others run', () => {
  const external = { trino_url: 'https://trino.example.com:8443' };
  const theirs = cluster('UP');
  Object.assign(theirs.record, { provider: 'external', external });

  it('tells where', () => {
    expect(engineWords(trans, theirs.record)).toBe('external · Trino at trino.example.com');
    expect(listWords(trans, theirs, NOW)).toBe('up 2 h 14 min');
    expect(startWords(trans, theirs.record)).toMatch(/^A start connects/);
  });

  it.each([
    ['hiveserver2', 'hive.example.com:10000', 'HiveServer2 at hive.example.com'],
    [
      'hiveserver2',
      'jdbc:hive2://hive.example.com/;auth=noSasl',
      'HiveServer2 at hive.example.com'
    ],
    ['spark_connect', 'sc://spark.example.com:15002', 'Spark Connect at spark.example.com']
  ])('tells the host of %s %s', (name, address, words) => {
    const lake = cluster('UP');
    Object.assign(lake.record, { provider: 'external', external: { [name]: address } });
    expect(engineWords(trans, lake.record)).toBe(`external · ${words}`);
  });

  it('has the health of Spark Connect', () => {
    const connect = cluster('UP');
    const external = { spark_connect: 'sc://spark.example.com' };
    Object.assign(connect.record, { provider: 'external', external });
    Object.assign(connect.health?.metrics ?? {}, {
      engine: { spark: { status: 'UP' } },
      daemons: {}
    });
    const entries = healthEntries(trans, connect);
    expect(entries.map(({ name, word }) => `${name} ${word}`)).toEqual(['Spark Connect up']);
  });

  it('can only be let go of', () => {
    expect([...possibleSteps(theirs)]).toEqual(['terminate']);
    expect(obstacleToRemoval(trans, theirs)).toMatch(/by those who run it$/);
    const question = { step: 'terminate', view: theirs, target: 0, node: null } as const;
    expect(questionText(trans, question)).toMatch(/^Let go of default\? .* continues\.$/);
  });
});

describe('health', () => {
  it('has a word for each daemon', () => {
    const entries = healthEntries(trans, cluster('UP', ...two));
    expect(entries.map(({ dot, name, word }) => `${dot} ${name} ${word}`)).toEqual([
      '● NameNode up',
      '● ResourceManager up',
      '● Hive metastore up, heap 41 %'
    ]);
    expect(worstOf(entries)).toBeNull();
  });

  it('is never good when it may no longer be true', () => {
    const entries = healthEntries(trans, cluster('UP', ...two), 'nobody answered');
    expect(entries.map(({ tone }) => tone)).toEqual(['calm', 'calm', 'calm']);
    expect(entries[0]?.word).toMatch(/^unknown since \d\d:\d\d:\d\d$/);
    expect(entries[0]?.reason).toBe('nobody answered');
  });

  it('has the engine of Presto, and what notebooks talk to', () => {
    const view = cluster('UP', ...two);
    const heap = { usage_percent: '84.4', status: 'yellow' };
    Object.assign(view.health?.metrics.engine ?? {}, { presto: { status: 'UP', heap } });
    Object.assign(view.health?.metrics.daemons ?? {}, { zeppelin: { status: 'DOWN', heap } });
    const [presto, notebooks] = healthEntries(trans, view);
    expect(presto).toMatchObject({ name: 'Presto', word: 'up, heap 84 %, yellow' });
    expect(notebooks).toMatchObject({ name: 'Spark notebooks', word: 'down', tone: 'bad' });
  });

  it('tells why it could not be read', () => {
    const view = {
      ...cluster('UP', ...two),
      health: null,
      unread: 'resourcemanager did not answer'
    };
    expect(healthEntries(trans, view)[0]?.reason).toBe('resourcemanager did not answer');
  });

  it('shows the worst first', () => {
    const view = cluster('UP', ...two);
    const daemons = view.health?.metrics.daemons;
    if (daemons?.hive_metastore) {
      daemons.hive_metastore.heap = { usage_percent: '85', status: 'yellow' };
      expect(worstOf(healthEntries(trans, view))?.word).toBe('up, heap 85 %, yellow');
      daemons.namenode = 'DOWN';
      expect(worstOf(healthEntries(trans, view))?.name).toBe('NameNode');
      daemons.hive_metastore.responsiveness_status = 'DOWN';
      daemons.hive_metastore.reason = 'not started: nobody needed it';
    }
    expect(healthEntries(trans, view)[2]).toMatchObject({ word: 'not started', tone: 'calm' });
    expect.assertions(3);
  });
});

describe('what can be done', () => {
  it('follows the state', () => {
    expect([...possibleSteps(cluster('DOWN'))]).toEqual(['start']);
    expect([...possibleSteps(cluster('PENDING'))]).toEqual(['terminate']);
    expect([...possibleSteps(cluster('TERMINATING'))]).toEqual([]);
  });

  it('stays at the minimum of a Hadoop cluster', () => {
    const view = cluster('UP', ...two);
    expect(obstacleTo(trans, view, 1)).toBe(
      '1 is below its minimum of 2 (2–4): Hadoop stays at that size'
    );
    expect(obstacleToRemoval(trans, view)).not.toBeNull();
    expect(obstacleToRemoval(trans, cluster('UP', ...two, worker('ip-3')))).toBeNull();
    expect(obstacleTo(trans, view, NaN)).toBe('a cluster has at least 1 worker');
  });

  it('leaves the nodes of a Spark cluster', () => {
    const view = cluster('UP', ...two);
    view.record.hadoop_settings = { use_spark: true };
    const refusal = 'Node changes are not supported for Spark clusters';
    expect(obstacleTo(trans, view, 3)).toBe(refusal);
    expect(obstacleToRemoval(trans, view)).toBe(refusal);
  });

  it('asks by the name of what it is about', () => {
    const ask = { view: cluster('UP', ...two), target: 2, node: null };
    const text = (more: object): string => questionText(trans, { ...ask, step: 'resize', ...more });
    expect(text({ target: 3 })).toBe('Add 1 worker to default, so that it has 3?');
    expect(text({ target: 5 })).toContain("5 is above this cluster's maximum of 4.");
    expect(text({ target: 1 })).toContain('Remove 1 worker from default? The idlest worker leaves');
    expect(text({ step: 'remove', node: '<b>ip</b>' })).toContain('Remove <b>ip</b>?');
    expect(yesText(trans, { ...ask, step: 'terminate' })).toBe('Terminate default');
  });
});
