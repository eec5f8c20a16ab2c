import type { ICommand } from '../service/records/commands';
import { asCell, languageOf } from './asCell';

function command(command_type: string, fields: object, label: string | null = null): ICommand {
  return { id: 7, command_type, command: fields, label } as unknown as ICommand;
}

describe('asCell', () => {
  it('names the tap, or the cluster', () => {
    const query = command('DbTapQueryCommand', { query: 'SELECT 1\n', db_tap_id: 3 });
    expect(asCell(query)).toBe('%%svc_db --tap 3\nSELECT 1');
    expect(asCell(command('HiveCommand', { query: 'SHOW TABLES' }, 'etl 2'))).toBe(
      '%%svc_hive --label "etl 2"\nSHOW TABLES'
    );
  });

  it('binds a text as it is, and what has a type to the variable', () => {
    const values = {
      a: 'JFK',
      b: "O'Hare x",
      c: 5,
      d: { type: 'date', value: '2026-01-31' },
      e: 'x\ny'
    };
    const query = command('DbTapQueryCommand', {
      query: 'SELECT :a',
      db_tap_id: 3,
      bindings: values
    });
    expect(asCell(query)).toBe(
      `%%svc_db --tap 3 --bind a=JFK --bind 'b=O'"'"'Hare x' --bind c --bind d --bind e\nSELECT :a`
    );
  });

  it('asks for as many rows', () => {
    const query = command('HiveCommand', { query: 'SELECT 1', limit: 10 });
    expect(asCell(query)).toBe('%%svc_hive --limit 10\nSELECT 1');
  });

  it('is a dry run again', () => {
    const query = command('SqlCommand', { query: 'SELECT 1', dry_run: true });
    expect(asCell(query)).toBe('%%svc_sql --dry-run\nSELECT 1');
  });

  it('is null for a script in a file, and for what has no cell', () => {
    expect(asCell(command('ShellCommand', { script_location: 's3://a/b.sh' }))).toBeNull();
    expect(asCell(command('CompositeCommand', {}))).toBeNull();
  });
});

it('knows the language of a text', () => {
  expect(languageOf(command('PrestoCommand', { query: 'SELECT 1' }))).toBe('SQL');
  expect(languageOf(command('SparkCommand', { program: 'x', language: 'scala' }))).toBe('Scala');
  expect(languageOf(command('HadoopCommand', {}))).toBeNull();
});
