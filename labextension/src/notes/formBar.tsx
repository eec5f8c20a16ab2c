import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect, UseSignal } from '@jupyterlab/ui-components';
import { type JSX, useId } from 'react';
import type { INoteForm } from '../service/records/notes';
import type { FormValue } from './formValues';
import type { SparkNotebook } from './sparkNotebook';

/** Properties of the fields above the cells. */
export interface IFormBarProps {
  notebook: SparkNotebook;
  trans: TranslationBundle;
  /** Runs all cells. */
  run: () => void;
}

/** The forms of a notebook as fields above its cells; nothing for a notebook without forms. */
export function FormBar(props: IFormBarProps): JSX.Element {
  return <UseSignal signal={props.notebook.changed}>{() => <Fields {...props} />}</UseSignal>;
}

function Fields({ notebook, trans, run }: IFormBarProps): JSX.Element | null {
  const { values, formsProblem } = notebook;
  if (!notebook.isSpark || (values.forms.length === 0 && formsProblem === null)) {
    return null;
  }
  return (
    <form
      className="jp-SvcNote-forms"
      aria-label={trans.__('Forms of this notebook')}
      onSubmit={event => event.preventDefault()}
    >
      {values.forms.map(form => (
        <Field
          key={form.name}
          form={form}
          value={values.of(form)}
          trans={trans}
          set={value => notebook.set(form.name, value)}
        />
      ))}
      {formsProblem !== null && (
        <div className="jp-SvcField-problem" role="status">
          {trans.__('✗ The forms may not be those of the text as it is now: %1', formsProblem)}
        </div>
      )}
      {values.forms.length > 0 && (
        <button
          type="button"
          className="jp-SvcButton"
          title={trans.__('Run all cells with these values')}
          onClick={run}
        >
          {trans.__('Run with these')}
        </button>
      )}
    </form>
  );
}

/** Properties of the field of a form. */
export interface IFieldProps {
  form: INoteForm;
  value: FormValue;
  trans: TranslationBundle;
  set: (value: FormValue) => void;
}

/** A form of a note as a field. */
export function Field({ form, value, trans, set }: IFieldProps): JSX.Element {
  const id = useId();
  const label = form.label ?? form.name;
  if (form.type === 'checkbox') {
    return <Checkboxes form={form} value={value} label={label} set={set} />;
  }
  const text = String(value);
  const options = [...form.options];
  if (!options.some(option => option.value === text)) {
    options.unshift({ value: text, label: text });
  }
  return (
    <div className="jp-SvcField">
      <label htmlFor={id}>{label}</label>
      {form.type === 'select' ? (
        <HTMLSelect
          id={id}
          value={text}
          options={options}
          iconProps={{ top: '7px' }}
          onChange={event => set(event.target.value)}
        />
      ) : (
        <input
          id={id}
          className="jp-mod-styled"
          type={form.type === 'password' ? 'password' : 'text'}
          title={form.type === 'password' ? trans.__('It is stored nowhere.') : undefined}
          value={text}
          spellCheck={false}
          autoComplete={form.type === 'password' ? 'new-password' : 'off'}
          onChange={event => set(event.target.value)}
        />
      )}
    </div>
  );
}

function Checkboxes({
  form,
  value,
  label,
  set
}: Omit<IFieldProps, 'trans'> & { label: string }): JSX.Element {
  const chosen = Array.isArray(value) ? value : [value];
  const change = (one: string, isOn: boolean): void =>
    set(form.options.map(o => o.value).filter(o => (o === one ? isOn : chosen.includes(o))));
  return (
    <fieldset className="jp-SvcField">
      <legend>{label}</legend>
      <div className="jp-SvcNote-checks">
        {form.options.map(option => (
          <label key={option.value} className="jp-SvcCheck">
            <input
              type="checkbox"
              checked={chosen.includes(option.value)}
              onChange={event => change(option.value, event.target.checked)}
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
