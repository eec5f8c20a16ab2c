import { JSONExt } from '@lumino/coreutils';
import type { INoteForm } from '../service/records/notes';

/** The value of a form: a text, or the chosen options of check boxes. */
export type FormValue = string | string[];

/** The forms of a notebook with the values of their fields. Immutable; the methods return a new value. */
export class FormValues {
  /** The forms with a field, each name once: one value applies to all forms of its name. */
  readonly forms: readonly INoteForm[];

  constructor(
    forms: readonly INoteForm[] = [],
    private readonly _set: ReadonlyMap<string, FormValue> = new Map()
  ) {
    const shown = forms.filter(form => !form.hidden);
    this.forms = [
      ...new Map([...shown].reverse().map(form => [form.name, form])).values()
    ].reverse();
  }

  /** Return the value of a form's field: what was set, else the stored value, else the default. */
  of(form: INoteForm): FormValue {
    const stored = form.type === 'password' ? undefined : form.value;
    const candidates = [this._set.get(form.name), stored, form.default];
    const found = candidates.map(one => fitting(form, one)).find(one => one !== null);
    return found ?? (form.type === 'checkbox' ? [] : '');
  }

  /** Return the values with that of one form. A text for check boxes is a list with commas. */
  with(name: string, value: FormValue): FormValues {
    return new FormValues(this.forms, new Map(this._set).set(name, value));
  }

  /** Return the values for changed forms; what was set stays, also for a form that comes back. */
  on(forms: readonly INoteForm[]): FormValues {
    return new FormValues(forms, this._set);
  }

  /** The values that a run needs: those that were set, and those that are not the default. */
  get given(): Record<string, FormValue> {
    const needed = this.forms.filter(
      form => this._set.has(form.name) || !JSONExt.deepEqual(this.of(form), form.default)
    );
    return Object.fromEntries(needed.map(form => [form.name, this.of(form)]));
  }

  /** The names of the forms whose values are secrets. */
  get passwords(): string[] {
    return this.forms.filter(form => form.type === 'password').map(form => form.name);
  }
}

/** Return a value in the form's own type, or null for none, and for one that the form cannot have. */
function fitting(form: INoteForm, value: unknown): FormValue | null {
  if (value === undefined || value === null) {
    return null;
  }
  const known = form.options.map(option => option.value);
  if (form.type === 'checkbox') {
    const chosen = Array.isArray(value) ? value.map(textOf) : listed(textOf(value));
    return chosen.every(one => known.includes(one)) ? chosen : null;
  }
  const text = textOf(value);
  return form.type !== 'select' || known.includes(text) || text === form.default ? text : null;
}

/** Stored values and options may be numbers or true and false. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '');
}
