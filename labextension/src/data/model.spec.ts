import { ServiceError, type ServiceRequests } from '../service';
import type { IDataItem } from './items';
import { DataModel } from './model';

type Answers = Record<string, unknown>;

const PAGING = { next_page: null, previous_page: null };
const TAPS = {
  db_taps: [
    { id: 2, name: 'shop', db_type: 'sqlite', active: true },
    { id: 1, name: 'old', db_type: 'mysql', active: false }
  ],
  paging_info: PAGING
};
const READY = {
  state: 'ready',
  version: 'v1',
  as_of: null,
  default_schema: 'main',
  schemas: [{ name: 'main', tables: 1 }],
  error: null,
  failing_since: null
};
const TABLES = {
  tables: [{ schema_name: 'main', name: 'flights', type: 'table', rows: 3, columns: 1 }],
  total: 1
};

/** A model on a service in memory: an answer for each path; others are a 404. */
function modelOf(answers: Answers): { model: DataModel; paths: string[] } {
  const paths: string[] = [];
  const get = (path: string, query: object = {}): Promise<unknown> => {
    paths.push(path);
    return Promise.resolve().then(() => {
      const answer = answers[path];
      if (answer === undefined) {
        throw new ServiceError(`there is no ${path}`, 404);
      }
      return typeof answer === 'function' ? (answer as (query: object) => unknown)(query) : answer;
    });
  };
  const model = new DataModel({ get } as unknown as ServiceRequests, 'Hive');
  return { model, paths };
}

function shown(model: DataModel): string[] {
  return model.rows.map(
    ({ kind, item, depth }) => `${'  '.repeat(depth)}${kind === 'item' ? item.name : kind}`
  );
}

async function open(model: DataModel, ...names: string[]): Promise<void> {
  for (const name of names) {
    const row = model.rows.find(({ kind, item }) => kind === 'item' && item.name === name);
    if (!row) {
      throw new Error(`no row ${name} among ${shown(model).join(', ')}`);
    }
    await model.open(row.item);
  }
}

describe('DataModel', () => {
  it('shows taps by name, then Hive, and reads what is opened', async () => {
    const { model, paths } = modelOf({
      db_taps: TAPS,
      'db_taps/2/catalogue': READY,
      'db_taps/2/catalogue/tables': TABLES,
      'db_taps/2/catalogue/columns': {
        version: 'v1',
        tables: [
          { schema_name: 'main', name: 'flights', columns: [{ name: 'delay', type: 'REAL' }] }
        ]
      }
    });
    await model.taps.refresh();
    expect(shown(model)).toEqual(['old', 'shop', 'Hive']);
    expect(paths).toEqual(['db_taps']);
    await open(model, 'old');
    expect(shown(model)).toEqual(['old', 'shop', 'Hive']);
    await open(model, 'shop', 'main', 'flights');
    expect(shown(model)).toEqual(['old', 'shop', '  main', '    flights', '      delay', 'Hive']);
  });

  it('says that a catalogue is read for the first time, and shows it by itself', async () => {
    let isReady = (): void => undefined;
    const later = new Promise<void>(resolve => (isReady = resolve));
    const { model } = modelOf({
      db_taps: TAPS,
      'db_taps/2/catalogue': ({ wait }: { wait?: number }) =>
        wait === undefined
          ? { ...READY, state: 'filling', version: null, schemas: [] }
          : later.then(() => READY)
    });
    await model.taps.refresh();
    const opened = open(model, 'shop');
    await new Promise(resolve => setTimeout(resolve));
    expect(shown(model)).toEqual(['old', 'shop', '  filling', 'Hive']);
    isReady();
    await opened;
    expect(shown(model)).toEqual(['old', 'shop', '  main', 'Hive']);
  });

  it('shows why a database was never read, and reads it again when asked', async () => {
    let isBroken = true;
    const { model } = modelOf({
      db_taps: TAPS,
      'db_taps/2/catalogue': () =>
        isBroken
          ? { ...READY, state: 'failed', version: null, schemas: [], error: 'no such host' }
          : READY
    });
    await model.taps.refresh();
    await open(model, 'shop');
    const failed = model.rows[2];
    expect([failed?.kind, failed?.text]).toEqual(['problem', 'no such host']);
    isBroken = false;
    await model.open(failed?.item as IDataItem, true);
    expect(shown(model)).toEqual(['old', 'shop', '  main', 'Hive']);
  });

  it('keeps what it has when a later reading fails, and says so', async () => {
    const { model } = modelOf({
      db_taps: TAPS,
      'db_taps/2/catalogue': { ...READY, state: 'failed', error: 'no such host' }
    });
    await model.taps.refresh();
    await open(model, 'shop');
    expect(shown(model)).toEqual(['old', 'shop', '  outdated', '  main', 'Hive']);
  });

  it('lists the tables of a service without catalogues', async () => {
    const { model } = modelOf({
      db_taps: TAPS,
      'db_taps/2/tables': { tables: [{ name: 'flights', schema_name: null, type: 'table' }] },
      hive: ({ page }: { page: number }) =>
        page === 1
          ? { schemas: ['default'], paging_info: { next_page: 2, previous_page: null } }
          : { schemas: ['web'], paging_info: PAGING },
      'hive/web': { tables: ['hits'] },
      'hive/web/hits': [{ name: 'url', type: 'string' }]
    });
    await model.taps.refresh();
    await open(model, 'shop', 'flights', 'Hive', 'web', 'hits');
    expect(shown(model)).toEqual([
      'old',
      'shop',
      '  flights',
      '    untold',
      'Hive',
      '  default',
      '  web',
      '    hits',
      '      url'
    ]);
    await model.find('fli');
    expect(shown(model)).toEqual(['shop', '  flights']);
  });

  it('finds tables and columns of what was read, and begins to read nothing', async () => {
    const { model, paths } = modelOf({
      db_taps: TAPS,
      'db_taps/2/catalogue/columns': {
        version: 'v1',
        tables: [{ schema_name: 's', name: 'planes', columns: [{ name: 'flight', type: 'TEXT' }] }]
      },
      'db_taps/2/catalogue/tables': TABLES,
      'hive_catalogue/columns': { version: null, tables: [] },
      'hive_catalogue/tables': TABLES
    });
    await model.taps.refresh();
    await model.find('flight');
    expect(shown(model)).toEqual(['shop', '  flights', '  planes', '    flight']);
    expect(paths).not.toContain('hive_catalogue/tables');
    expect(paths.some(path => path.startsWith('db_taps/1/'))).toBe(false);
    await model.find('');
    expect(shown(model)).toEqual(['old', 'shop', 'Hive']);
  });

  it('opens what was open at the last visit', async () => {
    const answers = {
      db_taps: TAPS,
      'db_taps/2/catalogue': READY,
      'db_taps/2/catalogue/tables': TABLES
    };
    const { model } = modelOf(answers);
    await model.taps.refresh();
    await open(model, 'shop', 'main');
    const again = modelOf(answers).model;
    await again.taps.refresh();
    await again.restore([...model.openKeys, '["tap-9"]']);
    expect(shown(again)).toEqual(shown(model));
  });

  it('forgets what was below a tap that has changed', async () => {
    let taps = TAPS;
    const { model } = modelOf({ db_taps: () => taps, 'db_taps/2/catalogue': READY });
    await model.taps.refresh();
    await open(model, 'shop');
    taps = { ...TAPS, db_taps: [{ id: 2, name: 'shop', db_type: 'mysql', active: true }] };
    await model.taps.refresh();
    expect(shown(model)).toEqual(['shop', 'Hive']);
  });
});
