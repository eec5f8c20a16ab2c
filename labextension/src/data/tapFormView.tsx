import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useEffect, useRef, useState } from 'react';
import { CheckField, SelectField, TextField } from '../forms';
import { dataIcon } from '../icons';
import type { Tone } from '../list';
import { VisibleView } from '../panel';
import { asServiceError } from '../service';
import type { ITap } from '../service/records/data';
import { duration } from '../words';
import type { TapCalls, TestResult } from './tapCalls';
import { TapFields } from './tapFields';
import {
  bodyOf,
  type ITapSecrets,
  type ITapValues,
  ownProblems,
  refusedFields,
  TAP_TYPES,
  type TapField,
  type TapProblems,
  valuesOf
} from './tapForm';
import { tapTypeWord } from '../words';

/** The dependencies of the form. */
export interface ITapFormProps {
  trans: TranslationBundle;
  calls: TapCalls;
  /** The tap to edit; null for a new one. */
  tap: ITap | null;
  /** A tap was stored. */
  stored: (tap: ITap) => void;
  close: () => void;
  remove: (tap: ITap) => void;
}

/** Return the form of a tap as a tab of the main area. Closing it discards the input. */
export function tapWidget(props: ITapFormProps): MainAreaWidget<VisibleView> {
  const { trans, tap } = props;
  const content = new VisibleView(() => <TapForm {...props} />);
  content.addClass('jp-SvcForm-widget');
  const widget = new MainAreaWidget({ content });
  widget.toolbar.hide();
  widget.title.label = tap ? trans.__('Tap %1', tap.name) : trans.__('New tap');
  widget.title.icon = dataIcon;
  widget.title.closable = true;
  return widget;
}

/**
 * The form that adds or edits a tap.
 *
 * Password and URL stay in their elements until they are sent; once they are stored, the elements are emptied.
 */
