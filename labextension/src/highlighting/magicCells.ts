/** The text of an editor, as far as this needs it; CodeMirror's `Text` is one. */
export interface ILines {
  readonly lines: number;
  line(number: number): { readonly text: string };
}

/**
 * Name, in JupyterLab's registry of languages, of what stands in a cell under each magic.
 */
const LANGUAGES: Readonly<Record<string, string>> = {
  svc_db: 'SQL',
  svc_hive: 'SQL',
  svc_presto: 'SQL',
  svc_sql: 'SQL',
  svc_shell: 'Shell',
  svc_pig: 'Pig'
};

/** IPython ignores empty lines above a magic. So many are looked at, whatever the cell holds. */
const MOST_EMPTY_LINES = 20;

/**
 * The language of a cell's body, by the magic that it begins with.
 *
 * @param cell - The cell's text
 * @returns The language's name in the registry, or `null` for a cell without one of the magics
 */
export function languageOfBody(cell: ILines): string | null {
  const last = Math.min(cell.lines, MOST_EMPTY_LINES + 1);
  for (let number = 1; number <= last; number++) {
    const { text } = cell.line(number);
    if (text.trim() !== '') {
      const magic = /^%%(\w+)/.exec(text)?.[1] ?? '';
      return Object.hasOwn(LANGUAGES, magic) ? (LANGUAGES[magic] ?? null) : null;
    }
  }
  return null;
}
