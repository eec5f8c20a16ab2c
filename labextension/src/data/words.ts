import type { TranslationBundle } from '@jupyterlab/translation';
import { count, tapTypeWord } from '../words';
import { type IDataItem, typeOf } from './items';
import type { IDataRow } from './rows';

/** Return the facts after the name of an item; empty for none. */
export function factsOf(trans: TranslationBundle, item: IDataItem): string {
  const { tap } = item.source;
  switch (item.kind) {
    case 'source': {
      const type = tap ? tapTypeWord(trans, typeOf(item.source)) : '';
      return tap?.active === false ? trans.__('%1 · not active', type) : type;
    }
    case 'schema':
      return item.count === null
        ? ''
        : trans._n('%2 table', '%2 tables', item.count, count(item.count));
    case 'table': {
      const rows =
        item.count === null ? '' : trans._n('%2 row', '%2 rows', item.count, count(item.count));
      const isView = item.type.toLowerCase().includes('view');
      return [isView ? trans.__('view') : '', rows].filter(Boolean).join(' · ');
    }
    case 'column':
      return item.type;
  }
}

/** Return the name of a row; in the answer to a search, with its schema, unless a query needs none. */
export function nameShown({ item, isFound }: IDataRow): string {
  const hasSchema = isFound && item.kind === 'table' && !item.isInDefaultSchema;
  return hasSchema ? `${item.schema}.${item.name}` : item.name;
}

/** Return the whole of an item for the pointer, where its line may be cut. */
export function hoverOf(trans: TranslationBundle, item: IDataItem): string {
  const { tap } = item.source;
  const place = [item.schema, item.table].filter(Boolean).join('.');
  const facts = factsOf(trans, item);
  if (item.kind !== 'source') {
    const parts = item.kind === 'column' ? [item.name, facts, place] : [item.name, facts];
    return parts.filter(Boolean).join('\n');
  }
  const host = tap?.db_host ? `${tap.db_host}${tap.port ? `:${tap.port}` : ''}` : '';
  const where = [host, tap?.db_name ?? '', tap?.db_user ?? ''].filter(Boolean).join(' · ');
  const why = tap?.active === false ? trans.__('It is not active: edit it to use it.') : '';
  return [item.name, facts, where, why].filter(Boolean).join('\n');
}

/** Return the words of a row that is a message. */
export function messageWords(trans: TranslationBundle, row: IDataRow): string {
  switch (row.kind) {
    case 'problem':
      return trans.__('✗ %1 (Enter: try again)', row.text);
    case 'outdated':
      return trans.__('! older: it cannot be read now: %1 (Enter: try again)', row.text);
    case 'filling':
      return trans.__('reading the tables for the first time…');
    case 'untold':
      return trans.__('this service does not tell the columns');
    case 'empty':
      return trans.__('nothing in it');
    default:
      return trans.__('asking the service…');
  }
}
