import type { INoteForm } from '../service/records/notes';
import { FormValues } from './formValues';

function form(name: string, more: Partial<INoteForm> = {}): INoteForm {
  const usual = {
    label: null,
    default: '7',
    options: [],
    hidden: false,
    scope: 'p',
    separator: ','
  };
  return { name, type: 'text', ...usual, ...more };
}

const DAYS = { options: ['1', '2', '3'].map(value => ({ value, label: value })) };
const factor = form('factor');
const day = form('day', { type: 'select', default: '1', ...DAYS });
const days = form('days', { type: 'checkbox', default: ['1', '2'], ...DAYS });
const pin = form('pin', { type: 'password', default: '' });

describe('FormValues', () => {
  it('begins with the stored values, and else with the defaults', () => {
    const values = new FormValues([factor, form('stored', { value: 9 }), days]);
    expect(values.forms.map(one => values.of(one))).toEqual(['7', '9', ['1', '2']]);
    expect(values.given).toEqual({ stored: '9' });
  });

  it('gives a run what was set, also when it was set back to the default', () => {
    const values = new FormValues([factor, day]).with('factor', '10').with('day', '1');
    expect(values.given).toEqual({ factor: '10', day: '1' });
  });

  it('shows each name once and no hidden form', () => {
    const values = new FormValues([
      factor,
      form('factor', { default: '8' }),
      form('h', { hidden: true })
    ]);
    expect(values.forms).toEqual([factor]);
  });

  it('keeps what was set while the text is being changed', () => {
    const values = new FormValues([factor]).with('factor', '10').on([]);
    expect(values.given).toEqual({});
    expect(values.on([factor]).given).toEqual({ factor: '10' });
  });

  it('leaves an option that is no longer there', () => {
    const values = new FormValues([day, days]).with('day', '5').with('days', ['1', '5']);
    expect(values.forms.map(one => values.of(one))).toEqual(['1', ['1', '2']]);
  });

  it('takes a text for check boxes as a list', () => {
    const values = new FormValues([days]).with('days', '2, 3');
    expect(values.given).toEqual({ days: ['2', '3'] });
    expect(values.with('days', '').given).toEqual({ days: [] });
  });

  it('never begins a password with a stored value, and names it as a secret', () => {
    const values = new FormValues([factor, { ...pin, value: 'hunter2' }]);
    expect(values.of(pin)).toBe('');
    expect(values.given).toEqual({});
    expect(values.passwords).toEqual(['pin']);
  });
});
