import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Widget } from '@lumino/widgets';

/** Pixels that the form needs in width; in a narrower column its fields and buttons would not fit. */
const LEAST_WIDTH = 400;

/** Return where to add the form: beside its notebook if both fit, else as a tab after it. */
export function placeOf(
  notebook: Pick<Widget, 'id' | 'isVisible' | 'node'> | undefined
): DocumentRegistry.IOpenOptions {
  if (notebook?.isVisible !== true) {
    return {};
  }
  return notebook.node.offsetWidth >= 2 * LEAST_WIDTH
    ? { mode: 'split-right', ref: notebook.id, activate: false }
    : { mode: 'tab-after', ref: notebook.id };
}
