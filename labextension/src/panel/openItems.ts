import type { IStateDB } from '@jupyterlab/statedb';
import type { ISignal } from '@lumino/signaling';

/** A tree whose items the user opens. */
interface IOpenTree {
  readonly changed: ISignal<unknown, void>;
  /** The keys of the open items. */
  readonly openKeys: string[];
  restore: (keys: readonly string[]) => Promise<void>;
}

/** Open what was open at the last visit, or else `first`, and store each change for the next one. */
export async function restoreOpenItems(
  tree: IOpenTree,
  stateDB: IStateDB,
  memory: string,
  first: readonly string[] = []
): Promise<void> {
  const kept = await stateDB.fetch(memory).catch(() => undefined);
  const keys = Array.isArray(kept) ? kept.filter(key => typeof key === 'string') : first;
  await tree.restore(keys);
  let saved = '';
  tree.changed.connect(() => {
    const now = tree.openKeys;
    if (saved !== now.join('\n')) {
      saved = now.join('\n');
      void stateDB.save(memory, now);
    }
  });
}
