/** A problem in a cell, as the server extension answers: offsets in the cell, and what was meant. */
export interface IProblem {
  start: number;
  end: number;
  message: string;
  did_you_mean: readonly string[];
}

const SQL = /^\s*%%svc_(?:db|hive|presto|sql)\b/;
const DEFAULT_TAP =
  /^\s*%?(?:svc_config\s+default_tap\s+|config\s+SvcMagics\.default_tap\s*=\s*)(["']?)(.+?)\1\s*$/m;
/** As long as the service checks; longer cells are not sent. */
const LONGEST = 100_000;

/** Return whether a cell begins with a magic that runs SQL. */
export function hasSql(cell: string): boolean {
  return cell.length <= LONGEST && SQL.test(cell);
}

/**
 * Return the tap of cells that name none, as cells set it.
 *
 * @param cells - The texts of the cells above, in order
 * @returns The tap that the last of them sets, or `null`
 */
export function defaultTapOf(cells: Iterable<string>): string | null {
  let tap: string | null = null;
  for (const cell of cells) {
    tap = DEFAULT_TAP.exec(cell)?.[2] ?? tap;
  }
  return tap;
}
