import { ArrayExt } from '@lumino/algorithm';

/** A section's place among the others. */
export interface IRanked {
  id: string;
  rank: number;
}

/** Return a section's index among those sorted by rank, after its equals. */
export function placeOf(section: IRanked, sorted: readonly IRanked[]): number {
  return ArrayExt.upperBound(sorted, section.rank, (other, rank) => other.rank - rank);
}

/** The stored state of the panel between visits. */
export interface IPanelMemory {
  /** The collapsed sections. */
  collapsed: string[];
}

/** Return the stored state, ignoring invalid parts. */
export function panelMemory(kept: unknown): IPanelMemory {
  const collapsed =
    typeof kept === 'object' && kept !== null ? (kept as { collapsed?: unknown }).collapsed : [];
  const names = Array.isArray(collapsed) ? collapsed.filter(id => typeof id === 'string') : [];
  return { collapsed: names };
}
