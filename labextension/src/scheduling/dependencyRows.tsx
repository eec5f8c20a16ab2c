import type { JSX } from 'react';
import type { TimeUnit } from '../service/records/schedules';
import { FormButton, SelectField, TextField } from '../forms';
import type { IFileRow, ITableRow } from './formValues';
import { labelOf } from './labels';
import { type IPartProps, unitOptions } from './timing';

/** Placeholders of empty fields; the same in every language. */
const EXAMPLES = {
  path: 'sales/day=%Y-%m-%d/',
  flag: '_SUCCESS',
  table: 'default.sales',
  columns: 'day=%Y-%m-%d, region=EU|US'
};
const NEW_FILE: IFileRow = { path: '', doneFlag: '', windowStart: '0', windowEnd: '0' };
const NEW_TABLE: ITableRow = { table: '', columns: '', windowStart: '0', windowEnd: '0' };

/** The dependencies of a run: files and partitions of Hive tables. */
export function DependencyRows(props: IPartProps): JSX.Element {
  const { values, problems, set, trans } = props;
  const hasAny = values.files.length + values.tables.length > 0;
  return (
    <>
      <div className="jp-SvcMuted">
        {trans.__(
          'A run begins when all of these are there. 0 is the step of the run itself, -1 the one before.'
        )}
      </div>
      <Files {...props} />
      <Tables {...props} />
      {hasAny && (
        <div className="jp-SvcForm-row">
          <TextField
            label={labelOf(trans, 'timeOut')}
            value={values.timeOut}
            problem={problems.timeOut}
            numeric
            onChange={timeOut => set({ timeOut })}
          />
          {values.timing !== 'interval' && (
            <>
              <TextField
                label={labelOf(trans, 'stepEvery')}
                value={values.stepEvery}
                problem={problems.stepEvery}
                numeric
                onChange={stepEvery => set({ stepEvery })}
              />
              <SelectField
                label={labelOf(trans, 'stepUnit')}
                value={values.stepUnit}
                options={unitOptions(trans)}
                onChange={unit => set({ stepUnit: unit as TimeUnit })}
              />
            </>
          )}
        </div>
      )}
      <FormButton
        kind="minimal"
        label={trans.__('+ Add a file')}
        onClick={() => set({ files: [...values.files, NEW_FILE] })}
      />
      <FormButton
        kind="minimal"
        label={trans.__('+ Add a Hive table')}
        onClick={() => set({ tables: [...values.tables, NEW_TABLE] })}
      />
    </>
  );
}

function Files({ values, problems, set, trans }: IPartProps): JSX.Element {
  const replace = (index: number, changes: Partial<IFileRow>): void =>
    set({ files: replaced(values.files, index, changes) });
  return (
    <>
      {values.files.map((row, index) => (
        <div
          className="jp-SvcForm-row"
          key={index}
          role="group"
          aria-label={trans.__('File %1', index + 1)}
        >
          <TextField
            label={trans.__('Path, with %Y %m %d %H for the time')}
            value={row.path}
            problem={problems[`files.${index}.path`] ?? (index === 0 ? problems.files : undefined)}
            placeholder={EXAMPLES.path}
            onChange={path => replace(index, { path })}
          />
          <TextField
            label={trans.__('Done flag')}
            value={row.doneFlag}
            problem={problems[`files.${index}.doneFlag`]}
            placeholder={EXAMPLES.flag}
            onChange={doneFlag => replace(index, { doneFlag })}
          />
          <Window
            row={row}
            start={problems[`files.${index}.windowStart`]}
            end={problems[`files.${index}.windowEnd`]}
            change={changes => replace(index, changes)}
            trans={trans}
          />
          <FormButton
            kind="minimal"
            label={trans.__('Remove file %1', index + 1)}
            onClick={() => set({ files: without(values.files, index) })}
          />
        </div>
      ))}
    </>
  );
}

function Tables({ values, problems, set, trans }: IPartProps): JSX.Element {
  const replace = (index: number, changes: Partial<ITableRow>): void =>
    set({ tables: replaced(values.tables, index, changes) });
  return (
    <>
      {values.tables.map((row, index) => (
        <div
          className="jp-SvcForm-row"
          key={index}
          role="group"
          aria-label={trans.__('Hive table %1', index + 1)}
        >
          <TextField
            label={trans.__('Hive table')}
            value={row.table}
            problem={
              problems[`tables.${index}.table`] ?? (index === 0 ? problems.tables : undefined)
            }
            placeholder={EXAMPLES.table}
            onChange={table => replace(index, { table })}
          />
          <TextField
            label={trans.__('Partition columns')}
            value={row.columns}
            problem={problems[`tables.${index}.columns`]}
            placeholder={EXAMPLES.columns}
            onChange={columns => replace(index, { columns })}
          />
          <Window
            row={row}
            start={problems[`tables.${index}.windowStart`]}
            end={problems[`tables.${index}.windowEnd`]}
            change={changes => replace(index, changes)}
            trans={trans}
          />
          <FormButton
            kind="minimal"
            label={trans.__('Remove Hive table %1', index + 1)}
            onClick={() => set({ tables: without(values.tables, index) })}
          />
        </div>
      ))}
    </>
  );
}

interface IWindow {
  windowStart: string;
  windowEnd: string;
}

function Window(props: {
  row: IWindow;
  start: string | undefined;
  end: string | undefined;
  change: (window: Partial<IWindow>) => void;
  trans: IPartProps['trans'];
}): JSX.Element {
  const { row, change, trans } = props;
  return (
    <>
      <TextField
        label={trans.__('From step')}
        value={row.windowStart}
        problem={props.start}
        numeric
        onChange={windowStart => change({ windowStart })}
      />
      <TextField
        label={trans.__('To step')}
        value={row.windowEnd}
        problem={props.end}
        numeric
        onChange={windowEnd => change({ windowEnd })}
      />
    </>
  );
}

function replaced<T>(rows: readonly T[], index: number, changes: Partial<T>): T[] {
  return rows.map((row, place) => (place === index ? { ...row, ...changes } : row));
}

function without<T>(rows: readonly T[], index: number): T[] {
  return rows.filter((_, place) => place !== index);
}
