import { type IDataItem, type ISource, typeOf } from './items';

/** How many rows a query for a look has. */
const LOOK = 100;
/** A name that no database needs quoted, apart from its reserved words. */
const PLAIN = /^[a-z_][a-z0-9_]*$/;
/** A tap's name that is one word of a magic's line as it is, or between quotes. */
const WORD = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;
const QUOTABLE = /^(?!-)[^"'\\{}$\p{C}]+$/u;

/** The characters of a table's name in the name of a command, which is limited. */
const NAME_LENGTH = 200;
/** What the name of a command must not contain. */
const NOT_IN_NAMES = /[&<>"'\p{C}]/gu;

/** Return a table's name as a part of a command's name, which must be shorter and plainer. */
export function inCommandName(name: string): string {
  return Array.from(name).slice(0, NAME_LENGTH).join('').replace(NOT_IN_NAMES, '_');
}

/** Return a name as an identifier of the source's SQL. */
export function quoted(source: ISource, name: string): string {
  switch (typeOf(source)) {
    case 'hive':
    case 'mysql':
      return `\`${name.replaceAll('`', '``')}\``;
    case 'sqlserver':
      return `[${name.replaceAll(']', ']]')}]`;
    case 'url': // a database whose quotes are unknown here; most have the standard's
      return PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
    default:
      return `"${name.replaceAll('"', '""')}"`;
  }
}

/** Return a table, schema or column as a query names it. */
export function nameInQuery(item: IDataItem): string {
  const { source, schema, name } = item;
  const isInSchema = item.kind === 'table' && !item.isInDefaultSchema;
  return isInSchema ? `${quoted(source, schema)}.${quoted(source, name)}` : quoted(source, name);
}

/** Return a query of the first rows of a table. */
export function lookQuery(table: IDataItem): string {
  const name = nameInQuery(table);
  return typeOf(table.source) === 'sqlserver'
    ? `SELECT TOP ${LOOK} *\nFROM ${name}`
    : `SELECT *\nFROM ${name}\nLIMIT ${LOOK}`;
}

/** Return a cell that runs a query on a source. */
export function cellOf({ tap }: ISource, query: string): string {
  return tap ? `%%svc_db --tap ${wordOf(tap.name, tap.id)}\n${query}` : `%%svc_hive\n${query}`;
}

/** Return the body of a command that runs a query on a source. */
export function commandOf({ tap }: ISource, query: string, name: string): Record<string, unknown> {
  return tap
    ? { command_type: 'DbTapQueryCommand', db_tap_id: tap.id, query, name }
    : { command_type: 'HiveCommand', query, name };
}

/** Return a tap as a word of a magic's line: its name, or its id where the line would read the name differently. */
function wordOf(name: string, id: number): string {
  if (WORD.test(name)) {
    return name;
  }
  return QUOTABLE.test(name) && name.trim() === name ? `"${name}"` : String(id);
}
