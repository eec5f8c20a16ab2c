/** Return schema and name of a table typed as `schema.name`; the default schema is Hive's `default`. */
export function tableNameOf(text: string): { schema: string; name: string } {
  const [first = '', ...rest] = text.trim().split('.');
  return rest.length === 0
    ? { schema: 'default', name: first }
    : { schema: first, name: rest.join('.') };
}

/**
 * Return the columns of `day=%Y-%m-%d, region=EU|US`: a mask, or values that must all exist. Text without `=` becomes a
 * column without a value, which the service refuses.
 */
export function columnsOf(text: string): { [column: string]: string | string[] } {
  const columns: { [column: string]: string | string[] } = {};
  for (const part of text.split(',')) {
    const [name = '', ...rest] = part.split('=');
    const value = rest.join('=').trim();
    if (name.trim() !== '') {
      columns[name.trim()] = value.includes('|') ? value.split('|').map(one => one.trim()) : value;
    }
  }
  return columns;
}

/** Return columns in the form in which they are typed. */
export function columnsText(columns: { [column: string]: string | string[] }): string {
  return Object.entries(columns)
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join('|') : value}`)
    .join(', ');
}
