import { ArrayExt } from '@lumino/algorithm';

/** A section's place among the others. */
export interface IRanked {
  id: string;
  rank: number;
}

/** Return where a section goes among those that are sorted by rank; behind its equals. */
export function placeOf(section: IRanked, sorted: readonly IRanked[]): number {
  return ArrayExt.upperBound(sorted, section.rank, (other, rank) => other.rank - rank);
}

/** What is kept of the panel between two visits. */
export interface IPanelMemory {
  /** Sections that were closed. */
  collapsed: string[];
}

/** Return what was kept, as far as it can be understood. */
export function panelMemory(kept: unknown): IPanelMemory {
  const collapsed =
    typeof kept === 'object' && kept !== null ? (kept as { collapsed?: unknown }).collapsed : [];
  const names = Array.isArray(collapsed) ? collapsed.filter(id => typeof id === 'string') : [];
  return { collapsed: names };
}
