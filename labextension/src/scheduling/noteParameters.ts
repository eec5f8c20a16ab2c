import { FormValues } from '../notes/formValues';
import type { INoteForm } from '../service/records/notes';
import type { IOwn, IParameter } from './parameters';

/** Return the parameters of a note: its forms with their defaults, without passwords, which no schedule keeps. */
export function parametersOfForms(forms: readonly INoteForm[]): IParameter[] {
  return new FormValues(forms).forms
    .filter(form => form.type !== 'password')
    .map(form => {
      const own: IOwn = { type: 'str', text: [form.default].flat().join(','), form };
      return { name: form.name, type: own.type, text: own.text, own };
    });
}
