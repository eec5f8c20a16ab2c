import type { TranslationBundle } from '@jupyterlab/translation';
import { folderIcon, type LabIcon, tableRowsIcon, UseSignal } from '@jupyterlab/ui-components';
import { type JSX, useContext, useEffect } from 'react';
import { dataIcon } from '../icons';
import { EmptyState, ErrorState, LoadingState, TreeLine, TreeList } from '../list';
import { useResource, VisibleContext } from '../service';
import type { DataSteps } from './commands';
import { type DataKind, opens } from './items';
import type { DataModel } from './model';
import type { IDataRow } from './rows';
import { type Step, stepsOf } from './steps';
import { factsOf, hoverOf, messageWords, nameShown } from './words';

/** The dependencies of the section. */
export interface IDataSectionProps {
  trans: TranslationBundle;
  model: DataModel;
  steps: DataSteps;
  /** Called when the section becomes visible. */
  look: () => void;
  addTap: () => void;
}

const ICONS: Readonly<Record<DataKind, LabIcon | null>> = {
  source: dataIcon,
  schema: folderIcon,
  table: tableRowsIcon,
  column: null
};
/** The steps with a button in the row; the menu has all. */
const BUTTONS: readonly Step[] = ['insert', 'preview', 'copy', 'edit', 'refresh'];

/** Taps and Hive, with their schemas, tables and columns; each is read when it is opened. */
export function DataSection(props: IDataSectionProps): JSX.Element {
  const { model, look } = props;
  const isVisible = useContext(VisibleContext);
  useEffect(() => {
    if (isVisible) {
      look();
    }
  }, [isVisible, look]);
  return (
    <div className="jp-SvcData">
      <UseSignal signal={model.changed}>{() => <Content {...props} />}</UseSignal>
    </div>
  );
}

function Content(props: IDataSectionProps): JSX.Element {
  const { trans, model, addTap } = props;
  const { value, error } = useResource(model.taps);
  const { rows, search } = model;
  const failure = error && (
    <ErrorState
      error={error}
      retry={() => void model.taps.refresh()}
      retryLabel={trans.__('Try again')}
    />
  );
  if (!value) {
    return failure ?? <LoadingState text={trans.__('Asking the service…')} />;
  }
  if (search !== '' && rows.length === 0) {
    return (
      <EmptyState
        text={trans.__('No tap, and no table or column that was read so far, has “%1”.', search)}
      />
    );
  }
  return (
    <>
      {failure}
      {value.length === 0 && search === '' && (
        <EmptyState text={trans.__('No taps yet. A tap is a stored connection to a database.')}>
          <button type="button" className="jp-SvcButton jp-mod-small" onClick={addTap}>
            {trans.__('Add a tap…')}
          </button>
        </EmptyState>
      )}
      <DataTree {...props} rows={rows} />
    </>
  );
}

function DataTree(props: IDataSectionProps & { rows: readonly IDataRow[] }): JSX.Element {
  const { trans, model, steps, rows } = props;
  const toggle = (row: IDataRow): void => {
    if (row.isFound) {
      return;
    }
    if (row.isOpen) {
      model.close(row.item);
    } else {
      void model.open(row.item);
    }
  };
  const activate = (row: IDataRow): void => {
    if (row.kind === 'problem' || row.kind === 'outdated') {
      void model.open(row.item, true);
    } else if (row.kind === 'item' && row.item.kind === 'column') {
      void steps.perform(row.item, 'insert');
    } else if (row.kind === 'item') {
      toggle(row);
    }
  };
  const select = (row: IDataRow): void => model.select(row.kind === 'item' ? row.item : null);
  return (
    <TreeList
      rows={rows}
      label={trans.__('Taps, schemas, tables and columns')}
      opens={row => opens(row.item) && (!row.isFound || row.isOpen)}
      toggle={toggle}
      render={row => <DataLine trans={trans} row={row} toggle={() => toggle(row)} />}
      actions={row => <RowSteps row={row} steps={steps} />}
      selectedKey={model.selected && `${model.selected.key}#item`}
      onSelect={select}
      onContextMenu={select}
      onActivate={activate}
      rowProps={row => ({ onFocusCapture: () => select(row) })}
    />
  );
}

function DataLine(props: {
  trans: TranslationBundle;
  row: IDataRow;
  toggle: () => void;
}): JSX.Element {
  const { trans, row, toggle } = props;
  const { item, depth } = row;
  if (row.kind !== 'item') {
    const words = messageWords(trans, row);
    return <TreeLine depth={depth} name={words} hover={row.text || words} isMuted />;
  }
  const facts = factsOf(trans, item);
  return (
    <TreeLine
      depth={depth}
      name={nameShown(row)}
      hover={hoverOf(trans, item)}
      icon={ICONS[item.kind]}
      isOpen={opens(item) && !row.isFound ? row.isOpen : null}
      toggle={toggle}
      isMuted={item.source.tap?.active === false}
    >
      {facts !== '' && <span className="jp-SvcTree-facts">{facts}</span>}
    </TreeLine>
  );
}

/** The buttons of a row; what cannot be done now looks so, and says why. */
function RowSteps({ row, steps }: { row: IDataRow; steps: DataSteps }): JSX.Element | null {
  const { item } = row;
  if (row.kind !== 'item') {
    return null;
  }
  const possible = BUTTONS.filter(step => stepsOf(item).has(step));
  return (
    <>
      {possible.map(step => {
        const words = steps.words(item, step);
        const Icon = steps.icon(step);
        return (
          <button
            key={step}
            type="button"
            className="jp-SvcTree-step"
            title={words}
            aria-label={words}
            aria-disabled={!steps.isPossible(item, step)}
            onClick={() => void steps.perform(item, step)}
          >
            <Icon.react tag="span" aria-hidden="true" />
          </button>
        );
      })}
    </>
  );
}
