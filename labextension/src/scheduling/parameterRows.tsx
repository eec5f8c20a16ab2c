import type { JSX } from 'react';
import { FormButton, SelectField, TextField } from '../forms';
import type { IParameter, ParameterType } from './parameters';
import type { IPartProps } from './timing';

const TYPES = (['str', 'int', 'float', 'bool'] as const).map(value => ({ value, label: value }));
const TRUTHS = ['true', 'false'].map(value => ({ value, label: value }));

/** The notebook's declared parameters, and additional ones. */
export function ParameterRows({ values, problems, set, trans }: IPartProps): JSX.Element {
  const { parameters } = values;
  const replace = (index: number, changes: Partial<IParameter>): void =>
    set({
      parameters: parameters.map((one, place) => (place === index ? { ...one, ...changes } : one))
    });
  const add = (): void =>
    set({ parameters: [...parameters, { name: '', type: 'str', text: '', byDefault: null }] });
  return (
    <fieldset className="jp-SvcForm-group">
      <legend>{trans.__('Parameters')}</legend>
      {parameters.length === 0 && (
        <div className="jp-SvcMuted">
          {trans.__(
            'The notebook has none: tag a cell of assignments with “parameters”, or add one here.'
          )}
        </div>
      )}
      {parameters.map((one, index) => (
        <div className="jp-SvcForm-row" key={one.byDefault === null ? `added-${index}` : one.name}>
          {one.byDefault === null && (
            <>
              <TextField
                label={trans.__('Name')}
                value={one.name}
                problem={problems[`parameters.${index}.name`]}
                onChange={name => replace(index, { name })}
              />
              <SelectField
                label={trans.__('Type')}
                value={one.type}
                options={TYPES}
                onChange={type => replace(index, retyped(one, type as ParameterType))}
              />
            </>
          )}
          <Value
            parameter={one}
            label={labelOf(one, trans.__('Value'))}
            problem={problems[`parameters.${index}.text`]}
            onChange={text => replace(index, { text })}
          />
          {one.byDefault === null && (
            <FormButton
              kind="minimal"
              label={trans.__('Remove %1', one.name)}
              onClick={() => set({ parameters: parameters.filter((_, place) => place !== index) })}
            />
          )}
          {one.byDefault !== null && one.byDefault !== one.text && (
            <FormButton
              kind="minimal"
              label={trans.__('Back to %1', one.byDefault)}
              onClick={() => replace(index, { text: one.byDefault ?? '' })}
            />
          )}
        </div>
      ))}
      <div className="jp-SvcField-problem" role="status">
        {problems.parameters === undefined ? '' : `✗ ${problems.parameters}`}
      </div>
      <FormButton kind="minimal" label={trans.__('+ Add a parameter')} onClick={add} />
    </fieldset>
  );
}

function labelOf(one: IParameter, value: string): string {
  return one.byDefault === null ? value : `${one.name} (${one.type})`;
}

function retyped(one: IParameter, type: ParameterType): Partial<IParameter> {
  return type === 'bool' && one.text !== 'true' ? { type, text: 'false' } : { type };
}

function Value(props: {
  parameter: IParameter;
  label: string;
  problem: string | undefined;
  onChange: (text: string) => void;
}): JSX.Element {
  const { parameter, label, problem, onChange } = props;
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
