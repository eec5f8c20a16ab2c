import type { TranslationBundle } from '@jupyterlab/translation';
import { filterListIcon } from '@jupyterlab/ui-components';
import { type JSX, type PointerEvent, useRef } from 'react';
import type { IStatistics } from './calls';
import type { ISort } from './query';
import { type IColumn, isAlignedRight } from './values';
import { count } from '../words';
import { typeWord } from './words';
import { Histogram } from './histogram';

interface IHeadProps {
  id: string;
  column: IColumn;
  position: number;
  style: { left: number; width: number };
  sort: readonly ISort[];
  statistics: IStatistics | undefined;
  isUtc: boolean;
  isActive: boolean;
  onSort: (column: IColumn, isFurther: boolean) => void;
  onOpen: (anchor: HTMLElement) => void;
  onWidth: (width: number) => void;
  onFit: () => void;
  trans: TranslationBundle;
}

/** The head of a column: its name, which sorts, its type, and a histogram once its statistics were asked for. */
export function ColumnHead(props: IHeadProps): JSX.Element {
  const { column, statistics, trans } = props;
  const { name } = column;
  const place = props.sort.findIndex(sort => sort.column === name);
  const sort = props.sort[place];
  const order = sort === undefined ? 'none' : sort.isDescending ? 'descending' : 'ascending';
  const arrow = sort === undefined ? '' : sort.isDescending ? '▼' : '▲';
  const kinds = [
    isAlignedRight(column.type) && 'jp-mod-right',
    sort !== undefined && 'jp-mod-sorted',
    props.isActive && 'jp-mod-active'
  ];
  return (
    <div
      id={props.id}
      className={['jp-SvcResult-cell', ...kinds].filter(Boolean).join(' ')}
      role="columnheader"
      aria-colindex={props.position + 2}
      aria-sort={order}
      style={props.style}
    >
      <button
        type="button"
        tabIndex={-1}
        className="jp-SvcResult-sort"
        title={trans.__('%1: click to sort, with Shift by several columns', name)}
        onClick={event => props.onSort(column, event.shiftKey)}
      >
        <span className="jp-SvcResult-name" dir="auto">
          {name}
        </span>
        {arrow !== '' && (
          <span aria-hidden="true">
            {arrow}
            {props.sort.length > 1 && <sub>{place + 1}</sub>}
          </span>
        )}
      </button>
      <small>{headWords(trans, column, props.isUtc, statistics)}</small>
      {statistics?.histogram?.length ? <Histogram bins={statistics.histogram} /> : null}
      <button
        type="button"
        tabIndex={-1}
        className="jp-SvcResult-menu"
        aria-label={trans.__('Filter and statistics of %1', name)}
        title={trans.__('Filter and statistics of %1', name)}
        onClick={event => props.onOpen(event.currentTarget)}
      >
        <filterListIcon.react tag="span" width="14px" height="14px" />
      </button>
      <Edge {...props} />
    </div>
  );
}

/** The right edge of a column, by which it is made wider or narrower. */
function Edge(props: Pick<IHeadProps, 'style' | 'onWidth' | 'onFit' | 'trans'>): JSX.Element {
  /** Of a drag, the width less the position of the pointer. */
  const offset = useRef<number | null>(null);
  return (
    <span
      className="jp-SvcResult-edge"
      aria-hidden="true"
      title={props.trans.__('Drag to set the width, press twice to fit the values')}
      onPointerDown={(event: PointerEvent) => {
        if (event.button === 0) {
          event.preventDefault();
          event.currentTarget.setPointerCapture(event.pointerId);
          offset.current = props.style.width - event.clientX;
        }
      }}
      onPointerMove={event => {
        if (offset.current !== null) {
          props.onWidth(offset.current + event.clientX);
        }
      }}
      onLostPointerCapture={() => {
        offset.current = null;
      }}
      onDoubleClick={props.onFit}
    />
  );
}

/** Return the line below a column's name: its type, and the number of different values once it is known. */
export function headWords(
  trans: TranslationBundle,
  column: IColumn,
  isUtc: boolean,
  statistics?: IStatistics
): string {
  const type = isUtc ? trans.__('timestamp, UTC') : typeWord(trans, column.type);
  const distinct = statistics?.distinct ?? null;
  return distinct === null || statistics?.histogram?.length ? type : `${type} · ${count(distinct)}`;
}
