/** The used part of an editor's text; CodeMirror's `Text` implements it. */
export interface ILines {
  readonly lines: number;
  line(number: number): { readonly text: string };
}

/** The language of each magic's body, by its name in JupyterLab's registry. */
const LANGUAGES: Readonly<Record<string, string>> = {
  svc_db: 'SQL',
  svc_hive: 'SQL',
  svc_presto: 'SQL',
  svc_sql: 'SQL',
  svc_shell: 'Shell',
  svc_pig: 'Pig'
};

/** The language of each cell of the kernel Spark (svc) that names one; `%` or `%%` stands before the name. */
const KERNEL_LANGUAGES: Readonly<Record<string, string>> = {
  sql: 'SQL',
  'spark.sql': 'SQL',
  spark: 'Scala',
  scala: 'Scala',
  sh: 'Shell'
};
/** With one `%` the name stands alone: in a notebook of Python, `%sql SELECT 1` is a line of its own. */
const ALONE = /^%([\w.]+)(?:\([^)]*\))?(?:\s+-.*)?\s*$/;

/** IPython ignores empty lines above a magic. At most this many are skipped, in any cell. */
const MOST_EMPTY_LINES = 20;

/**
 * Return the language of a cell's body, by the magic at its start.
 *
 * @param cell - The cell's text
 * @returns The language's name in the registry, or `null` for a cell without one of the magics
 */
export function languageOfBody(cell: ILines): string | null {
  const last = Math.min(cell.lines, MOST_EMPTY_LINES + 1);
  for (let number = 1; number <= last; number++) {
    const { text } = cell.line(number);
    if (text.trim() !== '') {
      const alone = ALONE.exec(text)?.[1];
      const name = alone ?? /^%%([\w.]+)/.exec(text)?.[1] ?? '';
      const known = alone === undefined ? { ...KERNEL_LANGUAGES, ...LANGUAGES } : KERNEL_LANGUAGES;
      return Object.hasOwn(known, name) ? (known[name] ?? null) : null;
    }
  }
  return null;
}
