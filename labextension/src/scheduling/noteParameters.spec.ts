import { argumentsIn } from '../schedules/arguments';
import type { INoteForm } from '../service/records/notes';
import { parametersOfForms } from './noteParameters';
import { argumentsOf, asOwn, withArguments } from './parameters';

function form(name: string, changes: Partial<INoteForm> = {}): INoteForm {
  return {
    name,
    type: 'text',
    label: null,
    default: '7',
    options: [],
    hidden: false,
    scope: null,
    ...changes
  };
}

const OPTIONS = ['a', 'b', 'c'].map(value => ({ value, label: value }));
const FORMS = [
  form('days'),
  form('tags', { type: 'checkbox', default: ['a', 'b'], options: OPTIONS }),
  form('token', { type: 'password', default: '' }),
  form('unseen', { hidden: true })
];

describe('the parameters of a note', () => {
  it('are its forms with their defaults, without passwords and hidden ones', () => {
    const found = parametersOfForms(FORMS);
    expect(found.map(({ name, type, text }) => [name, type, text])).toEqual([
      ['days', 'str', '7'],
      ['tags', 'str', 'a,b']
    ]);
    expect(argumentsOf(found)).toEqual({});
  });

  it('are sent as texts where they differ from the default, and go back to it', () => {
    const [days, tags] = withArguments(parametersOfForms(FORMS), { days: 30, tags: 'b,c' });
    expect([days?.type, days?.text, tags?.text]).toEqual(['str', '30', 'b,c']);
    expect(days && tags && argumentsOf([days, tags])).toEqual({ days: '30', tags: 'b,c' });
    expect(days && argumentsOf([asOwn(days)])).toEqual({});
  });
});

describe('the arguments of a command', () => {
  it('are an object, of a note the text of one, and never the options of spark-submit', () => {
    expect(argumentsIn({ arguments: { days: 7 } })).toEqual({ days: 7 });
    expect(argumentsIn({ arguments: '{"days": "7"}', note_id: 3 })).toEqual({ days: '7' });
    expect(argumentsIn({ arguments: '', note_id: 3 })).toEqual({});
    expect(argumentsIn({ arguments: '--conf spark.x=1', note_id: null })).toEqual({});
    expect(argumentsIn({ arguments: null })).toEqual({});
  });
});