function TapForm(props: ITapFormProps): JSX.Element {
  const { trans, calls, stored, close } = props;
  const [tap, setTap] = useState(props.tap);
  const [values, setValues] = useState(() => valuesOf(tap));
  const [hasSecret, setHasSecret] = useState(false);
  const [problems, setProblems] = useState<TapProblems>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [result, setResult] = useState<TestResult | 'testing' | null>(null);
  const [isWorking, setIsWorking] = useState(false);
  const [refusals, setRefusals] = useState(0);
  const password = useRef<HTMLInputElement>(null);
  const url = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusals > 0) {
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    }
  }, [refusals]);

  const isChanged =
    tap === null ||
    hasSecret ||
    Object.keys(bodyOf(values, { db_passwd: '', url: '' }, tap)).length > 0;
  const set = (change: Partial<ITapValues>): void => {
    setValues({ ...values, ...change });
    touch(...(Object.keys(change) as TapField[]));
  };
  const touch = (...fields: TapField[]): void => {
    setProblems(
      Object.fromEntries(
        Object.entries(problems).filter(([name]) => !fields.includes(name as TapField))
      )
    );
    setResult(null);
    setFailure(null);
  };
  const refuse = (found: TapProblems, text: string | null): null => {
    setProblems(found);
    setFailure(text);
    setRefusals(refusals + 1);
    return null;
  };

  /** Store what was entered; return the tap, or null after a refusal. */
  const save = async (): Promise<ITap | null> => {
    if (tap !== null && !isChanged) {
      return tap;
    }
    const secrets: ITapSecrets = {
      db_passwd: password.current?.value ?? '',
      url: url.current?.value ?? ''
    };
    const own = ownProblems(trans, values, secrets, tap);
    if (Object.keys(own).length > 0) {
      return refuse(own, null);
    }
    const body = bodyOf(values, secrets, tap);
    try {
      const now = await (tap ? calls.update(tap.id, body) : calls.create(body));
      for (const input of [password.current, url.current]) {
        if (input) {
          input.value = '';
        }
      }
      setHasSecret(false);
      setTap(now);
      setValues(valuesOf(now));
      setProblems({});
      stored(now);
      return now;
    } catch (reason) {
      const { fields, message } = asServiceError(reason);
      return refuse(...refusedFields(values.db_type, fields, message));
    }
  };
  const work = async (step: () => Promise<void>): Promise<void> => {
    setIsWorking(true);
    setFailure(null);
    setResult(null);
    try {
      await step();
    } finally {
      setIsWorking(false);
    }
  };
  const saveAndClose = (): Promise<void> =>
    work(async () => {
      if (await save()) {
        close();
      }
    });
  const test = (): Promise<void> =>
    work(async () => {
      const now = await save();
      if (now) {
        setResult('testing');
        setResult(await calls.test(now.id));
      }
    });

  return (
    <form
      ref={form}
      className="jp-SvcForm jp-SvcTapForm"
      aria-label={tap ? trans.__('Edit tap %1', tap.name) : trans.__('New tap')}
      autoComplete="off"
      onSubmit={event => {
        event.preventDefault();
        void saveAndClose();
      }}
    >
      <div className="jp-SvcForm-header">
        <h2>{tap ? trans.__('Edit tap %1', tap.name) : trans.__('New tap')}</h2>
      </div>
      <div className="jp-SvcForm-row">
        <TextField
          label={trans.__('Name')}
          value={values.name}
          problem={problems.name}
          autoFocus
          onChange={name => set({ name })}
        />
        <SelectField
          label={trans.__('Type')}
          value={values.db_type}
          options={TAP_TYPES.map(value => ({ value, label: tapTypeWord(trans, value) }))}
          problem={problems.db_type}
          onChange={db_type => set({ db_type })}
        />
      </div>
      <TapFields
        {...{ trans, values, problems, set, password, url, tap }}
        touched={field => {
          setHasSecret(true);
          touch(field);
        }}
      />
      <CheckField
        label={trans.__('Active: commands may use it')}
        checked={values.active}
        onChange={active => set({ active })}
      />
      <div className="jp-SvcForm-failure" role="alert">
        {failure === null ? '' : `✗ ${failure}`}
      </div>
      <TestWords trans={trans} result={result} />
      <div className="jp-SvcForm-buttons">
        {tap && (
          <button
            type="button"
            className="jp-SvcButton jp-mod-warn jp-SvcTapForm-remove"
            disabled={isWorking}
            onClick={() => props.remove(tap)}
          >
            {trans.__('Remove…')}
          </button>
        )}
        <button type="button" className="jp-SvcButton" onClick={close}>
          {trans.__('Cancel')}
        </button>
        <button
          type="button"
          className="jp-SvcButton"
          title={values.active ? '' : trans.__('A tap that is not active cannot be tested')}
          disabled={isWorking || !values.active}
          onClick={() => void test()}
        >
          {isChanged ? trans.__('Save and test') : trans.__('Test connection')}
        </button>
        <button type="submit" className="jp-SvcButton jp-mod-accept" disabled={isWorking}>
          {trans.__('Save')}
        </button>
      </div>
    </form>
  );
}

/** What a test of the connection has shown. */
function TestWords(props: {
  trans: TranslationBundle;
  result: TestResult | 'testing' | null;
}): JSX.Element {
  const { trans, result } = props;
  if (result === null) {
    return <p className="jp-SvcTapForm-result" role="status" />;
  }
  const [icon, tone, words] = resultWords(trans, result);
  return (
    <p className={`jp-SvcTone jp-mod-${tone} jp-SvcTapForm-result`} role="status">
      <span className="jp-SvcTone-icon">{icon}</span> {words}
    </p>
  );
}

function resultWords(
  trans: TranslationBundle,
  result: TestResult | 'testing'
): [icon: string, tone: Tone, words: string] {
  if (result === 'testing') {
    return ['◐', 'busy', trans.__('asking the database…')];
  }
  if ('problem' in result) {
    const { problem } = result;
    return ['✗', 'bad', trans.__('The tap is saved, but its database did not answer: %1', problem)];
  }
  const words = trans._n(
    'The database answered in %2 and has %1 table.',
    'The database answered in %2 and has %1 tables.',
    result.tables,
    duration(trans, result.seconds)
  );
  return ['✓', 'good', words];
}
