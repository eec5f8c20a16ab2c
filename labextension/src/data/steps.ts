import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDataItem } from './items';

/** A step on an item. */
export type Step = 'insert' | 'preview' | 'copy' | 'edit' | 'remove' | 'refresh';

/** What the application has for the steps. */
export interface ISurroundings {
  /** Whether a notebook is open, for a query. */
  hasNotebook: boolean;
  /** Whether a cell is active, for a name. */
  hasCell: boolean;
}

/** Return the steps that an item has, also those that cannot be performed now. */
export function stepsOf(item: IDataItem | null): ReadonlySet<Step> {
  switch (item?.kind) {
    case 'source':
      return new Set(item.source.tap ? ['edit', 'remove', 'refresh'] : ['refresh']);
    case 'schema':
      return new Set(['insert', 'copy']);
    case 'table':
      return new Set(['insert', 'preview', 'copy']);
    case 'column':
      return new Set(['insert', 'copy']);
    default:
      return new Set();
  }
}

/** Return why a step of an item cannot be performed now, or null. */
export function obstacleTo(
  trans: TranslationBundle,
  item: IDataItem,
  step: Step,
  surroundings: ISurroundings
): string | null {
  if (step === 'insert' && item.kind === 'table') {
    return surroundings.hasNotebook ? null : trans.__('open a notebook first');
  }
  if (step === 'insert') {
    return surroundings.hasCell ? null : trans.__('open a notebook and select a cell first');
  }
  if (step === 'refresh' && item.source.tap?.active === false) {
    return trans.__('the tap is not active');
  }
  return null;
}

/** Return the label of a step of an item. */
export function stepLabel(trans: TranslationBundle, item: IDataItem | null, step: Step): string {
  switch (step) {
    case 'insert':
      return item?.kind === 'table' ? trans.__('Insert query') : trans.__('Insert name');
    case 'preview':
      return trans.__('Preview');
    case 'copy':
      return trans.__('Copy name');
    case 'edit':
      return trans.__('Edit tap…');
    case 'remove':
      return trans.__('Remove tap…');
    case 'refresh':
      return trans.__('Read again');
  }
}

/** Return what a step of an item does, or why it cannot be performed now. */
export function stepWords(
  trans: TranslationBundle,
  item: IDataItem,
  step: Step,
  surroundings: ISurroundings
): string {
  const label = stepLabel(trans, item, step);
  const obstacle = obstacleTo(trans, item, step, surroundings);
  if (obstacle !== null) {
    return trans.__('%1: %2', label, obstacle);
  }
  if (step === 'preview' && item.source.tap === null) {
    return trans.__('Preview: 100 rows; the cluster starts if it is down');
  }
  switch (step) {
    case 'insert':
      return item.kind === 'table'
        ? trans.__('Insert a query of 100 rows below the active cell')
        : trans.__('Insert the name at the cursor');
    case 'preview':
      return trans.__('Preview: 100 rows');
    default:
      return label;
  }
}
