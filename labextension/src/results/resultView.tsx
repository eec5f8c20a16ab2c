import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { asServiceError } from '../service';
import type { FileFormat } from './calls';
import { ColumnChooser } from './columnChooser';
import { ColumnPanel, TextButton } from './columnPanel';
import { COPIED_ROWS, copyRows } from './copying';
import { download } from './downloading';
import { DownloadMenu } from './downloadMenu';
import { Grid, type ICell, type IShownColumn, type RowsSeen } from './grid';
import { useOwnKeys, useResult, useSeen } from './hooks';
import type { IResultState, ResultModel } from './model';
import { PlotPanel } from './plot';
import { plotKinds } from './plotSpec';
import { Popover } from './popover';
import { type IFilter, sortedBy } from './query';
import type { ISelection } from './selection';
import { ValuePanel } from './valuePanel';
import type { IColumn } from './values';
import { count } from '../words';
import { filterWords, footer, problemWords, resultName } from './words';
import '../../style/results.css';

/** Milliseconds after the last letter when a search begins. */
const TYPING = 300;

/** The properties of a `ResultView`. */
export interface IResultViewProps {
  model: ResultModel;
  /** Draws the charts; null offers none. */
  rendermime: IRenderMimeRegistry | null;
  trans: TranslationBundle;
}

type Opened =
  | {
      readonly kind: 'column';
      readonly column: IColumn;
      readonly anchor: HTMLElement;
      readonly fit: () => void;
    }
  | ({ readonly kind: 'value'; readonly isBeside: boolean } & ICell)
  | { readonly kind: 'columns' | 'download'; readonly anchor: HTMLElement };

/** The rows of a result with all that can be done with them, at most 400 pixels high. */
export function ResultView(props: IResultViewProps): JSX.Element {
  const { model, rendermime, trans } = props;
  const state = useResult(model);
  const root = useRef<HTMLElement>(null);
  const [selection, setSelection] = useState<ISelection | null>(null);
  const [seen, setSeen] = useState<RowsSeen>([0, 0]);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [plotWords, setPlotWords] = useState<string | null>(null);
  const [message, setMessage] = useState('');
  useSeen(root, () => model.connect());
  useOwnKeys(root, isCopyKey);

  const { hidden, query, shown } = state;
  const columns = useMemo(
    () =>
      state.columns
        .map((column, index): IShownColumn => ({ ...column, index }))
        .filter(({ name }) => !hidden.has(name)),
    [state.columns, hidden]
  );
  useEffect(() => setSelection(null), [shown, hidden]);
  useEffect(() => setMessage(''), [selection, shown]);
  // A value is closed when another cell becomes the active one.
  const active = selection?.active;
  const activeName = columns[active?.column ?? -1]?.name;
  useEffect(() => {
    setOpened(open =>
      open?.kind === 'value' && (open.row !== active?.row || open.column.name !== activeName)
        ? null
        : open
    );
  }, [active?.row, activeName]);

  const copy = useCallback(() => {
    copyRows(model, columns, selection, trans).then(setMessage, (reason: unknown) =>
      setMessage(asServiceError(reason).message)
    );
  }, [model, columns, selection, trans]);
  const save = (format: FileFormat): void => {
    opened?.anchor.focus({ preventScroll: true });
    setOpened(null);
    setMessage(trans.__('reading the result as %1 …', format));
    download(model.calls, format).then(setMessage, (reason: unknown) =>
      setMessage(asServiceError(reason).message)
    );
  };
  const close = useCallback(() => setOpened(null), []);
  const toggle = (next: Opened): void => setOpened(opened?.anchor === next.anchor ? null : next);
  const openColumn = (column: IColumn, anchor: HTMLElement, fit: () => void): void =>
    toggle({ kind: 'column', column, anchor, fit });
  const sort = (column: IColumn, isFurther: boolean): void => {
    if (state.isPaged) {
      model.ask(sortedBy(query, column.name, isFurther));
    }
  };
  const isPlotted = plotWords !== null && rendermime !== null;
  return (
    <section
      ref={root}
      className={`jp-SvcResult-view${query === shown ? '' : ' jp-mod-changing'}`}
      aria-label={resultName(trans, model.calls)}
      aria-busy={state.isReading}
      // A notebook takes the keyboard back at each key that reaches it.
      onKeyDown={event => event.stopPropagation()}
    >
      <Tools
        {...props}
        state={state}
        isPlotted={isPlotted}
        canPlot={rendermime !== null && plotKinds(columns).length > 0}
        plot={() => setPlotWords(isPlotted ? null : '')}
        copy={copy}
        hasSelection={selection !== null && selection.active.row >= 0}
        open={(kind, anchor) => toggle({ kind, anchor })}
      />
      {state.problem !== null && (
        <p className="jp-SvcResult-problem" role="status">
          <span>{problemWords(trans, state.problem, state, model.calls.command)}</span>{' '}
          <TextButton label={trans.__('Try again')} onClick={() => model.retry()} />
        </p>
      )}
      {isPlotted ? (
        <PlotPanel
          model={model}
          columns={columns}
          rendermime={rendermime}
          onShown={setPlotWords}
          onDone={setMessage}
          trans={trans}
        />
      ) : (
        <Grid
          model={model}
          columns={columns}
          label={trans.__('Rows of command %1', model.calls.command)}
          selection={selection}
          onSelect={next =>
            next === null && opened?.kind === 'value' ? close() : setSelection(next)
          }
          onSeen={setSeen}
          onColumn={openColumn}
          onSort={sort}
          onValue={(cell, isBeside) => setOpened({ kind: 'value', isBeside, ...cell })}
          onCopy={copy}
          trans={trans}
        />
      )}
      <footer>
        <span>{isPlotted ? plotWords : footer(trans, state, ...seen)}</span>
        <span role="status">{message !== '' ? message : hiddenWords(state, trans)}</span>
      </footer>
      {opened !== null && (
        <Popover
          anchor={opened.anchor}
          label={openedLabel(opened, trans)}
          isBeside={opened.kind === 'value' && opened.isBeside}
          close={close}
        >
          {opened.kind === 'column' ? (
            <ColumnPanel
              model={model}
              column={opened.column}
              fit={opened.fit}
              close={close}
              trans={trans}
            />
          ) : opened.kind === 'value' ? (
            <ValuePanel
              key={`${opened.row} ${opened.column.name}`}
              model={model}
              row={opened.row}
              column={opened.column}
              trans={trans}
            />
          ) : opened.kind === 'columns' ? (
            <ColumnChooser model={model} trans={trans} />
          ) : (
            <DownloadMenu rows={state.of} save={save} trans={trans} />
          )}
        </Popover>
      )}
    </section>
  );
}

