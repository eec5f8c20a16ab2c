import type { JSX } from 'react';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Field } from '../notes/formBar';
import type { FormValue } from '../notes/formValues';
import type { INote } from '../service/records/notes';
import { FormButton, type IOption, SelectField, TextField } from '../forms';
import { labelOf } from './labels';
import { asOwn, type IParameter, isOwn, type ParameterType } from './parameters';
import type { IPartProps } from './timing';

const TYPES = (['str', 'int', 'float', 'bool'] as const).map(value => ({ value, label: value }));
const TRUTHS = ['true', 'false'].map(value => ({ value, label: value }));

interface IRowsProps extends IPartProps {
  /** Why the notebook's cell of parameters cannot be read, or null. */
  unreadable: string | null;
  /** The note whose forms are the parameters, or null. */
  note: INote | null;
}

/** The notebook's declared parameters, and additional ones; the type of a value that does not fit can be changed. */
export function ParameterRows(props: IRowsProps): JSX.Element {
  const { values, problems, set, trans, unreadable, note } = props;
  const { parameters } = values;
  const replace = (index: number, row: IParameter): void =>
    set({ parameters: parameters.map((one, place) => (place === index ? row : one)) });
  const problemOf = (index: number): string | undefined => problems[`parameters.${index}.text`];
  const add = (): void =>
    set({ parameters: [...parameters, { name: '', type: 'str', text: '', own: null }] });
  return (
    <fieldset className="jp-SvcForm-group">
      <legend>{labelOf(trans, 'parameters')}</legend>
      {unreadable !== null && (
        <div className="jp-SvcField-problem" role="status">
          {trans.__('✗ The cell tagged “parameters” cannot be read: %1', unreadable)}
        </div>
      )}
      {parameters.length === 0 && unreadable === null && (
        <div className="jp-SvcMuted">
          {note
            ? trans.__('The note has no forms.')
            : trans.__(
                'The notebook has none: tag a cell of assignments with “parameters”, or add one here.'
              )}
        </div>
      )}
      {parameters.map((one, index) => (
        <div className="jp-SvcForm-row" key={one.own === null ? `added-${index}` : one.name}>
          {one.own === null && (
            <TextField
              label={trans.__('Name')}
              value={one.name}
              problem={problems[`parameters.${index}.name`]}
              onChange={name => replace(index, { ...one, name })}
            />
          )}
          {(one.own?.type === 'code' || one.own?.type !== one.type || problemOf(index)) && (
            <SelectField
              label={one.own === null ? trans.__('Type') : trans.__('%1: type', one.name)}
              value={one.type}
              options={one.own?.type === 'code' ? [codeOption(trans), ...TYPES] : TYPES}
              onChange={type => replace(index, retyped(one, type as ParameterType))}
            />
          )}
          <Value
            parameter={one}
            trans={trans}
            label={one.own === null ? trans.__('Value') : `${one.name} (${one.type})`}
            problem={problemOf(index)}
            onChange={text => replace(index, { ...one, text })}
          />
          {one.own === null && (
            <FormButton
              kind="minimal"
              label={trans.__('Remove %1', one.name)}
              onClick={() => set({ parameters: parameters.filter((_, place) => place !== index) })}
            />
          )}
          {one.own !== null && !isOwn(one) && (
            <FormButton
              kind="minimal"
              label={trans.__('Back to %1', one.own.text)}
              onClick={() => replace(index, asOwn(one))}
            />
          )}
        </div>
      ))}
      <div className="jp-SvcField-problem" role="status">
        {problems.parameters === undefined ? '' : `✗ ${problems.parameters}`}
      </div>
      {note ? (
        <Passwords note={note} trans={trans} />
      ) : (
        <FormButton kind="minimal" label={trans.__('+ Add a parameter')} onClick={add} />
      )}
    </fieldset>
  );
}

/** The forms that a schedule cannot have a value for. */
function Passwords({ note, trans }: { note: INote; trans: TranslationBundle }): JSX.Element | null {
  const names = (note.forms ?? [])
    .filter(form => form.type === 'password' && !form.hidden)
    .map(form => form.name);
  return names.length === 0 ? null : (
    <div className="jp-SvcMuted">
      {trans.__('No password is kept here: the runs have none for %1.', names.join(', '))}
    </div>
  );
}

function codeOption(trans: TranslationBundle): IOption {
  return { value: 'code', label: trans.__('as in the notebook') };
}

/** Return a parameter of another type; a value takes the place of code, which is none. */
function retyped(one: IParameter, type: ParameterType): IParameter {
  if (type === 'code') {
    return asOwn(one);
  }
  const text = one.type === 'code' ? '' : one.text;
  return { ...one, type, text: type === 'bool' && text !== 'true' ? 'false' : text };
}

function Value(props: {
  parameter: IParameter;
  trans: TranslationBundle;
  label: string;
  problem: string | undefined;
  onChange: (text: string) => void;
}): JSX.Element {
  const { parameter, label, problem, onChange, trans } = props;
  const form = parameter.own?.form;
  if (form) {
    const set = (value: FormValue): void => onChange([value].flat().join(','));
    const value = form.type === 'checkbox' ? parameter.text.split(',') : parameter.text;
    return <Field form={form} value={value} trans={trans} set={set} />;
  }
  if (parameter.type === 'code') {
    return <TextField label={label} value={parameter.text} disabled onChange={onChange} />;
  }
  if (parameter.type === 'bool') {
    return (
      <SelectField
        label={label}
        value={parameter.text}
        options={TRUTHS}
        problem={problem}
        onChange={onChange}
      />
    );
  }
  return (
    <TextField
      label={label}
      value={parameter.text}
      problem={problem}
      numeric={parameter.type !== 'str'}
      onChange={onChange}
    />
  );
}
