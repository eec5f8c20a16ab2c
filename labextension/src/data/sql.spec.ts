import type { ITap } from '../service/records/data';
import { columnItem, type ISource, sourcesOf, tableItem } from './items';
import { cellOf, commandOf, inCommandName, lookQuery, nameInQuery, quoted } from './sql';

function source(db_type: string, name = 'shop'): ISource {
  const tap = { id: 7, name, db_type, active: true } as ITap;
  return sourcesOf([tap], 'Hive')[0] as ISource;
}

const HIVE = sourcesOf([], 'Hive')[0] as ISource;

function table(of: ISource, name: string, schema = '', defaultSchema: string | null = null) {
  return tableItem(of, { schema_name: schema, name, type: 'table', rows: null }, defaultSchema);
}

describe('quoted', () => {
  it('doubles the quotes of each database', () => {
    expect(quoted(source('postgresql'), 'a"b`c]')).toBe('"a""b`c]"');
    expect(quoted(source('mysql'), 'a"b`c]')).toBe('`a"b``c]`');
    expect(quoted(source('sqlserver'), 'a"b`c]')).toBe('[a"b`c]]]');
    expect(quoted(HIVE, 'a`b')).toBe('`a``b`');
  });

  it('leaves plain names alone where the quotes of the database are unknown', () => {
    expect(quoted(source('url'), 'flights')).toBe('flights');
    expect(quoted(source('url'), 'Flights of $1')).toBe('"Flights of $1"');
  });
});

describe('queries', () => {
  it('name the schema unless it is the default one', () => {
    const postgres = source('postgresql');
    expect(nameInQuery(table(postgres, 't', 'public', 'public'))).toBe('"t"');
    expect(nameInQuery(table(postgres, 't', 's', 'public'))).toBe('"s"."t"');
    const column = columnItem(table(postgres, 't', 's'), { name: 'c', type: 'int' });
    expect(nameInQuery(column)).toBe('"c"');
  });

  it('limit the rows in the words of the database', () => {
    expect(lookQuery(table(source('sqlite'), 't'))).toBe('SELECT *\nFROM "t"\nLIMIT 100');
    expect(lookQuery(table(source('sqlserver'), 't'))).toBe('SELECT TOP 100 *\nFROM [t]');
  });

  it('are cells that the magics read as they are meant', () => {
    expect(cellOf(source('sqlite'), 'Q')).toBe('%%svc_db --tap shop\nQ');
    expect(cellOf(source('sqlite', 'shop (old)'), 'Q')).toBe('%%svc_db --tap "shop (old)"\nQ');
    expect(cellOf(source('sqlite', 'a"{b}'), 'Q')).toBe('%%svc_db --tap 7\nQ');
    expect(cellOf(source('sqlite', '--help'), 'Q')).toBe('%%svc_db --tap 7\nQ');
    expect(cellOf(HIVE, 'Q')).toBe('%%svc_hive\nQ');
  });

  it('have names that a command can have', () => {
    expect(inCommandName('a<b> "c"\u202e')).toBe('a_b_ _c__');
    expect(inCommandName('x'.repeat(255))).toHaveLength(200);
  });

  it('are commands of their source', () => {
    expect(commandOf(source('sqlite'), 'Q', 'n')).toMatchObject({ db_tap_id: 7, query: 'Q' });
    expect(commandOf(HIVE, 'Q', 'n').command_type).toBe('HiveCommand');
  });
});