interface IToolsProps extends IResultViewProps {
  state: IResultState;
  isPlotted: boolean;
  canPlot: boolean;
  plot: () => void;
  copy: () => void;
  hasSelection: boolean;
  open: (kind: 'columns' | 'download', anchor: HTMLElement) => void;
}

function Tools(props: IToolsProps): JSX.Element {
  const { model, state, trans } = props;
  const { query, isPaged, of } = state;
  const remove = (filter: IFilter): void =>
    model.ask({ ...query, where: query.where.filter(kept => kept !== filter) });
  const absent = isPaged ? undefined : trans.__('Needs the result from the service.');
  return (
    <div className="jp-SvcResult-tools">
      <Search model={model} isDisabled={!isPaged} of={of} trans={trans} />
      {query.where.map((filter, index) => {
        const words = filterWords(trans, filter, state.columns);
        return (
          <button
            key={index}
            type="button"
            className="jp-SvcResult-chip"
            title={trans.__('Remove the filter: %1', words)}
            aria-label={trans.__('Remove the filter: %1', words)}
            onClick={() => remove(filter)}
          >
            <span dir="auto">{words}</span> ✕
          </button>
        );
      })}
      <span className="jp-SvcResult-grow" />
      {props.rendermime !== null && (
        <TextButton
          label={trans.__('Plot')}
          title={isPaged ? trans.__('Line, bars, histogram or scatter') : (absent ?? '')}
          isDisabled={!isPaged || !props.canPlot || state.total === 0}
          isPressed={props.isPlotted}
          onClick={props.plot}
        />
      )}
      <TextButton
        label={trans.__('Columns')}
        onClick={event => props.open('columns', event.currentTarget)}
      />
      <TextButton
        label={trans.__('Copy')}
        title={
          props.hasSelection
            ? trans.__('Copy the selected cells')
            : trans.__('Copy the rows, at most %1', count(COPIED_ROWS))
        }
        onClick={props.copy}
      />
      <TextButton
        label={trans.__('Download')}
        title={absent ?? trans.__('The whole result as CSV, Parquet or Arrow')}
        isDisabled={!isPaged}
        onClick={event => props.open('download', event.currentTarget)}
      />
    </div>
  );
}

function Search(props: {
  model: ResultModel;
  isDisabled: boolean;
  of: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, of, trans } = props;
  const { query } = useResult(model);
  const [typed, setTyped] = useState(query.search);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== model.state.query.search) {
      model.ask({ ...model.state.query, search: text });
    }
  };
  const words = trans._n('Search %1 row', 'Search %1 rows', of).replace(String(of), count(of));
  return (
    <input
      type="search"
      className="jp-mod-styled"
      aria-label={words}
      placeholder={words}
      disabled={props.isDisabled}
      value={typed}
      onChange={({ target: { value } }) => {
        setTyped(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => search(value), TYPING);
      }}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          event.preventDefault();
          search(typed);
        }
      }}
    />
  );
}

function openedLabel(opened: Opened, trans: TranslationBundle): string {
  switch (opened.kind) {
    case 'column':
      return trans.__('Column %1', opened.column.name);
    case 'value':
      return trans.__('Value of %1 in row %2', opened.column.name, count(opened.row));
    case 'columns':
      return trans.__('Columns');
    case 'download':
      return trans.__('Download');
  }
}

function hiddenWords({ hidden, columns }: IResultState, trans: TranslationBundle): string {
  return hidden.size === 0
    ? ''
    : trans.__('%1 of %2 columns', count(columns.length - hidden.size), count(columns.length));
}

/** Ctrl+C and Ctrl+A are the grid's. */
function isCopyKey(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && /^[ac]$/i.test(event.key);
}
