import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect, notebookIcon, ReactWidget } from '@jupyterlab/ui-components';
import { type JSX, useEffect, useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '../list';
import { asServiceError, type ServiceError } from '../service';
import type { IComparedCell, IComparison } from '../service/records/schedules';
import '../../style/scheduleDetail.css';
import '../../style/comparison.css';

/** What is compared, and what can be done with it. */
export interface IComparisonProps {
  title: string;
  /** The left sides to choose from, the first one shown at first; a single one is not chosen. */
  lefts: readonly { id: number; name: string }[];
  right: string;
  read: (left: number) => Promise<IComparison>;
  /** A step that the reader decides on here. */
  step?: { label: string; execute: () => Promise<void> };
  trans: TranslationBundle;
}

/** Return two notebooks side by side, for the main area; it closes after its step. */
export function comparisonWidget(props: IComparisonProps): MainAreaWidget {
  const { step } = props;
  const closing = step && {
    label: step.label,
    execute: async () => {
      await step.execute();
      widget.close();
    }
  };
  const content = ReactWidget.create(<Comparison {...props} {...(closing && { step: closing })} />);
  content.addClass('jp-SvcDetail-widget');
  const widget = new MainAreaWidget({ content });
  widget.toolbar.hide(); // it would be an empty strip
  widget.title.label = props.title;
  widget.title.icon = notebookIcon;
  widget.title.closable = true;
  return widget;
}

function Comparison(props: IComparisonProps): JSX.Element {
  const { title, lefts, right, read, step, trans } = props;
  const [left, setLeft] = useState(lefts[0]?.id ?? 0);
  const [found, setFound] = useState<IComparison | null>(null);
  const [error, setError] = useState<ServiceError | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setFound(null);
    setError(null);
    read(left).then(
      value => isCurrent && setFound(value),
      (reason: unknown) => isCurrent && setError(asServiceError(reason))
    );
    return () => {
      isCurrent = false;
    };
  }, [left, read, tries]);
  const isSame = found?.cells.every(cell => cell.is_same) ?? false;
  return (
    <div className="jp-SvcComparison">
      <div className="jp-SvcDetail-head">
        <h2>{title}</h2>
        {step && (
          <button
            type="button"
            className="jp-SvcButton jp-mod-accept"
            onClick={() => {
              step.execute().catch((reason: unknown) => setError(asServiceError(reason)));
            }}
          >
            {step.label}
          </button>
        )}
      </div>
      <div className="jp-SvcComparison-sides">
        {lefts.length > 1 ? (
          <HTMLSelect
            aria-label={trans.__('Compare with')}
            value={left}
            options={lefts.map(({ id, name }) => ({ value: String(id), label: name }))}
            iconProps={{ top: '7px' }}
            onChange={event => setLeft(Number(event.target.value))}
          />
        ) : (
          <strong>{lefts[0]?.name}</strong>
        )}
        <strong>{right}</strong>
      </div>
      {error && (
        <ErrorState
          error={error}
          retry={() => setTries(tries + 1)}
          retryLabel={trans.__('Try again')}
        />
      )}
      {!found && !error && <LoadingState text={trans.__('Asking the service…')} />}
      {found && isSame && <EmptyState text={trans.__('Nothing differs.')} />}
      {found && <Cells cells={found.cells} trans={trans} />}
    </div>
  );
}

function Cells({
  cells,
  trans
}: {
  cells: readonly IComparedCell[];
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <>
      {cells.map((cell, place) => {
        const name = trans.__('Cell %1', place + 1);
        const parts = (
          <>
            <Lines lines={cell.source} />
            {cell.outputs.length > 0 && <Lines lines={cell.outputs} isOutput />}
          </>
        );
        return cell.is_same ? (
          <details key={place} className="jp-SvcComparison-cell">
            <summary>{trans.__('%1 · unchanged', name)}</summary>
            {parts}
          </details>
        ) : (
          <section key={place} className="jp-SvcComparison-cell" aria-label={name}>
            <h3>{name}</h3>
            {parts}
          </section>
        );
      })}
    </>
  );
}

/** Lines side by side; a sign and a colour mark those of one side. */
function Lines(props: { lines: IComparedCell['source']; isOutput?: boolean }): JSX.Element {
  return (
    <table className={props.isOutput ? 'jp-SvcLines jp-mod-output' : 'jp-SvcLines'}>
      <tbody>
        {props.lines.map(([left, right], place) => (
          <tr key={place}>
            <Line text={left} isOwn={left !== right} sign="−" />
            <Line text={right} isOwn={left !== right} sign="+" />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Line(props: { text: string | null; isOwn: boolean; sign: string }): JSX.Element {
  const { text, isOwn, sign } = props;
  if (text === null) {
    return <td className="jp-mod-none" />;
  }
  return (
    <td className={isOwn ? (sign === '+' ? 'jp-mod-added' : 'jp-mod-removed') : undefined}>
      <span className="jp-SvcLines-sign">{isOwn ? sign : ' '}</span>
      {text}
    </td>
  );
}
