import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import { type JSX, useEffect, useState } from 'react';
import { asServiceError } from '../service';
import type { IStatistics } from './calls';
import { Histogram } from './histogram';
import { useResult } from './hooks';
import type { ResultModel } from './model';
import { type IFilter, type IRowsQuery, type Operator, OPERATORS, typedValue } from './query';
import { type IColumn, isMeasure, isNumber } from './values';
import { count } from '../words';
import { operatorWord, typeWord, written } from './words';

interface IColumnPanelProps {
  model: ResultModel;
  column: IColumn;
  /** Makes the column as wide as its head and its values in view. */
  fit: () => void;
  close: () => void;
  trans: TranslationBundle;
}

/** What can be done with a column: sort by it, filter by it, hide it, set its width, and see its statistics. */
export function ColumnPanel(props: IColumnPanelProps): JSX.Element {
  const { model, column, close, trans } = props;
  const { query, widths } = useResult(model);
  const ask = (next: Partial<IRowsQuery>): void => {
    model.ask({ ...query, ...next });
    close();
  };
  const add = (filter: IFilter): void => ask({ where: [...query.where, filter] });
  const sort = (isDescending: boolean): void =>
    ask({ sort: [{ column: column.name, isDescending }] });
  return (
    <>
      <div className="jp-SvcResult-popoverHead">
        <b dir="auto">{column.name}</b> <small>{typeWord(trans, column.type)}</small>
      </div>
      <FilterForm column={column} add={add} trans={trans} />
      <div className="jp-SvcResult-buttons">
        <TextButton label={trans.__('Sort ascending')} onClick={() => sort(false)} />
        <TextButton label={trans.__('Sort descending')} onClick={() => sort(true)} />
        <TextButton
          label={trans.__('Hide column')}
          onClick={() => {
            model.show(column.name, false);
            close();
          }}
        />
        <TextButton
          label={trans.__('Fit width')}
          title={trans.__('As wide as the values in view')}
          onClick={() => {
            props.fit();
            close();
          }}
        />
        {widths.has(column.name) && (
          <TextButton
            label={trans.__('Reset width')}
            onClick={() => {
              model.setWidth(column.name, null);
              close();
            }}
          />
        )}
      </div>
      <Statistics model={model} column={column} add={add} trans={trans} />
    </>
  );
}

/** A button that is a text in the colour of links. */
export function TextButton(props: {
  label: string;
  onClick: (event: React.MouseEvent<HTMLButtonElement>) => void;
  title?: string;
  isDisabled?: boolean;
  isPressed?: boolean;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-SvcResult-button"
      title={props.title}
      disabled={props.isDisabled}
      aria-pressed={props.isPressed}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}

function FilterForm(props: {
  column: IColumn;
  add: (filter: IFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { column, trans } = props;
  const [operator, setOperator] = useState<Operator>('=');
  const [typed, setTyped] = useState('');
  const [isWrong, setIsWrong] = useState(false);
  const operators = OPERATORS.filter(known => known !== 'contains' || !isMeasure(column.type));
  const isWithValue = operator !== 'is_null';
  const submit = (): void => {
    const value = isWithValue ? typedValue(column, operator, typed) : true;
    if (value === null) {
      setIsWrong(true);
    } else {
      props.add({ column: column.name, operator, value });
    }
  };
  return (
    <form
      className="jp-SvcResult-filter"
      onSubmit={event => {
        event.preventDefault();
        submit();
      }}
    >
      <HTMLSelect
        aria-label={trans.__('Condition')}
        value={operator}
        onChange={event => {
          setOperator(event.target.value as Operator);
          setIsWrong(false);
        }}
      >
        {operators.map(known => (
          <option key={known} value={known}>
            {operatorWord(trans, known)}
          </option>
        ))}
      </HTMLSelect>
      {isWithValue && (
        <input
          className="jp-mod-styled"
          aria-label={trans.__('Value')}
          aria-invalid={isWrong}
          placeholder={placeholder(column, trans)}
          value={typed}
          onChange={event => {
            setTyped(event.target.value);
            setIsWrong(false);
          }}
        />
      )}
      <button type="submit" className="jp-SvcButton jp-mod-accept">
        {trans.__('Filter')}
      </button>
      {isWrong && (
        <p role="alert">
          {isNumber(column.type) ? trans.__('Enter a number.') : trans.__('Enter true or false.')}
        </p>
      )}
    </form>
  );
}

function placeholder(column: IColumn, trans: TranslationBundle): string {
  switch (column.type) {
    case 'timestamp':
      return '2026-01-31 09:00';
    case 'date':
      return '2026-01-31';
    case 'boolean':
      return 'true';
    default:
      return isNumber(column.type) ? '0' : trans.__('Value');
  }
}

function Statistics(props: {
  model: ResultModel;
  column: IColumn;
  add: (filter: IFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, column, trans } = props;
  const [found, setFound] = useState<IStatistics | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isGone = false;
    model.askStatistics(column.name).then(
      answer => {
        if (!isGone) {
          setFound(answer);
        }
      },
      (reason: unknown) => {
        if (!isGone) {
          setProblem(asServiceError(reason).message);
        }
      }
    );
    return () => {
      isGone = true;
    };
  }, [model, column.name]);
  if (problem !== '') {
    return <p role="alert">{trans.__('No statistics: %1', problem)}</p>;
  }
  if (found === null) {
    return (
      <p className="jp-SvcResult-statistics" role="status">
        {trans.__('Reading the statistics …')}
      </p>
    );
  }
  const value = (of: IStatistics['min']): string =>
    of === undefined || of === null ? '' : written(column, of);
  const figures: [string, string][] = [
    [trans.__('rows'), count(found.count)],
    [trans.__('null'), count(found.nulls)],
    [trans.__('distinct'), typeof found.distinct === 'number' ? count(found.distinct) : ''],
    [trans.__('smallest'), value(found.min)],
    [trans.__('largest'), value(found.max)],
    [trans.__('mean'), mean(column, found)]
  ];
  const bins = found.histogram ?? [];
  return (
    <div className="jp-SvcResult-statistics">
      <dl>
        {figures
          .filter(([, text]) => text !== '')
          .map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      {bins.length > 0 && (
        <figure>
          <Histogram bins={bins} />
          <figcaption>
            <span>{value(bins[0]?.from)}</span>
            <span>{value(bins.at(-1)?.to)}</span>
          </figcaption>
        </figure>
      )}
      {bins.length === 0 && found.top && found.top.length > 0 && (
        <ul aria-label={trans.__('Most frequent values')}>
          {found.top.map(({ value: top, count: times }, index) => (
            <li key={index}>
              <TopValue column={column} value={top} add={props.add} trans={trans} />
              <span>{count(times)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Return the mean for reading: of whole numbers, too, it has a fraction. */
function mean(column: IColumn, { mean: found }: IStatistics): string {
  const type = isNumber(column.type) ? 'number' : column.type;
  return found === undefined || found === null ? '' : written({ ...column, type }, found);
}

function TopValue(props: {
  column: IColumn;
  value: string | number | boolean | null;
  add: (filter: IFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { column, value, trans } = props;
  const text = written(column, value);
  return (
    <button
      type="button"
      className="jp-SvcResult-button"
      dir="auto"
      title={trans.__('Filter by this value')}
      onClick={() =>
        props.add(
          value === null
            ? { column: column.name, operator: 'is_null', value: true }
            : { column: column.name, operator: '=', value }
        )
      }
    >
      {text === '' ? '""' : text}
    </button>
  );
}
