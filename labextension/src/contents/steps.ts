import type { TranslationBundle } from '@jupyterlab/translation';
import { holds, type IItem, type ItemKind, isPlace } from './items';

/** A step on an item. */
export type Step = 'open' | 'create' | 'note' | 'publish' | 'rename' | 'move' | 'remove' | 'upload';

/** Return the steps possible for an item; a root can be neither moved nor renamed. */
export function possibleSteps(item: IItem | null): ReadonlySet<Step> {
  if (!item || item.kind === 'tree') {
    return new Set();
  }
  const steps = new Set<Step>();
  if (isPlace(item)) {
    steps.add('create');
  } else if (item.kind !== 'dashboard') {
    steps.add('open');
  }
  if (item.kind === 'directory') {
    steps.add('upload');
  } else if (item.kind === 'note') {
    steps.add('publish');
  } else if (isPlace(item) && item.tree === 'notes') {
    steps.add('note');
  }
  if (!item.isRoot) {
    steps.add('rename').add('move').add('remove');
  }
  return steps;
}

/** Return the word for an item's kind. */
export function kindWord(trans: TranslationBundle, kind: ItemKind): string {
  switch (kind) {
    case 'notebook':
      return trans.__('notebook');
    case 'file':
      return trans.__('file');
    case 'note':
      return trans.__('note');
    case 'dashboard':
      return trans.__('dashboard');
    default:
      return trans.__('folder');
  }
}

/** Return why an item cannot be moved into another one, or null if nothing visible here prevents it. */
export function obstacleToMove(
  trans: TranslationBundle,
  item: IItem,
  place: IItem | null
): string | null {
  if (!place || !isPlace(place)) {
    return trans.__('choose a folder');
  }
  if (!possibleSteps(item).has('move')) {
    return trans.__('%1 stays where it is', item.name);
  }
  if (place.tree !== item.tree) {
    return trans.__('%1 is in another tree; choose a folder of this one', place.path);
  }
  if (isPlace(item) && holds(item, place.path)) {
    return trans.__('it cannot be in itself; choose another folder');
  }
  if (place.path === item.parent) {
    return trans.__('it is in %1 already; choose another folder', place.path);
  }
  return null;
}

/** Return the sentence below the choice of a folder. */
export function moveText(trans: TranslationBundle, item: IItem, place: IItem | null): string {
  const obstacle = obstacleToMove(trans, item, place);
  if (obstacle !== null || !place) {
    return trans.__('Move %1: %2.', item.path, obstacle ?? '');
  }
  return isPlace(item)
    ? trans.__('Move %1 with all that is in it into %2.', item.path, place.path)
    : trans.__('Move %1 into %2.', item.path, place.path);
}

/** Return the consequences of a deletion; `told` is the service's statement of what it would delete. */
export function deletionText(trans: TranslationBundle, item: IItem, told: string | null): string {
  const question = trans.__('Delete %1 %2?', kindWord(trans, item.kind), item.path);
  if (told !== null) {
    return `${question} ${told.charAt(0).toUpperCase()}${told.slice(1)}.`;
  }
  if (isPlace(item)) {
    return `${question} ${trans.__('All that is in it goes with it, for good.')}`;
  }
  const gone = trans.__('It is gone for good.');
  const more = item.kind === 'note' ? trans.__('The dashboards that show it go with it.') : '';
  return [question, gone, more].filter(Boolean).join(' ');
}
