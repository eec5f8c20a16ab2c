import { HTMLSelect } from '@jupyterlab/ui-components';
import { type JSX, memo, type ReactNode, type RefObject, useId } from 'react';

/** Properties of every field. */
interface IFieldProps {
  label: string;
  /** The problem, in words of the form. */
  problem?: string | undefined;
  /** Shown below the field when there is no problem. */
  hint?: string | undefined;
  disabled?: boolean | undefined;
}

/** A field with its label above and its problem below. */
function Labelled(
  props: IFieldProps & {
    children: (id: string, described: { [name: string]: unknown }) => ReactNode;
  }
): JSX.Element {
  const id = useId();
  const told = props.problem ?? props.hint;
  const described = {
    'aria-invalid': props.problem !== undefined,
    ...(told !== undefined && { 'aria-describedby': `${id}-told` })
  };
  return (
    <div className="jp-SvcField">
      <label htmlFor={id}>{props.label}</label>
      {props.children(id, described)}
      {told !== undefined && (
        <div
          id={`${id}-told`}
          className={props.problem === undefined ? 'jp-SvcField-hint' : 'jp-SvcField-problem'}
        >
          {props.problem === undefined ? told : `✗ ${told}`}
        </div>
      )}
    </div>
  );
}

/** A field of one line. */
export function TextField(
  props: IFieldProps & {
    value: string;
    onChange: (value: string) => void;
    placeholder?: string;
    numeric?: boolean;
    autoFocus?: boolean;
    /** What the browser offers while one types: those whose value or label has the text. */
    suggestions?: readonly IOption[];
  }
): JSX.Element {
  return (
    <Labelled {...props}>
      {(id, described) => (
        <>
          <input
            {...described}
            id={id}
            list={props.suggestions && `${id}-suggestions`}
            className="jp-mod-styled"
            type="text"
            inputMode={props.numeric === true ? 'decimal' : undefined}
            value={props.value}
            placeholder={props.placeholder}
            disabled={props.disabled}
            data-autofocus={props.autoFocus}
            spellCheck={false}
            autoComplete="off"
            onChange={event => props.onChange(event.target.value)}
          />
          {props.suggestions && (
            <Suggestions id={`${id}-suggestions`} options={props.suggestions} />
          )}
        </>
      )}
    </Labelled>
  );
}

const Suggestions = memo(function Suggestions(props: {
  id: string;
  options: readonly IOption[];
}): JSX.Element {
  return (
    <datalist id={props.id}>
      {props.options.map(({ value, label }) => (
        <option key={value} value={value} label={label === value ? undefined : label} />
      ))}
    </datalist>
  );
});

/**
 * A field for a secret: what is typed stays in the element, which the form reads and empties when it sends it.
 *
 * The browser is asked not to keep it.
 */
export function SecretField(
  props: IFieldProps & {
    input: RefObject<HTMLInputElement>;
    onChange: () => void;
    placeholder?: string;
  }
): JSX.Element {
  return (
    <Labelled {...props}>
      {(id, described) => (
        <input
          {...described}
          ref={props.input}
          id={id}
          className="jp-mod-styled"
          type="password"
          placeholder={props.placeholder}
          disabled={props.disabled}
          spellCheck={false}
          autoComplete="new-password"
          onChange={props.onChange}
        />
      )}
    </Labelled>
  );
}

/** One option of a select field. */
export interface IOption {
  value: string;
  label: string;
}

/** A select field for one of several values. */
export function SelectField(
  props: IFieldProps & {
    value: string;
    options: readonly IOption[];
    onChange: (value: string) => void;
  }
): JSX.Element {
  return (
    <Labelled {...props}>
      {(id, described) => (
        <HTMLSelect
          {...described}
          id={id}
          value={props.value}
          disabled={props.disabled}
          options={[...props.options]}
          iconProps={{ top: '7px' }}
          onChange={event => props.onChange(event.target.value)}
        />
      )}
    </Labelled>
  );
}

/** One of several values side by side; `label` is its name where the text is short for it. */
export function Segment(props: {
  type: 'radio' | 'checkbox';
  group?: string;
  text: string;
  label?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}): JSX.Element {
  return (
    <label className="jp-SvcSegment">
      <input
        type={props.type}
        name={props.group}
        aria-label={props.label}
        checked={props.checked}
        onChange={event => props.onChange(event.target.checked)}
      />
      <span>{props.text}</span>
    </label>
  );
}

/** One of a few values, side by side. */
export function Segments<T extends string>(props: {
  value: T;
  options: readonly { value: T; label: string }[];
  onChange: (value: T) => void;
}): JSX.Element {
  const group = useId();
  return (
    <div className="jp-SvcSegments">
      {props.options.map(({ value, label }) => (
        <Segment
          key={value}
          type="radio"
          group={group}
          text={label}
          checked={value === props.value}
          onChange={() => props.onChange(value)}
        />
      ))}
    </div>
  );
}

/** A check box. */
export function CheckField(props: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}): JSX.Element {
  return (
    <label className="jp-SvcCheck">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={event => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  );
}

/** A plain button of a form. */
export function FormButton(props: {
  label: string;
  onClick: () => void;
  kind?: 'accept' | 'minimal' | 'plain';
  disabled?: boolean;
  title?: string;
}): JSX.Element {
  const kind = { accept: 'jp-mod-accept', minimal: 'jp-mod-minimal', plain: '' }[
    props.kind ?? 'plain'
  ];
  return (
    <button
      type="button"
      className={`jp-SvcButton ${kind}`}
      disabled={props.disabled}
      title={props.title}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}
