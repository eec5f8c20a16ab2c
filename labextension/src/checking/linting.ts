import { linter } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { StateEffect } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type IProblem, hasSql } from './sqlCells';

/** Returns what is wrong with a cell; rejects where nobody can tell. */
export type Check = (cell: string) => Promise<readonly IProblem[]>;

const DELAY_MILLISECONDS = 500;
/** JupyterLab has colours for CodeMirror, but none for its boxes. */
const looks = EditorView.theme({
  '.cm-tooltip.cm-tooltip-lint': {
    background: 'var(--jp-layout-color1)',
    border: 'var(--jp-border-width) solid var(--jp-border-color1)',
    color: 'var(--jp-ui-font-color1)',
    fontFamily: 'var(--jp-ui-font-family)',
    fontSize: 'var(--jp-ui-font-size1)'
  },
  '.cm-diagnosticAction': {
    background: 'var(--jp-layout-color2)',
    border: 'var(--jp-border-width) solid var(--jp-border-color1)',
    color: 'var(--jp-ui-font-color1)',
    cursor: 'pointer'
  }
});
const outdated = StateEffect.define();

/** Return an editor extension that marks problems, half a second after the last change. */
export function sqlLinter(check: Check, trans: TranslationBundle): Extension {
  const source = async (view: EditorView): Promise<Diagnostic[]> => {
    const cell = view.state.doc.toString();
    if (!hasSql(cell)) {
      return [];
    }
    try {
      const problems = await check(cell);
      return problems.map(problem => diagnosticOf(problem, view.state.readOnly, trans));
    } catch {
      return []; // The cell itself says what is wrong with the service.
    }
  };
  const checks = linter(source, {
    delay: DELAY_MILLISECONDS,
    needsRefresh: ({ transactions }) =>
      transactions.some(({ effects }) => effects.some(effect => effect.is(outdated)))
  });
  return [checks, looks];
}

/** Check a cell again: tables may have come or gone. */
export function checkAgain(view: EditorView): void {
  view.dispatch({ effects: outdated.of(null) });
}

function diagnosticOf(problem: IProblem, readOnly: boolean, trans: TranslationBundle): Diagnostic {
  const meant = readOnly ? [] : problem.did_you_mean;
  return {
    from: problem.start,
    to: problem.end,
    severity: 'warning',
    message: problem.message,
    actions: meant.map(name => ({
      name: trans.__('Change to %1', name),
      apply: (view, from, to) => view.dispatch({ changes: { from, to, insert: name } })
    }))
  };
}
